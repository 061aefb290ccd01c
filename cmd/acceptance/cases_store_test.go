package acceptance

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Case 114: the disk fills up under a turn, and has space again.
//
//cases:114
func TestCase114FullDisk(t *testing.T) {
	t.Parallel()
	wrap := []string{"unshare", "--mount"}
	if err := exec.Command(wrap[0], append(wrap[1:], "mount", "-t", "tmpfs", "tmpfs", t.TempDir())...).Run(); err != nil {
		t.Skipf("no small disk can be mounted here: %v", err)
	}
	small := t.TempDir()
	s := newStage(t, limit("min_free_disk", "1MiB"), grace("300ms", "300ms"), func(c *rigConfig) {
		c.StateDir = filepath.Join(small, "state")
		c.Wrap = append(wrap, "sh", "-c", `mount -t tmpfs -o size=64m,mode=700 tmpfs "`+small+`" && head -c 60000000 /dev/zero >"`+small+`/ballast" && exec "$@"`, "sh")
	})
	ballast := fmt.Sprintf("/proc/%d/root%s/ballast", s.Pid, small) // as the server sees it
	s.scene("much", "cat >/dev/null\n"+printed(codexThread, codexTurn)+
		`i=0; while [ $i -lt 200 ]; do printf '{"type":"item.completed","item":{"id":"m%d","type":"agent_message","text":"' $i; head -c 20000 /dev/urandom | od -An -tx1 | tr -d ' \n'; printf '"}}\n'; i=$((i+1)); done`+
		"\n"+printed(codexDone))
	session := s.newSession(play{adapter: "codex", scene: "normal"})
	s.agents(play{adapter: "codex", scene: "normal", session: session}).is(t, "completed", "all well", 0)
	greedy := s.newSession(play{adapter: "codex", scene: "much"})
	for range 3 { // one runs, two wait
		if a := s.http.say(greedy, "go"); a.status != 202 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	ids, _ := s.http.paged("/v1/agents/sessions/"+greedy+"/turns", "asc", 100)
	refused := new(answer)
	s.until(60*time.Second, "input is refused", func() bool {
		refused = s.http.say(session, "go")
		return refused.status != 202 && refused.status != 429
	})
	if refused.status != 503 || refused.header.Get("Retry-After") == "" || refused.code() == "" {
		t.Errorf("input for a full disk: %d %v %s", refused.status, refused.header, clip(refused.body))
	}
	if !s.Running() {
		t.Fatal("the server has ended")
	}
	s.http.ok("GET", "/v1/agents/sessions/"+session, nil)
	s.scene("much", codexScene(codexSays("less"))) // for those that wait
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	s.until(30*time.Second, "input is taken again", func() bool { return s.http.say(session, "go").status == 202 })
	s.http.idle(greedy, 60*time.Second)
	s.http.idle(session, 60*time.Second)
	after := statuses(s.http.turns(greedy))
	if len(after) != 3 || len(ids) != 3 || strings.Join(after[1:], " ") != "completed completed" {
		t.Errorf("accepted before the disk was full: %v", after)
	}
	if first := s.http.turns(greedy)[0]; after[0] == "failed" && !strings.Contains(fmt.Sprint(at(first, "error", "message")), "stor") {
		t.Errorf("the turn that filled it: %v", first)
	}
	s.well()
	s.Stop()
}

// tails are the ways in which the end of the store's log is damaged.
var tails = map[string]func(log []byte) []byte{
	"a byte less":       func(b []byte) []byte { return b[:max(0, len(b)-1)] },
	"seven bytes less":  func(b []byte) []byte { return b[:max(0, len(b)-7)] },
	"cut in the middle": func(b []byte) []byte { return b[:len(b)/2+11] },
	"gone":              func([]byte) []byte { return nil },
	"a foreign line": func(b []byte) []byte {
		return append(append(bytes.Clone(b[:len(b)/2]), strings.Repeat("#", 40)+"\n"...), b[len(b)/2:]...)
	},
	"zeros behind it":   func(b []byte) []byte { return append(bytes.Clone(b), make([]byte, 512)...) },
	"a flipped byte":    func(b []byte) []byte { c := bytes.Clone(b); c[len(c)/4] ^= 0x40; return c },
	"nothing but zeros": func(b []byte) []byte { return make([]byte, len(b)) },
}

// Case 116: the end of what was written is damaged in each way of the trial. The server
// starts, what is whole is readable and a beginning of what was written, and a new turn
// is there after the next start.
//
//cases:116
func TestCase116DamagedTails(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	session := s.newSession(play{adapter: "codex", scene: "normal"})
	for range 3 {
		s.agents(play{adapter: "codex", scene: "normal", session: session}).is(t, "completed", "all well", 0)
	}
	whole := s.http.replay(session).content()
	s.Kill()
	logs, err := filepath.Glob(filepath.Join(s.StateDir, "*-wal"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("the store's log: %v %v", logs, err)
	}
	log, err := os.ReadFile(logs[0])
	if err != nil || len(log) < 10_000 {
		t.Fatalf("%d bytes, %v", len(log), err)
	}
	for name, damage := range tails {
		// One after another: the copies have one identity, so each start ends what the
		// server of another copy runs.
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			if err := os.CopyFS(dir, os.DirFS(s.StateDir)); err != nil {
				t.Fatal(err)
			}
			_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
				if d.IsDir() {
					return os.Chmod(path, 0o700)
				}
				return os.Chmod(path, 0o600)
			})
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(logs[0])), damage(log), 0o600); err != nil {
				t.Fatal(err)
			}
			r := newStage(t, func(c *rigConfig) { c.StateDir = dir })
			a := r.http.do("GET", "/v1/agents/sessions/"+session, nil)
			switch a.status {
			case 200:
				kept := r.http.replay(session)
				same := 0
				for had := blocks(whole); same < min(len(had), len(kept.all())) && bytes.Equal(had[same], blocks(kept.content())[same]); {
					same++
				}
				// Behind what was kept stands at most the end of one turn that had lost its own.
				turns := map[any]bool{}
				for _, f := range kept.all()[same:] {
					if f.kind() != sessionEvent+"idle" {
						turns[f.data()["turn_id"]] = true
					}
				}
				if len(turns) > 1 {
					t.Errorf("what follows is of %d turns: %s", len(turns), kinds(kept.all()[same:]))
				}
				if name == "zeros behind it" && same != len(kept.all()) {
					t.Errorf("%d frames of %d were kept of a log that is whole", same, len(kept.all()))
				}
				checkSession(t, kept.all())
			case 404: // of a store whose log is gone
			case 409:
				if a.code() == "" {
					t.Errorf("%s", a.body)
				}
			default:
				t.Errorf("%d %s", a.status, clip(a.body))
			}
			said := warnings(r.Log())
			t.Logf("%d; %q", a.status, said)
			if name == "a flipped byte" && !strings.Contains(strings.Join(said, " "), "damaged") {
				t.Error("the damage is not told")
			}
			again := r.newSession(play{adapter: "codex", scene: "normal"})
			r.agents(play{adapter: "codex", scene: "normal", session: again}).is(t, "completed", "all well", 0)
			wrote := r.http.replay(again).content()
			r.Kill()
			r.Restart()
			if got := r.http.replay(again).content(); !bytes.Equal(got, wrote) {
				t.Errorf("the new session has %d bytes after a restart, not %d", len(got), len(wrote))
			}
			if a.status == 200 {
				r.agents(play{adapter: "codex", scene: "normal", session: session}).is(t, "completed", "all well", 0)
			}
			r.Stop()
		})
	}
}

// warnings are what a log says above information, but for CLIs that are not there.
func warnings(log string) (out []string) {
	for line := range strings.Lines(log) {
		if !strings.Contains(line, "level=INFO") && !strings.Contains(line, "not installed") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}
