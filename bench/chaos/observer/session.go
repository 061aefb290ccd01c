package observer

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agenthost/agenthost/bench/chaos/evidence"
	"github.com/agenthost/agenthost/bench/chaos/schedule"
)

// session plays one session of the schedule.
type session struct {
	*observer
	plan     *schedule.Session
	nap      string
	cycle    int
	id       string // agsess_
	accepted atomic.Int64
	deleted  bool
	streams  sync.WaitGroup // of responses
	answers  []*response    // that were accepted, on the Responses wire
}

func (s *session) note(r evidence.Record) {
	r.Cycle, r.Session = s.cycle, s.plan.Name
	s.log.Add(r)
}

// key is the Idempotency-Key of a request; a run's state directory is its own.
func (s *session) key(what string) string { return s.plan.Name + "-" + what }

func (s *session) path() string { return "/v1/agents/sessions/" + s.id }

// play makes the session, sends its inputs and waits until all has come to rest.
func (s *session) play(ctx context.Context) {
	if err := s.make(ctx); err != nil {
		s.note(evidence.Record{What: evidence.Odd, Text: err.Error()})
		return
	}
	reading, leave := context.WithCancel(ctx)
	defer leave()
	var readers sync.WaitGroup
	var list []*reader
	for i, plan := range s.plan.Readers {
		r := &reader{session: s, plan: plan, name: fmt.Sprintf("%sr%d", s.plan.Name, i), seen: make(chan struct{}, 1)}
		list = append(list, r)
		readers.Go(func() { r.run(reading) })
	}
	for i := range s.plan.Inputs {
		in := &s.plan.Inputs[i]
		pause(ctx, in.After)
		s.input(ctx, in)
	}
	if d := s.plan.Delete; d > 0 {
		pause(ctx, d)
		s.delete(ctx)
	} else {
		s.rest(ctx)
	}
	s.streams.Wait()
	if s.deleted {
		waitFor(&readers, catchUp) // their streams end
	} else if last := s.replay(ctx); last != "" {
		for _, r := range list {
			r.reach(ctx, last)
		}
		s.replayResponses(ctx)
	}
	leave()
	readers.Wait()
}

// waitFor waits for a group, but not for ever.
func waitFor(g *sync.WaitGroup, limit time.Duration) {
	done := make(chan struct{})
	go func() {
		g.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(limit):
	}
}

func (s *session) make(ctx context.Context) error {
	var o struct{ ID string }
	var err error
	if s.plan.Wire == schedule.Agents {
		err = s.object(ctx, "POST", "/v1/agents/sessions", map[string]any{"agent": map[string]any{"model": s.plan.Adapter}}, s.key("made"), &o)
	} else {
		err = s.object(ctx, "POST", "/v1/conversations", map[string]any{}, s.key("made"), &o)
	}
	if err != nil {
		return err
	}
	_, hex, _ := strings.Cut(o.ID, "_")
	s.id = "agsess_" + hex
	s.note(evidence.Record{What: evidence.Made, ID: s.id})
	return nil
}

// input sends one input and says what became of it.
func (s *session) input(ctx context.Context, in *schedule.Input) {
	if s.plan.Wire == schedule.Responses {
		s.respond(ctx, in)
		return
	}
	body := map[string]any{"events": []any{map[string]any{"type": "agent.session.input.message", "input": []any{map[string]any{
		"role": "user", "content": []any{map[string]any{"type": "input_text", "text": in.Prompt(s.nap)}},
	}}}}}
	a, tries := s.insist(ctx, "POST", s.path()+"/events", body, s.key(in.Tag))
	if !s.told(in, &a, tries, "") || in.Cancel == 0 {
		return
	}
	turn, err := s.newest(ctx)
	if err != nil {
		s.note(evidence.Record{What: evidence.Odd, Tag: in.Tag, Text: err.Error()})
		return
	}
	s.cancelLater(ctx, in, turn)
}

// told notes whether an input was accepted.
func (s *session) told(in *schedule.Input, a *answer, tries int, id string) bool {
	r := evidence.Record{Tag: in.Tag, Status: a.status, Tries: tries, ID: id}
	switch {
	case a.ok():
		r.What = evidence.Accepted
		s.accepted.Add(1)
	case a.again():
		r.What, r.Text = evidence.Unknown, clip(a.body)
	default:
		r.What, r.Text = evidence.Refused, clip(a.body)
	}
	s.note(r)
	return a.ok()
}

// newest is the id of the session's last turn.
func (s *session) newest(ctx context.Context) (string, error) {
	var list struct{ Data []struct{ ID string } }
	if err := s.object(ctx, "GET", s.path()+"/turns?limit=1", nil, "", &list); err != nil {
		return "", err
	}
	if len(list.Data) == 0 {
		return "", fmt.Errorf("session %s has no turn after one was accepted", s.id)
	}
	return list.Data[0].ID, nil
}

// cancelLater cancels a turn until it has ended, in a goroutine that ends with it.
func (s *session) cancelLater(ctx context.Context, in *schedule.Input, turn string) {
	_, hex, _ := strings.Cut(turn, "_")
	s.streams.Go(func() {
		pause(ctx, in.Cancel)
		if s.plan.Wire == schedule.Agents { // this ends the turn that runs, which may be an earlier one
			s.insist(ctx, "POST", s.path()+"/events", map[string]any{"events": []any{map[string]any{"type": "agent.session.input.cancel"}}}, s.key(in.Tag+"-cancel"))
			pause(ctx, retryWait)
		}
		for over := time.Now().Add(patience); time.Now().Before(over); {
			a, _ := s.insist(ctx, "POST", "/v1/responses/resp_"+hex+"/cancel", nil, "")
			if a.status == 404 || a.ok() && ended(a.body) {
				return
			}
			pause(ctx, retryWait)
		}
		s.note(evidence.Record{What: evidence.Stuck, Tag: in.Tag, Text: "the turn did not end after it was cancelled"})
	})
}

// rest waits until nothing of the session is queued or runs.
func (s *session) rest(ctx context.Context) {
	var status string
	for over := time.Now().Add(patience); time.Now().Before(over); {
		a, _ := s.insist(ctx, "GET", s.path(), nil, "")
		if a.status == 404 && s.accepted.Load() == 0 {
			return // a conversation to which nothing was said
		}
		var o struct{ Status string }
		if a.ok() && decode(a.body, &o) && o.Status == "idle" {
			return
		}
		status = fmt.Sprintf("%d %s", a.status, clip(a.body))
		pause(ctx, retryWait)
	}
	s.note(evidence.Record{What: evidence.Stuck, Text: "the session does not come to rest: " + status})
}

func (s *session) delete(ctx context.Context) {
	a, tries := s.insist(ctx, "DELETE", s.path(), nil, "")
	s.deleted = true
	s.note(evidence.Record{What: evidence.Deleted, Status: a.status, Tries: tries})
	if !a.ok() && (a.status != 404 || tries == 1) {
		s.note(evidence.Record{What: evidence.Odd, Text: fmt.Sprintf("DELETE was answered %d %s", a.status, clip(a.body))})
		return
	}
	if a, _ := s.insist(ctx, "GET", s.path(), nil, ""); a.status != 404 {
		s.note(evidence.Record{What: evidence.Odd, Text: fmt.Sprintf("a deleted session answers %d %s", a.status, clip(a.body))})
	}
}
