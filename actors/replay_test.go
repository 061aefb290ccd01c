package actors_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
	"pgregory.net/rapid"
)

// From any cursor the bytes that a live reader saw, the bytes from memory and
// the bytes from the store are the same, whatever ran, before and after trimming, but
// for the deltas of done items, which a small journal drops first; a trimmed cursor is refused and names one that works.
func TestRingBytesAreReplayBytes(t *testing.T) {
	t.Parallel()
	whole, small := restless(), restless()
	small.JournalMaxBytes = 2 << 10
	small.RingBytes = 8 << 10
	hosts := map[string]*actors.Host{"whole": started(t, whole, memory.New()), "small": started(t, small, memory.New())}
	evicted := 0
	rapid.Check(t, func(rt *rapid.T) {
		h := hosts[rapid.SampledFrom([]string{"whole", "small"}).Draw(rt, "host")]
		ses := create(t, h, "").Session.ID
		live, err := h.Subscribe(ctx(t), "alice", ses, 0)
		must(t, err)
		var seen bytes.Buffer
		first := &reader{sub: live, w: &seen}
		first.until(t, 1)
		for i := range rapid.IntRange(1, 4).Draw(rt, "turns") {
			lines := rapid.IntRange(0, 80).Draw(rt, "lines")
			prompt := fmt.Sprintf("i=0; while [ $i -lt %d ]; do i=$((i+1)); echo line $i of %d; done; %s", lines, i,
				rapid.SampledFrom([]string{"echo '#final'", "exit 3", "echo '#tool t'; echo '#tooldone t'; echo '#final'",
					"echo '#sub a'; echo '#sub b a'; echo '#of b deep'; echo '#subdone b a'; echo '#of a done'; echo '#subdone a'; echo '#final'"}).Draw(rt, "end"))
			turn := send(t, h, ses, prompt)
			follow(t, h, ses, turn.First-1, ended(turn.ID))
			first.until(t, headOf(t, h, ses)) // before a further turn trims it
		}
		head := headOf(t, h, ses)
		live.Close()
		starts := lineStarts(seen.Bytes())
		stride := 1 + head/24
		judge := func(where string) {
			for after := rapid.Int64Range(0, stride-1).Draw(rt, "cursor"); after < head; after += stride {
				got, err := bytesAfter(t, h, ses, after, head)
				for event.CodeOf(err) == event.CursorEvicted { // more than once only while it is being trimmed
					evicted++
					f, _ := event.AsFailure(err)
					var oldest int64
					if _, err := fmt.Sscanf(f.Oldest, "evt_%016d", &oldest); err != nil || oldest <= after || oldest > head {
						rt.Fatalf("%s: cursor %d: oldest kept is %q", where, after, f.Oldest)
					}
					after = oldest
					got, err = bytesAfter(t, h, ses, after, head)
				}
				if err != nil {
					rt.Fatalf("%s: cursor %d: %v", where, after, err)
				}
				want := seen.Bytes()[starts[after]:]
				if h == hosts["small"] { // deltas may be dropped, all else is the same
					got, want = withoutDeltas(got), withoutDeltas(want)
				}
				if !bytes.Equal(got, want) {
					rt.Fatalf("%s: after %d\n got %s\nwant %s", where, after, got, want)
				}
			}
		}
		judge("in memory")
		passivated(t, h)
		judge("from the store")
	})
	if evicted == 0 {
		t.Error("no cursor was ever trimmed away")
	}
}

// withoutDeltas are the lines less those of deltas, and of what stands for them.
func withoutDeltas(b []byte) []byte {
	var out []byte
	for line := range bytes.Lines(b) {
		if line[0] == '{' && !bytes.Contains(line, []byte(`"kind":"skipped"`)) { // a delta's begins with its number
			out = append(out, line...)
		}
	}
	return out
}

// lineStarts is where the lines behind event n begin. One line may stand for several
// events whose deltas were dropped.
func lineStarts(b []byte) []int {
	starts := []int{0}
	at := 0
	for line := range bytes.Lines(b) {
		var seq int
		if _, err := fmt.Sscanf(string(line), `{"Event":{"seq":%d`, &seq); err != nil {
			_, _ = fmt.Sscanf(string(line), "%d", &seq)
		}
		for len(starts) < seq {
			starts = append(starts, at)
		}
		at += len(line)
		starts = append(starts, at)
	}
	return starts
}

// What was forgotten is in no replay and in no list; who was reading sees it to
// the end.
func TestForgottenTurnShowsNoContent(t *testing.T) {
	t.Parallel()
	for name, ring := range map[string]int{"all in memory": 1 << 20, "nothing in memory": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forgotten(t, ring)
		})
	}
}

func forgotten(t *testing.T, ring int) {
	l := restless()
	l.RingBytes = ring
	h := started(t, l, memory.New())
	ses := create(t, h, "echo before").Session.ID
	send(t, h, ses, "echo keep-me")
	reading, err := h.Subscribe(ctx(t), "alice", ses, 0)
	must(t, err)
	defer reading.Close()
	in := input("echo answer-secret; echo '#tool command-secret'; echo '#tooldone command-secret'; echo '#sub a'; echo '#of a subagent-secret'; echo '#subdone a'; echo '#final'")
	in.Items[0].Text += "; # prompt-secret"
	in.Forget = true
	p, err := h.Post(ctx(t), "alice", ses, []spec.Action{{Input: in}}, nil)
	must(t, err)
	gone := p.Turns[0].ID
	later := send(t, h, ses, "echo later")
	follow(t, h, ses, 0, ended(later.ID))
	head := headOf(t, h, ses)

	var live bytes.Buffer
	(&reader{sub: reading, w: &live}).until(t, head)
	for _, word := range []string{"answer-secret", "command-secret", "subagent-secret", "prompt-secret", "keep-me", "later"} {
		if !strings.Contains(live.String(), word) {
			t.Errorf("who read along did not see %s", word)
		}
	}
	// The poster may come a moment after its turn's end, once.
	mine, err := bytesAfter(t, h, ses, p.Before, head)
	must(t, err)
	if !bytes.Contains(mine, []byte("answer-secret")) {
		t.Error("the poster was not shown its own answer")
	}
	judge := func(where string) {
		t.Helper()
		for _, after := range []int64{0, p.Before, p.Before + 3} {
			got, err := bytesAfter(t, h, ses, after, head)
			must(t, err)
			if bytes.Contains(got, []byte("-secret")) || !bytes.Contains(got, []byte("later")) || after == 0 && !bytes.Contains(got, []byte("keep-me")) {
				t.Errorf("%s, after %d: %s", where, after, got)
			}
		}
		turn, err := h.Turn(ctx(t), "alice", gone)
		if err != nil || !turn.Forgotten || len(turn.AllItems()) != 0 || turn.End.Usage.Total() != 8 {
			t.Errorf("%s: the turn's rest: %+v, %v", where, turn, err)
		}
		if subs, _, err := h.Subagents(ctx(t), "alice", ses, spec.Page{}); err != nil || len(subs) != 0 {
			t.Errorf("%s: %d subagents, %v", where, len(subs), err)
		}
		items, _, err := h.Items(ctx(t), "alice", ses, spec.Page{})
		if err != nil || len(items) != 6 {
			t.Errorf("%s: %d items, want those of three turns (%v)", where, len(items), err)
		}
	}
	judge("in memory")
	reading.Close()
	passivated(t, h)
	judge("from the store")
}

func TestForgetTurn(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	p := create(t, h, "echo done; echo '#final'")
	ses, over := p.Session.ID, p.Turns[0].ID
	follow(t, h, ses, 0, ended(over))
	must(t, h.ForgetTurn(ctx(t), "alice", over))
	if err := h.ForgetTurn(ctx(t), "alice", over); event.CodeOf(err) != event.TurnNotFound {
		t.Errorf("forgotten twice: %v", err)
	}
	running := send(t, h, ses, "echo on; sleep 300")
	follow(t, h, ses, 0, spoke(running.ID))
	queued := send(t, h, ses, "echo never")
	must(t, h.ForgetTurn(ctx(t), "alice", queued.ID))
	must(t, h.ForgetTurn(ctx(t), "alice", running.ID))
	for _, id := range []event.ID{over, running.ID, queued.ID} {
		turn, err := h.Turn(ctx(t), "alice", id)
		if err != nil || !turn.Forgotten || !turn.Status.Ended() || len(turn.AllItems()) != 0 {
			t.Errorf("%+v, %v", turn, err)
		}
	}
	if err := h.ForgetTurn(ctx(t), "bob", over); event.CodeOf(err) != event.TurnNotFound {
		t.Errorf("by another principal: %v", err)
	}
	idle(t, h, ses)
	next := send(t, h, ses, "echo next")
	follow(t, h, ses, next.First-1, ended(next.ID))
}
