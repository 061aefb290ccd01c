package acceptance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// hashed reads a stream without keeping it: what a crowd of readers saw is
// compared by hash.
type hashed struct {
	resp *http.Response
	sum  hash.Hash
	n    int64
	tail []byte // the last bytes
	err  error  // nil for a proper end
}

func (c *caller) hashed(ctx context.Context, path string) (*hashed, error) {
	resp, err := c.request(ctx, "GET", path, nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != 200 {
		text, _ := io.ReadAll(resp.Body)
		return nil, fmt.Errorf("%s: %d %s", path, resp.StatusCode, text)
	}
	// The comment that opens a stream is not of its content.
	var ok [len(opening)]byte
	if _, err := io.ReadFull(resp.Body, ok[:]); err != nil || string(ok[:]) != opening {
		return nil, fmt.Errorf("%s begins with %q: %w", path, ok, err)
	}
	return &hashed{resp: resp, sum: sha256.New()}, nil
}

const opening = ": ok\n"

// read reads until stop says so of the last bytes, or the end.
func (h *hashed) read(stop func(tail []byte) bool) {
	defer func() { _ = h.resp.Body.Close() }()
	buf := make([]byte, 256<<10)
	for {
		n, err := h.resp.Body.Read(buf)
		h.add(buf[:n])
		if err != nil && err != io.EOF {
			h.err = err
		}
		if err != nil || stop(h.tail) {
			return
		}
	}
}

func (h *hashed) add(b []byte) {
	h.sum.Write(b)
	h.n += int64(len(b))
	b = b[max(0, len(b)-tailSize):]
	if n := len(h.tail) + len(b) - tailSize; n > 0 {
		h.tail = h.tail[:copy(h.tail, h.tail[n:])]
	}
	h.tail = append(h.tail, b...)
}

const tailSize = 16 << 10

func (h *hashed) String() string { return fmt.Sprintf("%d bytes, %x", h.n, h.sum.Sum(nil)[:8]) }

var idle = []byte("event: agent.session.idle\n")

func atIdle(tail []byte) bool {
	return bytes.Contains(tail, idle) && bytes.HasSuffix(tail, []byte("\n\n"))
}

func toEnd([]byte) bool { return false }

var (
	eventID  = regexp.MustCompile(`"event_id":"(evt_[0-9_]+)"`)
	sequence = regexp.MustCompile(`"sequence_number":([0-9]+)`)
)

// Half the readers are on each wire; of each half one reads nothing, is closed and
// comes back.
//
//cases:70
func TestManyReadersOfALongTurnSeeTheSameBytes(t *testing.T) {
	t.Parallel()
	const readers, deltas = 32, 100_000
	r := newRig(t, limit("journal_max_bytes", "512MiB"), limit("max_subscribers", readers),
		streamKey("write_timeout", "5s"), streamKey("heartbeat", "1h"))
	session := r.http.session("claude-code")
	// The readers come while a first turn keeps the long one waiting.
	r.http.say(session, "tag:first [[wait: 2000]] [[say: your turn]]")
	r.http.say(session, fmt.Sprintf("tag:long [[events: %d 40 0 100]]", deltas))
	turn, _ := at(r.http.turns(session), 1, "id").(string)
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()

	wires := []struct {
		name, path, back string
		stop             func([]byte) bool
		cursor           *regexp.Regexp
	}{
		{"agents", "/v1/agents/sessions/" + session + "/events?after=0", "/v1/agents/sessions/" + session + "/events?after=", atIdle, eventID},
		{"responses", "/v1/responses/" + responseID(turn) + "?stream=true", "/v1/responses/" + responseID(turn) + "?stream=true&starting_after=", toEnd, sequence},
	}
	all := make([][]*hashed, len(wires))
	var wg sync.WaitGroup
	for i, w := range wires {
		for range readers / len(wires) {
			h, err := r.http.hashed(ctx, w.path)
			if err != nil {
				t.Fatal(err)
			}
			all[i] = append(all[i], h)
		}
		for _, h := range all[i][1:] { // the first reads nothing yet
			wg.Go(func() { h.read(w.stop) })
		}
	}
	wg.Wait()
	r.until(time.Minute, "both that read nothing are closed", func() bool { return r.Metric("agenthost_streams_open") == 0 })
	if n := r.Metric(`agenthost_streams_lost_total{reason="slow"}`); int(n) != len(wires) {
		t.Errorf("%v readers were too slow", n)
	}
	for i, w := range wires {
		whole := all[i][1]
		if whole.n < deltas*100 || whole.err != nil {
			t.Errorf("%s: %s, %v", w.name, whole, whole.err)
		}
		for n, h := range all[i][2:] {
			if h.String() != whole.String() || h.err != nil {
				t.Errorf("%s: reader %d has %s (%v), another has %s", w.name, n+2, h, h.err, whole)
			}
		}
		// What the closed reader finds in its buffers, then the rest.
		late := all[i][0]
		got, _ := io.ReadAll(late.resp.Body) // cut off: an error is what it should be
		_ = late.resp.Body.Close()
		got = got[:bytes.LastIndex(got, []byte("\n\n"))+2]
		ids := w.cursor.FindAllSubmatch(got, -1)
		if len(ids) == 0 {
			t.Fatalf("%s: the closed reader got no frame: %q", w.name, clip(got))
		}
		if int64(len(got)) > whole.n/2 {
			t.Errorf("%s: the reader that read nothing got %d of %d bytes", w.name, len(got), whole.n)
		}
		rest, err := r.http.hashed(ctx, w.back+string(ids[len(ids)-1][1]))
		if err != nil {
			t.Fatal(err)
		}
		rest.add(got)
		rest.read(w.stop)
		if rest.String() != whole.String() || rest.err != nil {
			t.Errorf("%s: who came back has %s (%v), another has %s", w.name, rest, rest.err, whole)
		}
	}
	r.normalTurn()
	r.Stop()
}

// Case 68: readers join at random while events come.
//
//cases:68
func TestCase68ReadersJoinAtRandom(t *testing.T) {
	t.Parallel()
	const readers = 100
	r := newRig(t, limit("max_subscribers", readers+2), streamKey("heartbeat", "1h"))
	session := r.http.session("claude-code")
	watch := r.http.events(session, "?after=0")
	r.http.say(session, "tag:long [[events: 5000 40 2000]]")
	turn := turnIDs(watch.waitKind(time.Minute, turnEvent+"created", 1))[0]
	type reader struct {
		after string
		s     *stream
	}
	var agents, responses []reader
	random := rand.New(rand.NewPCG(1, 2))
	for i := range readers {
		// One after another, spread over the turn.
		frames := watch.waitKind(20*time.Second, turnEvent+"output_text.delta", i*40+1)
		if i%2 == 0 {
			after := frames[random.IntN(len(frames))].id()
			agents = append(agents, reader{after, r.http.events(session, "?after="+after)})
		} else {
			after := random.IntN(i*40 + 1)
			responses = append(responses, reader{itoa(after), r.http.response(responseID(turn), after)})
		}
	}
	watch.waitKind(30*time.Second, sessionEvent+"idle", 1)
	whole := watch.content()
	for _, one := range agents {
		one.s.waitKind(20*time.Second, sessionEvent+"idle", 1)
		_, want, ok := bytes.Cut(whole, []byte(`"event_id":"`+one.after+`"`))
		want = want[bytes.Index(want, []byte("\n\n"))+2:]
		if got := one.s.content(); !ok || !bytes.Equal(got, want) {
			t.Errorf("after=%s: %d bytes, want %d", one.after, len(got), len(want))
		}
	}
	full := r.http.response(responseID(turn), -1)
	full.end(20 * time.Second)
	checkResponse(t, full)
	all := blocks(full.content())
	for _, one := range responses {
		one.s.end(20 * time.Second)
		var n int
		_, _ = fmt.Sscan(one.after, &n)
		want := bytes.TrimSuffix(bytes.Join(all[n+1:], nil), []byte("\n\n"))
		if got := bytes.TrimSuffix(one.s.content(), []byte("\n\n")); !bytes.Equal(got, want) {
			t.Errorf("starting_after=%s: %d bytes, want %d", one.after, len(got), len(want))
		}
	}
	checkSession(t, watch.all())
}

// Case 58: a reader that reads nothing costs neither memory nor time. A turn's own
// text is held while it runs, so what counts is what the stalled reader adds.
//
//cases:58
func TestCase58StalledReaderIsDisconnected(t *testing.T) {
	t.Parallel()
	const size, most = 100 << 20, 100 << 20
	without, _ := bigTurn(t, size, false)
	with, r := bigTurn(t, size, true)
	t.Logf("100 MiB of deltas: RSS grows by %d MiB, with a stalled reader by %d MiB", without>>20, with>>20)
	if with-without > most {
		t.Errorf("the stalled reader costs %d MiB", (with-without)>>20)
	}
	r.normalTurn()
	r.Stop()
}

// bigTurn runs a turn of so much text with one reader, and maybe one that reads
// nothing, on a server of its own. It returns by how much its RSS grew.
func bigTurn(t *testing.T, size int64, stall bool) (growth int64, r *rig) {
	t.Helper()
	r = newRig(t, limit("journal_max_bytes", "512MiB"), limit("max_output_bytes", "1GiB"),
		streamKey("write_timeout", "2s"), streamKey("heartbeat", "1h"))
	session := r.http.session("claude-code")
	path := "/v1/agents/sessions/" + session + "/events?after=0"
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var stalled *hashed
	var err error
	if stall {
		if stalled, err = r.http.hashed(ctx, path); err != nil {
			t.Fatal(err)
		}
	}
	reading, err := r.http.hashed(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	base := r.RSS()
	r.ResetPeak()
	start := time.Now()
	r.http.say(session, fmt.Sprintf("tag:big [[events: %d 8192 0 4]]", size/8192))
	reading.read(atIdle)
	t.Logf("stalled %v: the turn took %s", stall, time.Since(start).Round(time.Millisecond))
	if reading.n < size || reading.err != nil {
		t.Errorf("the reader got %s, %v", reading, reading.err)
	}
	growth = r.PeakRSS() - base
	if stall {
		r.until(time.Minute, "the stalled reader is closed", func() bool {
			return r.Metric(`agenthost_streams_lost_total{reason="slow"}`) == 1
		})
		stalled.read(toEnd)
		if bytes.Contains(stalled.tail, idle) || stalled.n > size/2 {
			t.Errorf("the stalled reader got %s, which looks whole", stalled)
		}
	}
	if got := statuses(r.http.turns(session)); strings.Join(got, " ") != "completed" {
		t.Errorf("the turn is %v", got)
	}
	return growth, r
}

// Case 57: readers of an idle session that leave are noticed.
//
//cases:57
func TestCase57ReadersThatLeaveAreNoticed(t *testing.T) {
	t.Parallel()
	const readers = 50
	r := newRig(t, limit("max_subscribers", readers), streamKey("heartbeat", "1s"))
	session := r.http.session("codex")
	base := r.Usage()
	var streams []*stream
	for range readers {
		streams = append(streams, r.http.events(session, ""))
	}
	if n := r.Metric("agenthost_streams_open"); n != readers {
		t.Errorf("%v streams are open", n)
	}
	if a := r.http.do("GET", "/v1/agents/sessions/"+session+"/events", nil); a.status != 429 || a.header.Get("Retry-After") == "" {
		t.Errorf("one reader too many: %d %s", a.status, a.body)
	}
	for _, s := range streams {
		s.cancel()
	}
	r.until(time.Minute, "no stream is open", func() bool { return r.Metric("agenthost_streams_open") == 0 })
	r.Back(base, 5, 90*time.Second)
	r.Stop()
}

// Case 59: a client that goes away does not end its turn.
//
//cases:59
func TestCase59ClientThatLeavesDoesNotCancel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const prompt = "[[count: 3]] [[wait: 400]] [[say: to the end]]"
	s := r.http.open("POST", "/v1/responses", map[string]any{"model": "claude-code", "input": "tag:resp " + prompt, "stream": true})
	frames := s.waitKind(20*time.Second, "response.output_text.delta", 1)
	id, _ := at(frames[0].data(), "response", "id").(string)
	s.cancel()
	created := r.http.open("POST", "/v1/agents/sessions", map[string]any{
		"agent": map[string]any{"model": "claude-code"}, "input": "tag:sess " + prompt, "stream": true,
	})
	frames = created.waitKind(20*time.Second, turnEvent+"output_text.delta", 1)
	session, _ := at(frames[0].data(), "session", "id").(string)
	created.cancel()
	plain, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		resp, err := r.http.request(plain, "POST", "/v1/responses", map[string]any{"model": "claude-code", "input": "tag:plain " + prompt})
		if err == nil {
			_ = resp.Body.Close()
		}
	}()
	r.started("plain")
	cancel()
	<-gone
	r.until(20*time.Second, "the response is whole", func() bool {
		a := r.http.ok("GET", "/v1/responses/"+id, nil)
		return a.str("status") == "completed" && strings.HasSuffix(outputText(a), "to the end")
	})
	r.http.idle(session, 20*time.Second)
	if got := statuses(r.http.turns(session)); strings.Join(got, " ") != "completed" {
		t.Errorf("the session's turn is %v", got)
	}
	r.until(20*time.Second, "three turns are completed", func() bool { return r.Metric(`agenthost_turns_total{outcome="completed"}`) == 3 })
	r.Clean(time.Minute)
	r.Stop()
}

// Case 56: a heartbeat is one comment line with one newline, between events.
//
//cases:56
func TestCase56Heartbeat(t *testing.T) {
	t.Parallel()
	r := newRig(t, streamKey("heartbeat", "100ms"))
	session := r.http.session("codex")
	agents := r.http.events(session, "")
	r.http.say(session, "tag:quiet [[wait: 1000]] [[say: ok]]")
	agents.waitKind(20*time.Second, turnEvent+"created", 1)
	id, _ := at(r.http.turns(session), 0, "id").(string)
	response := r.http.response(responseID(id), -1)
	response.end(20 * time.Second)
	agents.waitKind(20*time.Second, sessionEvent+"idle", 1)
	checkResponse(t, response)
	checkSession(t, agents.all())
	for name, s := range map[string]*stream{"agents": agents, "responses": response} {
		raw := s.raw()
		pings := 0
		for line := range bytes.Lines(raw) {
			if line[0] == ':' {
				pings++
			}
			if line[0] == ':' && string(line) != ": ping\n" && pings > 1 {
				t.Errorf("%s: %q", name, line)
			}
		}
		if pings < 5 {
			t.Errorf("%s: %d heartbeats in a second", name, pings)
		}
		for _, bad := range []string{": ping\n\n", "\n\n\n", "\nid:", "\nretry:"} {
			if bytes.Contains(raw, []byte(bad)) {
				t.Errorf("%s: the stream has %q", name, bad)
			}
		}
	}
	r.Stop()
}

var stamp = regexp.MustCompile(`ts:([0-9]+)`)

// Case 61: events go out as they come.
//
//cases:61
func TestCase61EventsAreNotBatched(t *testing.T) {
	t.Parallel()
	const n = 20
	r := newRig(t)
	session := r.http.session("claude-code")
	s := r.http.events(session, "")
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no", "Content-Encoding": ""} {
		if got := s.header.Get(name); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	r.http.say(session, fmt.Sprintf("tag:paced [[events: %d 60 20]]", n))
	var late []time.Duration
	for i := range n {
		frames := s.waitKind(time.Minute, turnEvent+"output_text.delta", i+1)
		seen := 0
		for _, f := range frames {
			if f.kind() == turnEvent+"output_text.delta" {
				if seen == i {
					var at int64
					_, _ = fmt.Sscan(string(stamp.FindSubmatch(f.raw)[1]), &at)
					late = append(late, time.Since(time.Unix(0, at)))
				}
				seen++
			}
		}
	}
	inTime := 0
	for _, d := range late {
		if d < 50*time.Millisecond {
			inTime++
		}
	}
	// Other tests share the machine: a few may be late, a batch may not.
	if inTime < n*3/4 {
		t.Errorf("only %d of %d events arrived within 50 ms: %v", inTime, n, late)
	}
	r.Stop()
}

// Case 60: nothing ends a request or a stream only because it takes long.
//
//cases:60
func TestCase60LongSilence(t *testing.T) {
	t.Parallel()
	certify(t)
	const silence = 100 * time.Second
	r := newRig(t)
	prompt := fmt.Sprintf("[[wait: %d]] [[say: at last]]", silence.Milliseconds())
	session := r.http.session("codex")
	events := r.http.events(session, "")
	r.http.say(session, "tag:session "+prompt)
	streamed := r.http.open("POST", "/v1/responses", map[string]any{"model": "codex", "input": prompt, "stream": true})
	ctx, cancel := context.WithTimeout(context.Background(), 2*silence)
	defer cancel()
	resp, err := r.http.request(ctx, "POST", "/v1/responses", map[string]any{"model": "codex", "input": prompt})
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || !strings.Contains(string(text), "at last") {
		t.Errorf("not streamed: %v %s", err, clip(text))
	}
	streamed.end(silence)
	checkResponse(t, streamed)
	events.waitKind(silence, sessionEvent+"idle", 1)
	if got := strings.Join(checkSession(t, events.all()).ends(), " "); got != "completed" {
		t.Errorf("the session's turn ends %s", got)
	}
	r.Clean(time.Minute)
	r.Stop()
}
