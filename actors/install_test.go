package actors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/agenthost/agenthost/actors/toolbox"
	"github.com/agenthost/agenthost/fakes/registry"
)

// A shop is a registry, a tools directory, and the adapter whose CLI is installed
// from the one into the other.
type shop struct {
	t       *testing.T
	reg     *registry.Registry
	tools   string
	environ []string
	runtime actors.RuntimeConfig
}

func newShop(t *testing.T, versions ...string) *shop {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not there")
	}
	s := &shop{t: t, reg: registry.New(t), tools: filepath.Join(t.TempDir(), "tools")}
	s.environ = append([]string{"PATH=" + os.Getenv("PATH")}, s.reg.Env(t.TempDir())...)
	s.runtime = actors.RuntimeConfig{Adapter: versioned{script{binary: "tiny"}}}
	for _, v := range versions {
		s.runtime.Manifests = append(s.runtime.Manifests, s.manifest(v))
	}
	return s
}

// manifest publishes a version of the CLI, which plays the scripts of these tests.
func (s *shop) manifest(version string) agent.Manifest {
	s.t.Helper()
	at, entry := s.reg.Publish(s.t, "@made/tiny", version, "tiny", tiny(version))
	return agent.Manifest{
		Adapter: "script", Program: "tiny", Version: version, Bin: []string{"node_modules/.bin/tiny"},
		NPM: &agent.NPMPackage{Package: "@made/tiny", Lock: map[string]json.RawMessage{at: entry}},
	}
}

func tiny(version string) string {
	return "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'tiny " + version + "'; exit 0; fi\nexec /bin/sh \"$@\"\n"
}

func (s *shop) host(more ...actors.Option) *actors.Host {
	s.t.Helper()
	opts := append([]actors.Option{actors.WithRuntime(s.runtime), actors.WithToolsDirs(s.tools), actors.WithEnviron(s.environ)}, more...)
	return started(s.t, quick(), memory.New(), opts...)
}

// install installs and waits.
func (s *shop) install(h *actors.Host, version string) *actors.Install {
	s.t.Helper()
	if _, err := h.Install(ctx(s.t), "script", version); err != nil {
		s.t.Fatal(err)
	}
	done, err := h.AwaitInstall(ctx(s.t), "script", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return done
}

// versions are the directories of installed versions.
func (s *shop) versions() []string {
	s.t.Helper()
	list, err := filepath.Glob(filepath.Join(s.tools, "packages", "script", "[0-9]*"))
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

func progress(i *actors.Install) string {
	var b strings.Builder
	for _, p := range i.Progress {
		fmt.Fprintln(&b, p.Text)
	}
	return b.String()
}

func TestInstalledCLIServesWithoutARestart(t *testing.T) {
	t.Parallel()
	s := newShop(t, "1.1.0", "1.0.0")
	h := s.host()
	if _, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, Input: input("echo")}); event.CodeOf(err) != event.RuntimeNotInstalled {
		t.Fatalf("nothing is installed: %v", err)
	}
	first := s.install(h, "1.0.0")
	if first.State != actors.InstallCompleted || first.Failure != nil || !strings.HasPrefix(first.Path, s.tools) || first.Ended == 0 {
		t.Fatalf("%+v", first)
	}
	for _, want := range []string{"npm fetches and compares @made/tiny@1.0.0", "it starts: tiny 1.0.0"} {
		if !strings.Contains(progress(first), want) {
			t.Errorf("progress lacks %q:\n%s", want, progress(first))
		}
	}
	r := h.Runtimes(t.Context())[0]
	if !r.Installed || r.Version != "tiny 1.0.0" || r.Install == nil || r.Install.ID != first.ID || len(r.Installable) != 2 {
		t.Errorf("%+v", r)
	}
	plain(t, h, "echo one", "one")

	if again := s.install(h, "1.0.0"); !strings.Contains(progress(again), "installed already") || again.State != actors.InstallCompleted {
		t.Errorf("a second time: %+v", again)
	}
	if next := s.install(h, ""); next.Version != "1.1.0" || next.State != actors.InstallCompleted {
		t.Fatalf("the newest: %+v", next)
	}
	if r := h.Runtimes(t.Context())[0]; r.Version != "tiny 1.1.0" {
		t.Errorf("after the switch: %+v", r)
	}
	plain(t, h, "echo two", "two")
	if left := s.versions(); len(left) != 1 || !strings.Contains(left[0], "1.1.0-") {
		t.Errorf("an unused version is kept: %q", left)
	}
}

// plain runs one turn and looks at what it says.
func plain(t *testing.T, h *actors.Host, script, want string) {
	t.Helper()
	if got := toldBy(turnOf(t, h, create(t, h, script))); !strings.Contains(got, want) {
		t.Errorf("%q said %q", script, got)
	}
}

// turnOf are the events of a session up to the end of its first turn.
func turnOf(t *testing.T, h *actors.Host, p *fold.Posted) []event.Event {
	t.Helper()
	return follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
}

// toldBy is what a turn's messages say.
func toldBy(list []event.Event) string {
	var b strings.Builder
	for i := range list {
		if it, ok := list[i].Body.(*event.Item); ok && list[i].Kind == event.ItemDone && it.Type == event.Message {
			b.WriteString(it.Text)
		}
	}
	return b.String()
}

func TestPackageThatIsNotTheManifestsIsRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t, "1.0.0")
	s.reg.Publish(t, "@made/tiny", "1.0.0", "tiny", "#!/bin/sh\necho somebody else\n") // in its place
	h := s.host()
	done := s.install(h, "")
	if done.State != actors.InstallFailed || done.Failure == nil || done.Failure.Code != event.IntegrityMismatch {
		t.Fatalf("%+v, %v", done, done.Failure)
	}
	if r := h.Runtimes(t.Context())[0]; r.Installed || len(s.versions()) != 0 {
		t.Errorf("something is there: %+v, %q", r, s.versions())
	}
	// The registry is put right.
	s.manifest("1.0.0")
	if done := s.install(h, ""); done.State != actors.InstallCompleted {
		t.Errorf("afterwards: %v", done.Failure)
	}
}

func TestInstallationIsRefusedByName(t *testing.T) {
	t.Parallel()
	s := newShop(t, "1.0.0")
	bare := actors.RuntimeConfig{Adapter: script{name: "bare"}}
	h := s.host(actors.WithRuntime(bare))
	for name, c := range map[string]struct {
		adapter, version string
		code             event.Code
		says             string
	}{
		"no adapter":  {"nobody", "", event.NotFound, `"nobody"`},
		"no manifest": {"bare", "", event.NotInstallable, "bare"},
		"no version":  {"script", "9.9.9", event.InvalidRequest, "1.0.0"},
	} {
		_, err := h.Install(ctx(t), c.adapter, c.version)
		if event.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.runtime.Binary = "/opt/tiny"
	if _, err := s.host().Install(ctx(t), "script", ""); event.CodeOf(err) != event.NotInstallable || !strings.Contains(err.Error(), "agents.script.binary") {
		t.Errorf("another program is configured: %v", err)
	}
}

func TestSecondInstallationJoinsOrWaits(t *testing.T) {
	t.Parallel()
	s := newShop(t, "1.0.0")
	s.reg.Hold()
	one, other := s.host(), s.host()
	first, err := one.Install(ctx(t), "script", "")
	if err != nil {
		t.Fatal(err)
	}
	<-s.reg.Asked()
	if again, err := one.Install(ctx(t), "script", ""); err != nil || again.ID != first.ID {
		t.Errorf("a second one of the same host: %+v, %v", again, err)
	}
	if _, err := other.Install(ctx(t), "script", ""); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other host waits", func() bool {
		return strings.Contains(progress(other.InstallOf("script")), "waits for another installation")
	})
	s.reg.Open()
	for _, h := range []*actors.Host{one, other} {
		done, err := h.AwaitInstall(ctx(t), "script", nil)
		if err != nil || done.State != actors.InstallCompleted {
			t.Errorf("%+v, %v", done, err)
		}
	}
	if !strings.Contains(progress(other.InstallOf("script")), "installed already") || len(s.versions()) != 1 {
		t.Errorf("the other one installed it again: %s %q", progress(other.InstallOf("script")), s.versions())
	}
}

func TestStoppedInstallationLeavesNothingUsable(t *testing.T) {
	t.Parallel()
	s := newShop(t, "1.0.0")
	s.reg.Hold()
	h := s.host()
	if _, err := h.Install(ctx(t), "script", ""); err != nil {
		t.Fatal(err)
	}
	<-s.reg.Asked()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Stop(over); err != nil {
		t.Fatal(err)
	}
	if done := h.InstallOf("script"); done.State != actors.InstallFailed || done.Failure.Code != event.ServerStopped {
		t.Errorf("%+v", done)
	}
	if list, err := os.ReadDir(filepath.Join(s.tools, "bin")); err == nil && len(list) > 0 {
		t.Errorf("something can be used: %v", list)
	}
	// What a killed one left is cleaned up by the next.
	rubbish := filepath.Join(s.tools, "packages", "script", "1.0.0-00000000", "node_modules", ".bin")
	if err := os.MkdirAll(rubbish, 0o700); err != nil {
		t.Fatal(err)
	}
	s.reg.Open()
	next := s.host()
	if done := s.install(next, ""); done.State != actors.InstallCompleted {
		t.Fatalf("the next one: %v", done.Failure)
	}
	if left := s.versions(); len(left) != 1 {
		t.Errorf("rubbish is left: %q", left)
	}
}

func TestVersionInUseIsKeptUntilItsTurnEnds(t *testing.T) {
	t.Parallel()
	s := newShop(t, "1.1.0", "1.0.0")
	h := s.host()
	s.install(h, "1.0.0")
	gate := filepath.Join(t.TempDir(), "gate")
	p := create(t, h, "echo begun; while [ ! -e "+gate+" ]; do sleep 0.01; done; echo ended")
	follow(t, h, p.Session.ID, 0, func(ev event.Event) bool { return ev.Kind == event.TextDelta })
	if done := s.install(h, "1.1.0"); done.State != actors.InstallCompleted {
		t.Fatal(done.Failure)
	}
	if left := s.versions(); len(left) != 2 {
		t.Errorf("while a turn uses the old version there are %q", left)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := toldBy(turnOf(t, h, p)); !strings.Contains(got, "ended") {
		t.Errorf("the turn said %q", got)
	}
	eventually(t, "the old version is removed", func() bool { return len(s.versions()) == 1 })
}

func TestToolOfAPersonIsNotReplaced(t *testing.T) {
	t.Parallel()
	s := newShop(t, "1.0.0")
	own := filepath.Join(s.tools, "bin", "tiny")
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	done := s.install(s.host(), "")
	if done.State != actors.InstallFailed || !strings.Contains(done.Failure.Message, toolbox.ErrForeign.Error()) {
		t.Errorf("%+v, %v", done, done.Failure)
	}
}

func TestInstallationIsBounded(t *testing.T) {
	t.Parallel()
	s := newShop(t, "1.0.0")
	s.reg.Hold()
	limits := quick()
	limits.InstallTimeout = 300 * time.Millisecond
	h := started(t, limits, memory.New(), actors.WithRuntime(s.runtime), actors.WithToolsDirs(s.tools), actors.WithEnviron(s.environ))
	if done := s.install(h, ""); done.State != actors.InstallFailed || !strings.Contains(done.Failure.Message, "300ms") || len(s.versions()) != 0 {
		t.Errorf("%+v, %v, %q", done, done.Failure, s.versions())
	}
}

func TestInstallationWithoutNPMSaysSo(t *testing.T) {
	t.Parallel()
	s := newShop(t, "1.0.0")
	s.environ = append(s.environ, "PATH="+t.TempDir())
	if done := s.install(s.host(), ""); done.State != actors.InstallFailed || !strings.Contains(done.Failure.Message, "npm is needed and not in PATH") {
		t.Errorf("%+v, %v", done, done.Failure)
	}
}

func TestFirstTurnOfAMissingCLIWaitsForItsInstallation(t *testing.T) {
	t.Parallel()
	s := newShop(t, "1.0.0")
	s.runtime.AutoInstall = true
	h := s.host()
	got := turnOf(t, h, create(t, h, "echo here"))
	if said := environments(got); said != "pending ready" || !strings.Contains(toldBy(got), "here") {
		t.Errorf("environment %q in %s, said %q", said, kinds(got), toldBy(got))
	}
	plain(t, h, "echo again", "again") // and no further word about it
}

func TestFirstTurnFailsWithItsInstallation(t *testing.T) {
	t.Parallel()
	s := newShop(t, "1.0.0")
	s.runtime.AutoInstall = true
	s.reg.Publish(t, "@made/tiny", "1.0.0", "tiny", "#!/bin/sh\necho somebody else\n")
	h := s.host()
	got := turnOf(t, h, create(t, h, "echo here"))
	end := outcome(t, got)
	if said := environments(got); said != "pending failed" || end.Failure == nil || end.Failure.Code != event.RuntimeNotInstalled {
		t.Errorf("environment %q, end %+v", said, end)
	}
}

func TestCancelledTurnDoesNotWaitForItsInstallation(t *testing.T) {
	t.Parallel()
	s := newShop(t, "1.0.0")
	s.runtime.AutoInstall = true
	s.reg.Hold()
	h := s.host()
	p := create(t, h, "echo here")
	<-s.reg.Asked()
	if _, err := h.CancelTurn(ctx(t), "alice", p.Turns[0].ID); err != nil {
		t.Fatal(err)
	}
	got := turnOf(t, h, p)
	if end := outcome(t, got); end.Outcome != event.Cancelled || environments(got) != "pending" {
		t.Errorf("%+v, %q", end, environments(got))
	}
	s.reg.Open()
	if done, err := h.AwaitInstall(ctx(t), "script", nil); err != nil || done.State != actors.InstallCompleted {
		t.Errorf("the installation goes on for the next one: %+v, %v", done, err)
	}
	plain(t, h, "echo next", "next")
}

func environments(list []event.Event) string {
	var out []string
	for i := range list {
		if e, ok := list[i].Body.(*event.Environment); ok {
			out = append(out, string(e.Status))
		}
	}
	return strings.Join(out, " ")
}
