package acceptance

import (
	"bytes"
	"fmt"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agenthost/agenthost/bench/hostproc"
)

// The faults of the server that existing deployments run, each by a test that is named
// after it. Others hold more of the same:
//
//	freeze under load           TestManySessionsShareFewSlotsInOrder, TestCase13NothingLeaks
//	cancel behind a stdout      TestCase06CancelEndsTheWholeTree, TestCase04GrandchildHoldsStdout
//	lost acknowledged input     TestCase118KilledServerLosesAndRepeatsNothing, TestStopLetsRunningTurnsFinishAndKeepsTheQueue
//	CLIs that outlive           TestKilledServerLeavesNoProcess, TestStoppedServerLosesItsTrees, TestCase66StopEndsEveryStreamWithinOneGrace
//	lost long lines             TestCase20LongLineInMemory, TestCase72DataLinesAreBounded
//	dropped replay events       TestCase68ReadersJoinAtRandom, TestManyReadersOfALongTurnSeeTheSameBytes
//	start order                 TestManySessionsShareFewSlotsInOrder
//	half-open requests          TestHalfRequestsLeaveNothing, TestCase96SlowSenders, TestManyConnectionsAreHeld

// turnsOf asks for n turns one after another on one wire, each answered in time. Every
// tenth goes on in a session of its own kind, so that sessions are both many and long.
func turnsOf(r *rig, wire, name string, n int) error {
	const patience = 30 * time.Second
	adapter := []string{"codex", "claude-code"}[len(name)%2]
	previous := ""
	for i := range n {
		said := fmt.Sprintf("%s %d", name, i)
		start := time.Now()
		switch wire {
		case "responses":
			body := map[string]any{"model": adapter, "input": "[[say: " + said + "]]"}
			if i%10 != 0 {
				body["previous_response_id"] = previous
			}
			a := r.http.do("POST", "/v1/responses", body)
			if a.status != 200 || a.str("status") != "completed" || outputText(a) != said {
				return fmt.Errorf("%s: %d %s", said, a.status, clip(a.body))
			}
			previous = a.str("id")
		case "agents":
			if i%10 == 0 {
				previous = r.http.do("POST", "/v1/agents/sessions", map[string]any{"agent": map[string]any{"model": adapter}}).str("id")
			}
			if a := r.http.say(previous, "[[say: "+said+"]]"); a.status != 202 {
				return fmt.Errorf("%s: %d %s", said, a.status, clip(a.body))
			}
			stream := r.http.do("GET", "/v1/agents/sessions/"+previous+"/events?after=0&close_on_idle=true", nil)
			if stream.status != 200 || bytes.Count(stream.body, []byte("event: "+turnEvent+"completed\n")) != i%10+1 || !bytes.Contains(stream.body, []byte(said)) {
				return fmt.Errorf("%s: %d %s", said, stream.status, clip(stream.body))
			}
		}
		if took := time.Since(start); took > patience {
			return fmt.Errorf("%s took %s", said, took)
		}
	}
	return nil
}

// It froze for ever after tens of turns of one client.
func TestReferenceFaultFreezeUnderLoad(t *testing.T) {
	t.Parallel()
	sequential, clients, each := 200, 8, 25
	if certifies() {
		sequential, each = 2000, 250
	}
	for _, wire := range []string{"responses", "agents"} {
		t.Run(wire, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if err := turnsOf(r, wire, "warm", 10); err != nil {
				t.Fatal(err)
			}
			r.Clean(time.Minute)
			base := r.Usage()
			start := time.Now()
			if err := turnsOf(r, wire, "one", sequential); err != nil {
				t.Error(err)
			}
			t.Logf("%d turns in a row: %.1f ms each", sequential, time.Since(start).Seconds()*1000/float64(sequential))
			start = time.Now()
			var wg sync.WaitGroup
			for c := range clients {
				wg.Go(func() {
					if err := turnsOf(r, wire, fmt.Sprintf("client%d%s", c, strings.Repeat("x", c%2)), each); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			t.Logf("%d x %d turns: %.1f ms each", clients, each, time.Since(start).Seconds()*1000/float64(clients*each))
			r.Clean(time.Minute)
			r.Back(base, 40, 90*time.Second) // sessions that are awake hold a goroutine or two
			if running := r.Metric("agenthost_turns_running"); running != 0 {
				t.Errorf("%v turns still run", running)
			}
			r.Stop()
		})
	}
}

// A cancel waited until the last holder of the CLI's stdout was gone.
func TestReferenceFaultCancelHeldUpByAChildsStdout(t *testing.T) {
	t.Parallel()
	s := newStage(t, grace("500ms", "500ms"))
	// The holder left the group and the session, and ignores everything.
	s.scene("held", "cat >/dev/null\n"+printed(codexThread, codexTurn, openCommand)+"setsid sh -c 'trap \"\" INT TERM HUP; while :; do sleep 1; done' &\nexec sleep 300\n")
	for way, cancel := range cancelWays {
		session := s.newSession(play{adapter: "codex", scene: "held"})
		events := s.http.events(session, "?after=0")
		s.http.say(session, "go")
		turn := turnIDs(events.waitKind(time.Minute, turnEvent+"created", 1))[0]
		events.waitKind(20*time.Second, turnEvent+"item.added", 2) // the command is open
		start := time.Now()
		if a := cancel(s.rig, session, turn); a.status/100 != 2 {
			t.Fatalf("%s: %d %s", way, a.status, a.body)
		}
		events.waitKind(time.Minute, turnEvent+"cancelled", 1)
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s: the cancel took %s", way, took)
		}
		s.cancelled(session, turn)
		s.Clean(time.Minute)
	}
	s.well()
	s.Stop()
}

// What was acknowledged was gone when the server was started again, whichever way it
// had ended.
func TestReferenceFaultAcknowledgedInputIsKept(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			const clients, soonest = 8, 60
			r := newRig(t, limit("max_concurrent_turns", 2), limit("drain_timeout", "200ms"), grace("300ms", "300ms"))
			var mu sync.Mutex
			acknowledged := map[string]string{} // session by tag
			enough := make(chan struct{})
			var wg sync.WaitGroup
			for c := range clients {
				session := r.http.session([]string{"codex", "claude-code"}[c%2])
				wg.Go(func() {
					for i := 0; ; i++ {
						tag := fmt.Sprintf("c%d-%d", c, i)
						a := r.http.say(session, directives(tag, "[[wait: 20]]", "[[say: done]]"))
						switch {
						case a.status == 202:
							mu.Lock()
							acknowledged[tag] = session
							if len(acknowledged) == soonest {
								close(enough)
							}
							mu.Unlock()
						case a.status == 429: // its queue is full
							r.http.do("GET", "/v1/agents/sessions/"+session, nil)
						default: // it is being stopped, or is gone
							return
						}
					}
				})
			}
			<-enough
			r.Signal(signal)
			<-r.Done()
			wg.Wait()
			r.Restart()
			for _, session := range acknowledged {
				r.http.idle(session, 90*time.Second)
			}
			for tag, n := range r.times() {
				if n > 1 {
					t.Errorf("%s ran %d times", tag, n)
				}
			}
			lost := 0
			for c := range clients {
				var session string
				said := 0
				for tag, id := range acknowledged {
					if strings.HasPrefix(tag, fmt.Sprintf("c%d-", c)) {
						session = id
						said++
					}
				}
				if said == 0 {
					continue
				}
				ids, _ := r.http.paged("/v1/agents/sessions/"+session+"/turns", "asc", 100)
				// One more may have been accepted whose answer was lost with the server.
				if len(ids) != said && len(ids) != said+1 {
					t.Errorf("%d inputs of client %d were acknowledged, the session has %d turns", said, c, len(ids))
				}
				whole := checkSession(t, r.http.replay(session).all())
				for i, end := range whole.ends() {
					if end != "completed" && end != "failed" {
						t.Errorf("turn %d of client %d ended %q", i, c, end)
					}
					if end == "failed" {
						lost++
					}
				}
			}
			if lost > 2 { // what ran in the two slots
				t.Errorf("%d turns failed, and two could run at once", lost)
			}
			t.Logf("%d inputs were acknowledged, %d turns failed", len(acknowledged), lost)
			r.Clean(time.Minute)
			r.Stop()
		})
	}
}

// It died at once at SIGTERM, and its CLIs lived on.
func TestReferenceFaultCLIsEndWithTheServer(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL, syscall.SIGQUIT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, limit("drain_timeout", "200ms"), grace("300ms", "300ms"), env("FAKE_MODE=escape,ignore-signals"))
			var tree []hostproc.Proc
			for _, adapter := range []string{"codex", "claude-code"} {
				r.http.say(r.http.session(adapter), directives(adapter, "[[shell: sleep 300]]"))
			}
			r.until(20*time.Second, "both shells run", func() bool {
				tree = r.Marked()
				n := 0
				for _, p := range tree {
					if strings.HasSuffix(p.Command, "sleep 300") {
						n++
					}
				}
				return n >= 2
			})
			r.Signal(signal)
			select {
			case <-r.Done():
			case <-time.After(hostproc.StopTimeout):
				t.Fatal("the server does not end")
			}
			r.until(promised, "nothing of the turns lives", func() bool {
				for _, p := range tree {
					if hostproc.Alive(p.Pid) {
						return false
					}
				}
				return len(r.Marked()) == 0
			})
		})
	}
}

// Started in the background of a script, it had SIGINT ignored and so had its CLIs:
// the first signals of a cancel did nothing.
func TestReferenceFaultSIGINTIgnoredAtTheStart(t *testing.T) {
	t.Parallel()
	s := newStage(t, grace("20s", "20s"), func(c *rigConfig) {
		c.Wrap = []string{"sh", "-c", `trap "" INT HUP QUIT USR1; exec "$@"`, "sh"}
	})
	s.scene("sleeps", "cat >/dev/null\n"+printed(codexThread, codexTurn, openCommand)+"exec sleep 300\n")
	session := s.newSession(play{adapter: "codex", scene: "sleeps"})
	events := s.http.events(session, "?after=0")
	s.http.say(session, "go")
	turn := turnIDs(events.waitKind(time.Minute, turnEvent+"created", 1))[0]
	events.waitKind(20*time.Second, turnEvent+"item.added", 2)
	for _, p := range s.Marked() {
		// GNU make leaves the C library's own two signals ignored in what it starts.
		if ignored := hostproc.Ignored(p.Pid) &^ (3 << 31); ignored != 0 {
			t.Errorf("%v ignores %x", p, ignored)
		}
	}
	start := time.Now()
	cancelWays["agents"](s.rig, session, turn)
	events.waitKind(time.Minute, turnEvent+"cancelled", 1)
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("the cancel took %s: SIGINT did nothing", took)
	}
	s.cancelled(session, turn)
	s.well()
	// And the server itself hears it.
	s.Signal(syscall.SIGINT)
	s.Ended(hostproc.StopTimeout)
}

// Lines above 4 MiB were cut: the text was lost and the turn completed.
func TestReferenceFaultLongLinesAreWhole(t *testing.T) {
	t.Parallel()
	const size = 6 << 20
	s := newStage(t, limit("journal_max_bytes", "256MiB"))
	s.scene("long", "cat >/dev/null\n"+printed(codexThread, codexTurn)+
		fmt.Sprintf(`printf '{"type":"item.completed","item":{"id":"m","type":"agent_message","text":"'; head -c %d /dev/zero | tr '\0' w; printf '"}}\n'`, size)+
		"\n"+printed(strings.ReplaceAll(codexSays(" the end"), "item_0", "item_1"), codexDone))
	for _, way := range ways {
		e := way.ask(s, play{adapter: "codex", scene: "long"})
		e.is(t, "completed", "", 0)
		if text := strings.Join(e.texts, ""); len(text) != size+len(" the end") || strings.Trim(text, "w") != " the end" {
			t.Errorf("%s: %d bytes of text, not %d; the end is %q", e.way, len(text), size, text[max(0, len(text)-20):])
		}
	}
	s.well()
	s.Stop()
}

// A replay from behind the last 20,000 events began later than it was asked to, and
// did not say so.
func TestReferenceFaultReplaysAreWhole(t *testing.T) {
	t.Parallel()
	const events = 30_000
	r := newRig(t)
	session := r.http.session("claude-code")
	r.http.say(session, fmt.Sprintf("[[events: %d 20 0 500]]", events))
	live := r.http.events(session, "?after=0&close_on_idle=true")
	live.waitKind(60*time.Second, turnEvent+"completed", 1)
	live.end(30 * time.Second)
	whole := r.http.replay(session)
	if !bytes.Equal(whole.content(), live.content()) {
		t.Errorf("the replay has %d bytes, the live stream had %d", len(whole.content()), len(live.content()))
	}
	all, frames := blocks(live.content()), live.all()
	if n := count(frames, turnEvent+"output_text.delta"); n < events {
		t.Errorf("%d deltas of %d", n, events)
	}
	for _, n := range []int{1, 10, events / 2, len(all) - 2} {
		s := r.http.events(session, "?close_on_idle=true&after="+frames[n].id())
		s.end(60 * time.Second)
		if want := append(bytes.Join(all[n+1:], nil), "\n\n"...); !bytes.Equal(s.content(), want) {
			t.Errorf("behind frame %d: %d bytes, not %d", n, len(s.content()), len(want))
		}
	}
	r.Clean(time.Minute)
	r.Stop()
}

// A turn's usage was the whole conversation's, which is what Codex tells.
func TestReferenceFaultUsageIsOfTheTurn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	total := func(in, cached, out, reasoning int) string {
		return fmt.Sprintf(`{"type":"turn.completed","usage":{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d,"reasoning_output_tokens":%d}}`, in, cached, out, reasoning)
	}
	s.scene("counts", `cat >/dev/null
case "$*" in *resume*) `+printed(codexThread, codexTurn, codexSays("two"), total(150, 60, 31, 9))+`;; *) `+printed(codexThread, codexTurn, codexSays("one"), total(100, 20, 10, 4))+`;; esac
`)
	session := s.newSession(play{adapter: "codex", scene: "counts"})
	want := []map[string]float64{
		{"input": 100, "cached": 20, "output": 10, "reasoning": 4},
		{"input": 50, "cached": 40, "output": 21, "reasoning": 5},
	}
	restarted := false
	for i := range 2 {
		e := s.agents(play{adapter: "codex", scene: "counts", session: session})
		e.is(t, "completed", "", 0)
		responses := s.http.ok("GET", "/v1/responses/resp_"+e.turn, nil).at("usage")
		for _, u := range []any{e.usage, responses} {
			got := map[string]float64{}
			got["input"], _ = at(u, "input_tokens").(float64)
			got["output"], _ = at(u, "output_tokens").(float64)
			got["cached"], _ = at(u, "input_tokens_details", "cached_tokens").(float64)
			got["reasoning"], _ = at(u, "output_tokens_details", "reasoning_tokens").(float64)
			if fmt.Sprint(got) != fmt.Sprint(want[i]) {
				t.Errorf("turn %d: %v, not %v", i+1, u, want[i])
			}
		}
		if !restarted {
			s.Restart() // what the first turn told is known after it
			restarted = true
		}
	}
	s.Stop()
}

// Which session started next was anyone's guess.
func TestReferenceFaultSessionsStartInOrder(t *testing.T) {
	t.Parallel()
	const sessions = 40
	r := newRig(t, limit("max_concurrent_turns", 1))
	var want []string
	first := r.http.session("codex")
	r.http.say(first, "tag:first [[wait: 1500]] [[say: done]]") // all others wait behind it
	for i := range sessions {
		tag := fmt.Sprintf("s%02d", i)
		if a := r.http.say(r.http.session([]string{"codex", "claude-code"}[i%2]), directives(tag, "[[say: done]]")); a.status != 202 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		want = append(want, tag)
	}
	r.until(60*time.Second, "all ran", func() bool { return len(r.times()) == sessions+1 })
	var got []string
	runs, _ := r.ran()
	for _, one := range runs[1:] {
		got = append(got, one.tag)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("accepted %v\nstarted  %v", want, got)
	}
	if n := atOnce(runs); n != 1 {
		t.Errorf("%d ran at once", n)
	}
	r.Clean(time.Minute)
	r.Stop()
}

// A name that an agent gave a file became headers of the answer.
func TestReferenceFaultFileNamesAreNoHeaders(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	evil := []string{
		`a\r\nSet-Cookie: evil=1\r\n\r\n<html>.txt`, `b\nX-Evil: 1.txt`, `c"; filename="d.txt`, `e\033]0;title\007.txt`, `f%%0d%%0aX-Evil: 1.txt`, `g\342\200\256txt.exe`, `h\377\376.txt`,
	}
	scene := "cat >/dev/null\nmkdir -p outputs\n"
	for _, name := range evil {
		scene += "n=$(printf '" + name + ".')\nprintf content >\"outputs/$n\"\n"
	}
	s.scene("names", scene+okCodex)
	session := s.newSession(play{adapter: "codex", scene: "names"})
	s.agents(play{adapter: "codex", scene: "names", session: session}).is(t, "completed", "ok", 0)
	path := "/v1/agents/sessions/" + session + "/artifacts"
	list := s.http.ok("GET", path+"?limit=100", nil)
	checkHeaders(t, "the list", list)
	published := list.list("data")
	if len(published) < len(evil)-2 { // names that are no text may be left out
		t.Errorf("%d of %d files are published: %s", len(published), len(evil), clip(list.body))
	}
	for _, one := range published {
		id, _ := at(one, "id").(string)
		// The answer as it is on the wire: its head ends where the content begins.
		text := s.http.tcp(raw("GET", path+"/"+id+"/content", ""))
		head, body, _ := strings.Cut(text, "\r\n\r\n")
		a := parsed(t, text, "GET")
		checkHeaders(t, id, a)
		if a.status != 200 || body != "content" || strings.Contains(head, "\nX-Evil") || strings.Contains(head, "\nSet-Cookie") || strings.Count(head, "Content-Disposition:") != 1 {
			t.Errorf("%q", text)
		}
		kind, params, err := mime.ParseMediaType(a.header.Get("Content-Disposition"))
		if err != nil || kind != "attachment" || params["filename"] == "" || strings.ContainsAny(params["filename"], "\r\n\x00/\\") {
			t.Errorf("%q: %s %v %v", a.header.Get("Content-Disposition"), kind, params, err)
		}
		for name := range a.header {
			if http.CanonicalHeaderKey(name) != name {
				t.Errorf("header %q", name)
			}
		}
	}
	s.well()
	s.Stop()
}

// A client that opened a request and said no more, or left with half an answer, held
// a thread for ever.
func TestReferenceFaultHalfOpenRequestsHoldNothing(t *testing.T) {
	t.Parallel()
	const clients = 100
	r := newRig(t)
	r.normalTurn()
	session := r.http.session("codex")
	before := r.Usage()
	var conns []net.Conn
	for i := range clients {
		c, err := net.Dial("tcp", strings.TrimPrefix(r.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		ask := []string{
			"", "GET", "GET /v1/models HTTP/1.1\r\nHost: t\r\n", "POST /v1/responses HTTP/1.1\r\nHost: t\r\nContent-Length: 500\r\n\r\n{\"model\"",
			raw("GET", "/v1/agents/sessions/"+session+"/events", ""), raw("POST", "/v1/responses", `{"model":"codex","input":"[[wait: 400]] [[say: late]]","stream":true}`),
		}[i%6]
		_, _ = c.Write([]byte(ask))
		if i%2 == 0 {
			_ = c.(*net.TCPConn).CloseWrite() // and reads nothing
		}
	}
	start := time.Now()
	r.normalTurn()
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("a turn beside them took %s", took)
	}
	for _, c := range conns {
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}
	r.Back(before, 20, 60*time.Second) // the sessions of the streams are awake for a minute
	r.Clean(time.Minute)
	r.Stop()
}
