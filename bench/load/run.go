package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agenthost/agenthost/bench/drive"
	"github.com/agenthost/agenthost/bench/report"
)

// turn is one that a user asks for.
type turn struct {
	due                 time.Time
	fresh, cancel, poll bool
}

// name is the turn's kind.
func (t *turn) name() string {
	name := "follow-up"
	if t.fresh {
		name = "new session"
	}
	switch {
	case t.cancel:
		return name + ", cancelled"
	case t.poll:
		return name + ", polled"
	}
	return name + ", streamed"
}

// player is one run. Run owns its goroutines.
type player struct {
	Options
	wire  drive.Wire
	tally *tally
	busy  atomic.Int64
	late  atomic.Int64
}

// Run plays until the duration is over and the turns that were due have ended, or ctx
// ends. The error says what kept it from playing at all; what turns met is in the result.
func Run(ctx context.Context, o Options) (*report.Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	p := &player{Options: o, tally: newTally(), wire: drive.Agents(o.Target, o.Token, o.Model)}
	if o.Wire == "responses" {
		p.wire = drive.Responses(o.Target, o.Token, o.Model)
	}
	if _, err := p.wire.Session(ctx); err != nil { // a wrong address or token is not worth a report
		return nil, fmt.Errorf("no session at %s: %w", o.Target, err)
	}
	r := &report.Result{Schema: report.Schema, Started: time.Now().UTC(), Profile: "load", Settings: p.settings()}
	p.tally.began = time.Now()
	end := p.shown()
	if o.Rate > 0 {
		p.scheduled(ctx)
	} else {
		p.answered(ctx)
	}
	end()
	p.tally.into(r, o.Wire)
	return r, nil
}

func (p *player) settings() map[string]string {
	s := map[string]string{
		"target": p.Target, "model": p.Model, "sessions": fmt.Sprint(p.Sessions), "duration": p.Duration.String(),
		"shares": fmt.Sprintf("new %v, cancel %v, poll %v", p.New, p.Cancel, p.Poll), "Retry-After": "not honoured",
	}
	if p.Retry {
		s["Retry-After"] = "honoured"
	}
	if p.Rate > 0 {
		s["loop"] = fmt.Sprintf("open: %v turns/s; wait counts from when a turn was due", p.Rate)
	} else {
		s["loop"] = fmt.Sprintf("closed: the next turn %s after an answer; wait counts from the request", p.Think)
	}
	return s
}

// shown tells how it goes until the returned function is called.
func (p *player) shown() func() {
	if p.Show == nil || p.Every <= 0 {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(p.Every)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				now := p.tally.progress()
				now.Busy, now.Late = int(p.busy.Load()), int(p.late.Load())
				p.Show(now)
			}
		}
	}()
	return func() { close(quit); <-done }
}

// roll decides what a turn is.
func (p *player) roll(dice *rand.Rand) *turn {
	t := &turn{fresh: dice.Float64() < p.New, cancel: dice.Float64() < p.Cancel, poll: dice.Float64() < p.Poll}
	return t
}

// answered is the closed loop.
func (p *player) answered(ctx context.Context) {
	over := time.Now().Add(p.Duration)
	var users sync.WaitGroup
	for i := range p.Sessions {
		users.Go(func() {
			dice := rand.New(rand.NewPCG(p.Seed, uint64(i)))
			var ses drive.Session
			for ctx.Err() == nil && time.Now().Before(over) {
				t := p.roll(dice)
				t.due = time.Now()
				ses = p.play(ctx, t, ses)
				pause(ctx, p.Think)
			}
		})
	}
	users.Wait()
}

// scheduled is the open loop: a turn that is due takes a session that is free, and waits
// for one, which counts.
func (p *player) scheduled(ctx context.Context) {
	began := time.Now()
	n := int(p.Rate * p.Duration.Seconds())
	due := make(chan *turn, n) // so that the clock never waits for the host
	var users sync.WaitGroup
	for range p.Sessions {
		users.Go(func() {
			var ses drive.Session
			for t := range due {
				p.late.Add(-1)
				if ctx.Err() != nil {
					return
				}
				ses = p.play(ctx, t, ses)
			}
		})
	}
	dice := rand.New(rand.NewPCG(p.Seed, 0))
	for i := range n {
		t := p.roll(dice)
		t.due = began.Add(time.Duration(float64(i) / p.Rate * float64(time.Second)))
		if pause(ctx, time.Until(t.due)); ctx.Err() != nil {
			break
		}
		p.late.Add(1)
		due <- t
	}
	close(due)
	users.Wait()
}

// play plays a turn, in ses unless there is none yet or the turn wants a new one, and
// returns the session for the next. One whose turn went wrong is not used again: what the
// host still does in it would be met by the next.
func (p *player) play(ctx context.Context, t *turn, ses drive.Session) drive.Session {
	p.busy.Add(1)
	defer p.busy.Add(-1)
	t.fresh = t.fresh || ses == nil
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	for {
		sight := drive.Sight{}
		used, err := p.try(ctx, t, ses, &sight)
		var no *drive.Refused
		if p.Retry && errors.As(err, &no) && no.RetryAfter > 0 && ctx.Err() == nil {
			p.tally.again()
			if pause(ctx, no.RetryAfter); ctx.Err() == nil {
				continue
			}
		}
		p.tally.ended(t.name(), t.due, begun, sight.FirstFrame, code(ctx, err))
		if err != nil {
			return nil
		}
		return used
	}
}

func (p *player) try(ctx context.Context, t *turn, ses drive.Session, sight *drive.Sight) (drive.Session, error) {
	if t.fresh {
		var err error
		if ses, err = p.wire.Session(ctx); err != nil {
			return nil, err
		}
	}
	if !t.cancel && !t.poll {
		return ses, ses.Turn(ctx, p.Prompt, sight)
	}
	if err := ses.Send(ctx, p.Prompt); err != nil {
		return nil, err
	}
	if t.cancel {
		pause(ctx, p.CancelAfter)
		if err := ses.Cancel(ctx); err != nil {
			return nil, err
		}
	}
	end, err := p.await(ctx, ses)
	switch {
	case err != nil:
		return nil, err
	case end == "completed", end == "cancelled" && t.cancel: // a cancel may come too late
		return ses, nil
	}
	return nil, drive.NotCompleted(end)
}

// await asks for a turn until it has ended.
func (p *player) await(ctx context.Context, ses drive.Session) (string, error) {
	for every := 20 * time.Millisecond; ; every = min(every*3/2, 500*time.Millisecond) {
		end, err := ses.Ended(ctx)
		if err != nil || end != "" {
			return end, err
		}
		if pause(ctx, every); ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// code is what an error is counted as.
func code(ctx context.Context, err error) string {
	var no *drive.Refused
	var end drive.NotCompleted
	switch {
	case err == nil:
		return ""
	case errors.As(err, &no) && no.Code != "":
		return fmt.Sprintf("%d %s", no.Status, no.Code)
	case errors.As(err, &no):
		return fmt.Sprint(no.Status)
	case errors.As(err, &end):
		return "turn " + string(end)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "timeout"
	case ctx.Err() != nil:
		return "interrupted"
	}
	return "connection"
}
