package acceptance

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters"
	"github.com/agenthost/agenthost/adapters/adaptertest"
)

// Case 49: the CLI no longer knows its conversation.
//
//cases:49
func TestCase49ResumeIsLost(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.scene("forgets", `cat >/dev/null
case "$*" in *`+nativeCodex+`*) echo "Error: thread/resume failed: no rollout found for thread id `+nativeCodex+`" >&2; exit 1 ;; esac
`+okCodex)
	first := s.plain(play{adapter: "codex", scene: "forgets"})
	first.is(t, "completed", "ok", 0)
	lost := s.agents(play{adapter: "codex", scene: "forgets", session: first.session})
	if lost.status != "failed" || lost.code != "invalid_request" || len(s.calls("forgets")) != 2 {
		t.Errorf("%s after %d calls", lost, len(s.calls("forgets")))
	}
	// Told once; then the session goes on anew.
	s.plain(play{adapter: "codex", scene: "forgets", session: first.session}).is(t, "completed", "ok", 0)
	s.well()
	s.Stop()
}

// Case 50: the CLI tells another id at each resume. A declared one is believed to go
// on; codex begins a new thread then, which is said and not passed over.
//
//cases:50
func TestCase50NativeIDChanges(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for adapter, status := range map[string]string{"plain-codex": "completed", "codex": "failed"} {
		scene := "renames-" + adapter
		s.scene(scene, `cat >/dev/null
n=$(grep -c ^`+scene+` "`+s.dir+`/calls")
printf '{"type":"thread.started","thread_id":"01a00000-0000-7000-8000-00000000010%s"}\n' "$n"
`+printed(codexTurn, codexSays("ok"), codexDone))
		session := ""
		for i := range 4 {
			e := s.plain(play{adapter: adapter, scene: scene, session: session})
			if want := []string{"completed", status}[min(i, 1)]; e.status != want || session != "" && e.session != session {
				t.Errorf("turn %d in %s: %s", i+1, e.session, e)
			}
			session = e.session
		}
		for i, call := range s.calls(scene) {
			resumed := fmt.Sprintf("<01a00000-0000-7000-8000-00000000010%d>", i)
			if i > 0 != strings.Contains(call, resumed) || i == 0 && strings.Contains(call, "01a00000") {
				t.Errorf("turn %d is called with %s", i+1, call)
			}
		}
	}
	adaptertest.Record(t, adapters.Declared, "resume", agent.Verified, "")
	s.Stop()
}

// Case 52: one session never runs two CLIs.
//
//cases:52
func TestCase52OneCLIASession(t *testing.T) {
	t.Parallel()
	const posts = 10
	s := newStage(t)
	s.scene("alone", "mkdir .only || { echo overlap >&2; exit 9; }\ncat >/dev/null\nsleep 0.1\nrmdir .only\n"+okCodex)
	session := s.newSession(play{adapter: "codex", scene: "alone"})
	var wg sync.WaitGroup
	for i := range posts {
		wg.Go(func() {
			if i%2 == 0 {
				if a := s.http.say(session, "go"); a.status != 202 {
					t.Errorf("%d %s", a.status, a.body)
				}
				return
			}
			a := s.http.do("POST", "/agents/codex/v1/responses", map[string]any{"model": "alone", "input": "go", "conversation": "conv_" + strings.TrimPrefix(session, "agsess_")})
			if a.status != 200 || a.str("status") != "completed" {
				t.Errorf("%d %s", a.status, clip(a.body))
			}
		})
	}
	wg.Wait()
	s.http.idle(session, 20*time.Second)
	turns := s.http.turns(session)
	if got := strings.Join(statuses(turns), " "); got != strings.TrimSpace(strings.Repeat("completed ", posts)) {
		t.Errorf("the turns are %s", got)
	}
	for i, call := range s.calls("alone") {
		if i > 0 != strings.Contains(call, nativeCodex) {
			t.Errorf("turn %d is called with %s", i+1, call)
		}
	}
	s.well()
	s.Stop()
}

// Case 55: the last good response stays one that can be built on.
//
//cases:55
func TestCase55ChainBehindAFailure(t *testing.T) {
	t.Parallel()
	r := newRig(t, grace("300ms", "300ms"))
	ask := func(input, previous string, more ...any) *answer {
		body := map[string]any{"model": "codex", "input": input}
		if previous != "" {
			body["previous_response_id"] = previous
		}
		if len(more) > 0 {
			body["background"] = true
		}
		return r.http.do("POST", "/v1/responses", body)
	}
	good := ask("[[say: good]]", "").str("id")
	failed := ask("[[mode: crash-exit=3]] [[say: bad]]", good)
	if failed.str("status") != "failed" {
		t.Fatalf("%s", clip(failed.body))
	}
	if a := ask("[[say: from the failed one]]", failed.str("id")); a.str("status") != "completed" {
		t.Errorf("from the failed one: %d %s", a.status, clip(a.body))
	}
	good = ask("[[say: good]]", "").str("id")
	if a := ask("[[mode: crash-exit=3]] [[say: bad]]", good); a.str("status") != "failed" {
		t.Fatalf("%s", clip(a.body))
	}
	next := ask("[[say: from the good one]]", good)
	if next.str("status") != "completed" {
		t.Errorf("from the good one: %d %s", next.status, clip(next.body))
	}
	if a := ask("[[say: no]]", good); a.status != 400 || a.code() != "agents.previous_response_not_latest" {
		t.Errorf("from an older one: %d %s", a.status, clip(a.body))
	}
	running := ask("[[wait: 600000]]", next.str("id"), "background").str("id")
	r.http.ok("POST", "/v1/responses/"+running+"/cancel", nil)
	for _, from := range []string{running, next.str("id")} {
		if a := ask("[[say: on]]", from); from == running && a.str("status") != "completed" || from != running && a.status == 404 {
			t.Errorf("from %s: %d %s", from, a.status, clip(a.body))
		}
	}
	r.normalTurn()
	r.Stop()
}

// Case 65: the CLI is killed in the middle.
//
//cases:65
func TestCase65KilledCLI(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, adapter := range []string{"codex", "claude-code"} {
		session := r.http.session(adapter)
		events := r.http.events(session, "?after=0")
		tag := "victim-" + adapter
		r.http.say(session, "tag:"+tag+" [[say: half]] [[shell: sleep 300]]")
		turn := turnIDs(events.waitKind(time.Minute, turnEvent+"created", 1))[0]
		response := r.http.response(responseID(turn), -1)
		events.waitKind(time.Minute, turnEvent+"item.added", 2)
		if err := syscall.Kill(r.started(tag).pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		events.waitKind(20*time.Second, sessionEvent+"idle", 1)
		if got := strings.Join(checkSession(t, events.all()).ends(), " "); got != "failed" {
			t.Errorf("%s: the turn ends %s", adapter, got)
		}
		frames := response.end(10 * time.Second)
		checkResponse(t, response)
		if last := frames[len(frames)-1]; last.kind() != "response.failed" || !strings.Contains(fmt.Sprint(at(last.data(), "response", "error", "message")), "SIGKILL") {
			t.Errorf("%s: %s", adapter, clip(last.raw))
		}
		r.Clean(time.Minute)
	}
	r.normalTurn()
	r.Stop()
}

// Case 112: the queue goes on whatever became of the turn before.
//
//cases:112
func TestCase112QueueGoesOn(t *testing.T) {
	t.Parallel()
	s := newStage(t, limit("max_queue", 5), limit("idle_timeout", "1s"), grace("300ms", "300ms"))
	s.scene("bad", "case $(cat) in first*) ;; *) "+strings.TrimSpace(strings.ReplaceAll(okCodex, "\n", ";"))+" exit 0 ;; esac\n"+
		printed(codexThread, codexTurn)+"echo $$ >\""+s.dir+"/pid\"\nexec sleep 600\n")
	s.scene("unstartable", "case $(cat) in first*) exit 3 ;; esac\n"+okCodex)
	for name, c := range map[string]struct {
		scene string
		end   func(session string)
		first string
	}{
		"exits":  {"unstartable", func(string) {}, "failed"},
		"killed": {"bad", func(string) { s.killPlayer() }, "failed"},
		"cancelled": {"bad", func(session string) {
			s.http.do("POST", "/v1/agents/sessions/"+session+"/events", cancelInput())
		}, "cancelled"},
		"times out": {"bad", func(string) {}, "failed"},
	} {
		session := s.newSession(play{adapter: "codex", scene: c.scene})
		events := s.http.events(session, "?after=0")
		for i := range 6 {
			if a := s.http.say(session, []string{"first", "then"}[min(i, 1)]+" "+itoa(i)); a.status != 202 {
				t.Fatalf("%s: %d %s", name, a.status, a.body)
			}
		}
		if c.scene == "bad" {
			events.waitKind(time.Minute, turnEvent+"in_progress", 1)
			if a := s.http.say(session, "one too many"); a.status != 429 || a.code() != "queue_full" {
				t.Errorf("%s: %d %s", name, a.status, clip(a.body))
			}
		}
		c.end(session)
		s.http.idle(session, 30*time.Second)
		want := c.first + strings.Repeat(" completed", 5)
		if got := strings.Join(statuses(s.http.turns(session)), " "); got != want {
			t.Errorf("%s: the turns are %s", name, got)
		}
		checkSession(t, s.http.replay(session).all())
		events.cancel()
	}
	s.well()
	s.Stop()
}

// killPlayer kills the CLI that runs.
func (s *stage) killPlayer() {
	s.t.Helper()
	s.until(time.Minute, "a CLI is killed", func() bool {
		for _, p := range s.Marked() {
			if strings.Contains(p.Command, "sleep 600") {
				return syscall.Kill(p.Pid, syscall.SIGKILL) == nil
			}
		}
		return false
	})
}

// Case 113: a session is deleted while it works.
//
//cases:113
func TestCase113DeleteWhileRunning(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	r := newRig(t, grace("300ms", "300ms"))
	create := map[string]any{"agent": map[string]any{"model": "codex"}, "environment": map[string]any{"type": "self_hosted", "workspace_directory": work}}
	doomed := r.http.ok("POST", "/v1/agents/sessions", create, "Idempotency-Key: doomed").str("id")
	sibling := r.http.ok("POST", "/v1/agents/sessions", create).str("id")
	r.http.say(sibling, "tag:sibling [[wait: 2000]] [[say: untouched]]")
	r.http.say(doomed, "tag:doomed [[mode: ignore-signals]] [[shell: sleep 300]]")
	for i := range 3 {
		r.http.say(doomed, fmt.Sprintf("tag:never%d [[say: no]]", i))
	}
	turn, _ := at(r.http.turns(doomed), 0, "id").(string)
	streams := []*stream{r.http.events(doomed, "?after=0"), r.http.response(responseID(turn), -1)}
	victim := r.started("doomed")
	r.started("sibling")
	start := time.Now()
	r.http.ok("DELETE", "/v1/agents/sessions/"+doomed, nil)
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("the delete took %s", took)
	}
	for _, p := range r.Marked() {
		if p.Pid == victim.pid || strings.Contains(p.Command, "sleep 300") {
			t.Errorf("alive after the delete: %v", p)
		}
	}
	frames := streams[0].end(10 * time.Second)
	if count(frames, turnEvent+"cancelled") < 1 || streams[0].broken() != nil {
		t.Errorf("the session's stream: %v;%s", streams[0].broken(), kinds(frames))
	}
	streams[1].end(10 * time.Second)
	checkResponse(t, streams[1])
	for _, path := range []string{"/v1/agents/sessions/" + doomed, "/v1/agents/sessions/" + doomed + "/events", "/v1/responses/" + responseID(turn)} {
		if a := r.http.do("GET", path, nil); a.status != 404 {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	r.http.idle(sibling, 20*time.Second)
	if got := statuses(r.http.turns(sibling)); len(got) != 1 || got[0] != "completed" {
		t.Errorf("the sibling's turns are %v", got)
	}
	a := r.http.do("POST", "/v1/agents/sessions", create, "Idempotency-Key: doomed")
	t.Logf("the create's retry: %d", a.status)
	if b := r.http.do("GET", "/v1/agents/sessions/"+doomed, nil); b.status != 404 {
		t.Errorf("the retry brought it back: %d %s", b.status, clip(b.body))
	}
	if n := r.times(); n["never0"]+n["never1"]+n["never2"] != 0 || n["doomed"] != 1 {
		t.Errorf("the CLIs ran %v", n)
	}
	r.normalTurn()
	r.Kill()
	r.Restart()
	if b := r.http.do("GET", "/v1/agents/sessions/"+doomed, nil); b.status != 404 {
		t.Errorf("the restart brought it back: %d", b.status)
	}
	r.Stop()
}

// Case 115: the server has few descriptors; what does not fit fails by itself.
//
//cases:115
func TestCase115FewDescriptors(t *testing.T) {
	t.Parallel()
	const turns, readers = 60, 30
	r := newRig(t, limit("max_concurrent_turns", 100), limit("max_subscribers", readers), func(c *rigConfig) {
		c.Wrap = []string{"sh", "-c", `ulimit -n 64; exec "$@"`, "sh"}
	})
	session := r.http.session("codex")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			resp, err := r.http.request(ctx, "GET", "/v1/agents/sessions/"+session+"/events", nil)
			if err == nil {
				_, _ = io.Copy(io.Discard, resp.Body) // until it is cut, or the test is over
				_ = resp.Body.Close()
			}
		})
	}
	var mu sync.Mutex
	got := map[string]int{}
	var asks sync.WaitGroup
	for i := range turns {
		asks.Go(func() {
			a := r.http.do("POST", "/v1/responses", map[string]any{"model": "codex", "input": fmt.Sprintf("tag:n%d [[wait: 300]] [[say: done]]", i)})
			what := fmt.Sprint(a.status, " ", a.str("status"), " ", a.str("error", "code"))
			if a.str("status") == "failed" {
				what += ": " + a.str("error", "message")
			}
			mu.Lock()
			defer mu.Unlock()
			got[what]++
		})
	}
	asks.Wait()
	t.Logf("%v", got)
	for what := range got {
		if strings.HasPrefix(what, "500") {
			t.Errorf("%s", what)
		}
	}
	cancel()
	wg.Wait()
	r.until(20*time.Second, "the server works again", func() bool {
		a := r.http.do("POST", "/v1/responses", map[string]any{"model": "codex", "input": "[[say: again]]"})
		return a.status == 200 && outputText(a) == "again"
	})
	r.Clean(time.Minute)
	r.Stop()
}
