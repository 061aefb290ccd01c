package actors_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/isolation"
	"github.com/agenthost/agenthost/actors/process"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// scene is what an attack finds on this machine.
type scene struct {
	t     *testing.T
	state string         // the host's state directory
	house string         // a person's home, with a secret in it
	other string         // the workspace of another session, with a secret in it
	open  string         // a directory outside of the workspace that anybody may write to
	tcp   int            // a port of this machine that nobody allowed
	udp   net.PacketConn // of this machine too
	pids  string         // where what is to outlive the turn writes its pid
}

const planted = "planted-secret-of-somebody"

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{t: t, state: filepath.Join(t.TempDir(), "state"), house: t.TempDir(), other: t.TempDir(), open: t.TempDir()}
	s.pids = filepath.Join(s.open, "pid")
	for _, dir := range []string{s.house, s.other} {
		must(t, os.WriteFile(filepath.Join(dir, ".netrc"), []byte(planted), 0o600))
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	u, err := net.ListenPacket("udp4", "127.0.0.1:0")
	must(t, err)
	done := make(chan struct{})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				break
			}
			_, _ = c.Write([]byte(planted + "\n"))
			_ = c.Close()
		}
		close(done)
	}()
	t.Cleanup(func() {
		_, _ = l.Close(), u.Close()
		<-done
	})
	s.tcp, s.udp = l.Addr().(*net.TCPAddr).Port, u
	return s
}

// fill puts the scene into a script.
func (s *scene) fill(script string) string {
	return strings.NewReplacer("@state", s.state, "@other", s.other, "@open", s.open, "@tcp", strconv.Itoa(s.tcp), "@udp", strconv.Itoa(s.udp.LocalAddr().(*net.UDPAddr).Port),
		"@host", strconv.Itoa(os.Getpid()), "@pids", s.pids).Replace(script)
}

// survivor is the process that wrote its pid, while it lives.
func (s *scene) survivor() (pid int, alive bool) {
	text, err := os.ReadFile(s.pids)
	if err != nil {
		s.t.Fatalf("the attack did not begin: %v", err)
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
	must(s.t, err)
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return pid, err == nil && !strings.Contains(string(stat), ") Z ")
}

// attack is something that a level stops. The script is run by the CLI; it says
// ESCAPED if it got what it wanted, unless escaped finds out.
type attack struct {
	level  isolation.Level
	below  isolation.Level // where it succeeds; Auto is no host at all
	name   string
	script string
	// escaped looks from outside after the turn.
	escaped func(s *scene) bool
	needs   func() string // why it cannot be tried here
}

func outlived(s *scene) bool {
	pid, alive := s.survivor()
	if alive {
		must(s.t, syscall.Kill(pid, syscall.SIGKILL))
	}
	return alive
}

const reads = `if grep -rqs ` + planted + ` %s; then echo ESCAPED; fi`

var attacks = []attack{
	{
		level: isolation.Group, name: "outlive the turn in a session of its own", escaped: outlived,
		script: `setsid sh -c 'echo $$ > @pids; exec sleep 120' >/dev/null 2>&1 </dev/null & while [ ! -s @pids ]; do :; done`,
	},
	{level: isolation.Home, below: isolation.Group, name: "read a person's home", script: fmt.Sprintf(reads, `"$HOME/.netrc" "$XDG_CONFIG_HOME/.netrc"`)},
	{level: isolation.Home, below: isolation.Group, name: "read the temporary files of others", script: fmt.Sprintf(reads, `"$TMPDIR"`)},
	{
		level: isolation.Rlimits, below: isolation.Home, name: "fill the disk with one file",
		script: `if truncate -s 9000000000 big 2>/dev/null; then echo ESCAPED; fi; rm -f big`,
	},
	{level: isolation.Rlimits, below: isolation.Home, name: "leave its memory in a file", script: `if [ "$(ulimit -Hc)" != 0 ]; then echo ESCAPED; fi`, needs: func() string {
		if out, _ := exec.Command("sh", "-c", "ulimit -Hc").Output(); strings.TrimSpace(string(out)) == "0" {
			return "nothing here leaves core dumps"
		}
		return ""
	}},
	{
		level: isolation.Cgroup, below: isolation.Rlimits, name: "outlive the turn without parents, session and environment", escaped: outlived,
		script: `(setsid env -i PATH="$PATH" sh -c 'echo $$ > @pids; exec sleep 120' >/dev/null 2>&1 </dev/null &); while [ ! -s @pids ]; do :; done`,
		needs: func() string {
			if process.IsSubreaper() {
				return "a subreaper finds it without a group"
			}
			return ""
		},
	},
	{level: isolation.Landlock, below: isolation.Cgroup, name: "read the host's state", script: `if cat @state/id >/dev/null 2>&1; then echo ESCAPED; fi`},
	{level: isolation.Landlock, below: isolation.Cgroup, name: "list other sessions", script: `if ls @state/workspaces >/dev/null 2>&1; then echo ESCAPED; fi`},
	{level: isolation.Landlock, below: isolation.Cgroup, name: "read another session's workspace", script: fmt.Sprintf(reads, "@other")},
	{level: isolation.Landlock, below: isolation.Cgroup, name: "read it by a symbolic link", script: `ln -s @other/.netrc link; ` + fmt.Sprintf(reads, "link")},
	{level: isolation.Landlock, below: isolation.Cgroup, name: "read it by a hard link", script: `ln @other/.netrc link 2>/dev/null; ` + fmt.Sprintf(reads, "link")},
	{level: isolation.Landlock, below: isolation.Cgroup, name: "take a file over by renaming it", script: `mv @other/.netrc taken 2>/dev/null; ` + fmt.Sprintf(reads, "taken")},
	{level: isolation.Landlock, below: isolation.Cgroup, name: "write outside of the workspace", script: `if (echo x > @open/written) 2>/dev/null; then echo ESCAPED; fi`},
	{level: isolation.Landlock, below: isolation.Cgroup, name: "read the host's environment", script: `if [ -n "$(tr -d '\\0' < /proc/@host/environ 2>/dev/null)" ]; then echo ESCAPED; fi`},
	{
		level: isolation.Landlock, below: isolation.Cgroup, name: "reach a disk by a device of its own", script: `if mknod dev b 7 0 2>/dev/null; then echo ESCAPED; fi; rm -f dev`,
		needs: func() string {
			if os.Geteuid() != 0 {
				return "only root makes devices"
			}
			return ""
		},
	},
	{
		level: isolation.Landlock, below: isolation.Cgroup, name: "connect to a port that nobody allowed",
		script: `if bash -c '</dev/tcp/127.0.0.1/@tcp' 2>/dev/null; then echo ESCAPED; fi`,
	},
	{
		level: isolation.Landlock, below: isolation.Cgroup, name: "signal the host", script: `if kill -0 @host 2>/dev/null; then echo ESCAPED; fi`,
		needs: func() string {
			if isolation.Look(nil, "").Landlock < 6 {
				return "landlock here governs no signals"
			}
			return ""
		},
	},
	{level: isolation.Bubblewrap, below: isolation.Landlock, name: "see the host's processes", script: `if [ -e /proc/@host/stat ]; then echo ESCAPED; fi`},
	{
		level: isolation.Bubblewrap, below: isolation.Landlock, name: "send a datagram", script: `bash -c 'echo out > /dev/udp/127.0.0.1/@udp' 2>/dev/null; true`,
		escaped: func(s *scene) bool {
			var buf [64]byte // what was sent is here: the sender has ended
			must(s.t, s.udp.SetReadDeadline(time.Now().Add(time.Second)))
			_, _, err := s.udp.ReadFrom(buf[:])
			return err == nil
		},
	},
}

// isolated is a host whose script adapter has this isolation, and its machine.
func isolated(t *testing.T, s *scene, is actors.Isolation, a agent.Adapter, more ...actors.Option) *actors.Host {
	t.Helper()
	groups, why := process.FindCgroups()
	ungrouped := ""
	if why != nil {
		ungrouped = why.Error()
	}
	return startedIn(t, s.state, actors.Limits{}, memory.New(), append([]actors.Option{
		actors.WithRuntime(actors.RuntimeConfig{Adapter: a, Isolation: is, Passthrough: []string{"XDG_CONFIG_HOME"}}),
		actors.WithIsolation(isolation.Look([]string{"/proc/self/exe"}, ungrouped)),
		actors.WithCgroups(groups),
		actors.WithEnviron([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.house, "XDG_CONFIG_HOME=" + s.house, "TMPDIR=" + s.house}),
	}, more...)...)
}

// TestEscapes plays each attack against the level that stops it, and against the one
// below, where it has to succeed: so a level that does nothing is seen.
func TestEscapes(t *testing.T) {
	t.Parallel()
	for i := range attacks {
		a := &attacks[i]
		t.Run(a.level.String()+"/"+a.name, func(t *testing.T) {
			t.Parallel()
			if a.needs != nil {
				if why := a.needs(); why != "" {
					t.Skip(why)
				}
			}
			if a.try(t, a.level) {
				t.Error("it escaped")
			}
			if !a.try(t, a.below) {
				t.Error("without the level it does not escape either: the attack proves nothing")
			}
		})
	}
}

// try says whether the attack succeeds at a level.
func (a *attack) try(t *testing.T, level isolation.Level) bool {
	t.Helper()
	s := newScene(t)
	if level == isolation.Auto {
		must(t, exec.Command("sh", "-c", s.fill(a.script)).Run())
		return a.escaped(s)
	}
	h := isolated(t, s, actors.Isolation{Level: level, Write: pidsOf(a, s)}, script{})
	if why := h.Lacks(level); why != "" {
		t.Skipf("this machine does not have %s: %s", level, why)
	}
	p := create(t, h, s.fill(a.script)+"\necho tried")
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	turn, err := h.Turn(ctx(t), "alice", p.Turns[0].ID)
	must(t, err)
	text := ""
	for _, it := range turn.Items {
		text += it.Text
	}
	if !strings.Contains(text, "tried") {
		t.Fatalf("the attack at %s did not run to its end: %q, %+v %v", level, text, turn.End, turn.End.Failure)
	}
	if got := turn.End.Isolation; !strings.HasSuffix(got, level.String()) {
		t.Errorf("the turn says of its isolation %q, want up to %s", got, level)
	}
	if a.escaped != nil {
		stop(t, h) // nothing of the turn is looked for after that
		return a.escaped(s)
	}
	return strings.Contains(text, "ESCAPED")
}

// pidsOf lets what tries to outlive say who it is.
func pidsOf(a *attack, s *scene) []string {
	if strings.Contains(a.script, "@pids") {
		return []string{s.open}
	}
	return nil
}

func TestConfinedCLIWorks(t *testing.T) {
	t.Parallel()
	for _, level := range []isolation.Level{isolation.Landlock, isolation.Bubblewrap} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			h := isolated(t, s, actors.Isolation{Level: level, Ports: []uint16{uint16(s.tcp)}, Read: []string{s.other}, Write: []string{s.open}}, script{})
			if why := h.Lacks(level); why != "" {
				t.Skip(why)
			}
			for want, prompt := range map[string]string{
				"workspace": `echo workspace > f && cat f`,
				"home":      `echo home > ~/f && cat ~/f`,
				"temporary": `f=$(mktemp) && echo temporary > $f && cat $f`,
				planted:     `cat @other/.netrc`,
				"null":      `echo x > /dev/null && echo null`,
				"hello":     `ls /etc >/dev/null && ls /usr >/dev/null && sh -c 'echo hello' 2>&1`,
				"outside":   `echo outside > @open/f && cat @open/f`,
				"connected": `bash -c 'read -r l </dev/tcp/127.0.0.1/@tcp; echo connected $l' 2>&1 | grep ` + planted,
				"trapped":   `trap 'echo trapped' INT; kill -INT $$`,
				"swept":     `sleep 60 & echo swept`,
			} {
				p := create(t, h, s.fill(prompt))
				follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
				turn, err := h.Turn(ctx(t), "alice", p.Turns[0].ID)
				must(t, err)
				if len(turn.Items) == 0 || !strings.Contains(turn.Items[0].Text, want) {
					t.Errorf("%s: %+v, %+v %v", prompt, turn.Items, turn.End, turn.End.Failure)
				}
			}
		})
	}
}

// A cancel reaches the CLI, which may end in its own way.
func TestConfinedCLIIsInterrupted(t *testing.T) {
	t.Parallel()
	for _, level := range []isolation.Level{isolation.Landlock, isolation.Bubblewrap} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			h := isolated(t, s, actors.Isolation{Level: level, Write: []string{s.open}}, script{})
			if why := h.Lacks(level); why != "" {
				t.Skip(why)
			}
			p := create(t, h, s.fill(`trap 'echo bye > @open/bye; exit 0' INT; echo ready; while :; do sleep 0.05; done`))
			follow(t, h, p.Session.ID, 0, func(e event.Event) bool { return e.Kind == event.TextDelta })
			cancelSession(t, h, p.Session.ID)
			follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
			if text, err := os.ReadFile(filepath.Join(s.open, "bye")); err != nil || string(text) != "bye\n" {
				t.Errorf("the CLI was not interrupted: %q, %v", text, err)
			}
		})
	}
}

func TestReadOnlyIsHeldByTheHost(t *testing.T) {
	t.Parallel()
	for _, level := range []isolation.Level{isolation.Landlock, isolation.Bubblewrap} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			h := isolated(t, s, actors.Isolation{Level: level}, script{})
			if why := h.Lacks(level); why != "" {
				t.Skip(why)
			}
			p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script", Permissions: spec.ReadOnly}, Input: input("echo x > f; ls; echo ls done")})
			must(t, err)
			follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
			turn, err := h.Turn(ctx(t), "alice", p.Turns[0].ID)
			must(t, err)
			if len(turn.Items) == 0 || turn.Items[0].Text != "ls done\n" {
				t.Errorf("%+v, %v", turn.Items, turn.End.Failure)
			}
		})
	}
}

func TestRequiredLevelIsRefusedBeforeTheSpawn(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	marker := filepath.Join(s.open, "ran")
	h := startedIn(t, s.state, actors.Limits{}, memory.New(),
		actors.WithRuntime(actors.RuntimeConfig{Adapter: script{}, Isolation: actors.Isolation{Required: isolation.Bubblewrap}}),
		actors.WithIsolation(&isolation.Machine{Helper: []string{"/proc/self/exe"}, Landlock: 7, Unwrapped: "the program bwrap is not in PATH: install bubblewrap"}))
	_, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, Input: input("touch " + marker)})
	f, ok := event.AsFailure(err)
	if !ok || f.Code != event.IsolationUnavailable || !strings.Contains(f.Message, "agents.script.isolation.required is bubblewrap") || !strings.Contains(f.Message, "install bubblewrap") {
		t.Errorf("refusal: %v", err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("it ran")
	}
}

// A CLI whose provider is somewhere else cannot have a network of its own.
func TestRequiredNetworkNeedsPeersOnLoopback(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	far := script{}
	h := startedIn(t, s.state, actors.Limits{}, memory.New(),
		actors.WithRuntime(actors.RuntimeConfig{Adapter: far, LLM: agent.LLM{BaseURL: "https://llm.example.com/v1"}, Isolation: actors.Isolation{Required: isolation.Bubblewrap}}),
		actors.WithIsolation(&isolation.Machine{Helper: []string{"/proc/self/exe"}, Landlock: 7, Bwrap: "/usr/bin/bwrap"}))
	p := create(t, h, "echo ran")
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	turn, err := h.Turn(ctx(t), "alice", p.Turns[0].ID)
	must(t, err)
	if f := turn.End.Failure; f == nil || f.Code != event.IsolationUnavailable || !strings.Contains(f.Message, "the model provider") || len(turn.Items) > 0 {
		t.Errorf("the turn: %+v, %v", turn.Items, turn.End.Failure)
	}
}

// A level that is not reached in the end is refused too, not only one that the machine
// lacks from the start.
func TestRequiredLevelIsLookedForInWhatIsLeft(t *testing.T) {
	t.Parallel()
	both := actors.WithIsolation(&isolation.Machine{Helper: []string{"/proc/self/exe"}, Landlock: 7, Bwrap: "/usr/bin/bwrap"})
	far := agent.LLM{BaseURL: "https://llm.example.com/v1"}
	h := started(t, actors.Limits{}, memory.New(), both,
		actors.WithRuntime(actors.RuntimeConfig{Adapter: selfServing{}, LLM: far, Isolation: actors.Isolation{Level: isolation.Bubblewrap, Required: isolation.Landlock}}))
	if lacks := h.Runtimes(ctx(t))[0].IsolationLacks; lacks != "" {
		t.Errorf("bubblewrap is more than landlock: %s", lacks)
	}
	p := create(t, h, "echo ran")
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	turn, err := h.Turn(ctx(t), "alice", p.Turns[0].ID)
	must(t, err)
	if f := turn.End.Failure; f == nil || f.Code != event.IsolationUnavailable || len(turn.Items) > 0 {
		t.Errorf("the turn: %+v, %v", turn.Items, turn.End.Failure)
	}
}

// What cannot be confined is not run.
func TestUnconfinableCLIIsNotRun(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	h := startedIn(t, s.state, actors.Limits{}, memory.New(),
		actors.WithRuntime(actors.RuntimeConfig{Adapter: script{}, Isolation: actors.Isolation{Level: isolation.Landlock}}),
		actors.WithIsolation(&isolation.Machine{Helper: []string{"/bin/false"}, Landlock: 7}))
	p := create(t, h, "echo ran")
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	turn, err := h.Turn(ctx(t), "alice", p.Turns[0].ID)
	must(t, err)
	if turn.End.Outcome != event.Failed || len(turn.Items) > 0 {
		t.Errorf("the turn: %+v, %+v", turn.Items, turn.End)
	}
}

func TestWorkspaceAroundTheStateIsRefused(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	h := isolated(t, s, actors.Isolation{Level: isolation.Landlock}, script{}, actors.WithWorkspace(filepath.Dir(s.state)))
	if why := h.Lacks(isolation.Landlock); why != "" {
		t.Skip(why)
	}
	p := create(t, h, "cat state/id")
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	turn, err := h.Turn(ctx(t), "alice", p.Turns[0].ID)
	must(t, err)
	if f := turn.End.Failure; f == nil || f.Code != event.WorkspaceUnavail || !strings.Contains(f.Message, "to be hidden") {
		t.Errorf("the turn: %v", turn.End.Failure)
	}
}

// selfServing is a CLI that ports cannot be counted for.
type selfServing struct{ script }

func (selfServing) SelfServing() {}

func TestSelfServingCLIIsNotHeldByPorts(t *testing.T) {
	t.Parallel()
	machine := actors.WithIsolation(&isolation.Machine{Helper: []string{"/proc/self/exe"}, Landlock: 7, Unwrapped: "no bwrap"})
	for want, is := range map[string]actors.Isolation{
		"":                                  {Level: isolation.Landlock},
		"port that is not known beforehand": {Required: isolation.Landlock},
	} {
		h := started(t, actors.Limits{}, memory.New(), actors.WithRuntime(actors.RuntimeConfig{Adapter: selfServing{}, Isolation: is}), machine)
		got := h.Runtimes(ctx(t))[0]
		if strings.Contains(got.Isolation, "landlock") || !strings.Contains(got.IsolationLacks, want) || want == "" && got.IsolationLacks != "" {
			t.Errorf("%+v: %s, %s", is, got.Isolation, got.IsolationLacks)
		}
	}
}
