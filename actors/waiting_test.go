package actors_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/agenthost/agenthost/actors/store/sqlite"
)

// oneSlot are quick limits for one turn at a time.
func oneSlot() actors.Limits {
	l := quick()
	l.MaxConcurrentTurns = 1
	return l
}

func TestWaitingTurnGivesItsSlotBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t, oneSlot(), nil)
	v := d.visit("")
	said := v.call("weather", `{"city":"Oslo"}`)
	call := v.waiting(1)[0]
	if call.Type != event.FunctionCall || call.Tool != "weather" || call.Arguments != `{"city":"Oslo"}` {
		t.Errorf("asked %+v", call)
	}
	p := create(t, d.Host, "echo other; echo '#final'")
	follow(t, d.Host, p.Session.ID, 0, ended(p.Turns[0].ID)) // in the one slot
	eventually(t, "one waits and nothing runs", func() bool {
		s := d.Stats()
		return s.Parked == 1 && s.Running == 0
	})
	must(t, v.post(output(call, "rain")))
	said.is(t, "rain")
	if s := d.Stats(); s.Parked != 0 || s.Running != 1 {
		t.Errorf("going on: %+v", s)
	}
	if end := v.end(); end.Outcome != event.Completed {
		t.Errorf("%+v %v", end, end.Failure)
	}
	turn, err := d.Turn(ctx(t), "alice", v.turn)
	must(t, err)
	if len(turn.Legs) != 2 || len(turn.Answers) != 1 || turn.Answers[0].Item.Output != "rain" || len(turn.Legs[1].Input.Items) != 1 {
		t.Errorf("%d legs, answers %+v", len(turn.Legs), turn.Answers)
	}
	nothingLeft(t, d.Host, d.dir)
}

// A turn that is to go on waits for a slot like any other, in its place.
func TestAnsweredTurnWaitsForASlot(t *testing.T) {
	t.Parallel()
	d := newDesk(t, oneSlot(), nil)
	v := d.visit("")
	said := v.call("weather", `{}`)
	call := v.waiting(1)[0]
	gate := gateIn(t)
	p := create(t, d.Host, blocker(gate)+"; echo '#final'")
	follow(t, d.Host, p.Session.ID, 0, spoke(p.Turns[0].ID))
	later := create(t, d.Host, "echo '#final'")
	must(t, v.post(output(call, "rain")))
	eventually(t, "two wait for a slot", func() bool { return d.Stats().Waiting == 2 })
	if s := d.Stats(); s.Parked != 0 || s.Running != 1 {
		t.Errorf("%+v", s)
	}
	openGate(t, gate)
	said.is(t, "rain")
	if turn, err := d.Turn(ctx(t), "alice", later.Turns[0].ID); err != nil || turn.Started != 0 {
		t.Errorf("the younger turn went first: %+v, %v", turn, err)
	}
	v.end()
	follow(t, d.Host, later.Session.ID, 0, ended(later.Turns[0].ID))
	nothingLeft(t, d.Host, d.dir)
}

func TestWaitingProcessesAreBounded(t *testing.T) {
	t.Parallel()
	l := oneSlot()
	l.MaxWaitingProcesses = 1
	d := newDesk(t, l, nil)
	first := d.visit("")
	one := first.call("weather", `{}`)
	asked := first.waiting(1)[0]
	second := d.visit("")
	two := second.call("weather", `{}`)
	kept := second.asked(1)[0]
	p := create(t, d.Host, "echo '#final'")
	eventually(t, "it keeps its slot", func() bool {
		s := d.Stats()
		return s.Running == 1 && s.Waiting == 1 && s.Parked == 1
	})
	must(t, second.post(output(kept, "two")))
	two.is(t, "two")
	second.end()
	follow(t, d.Host, p.Session.ID, 0, ended(p.Turns[0].ID))
	must(t, first.post(output(asked, "one")))
	one.is(t, "one")
	first.end()
	nothingLeft(t, d.Host, d.dir)
	if s := d.Stats(); s.Parked != 0 {
		t.Errorf("%d are parked", s.Parked)
	}
}

// A caller who answers one after another is not held up by the turns that wait in
// their slots: one of them makes room for the turn that was answered.
func TestAnsweredTurnIsNotHeldUpByThoseThatWait(t *testing.T) {
	t.Parallel()
	l := oneSlot()
	l.MaxWaitingProcesses = 1
	d := newDesk(t, l, nil)
	first := d.visit("")
	one := first.call("weather", `{}`)
	asked := first.waiting(1)[0]
	second := d.visit("")
	two := second.call("weather", `{}`)
	kept := second.asked(1)[0]
	must(t, first.post(output(asked, "one")))
	one.is(t, "one")
	first.end()
	eventually(t, "the other has parked", func() bool {
		s := d.Stats()
		return s.Running == 0 && s.Parked == 1
	})
	must(t, second.post(output(kept, "two")))
	two.is(t, "two")
	second.end()
	nothingLeft(t, d.Host, d.dir)
	if s := d.Stats(); s.Parked != 0 || s.Running != 0 {
		t.Errorf("%+v", s)
	}
}

func TestCallerWhoSaysNothing(t *testing.T) {
	t.Parallel()
	l := quick()
	l.ToolResultTimeout = 30 * time.Millisecond
	d := newDesk(t, l, nil)
	v := d.visit("")
	said := v.call("weather", `{}`)
	said.is(t, "failed: tool_timeout: …")
	turn, err := d.Turn(ctx(t), "alice", v.turn)
	must(t, err)
	call := turn.Items[len(turn.Items)-1]
	if call.Status != event.ItemFailed || !strings.Contains(call.Error, "30ms") {
		t.Errorf("the call %+v", call)
	}
	refusedWith(t, v.post(output(call, "late")), event.CallAnsweredAlready)
	if end := v.end(); end.Outcome != event.Completed {
		t.Errorf("%+v %v", end, end.Failure)
	}
	refusedWith(t, v.post(output(call, "later")), event.CallAnsweredAlready)
}

func TestAnswersInPartsTwiceAndOfStrangers(t *testing.T) {
	t.Parallel()
	d := newDesk(t, quick(), nil)
	v := d.visit("")
	one, two := v.call("weather", `{"n":1}`), v.call("time", `{"n":2}`)
	asked := v.waiting(2)
	if asked[0].Tool == "time" {
		asked[0], asked[1] = asked[1], asked[0]
	}
	unknown := &event.Item{ID: event.ItemID(v.turn, 99)}
	refusedWith(t, v.post(output(unknown, "x")), event.CallUnknown)
	refusedWith(t, v.post(output(&event.Item{ID: event.NewID()}, "x")), event.CallUnknown)
	_, err := d.Post(ctx(t), "bob", v.session, []spec.Action{output(asked[0], "x")}, nil)
	_, none := d.Post(ctx(t), "bob", event.NewID(), []spec.Action{output(asked[0], "x")}, nil)
	if event.CodeOf(err) != event.SessionNotFound || event.CodeOf(none) != event.CodeOf(err) || err.Error() != none.Error() {
		t.Errorf("a foreign owner is told %v, of an unknown session %v", err, none)
	}
	other := create(t, d.Host, "")
	_, err = d.Post(ctx(t), "alice", other.Session.ID, []spec.Action{output(asked[0], "x")}, nil)
	refusedWith(t, err, event.CallUnknown)
	refusedWith(t, v.post(output(asked[0], "x"), spec.Action{Input: input("echo more")}), event.InvalidRequest)
	refusedWith(t, v.post(spec.Action{Cancel: true}, output(asked[0], "x")), event.InvalidRequest)
	refusedWith(t, v.post(output(asked[0], "x"), output(unknown, "x")), event.CallUnknown)
	refusedWith(t, v.post(output(asked[0], "x"), output(asked[0], "y")), event.CallAnsweredAlready)
	refusedWith(t, v.post(spec.Action{Answer: &spec.Answer{Item: asked[0].ID, Permission: true}}), event.InvalidRequest)
	legged := output(asked[0], "x")
	legged.Answer.Leg = &spec.Leg{}
	refusedWith(t, v.post(legged), event.InvalidRequest)
	if len(v.asked(2)) != 2 {
		t.Error("what was refused changed something")
	}

	key := &spec.Key{Value: "k", Hash: "h"}
	first, err := d.Post(ctx(t), "alice", v.session, []spec.Action{output(asked[0], "rain")}, key)
	must(t, err)
	again, err := d.Post(ctx(t), "alice", v.session, []spec.Action{output(asked[0], "rain")}, key)
	if err != nil || again.Before != first.Before || again.Session.Head != first.Session.Head {
		t.Errorf("the same key: %+v, %v", again, err)
	}
	_, err = d.Post(ctx(t), "alice", v.session, []spec.Action{output(asked[1], "noon")}, &spec.Key{Value: "k", Hash: "other"})
	refusedWith(t, err, event.IdempotencyMismatch)
	refusedWith(t, v.post(output(asked[0], "again")), event.CallAnsweredAlready)
	if still := v.asked(1); still[0].ID != asked[1].ID {
		t.Errorf("still asked: %+v", still)
	}
	failed := spec.Action{Answer: &spec.Answer{Item: asked[1].ID, Failed: true, Error: "no clock"}}
	must(t, v.post(failed))
	one.is(t, "rain")
	two.is(t, "failed: no clock")
	v.end()
	turn, err := d.Turn(ctx(t), "alice", v.turn)
	if err != nil || len(turn.Legs) != 2 || len(turn.Legs[1].Input.Items) != 2 {
		t.Errorf("the second leg does not have both answers: %+v, %v", turn.Legs, err)
	}
}

// A function is called with what the agent wrote or not at all.
func TestUnfitArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	l := quick()
	l.MaxItemBytes = 4096
	d := newDesk(t, l, nil)
	v := d.visit("")
	for args, why := range map[string]string{
		`[1]`: "object", `"x"`: "object", `5`: "object",
		`{"x":"` + strings.Repeat("x", 4096) + `"}`: "at most 4096",
	} {
		if got := <-v.call("weather", args); !strings.HasPrefix(got, "failed: ") || !strings.Contains(got, why) {
			t.Errorf("%.20s: the CLI is told %q", args, got)
		}
	}
	for args, want := range map[string]string{"null": "{}", ` {"x":1}`: `{"x":1}`} {
		said := v.call("weather", args)
		call := v.waiting(1)[0]
		if strings.TrimSpace(call.Arguments) != want {
			t.Errorf("%s: asked with %s", args, call.Arguments)
		}
		must(t, v.post(output(call, "rain")))
		said.is(t, "rain")
	}
	v.end()
}

// A CLI that gives its call up goes on by itself: the question is taken back.
func TestCallIsGivenUp(t *testing.T) {
	t.Parallel()
	d := newDesk(t, quick(), nil)
	v := d.visit("")
	c, leave := context.WithCancel(ctx(t))
	said := v.callWithin(c, "weather", `{}`)
	call := v.waiting(1)[0]
	leave()
	said.is(t, "error: …")
	v.asked(0)
	refusedWith(t, v.post(output(call, "late")), event.CallAnsweredAlready)
	if end := v.end(); end.Outcome != event.Completed {
		t.Errorf("%+v %v", end, end.Failure)
	}
	turn, err := d.Turn(ctx(t), "alice", v.turn)
	if err != nil || len(turn.Legs) != 2 || len(turn.Answers) != 0 {
		t.Errorf("%+v, %v", turn, err)
	}
}

func TestPermissionIsAskedFor(t *testing.T) {
	t.Parallel()
	var log syncBuffer
	d := newDesk(t, quick(), nil, actors.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	v := d.visit(spec.Ask)
	v.call("may_i", `{"Tool":7}`).is(t, "no: the host did not understand the question")
	v.call("may_i", `{"panic":1}`).is(t, "no: the host did not understand the question")
	for _, c := range []struct {
		answer spec.Answer
		want   string
	}{
		{spec.Answer{Approve: true}, "yes"}, {spec.Answer{}, "no: the caller denied it"}, {spec.Answer{Reason: "not today"}, "no: not today"},
	} {
		said := v.call("may_i", `{"Tool":"shell","Arguments":"{\"command\":\"ls\"}"}`)
		ask := v.waiting(1)[0]
		if ask.Type != event.Approval || ask.Server != "script" || ask.Tool != "shell" || ask.Arguments != `{"command":"ls"}` || ask.Text == "" {
			t.Errorf("asked %+v", ask)
		}
		refusedWith(t, v.post(output(ask, "yes")), event.InvalidRequest)
		c.answer.Item, c.answer.Permission = ask.ID, true
		must(t, v.post(spec.Action{Answer: &c.answer}))
		said.is(t, c.want)
	}
	v.call("may_i", `{"Tool":"shell"}`)
	ask := v.waiting(1)[0]
	must(t, v.post(spec.Action{Answer: &spec.Answer{Item: ask.ID, Permission: true, Cancel: true}}))
	if end := v.ended(); end.Outcome != event.Cancelled {
		t.Errorf("%+v", end)
	}
	if !strings.Contains(log.String(), "adapter panicked") {
		t.Errorf("log: %s", log.String())
	}
	nothingLeft(t, d.Host, d.dir)
}

func TestEndsOfAWaitingTurn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end     func(t *testing.T, v *visit)
		outcome event.Outcome
		code    event.Code
		told    string
	}{
		"cancel":          {func(t *testing.T, v *visit) { cancelSession(t, v.d.Host, v.session) }, event.Cancelled, "", "failed: the call was given up"},
		"the CLI is done": {func(t *testing.T, v *visit) { openGate(t, v.gate) }, event.Completed, "", "failed: the call was given up"},
		"the CLI is killed": {func(t *testing.T, v *visit) {
			openGate(t, v.gate+".kill")
			openGate(t, v.gate)
		}, event.Failed, event.CLICrashed, "failed: the call was given up"},
		"its actor crashes": {func(_ *testing.T, v *visit) { actors.CrashTurns(v.d.Host) }, event.Failed, event.ServerRestarted, "failed: the call was given up"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, oneSlot(), nil)
			v := d.visit("")
			said := v.call("weather", `{}`)
			call := v.waiting(1)[0]
			next := send(t, d.Host, v.session, "echo next; echo '#final'").ID
			if s, err := d.Session(ctx(t), "alice", v.session); err != nil || len(s.Required) != 1 || s.Open != 2 {
				t.Errorf("an input beside the question: %+v, %v", s, err)
			}
			c.end(t, v)
			end := v.ended()
			if end.Outcome != c.outcome || c.code != "" && (end.Failure == nil || end.Failure.Code != c.code) {
				t.Errorf("%+v %v", end, end.Failure)
			}
			said.is(t, c.told)
			refusedWith(t, v.post(output(call, "late")), event.CallAnsweredAlready)
			if got := judgeEnds(t, d.Host, v.session, ended(next)); got[next] != event.Completed {
				t.Errorf("the next turn: %v", got)
			}
			if q, err := d.Questions(ctx(t), ""); err != nil || len(q) != 0 {
				t.Errorf("still asked: %+v, %v", q, err)
			}
			eventually(t, "nothing is parked", func() bool { return d.Stats().Parked == 0 })
			nothingLeft(t, d.Host, d.dir)
		})
	}
}

func TestCrashedTurnAsksNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t, oneSlot(), nil)
	v := d.visit("")
	said := v.call("weather", `{}`)
	v.waiting(1)
	actors.CrashTurns(d.Host)
	said.is(t, "failed: the call was given up")
	v.ended()
	if q, err := d.Questions(ctx(t), ""); err != nil || len(q) != 0 {
		t.Errorf("still asked: %+v, %v", q, err)
	}
}

// The cancel of an input that waits behind the question leaves the question alone.
func TestCancelBehindAQuestion(t *testing.T) {
	t.Parallel()
	d := newDesk(t, oneSlot(), nil)
	v := d.visit("")
	said := v.call("weather", `{}`)
	call := v.waiting(1)[0]
	next := send(t, d.Host, v.session, "echo next").ID
	_, err := d.CancelTurn(ctx(t), "alice", next)
	must(t, err)
	follow(t, d.Host, v.session, 0, ended(next))
	if q, err := d.Questions(ctx(t), "alice"); err != nil || len(q) != 1 || q[0].Item.ID != call.ID {
		t.Errorf("asked: %+v, %v", q, err)
	}
	v.asked(1)
	must(t, v.post(output(call, "rain")))
	said.is(t, "rain")
	v.end()
}

func TestDeleteOfAWaitingSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t, oneSlot(), nil)
	v := d.visit("")
	said := v.call("weather", `{}`)
	v.waiting(1)
	must(t, d.DeleteSession(ctx(t), "alice", v.session))
	said.is(t, "failed: the call was given up")
	if q, err := d.Questions(ctx(t), ""); err != nil || len(q) != 0 {
		t.Errorf("still asked: %+v, %v", q, err)
	}
	nothingLeft(t, d.Host, d.dir)
	p := create(t, d.Host, "echo '#final'")
	follow(t, d.Host, p.Session.ID, 0, ended(p.Turns[0].ID))
}

// A drain does not wait for callers: what waits is ended once nothing runs.
func TestStopEndsWaitingTurns(t *testing.T) {
	t.Parallel()
	mem := memory.New()
	d := droppedDesk(t, t.TempDir(), oneSlot(), mem)
	v := d.visit("")
	said := v.call("weather", `{}`)
	v.waiting(1)
	sub, err := d.Subscribe(ctx(t), "alice", v.session, 0)
	must(t, err)
	defer sub.Close()
	c, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	must(t, d.Stop(c))
	if c.Err() != nil {
		t.Error("the drain waited for the caller")
	}
	said.is(t, "failed: the call was given up")
	list, _ := toEnd(t, sub)
	if end := outcome(t, list); end.Failure == nil || end.Failure.Code != event.ServerStopped {
		t.Errorf("%+v %v", end, end.Failure)
	}
}

func TestPassivationLeavesWaitingSessionsAlone(t *testing.T) {
	t.Parallel()
	l := quick()
	l.PassivateAfter = 10 * time.Millisecond
	d := newDesk(t, l, nil)
	v := d.visit("")
	said := v.call("weather", `{}`)
	call := v.waiting(1)[0]
	for range 3 { // these come and go meanwhile
		p := create(t, d.Host, "echo '#final'")
		follow(t, d.Host, p.Session.ID, 0, ended(p.Turns[0].ID))
		eventually(t, "only the waiting session is there", func() bool { return d.Stats().Active == 1 })
	}
	must(t, v.post(output(call, "rain")))
	said.is(t, "rain")
	v.end()
	eventually(t, "no session is there", func() bool { return d.Stats().Active == 0 })
}

func TestQuestionsOfAllSessions(t *testing.T) {
	t.Parallel()
	d := newDesk(t, quick(), nil)
	a, b := d.visit(""), d.visit(spec.Ask)
	one, two := a.call("weather", `{}`), b.call("may_i", `{"Tool":"shell"}`)
	a.waiting(1)
	b.waiting(1)
	for owner, n := range map[string]int{"alice": 2, "": 2, "bob": 0} {
		if q, err := d.Questions(ctx(t), owner); err != nil || len(q) != n {
			t.Errorf("of %q: %+v, %v", owner, q, err)
		}
	}
	q, err := d.Questions(ctx(t), "alice")
	must(t, err)
	for _, q := range q {
		if q.Owner != "alice" || q.Turn != map[event.ID]event.ID{a.session: a.turn, b.session: b.turn}[q.Session] {
			t.Errorf("%+v", q)
		}
		_, err := d.Post(ctx(t), "alice", q.Session, []spec.Action{{Answer: &spec.Answer{
			Item: q.Item.ID, Output: "rain", Permission: q.Item.Type == event.Approval, Approve: true,
		}}}, nil)
		must(t, err)
	}
	one.is(t, "rain")
	two.is(t, "yes")
	if q, err := d.Questions(ctx(t), ""); err != nil || len(q) != 0 {
		t.Errorf("still asked: %+v, %v", q, err)
	}
	a.end()
	b.end()
}

// The store refuses what a waiting turn does: the answer is refused, the question is
// taken back, and the session serves again.
func TestFullDiskUnderAQuestion(t *testing.T) {
	t.Parallel()
	st := &faulty{Store: memory.New()}
	d := newDesk(t, oneSlot(), st)
	v := d.visit("")
	said := v.call("weather", `{}`)
	v.call("time", `{}`)
	call := v.waiting(2)[0]
	st.refuse()
	refusedWith(t, v.post(output(call, "rain")), event.StorageFailed)
	eventually(t, "nothing is asked", func() bool {
		q, err := d.Questions(ctx(t), "")
		return err == nil && len(q) == 0
	})
	st.accept()
	if end := v.endedWith(event.StorageFailed); end.Outcome != event.Failed {
		t.Errorf("%+v", end)
	}
	<-said
	refusedWith(t, v.post(output(call, "late")), event.CallAnsweredAlready)
	p := create(t, d.Host, "echo '#final'")
	follow(t, d.Host, p.Session.ID, 0, ended(p.Turns[0].ID))
	eventually(t, "nothing is parked", func() bool { return d.Stats().Parked == 0 })
	nothingLeft(t, d.Host, d.dir)
}

// endedWith waits for the stored end of a turn whose session broke.
func (v *visit) endedWith(code event.Code) *event.End {
	t := v.d.t
	t.Helper()
	var end *event.End
	eventually(t, "the turn has ended", func() bool {
		turn, err := v.d.Turn(ctx(t), "alice", v.turn)
		if err != nil || !turn.Status.Ended() {
			return false
		}
		end = turn.End
		return true
	})
	if end.Failure == nil || end.Failure.Code != code {
		t.Errorf("%+v %v", end, end.Failure)
	}
	return end
}

// A session's actor crashes under a question: the call is let go, nothing is asked.
func TestSessionCrashesUnderAQuestion(t *testing.T) {
	t.Parallel()
	st := &faulty{Store: memory.New()}
	d := newDesk(t, oneSlot(), st)
	v := d.visit("")
	said := v.call("weather", `{}`)
	call := v.waiting(1)[0]
	st.panicking.Store(true)
	if err := v.post(output(call, "rain")); event.CodeOf(err) != event.ServerRestarted {
		t.Errorf("the answer: %v", err)
	}
	v.endedWith(event.ServerRestarted)
	<-said
	if q, err := d.Questions(ctx(t), ""); err != nil || len(q) != 0 {
		t.Errorf("still asked: %+v, %v", q, err)
	}
	eventually(t, "nothing is parked", func() bool { return d.Stats().Parked == 0 })
	nothingLeft(t, d.Host, d.dir)
}

// A server that is killed while a turn waits fails it at the next start.
func TestRestartUnderAQuestion(t *testing.T) {
	t.Parallel()
	mem := memory.New()
	d := droppedDesk(t, t.TempDir(), oneSlot(), mem)
	v := d.visit("")
	v.call("weather", `{}`)
	call := v.waiting(1)[0]
	again := droppedDesk(t, t.TempDir(), oneSlot(), mem.Reopen())
	t.Cleanup(func() { stop(t, again.Host) })
	old := v.d
	v.d = again
	v.endedWith(event.ServerRestarted)
	refusedWith(t, v.post(output(call, "late")), event.CallAnsweredAlready)
	turn, err := again.Turn(ctx(t), "alice", v.turn)
	if err != nil || turn.Items[len(turn.Items)-1].Status != event.Incomplete {
		t.Errorf("%+v, %v", turn, err)
	}
	c, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	_ = old.Stop(c)
}

// The token of a door is in no event, record or log, though its CLI says it.
func TestTokenOfTheDoorIsNowhere(t *testing.T) {
	t.Parallel()
	var log syncBuffer
	dir := t.TempDir()
	st, err := sqlite.Open(dir, sqlite.Options{})
	must(t, err)
	d := droppedDesk(t, dir, quick(), st, actors.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	gate := gateIn(t)
	p, err := d.CreateSession(ctx(t), "alice", &spec.NewSession{
		Agent: spec.Agent{Adapter: "script", Model: "script", Functions: []spec.Function{{Name: "weather"}}},
		Input: input("echo token $HOST_TOOLS_TOKEN; echo $HOST_TOOLS_TOKEN >&2; " + blocker(gate) + "; exit 3"),
	})
	must(t, err)
	v := &visit{d: d, session: p.Session.ID, turn: p.Turns[0].ID, gate: gate}
	v.enter()
	said := v.call("weather", `{}`)
	must(t, v.post(output(v.waiting(1)[0], "rain")))
	said.is(t, "rain")
	end := v.end()
	if end.Failure == nil || !strings.Contains(end.Failure.Message, "[redacted]") {
		t.Errorf("%+v %v", end, end.Failure)
	}
	stop(t, d.Host)
	if strings.Contains(log.String(), v.door.Token) {
		t.Error("the token is in the log")
	}
	must(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), v.door.Token) {
			t.Errorf("the token is in %s", path)
		}
		return err
	}))
}

// Of a turn that waited each response is removed by itself, and with the last of them
// the turn.
func TestALegIsForgottenByItself(t *testing.T) {
	t.Parallel()
	d := newDesk(t, oneSlot(), nil)
	v := d.visit("")
	said := v.call("weather", `{}`)
	must(t, v.post(output(v.waiting(1)[0], "rain")))
	said.is(t, "rain")
	second := event.LegID(v.turn, 1)
	forget := func(id event.ID) event.Code { return event.CodeOf(d.ForgetTurn(ctx(t), "alice", id)) }
	if code := forget(v.turn); code != event.ItemInUse {
		t.Errorf("the first leg of a turn that goes on: %q", code)
	}
	v.end()
	whole, err := d.Turn(ctx(t), "alice", v.turn)
	must(t, err)
	if code := forget(event.LegID(v.turn, 2)); code != event.TurnNotFound {
		t.Errorf("a leg that there is not: %q", code)
	}
	for _, want := range []event.Code{"", event.TurnNotFound} {
		if code := forget(second); code != want {
			t.Errorf("the second leg: %q", code)
		}
	}
	less, err := d.Turn(ctx(t), "alice", v.turn)
	must(t, err)
	first, ok := less.Part(0)
	later, _ := less.Part(1)
	if less.Forgotten || !ok || first.Forgotten || len(first.Items) == 0 || !later.Forgotten {
		t.Errorf("the turn is %+v", less)
	}
	items, _, err := d.TurnItems(ctx(t), "alice", whole.Session, v.turn, spec.Page{})
	must(t, err)
	was, _ := whole.Part(1)
	if len(items) == 0 || len(items) != len(whole.AllItems())-len(was.Items)-len(was.Input.Items) {
		t.Errorf("%d of %d items are listed", len(items), len(whole.AllItems()))
	}
	if code := forget(v.turn); code != "" {
		t.Errorf("the first leg: %q", code)
	}
	if gone, err := d.Turn(ctx(t), "alice", v.turn); err != nil || !gone.Forgotten {
		t.Errorf("%+v, %v", gone, err)
	}
}
