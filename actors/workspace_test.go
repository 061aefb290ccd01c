package actors_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

//cases:109
func TestWorkspacePaths(t *testing.T) {
	t.Parallel()
	dir, work := t.TempDir(), t.TempDir()
	h := startedIn(t, dir, quick(), memory.New())
	for path, want := range map[string]string{
		work: work, work + "/": work, work + "//": work, work + "/./": work, "/": "/",
		"work": "", "./work": "", "..": "", work + "/../x": "", work + "/..": "", work + "\x00": "", "/" + strings.Repeat("w", 5000): "",
		dir: "", dir + "/": "", dir + "/turns": "", dir + "/homes/alice": "", dir + "/workspaces/" + event.NewID().Hex(): "",
	} {
		p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{
			Agent: spec.Agent{Adapter: "script"}, Environment: spec.Environment{Type: spec.EnvSelfHosted, Workspace: path},
		})
		if want == "" {
			if f, ok := event.AsFailure(err); !ok || f.Code != event.InvalidRequest || f.Param != "environment.workspace_directory" {
				t.Errorf("%.60q: %+v, %v", path, p, err)
			}
			continue
		}
		if err != nil || p.Session.Settings.Environment.Workspace != want {
			t.Errorf("%q: %+v, %v", path, p, err)
		}
	}
}

// Where a session works: what it asks for, else its agent's place, else the
// host's, else a private one; an environment of type none is always private and
// read-only.
func TestWhereASessionWorks(t *testing.T) {
	t.Parallel()
	asked, agents, hosts, dir := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	h := startedIn(t, dir, quick(), memory.New(), actors.WithWorkspace(hosts))
	private := "private"
	for _, c := range []struct {
		env   spec.Environment
		agent string
		want  string
	}{
		{spec.Environment{}, "", hosts},
		{spec.Environment{}, agents, agents},
		{spec.Environment{Workspace: asked}, agents, asked},
		{spec.Environment{Type: spec.EnvNone}, agents, private},
		{spec.Environment{Type: "openai_hosted"}, agents, private},
	} {
		p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{
			Agent: spec.Agent{Adapter: "script", Workspace: c.agent}, Environment: c.env, Input: input("pwd > \"$DIR/../../where\"; pwd"),
		})
		must(t, err)
		want := c.want
		if want == private {
			want = filepath.Join(dir, "workspaces", p.Session.ID.Hex())
		}
		follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
		back, err := h.Turn(ctx(t), "alice", p.Turns[0].ID)
		if err != nil || len(back.Items) == 0 || back.Items[0].Text != want+"\n" {
			t.Errorf("%+v: worked in %+v, want %s (%v)", c, back.Items, want, err)
		}
	}
	_, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{
		Agent: spec.Agent{Adapter: "script"}, Environment: spec.Environment{Type: spec.EnvNone, Workspace: asked},
	})
	if event.CodeOf(err) != event.InvalidRequest {
		t.Errorf("a workspace for type none: %v", err)
	}
}

// A state directory that was moved takes the private workspaces along.
func TestMovedStateDirectory(t *testing.T) {
	t.Parallel()
	from, to, mem := t.TempDir(), filepath.Join(t.TempDir(), "moved"), memory.New()
	h := dropped(t, from, quick(), mem)
	p := create(t, h, "echo kept > file")
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	stop(t, h)
	must(t, os.Rename(from, to))
	h = startedIn(t, to, quick(), mem.Reopen())
	turn := send(t, h, p.Session.ID, "cat file")
	follow(t, h, p.Session.ID, 0, ended(turn.ID))
	back, err := h.Turn(ctx(t), "alice", turn.ID)
	if err != nil || len(back.Items) == 0 || back.Items[0].Text != "kept\n" {
		t.Errorf("in the moved workspace: %+v, %v", back, err)
	}
}

// A workspace that no turn could work in is refused before there is a session; one that
// goes later fails the turn (TestUnstartableCLIs).
func TestAWorkspaceThatIsNotThereIsRefused(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	file, gone := filepath.Join(base, "file"), filepath.Join(base, "gone")
	must(t, os.WriteFile(file, nil, 0o600))
	h := started(t, quick(), memory.New())
	closed := filepath.Join(base, "closed")
	must(t, os.Mkdir(closed, 0o700))
	must(t, os.Chmod(closed, 0))
	t.Cleanup(func() { _ = os.Chmod(closed, 0o700) })
	for dir, why := range map[string]string{
		file: "is not a directory", gone: "no such file", file + "/deeper": "is not a directory", closed: "may not be entered",
	} {
		if _, err := os.Stat(dir + "/."); err == nil {
			continue // this user enters everything
		}
		for _, in := range []*spec.NewInput{nil, input("true")} {
			_, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{
				Agent: spec.Agent{Adapter: "script"}, Environment: spec.Environment{Type: spec.EnvSelfHosted, Workspace: dir}, Input: in,
			})
			f, _ := event.AsFailure(err)
			if f == nil || f.Code != event.InvalidRequest || f.Param != "environment.workspace_directory" || !strings.Contains(f.Message, why) || !strings.Contains(f.Message, dir) {
				t.Errorf("%s: %v", dir, err)
			}
		}
		_, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script", Workspace: dir}, Input: input("true")})
		if f, _ := event.AsFailure(err); f == nil || f.Code != event.WorkspaceUnavail || f.Param != "" || !strings.Contains(f.Message, dir) {
			t.Errorf("as the agent's place: %s: %v", dir, err)
		}
	}
	if ses, _, err := h.Sessions(ctx(t), "alice", spec.SessionQuery{}, spec.Page{}); err != nil || len(ses) != 0 {
		t.Errorf("%d sessions, %v", len(ses), err)
	}
}
