package isolation

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLevelsAreNamedAndOrdered(t *testing.T) {
	t.Parallel()
	var set Set
	for i, l := range Levels() {
		if got, ok := Parse(l.String()); !ok || got != l || i > 0 && l <= Levels()[i-1] {
			t.Errorf("%v: parsed %v, %v", l, got, ok)
		}
		set = set.With(l)
		if !set.Has(l) || set.Top() != l {
			t.Errorf("%v: set %v, top %v", l, set, set.Top())
		}
	}
	if set.String() != "group,home,rlimits,cgroup,landlock,bubblewrap" || Set(0).Top() != Auto || Set(0).String() != "" {
		t.Errorf("%q", set)
	}
	if _, ok := Parse("chroot"); ok {
		t.Error("an unknown level is one")
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	helper := []string{"/self"}
	for name, c := range map[string]struct {
		m    Machine
		l    Level
		want string
	}{
		"nothing needed": {Machine{}, Rlimits, ""},
		"no group":       {Machine{Ungrouped: "cgroup v2: not mounted"}, Cgroup, "not mounted"},
		"no helper":      {Machine{Landlock: 7}, Landlock, "cannot start itself"},
		"no landlock":    {Machine{Helper: helper}, Landlock, "Linux 5.13"},
		"old landlock":   {Machine{Helper: helper, Landlock: 3}, Landlock, "Linux 6.7"},
		"landlock":       {Machine{Helper: helper, Landlock: 4}, Landlock, ""},
		"no bwrap":       {Machine{Helper: helper, Unwrapped: "not in PATH"}, Bubblewrap, "not in PATH"},
		"bwrap":          {Machine{Helper: helper, Bwrap: "/usr/bin/bwrap"}, Bubblewrap, ""},
	} {
		if got := c.m.Lacks(c.l); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestBoxThatGivesAwayWhatItHidesIsRefused(t *testing.T) {
	t.Parallel()
	b := &Box{Write: []string{"/srv"}, Hide: []string{"/srv/state"}}
	if err := b.Tidy(); err == nil || !strings.Contains(err.Error(), "/srv contains /srv/state") {
		t.Errorf("%v", err)
	}
	b = &Box{Read: []string{"relative", "/b/../a", "/a", "/a\x00b"}, Write: []string{"/srv/state/workspaces/1"}, Hide: []string{"/srv/state"}, Ports: []uint16{9, 3, 9}}
	if err := b.Tidy(); err != nil || !slices.Equal(b.Read, []string{"/a"}) || !slices.Equal(b.Ports, []uint16{3, 9}) {
		t.Errorf("%+v, %v", b, err)
	}
}

// The order is what counts: what is hidden is covered after what it lies in was shown,
// and the CLI's own places, which may lie below it, come last.
func TestBubblewrapCommandLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	own := filepath.Join(state, "workspaces", "1")
	secret := filepath.Join(dir, "config")
	if err := os.MkdirAll(own, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := &Box{
		Level: Bubblewrap, Program: "/usr/bin/bwrap", Bridge: "/b", Dir: own,
		Read: []string{dir, "/proc", filepath.Join(state, "tools")}, Write: []string{own, "/dev/null"}, Hide: []string{state, secret, "/elsewhere"},
	}
	got := strings.ReplaceAll(strings.Join(b.Bubblewrap("/self", "BOX"), " "), dir, "@")
	want := "/usr/bin/bwrap --die-with-parent --unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup-try --proc /proc --dev /dev" +
		" --ro-bind-try @ @ --tmpfs @/state --ro-bind /dev/null @/config --ro-bind-try @/state/tools @/state/tools --bind-try @/state/workspaces/1 @/state/workspaces/1" +
		" --ro-bind /self /run/agenthost/agenthost --ro-bind /b /run/agenthost/ports --chdir @/state/workspaces/1 -- /run/agenthost/agenthost confine --inside BOX --"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// bwrap cannot mount through a link that a directory of the box shows: what the link
// points to is mounted, or covered, where it is.
func TestBubblewrapMountsBehindLinks(t *testing.T) {
	t.Parallel()
	dir := real(t.TempDir())
	for _, d := range []string{"tools/v1/bin", "away", "shown", "hidden"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"tools/now": "v1", "shown/hidden": "../hidden", "link": "away"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	in := func(path string) string { return filepath.Join(dir, path) }
	b := &Box{
		Program: "bwrap", Read: []string{in("hidden"), in("link"), in("shown"), in("tools"), in("tools/now/bin")}, Write: []string{in("tools/now/bin")},
		Hide: []string{in("shown/hidden")},
	}
	got := strings.ReplaceAll(strings.Join(b.Bubblewrap("/self", "BOX"), " "), dir, "@")
	for _, want := range []string{
		" --ro-bind-try @/link @/link", // nothing shows the link itself
		" --ro-bind-try @/tools @/tools --ro-bind-try @/tools/v1/bin @/tools/v1/bin",
		" --tmpfs @/hidden ",
		" --bind-try @/tools/v1/bin @/tools/v1/bin",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks%s", got, want)
		}
	}
}

func TestBridgeLeadsToItsPortsOnly(t *testing.T) { // not parallel: it changes its directory
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			said, _ := io.ReadAll(c) // until the other side says no more
			_, _ = c.Write(append([]byte("heard "), said...))
			_ = c.Close()
		}
	}()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30)) // longer than a socket's path may be
	port := uint16(l.Addr().(*net.TCPAddr).Port)
	b, err := OpenBridge(dir, []uint16{port})
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	c, err := net.Dial("unix", socket(port))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	_ = c.(*net.UnixConn).CloseWrite()
	if text, err := io.ReadAll(c); string(text) != "heard hello" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	_ = c.Close()
	open, err := net.Dial("unix", socket(port))
	if err != nil {
		t.Fatal(err)
	}
	b.Close() // ends what is open
	if _, err := open.Read(make([]byte, 1)); err == nil {
		t.Error("a connection outlived its bridge")
	}
	_ = open.Close()
	if _, err := net.Dial("unix", socket(port)); err == nil {
		t.Error("a closed bridge takes a connection")
	}
	_ = l.Close()
	<-done
	(*Bridge)(nil).Close()
}

func TestOddArgumentsRunNothing(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"{}"}, {"{}", "--"}, {"x", "--", "/bin/true"}, {"{}", "--", "/bin/true"}, {inside}, {`{"level":3}`, "--", "/bin/true"}, {"a", "b", "--", "/bin/true"}} {
		if err := confine(args); err == nil || errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q: %v", args, err)
		}
	}
}
