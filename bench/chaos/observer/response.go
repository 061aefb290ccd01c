package observer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/agenthost/agenthost/bench/chaos/evidence"
	"github.com/agenthost/agenthost/bench/chaos/schedule"
)

// response is an accepted input on the Responses wire.
type response struct{ tag, id string }

func decode(b []byte, into any) bool { return json.Unmarshal(b, into) == nil }

// ended says that a response object is of an ended one.
func ended(b []byte) bool {
	var o struct{ Status string }
	return decode(b, &o) && o.Status != "queued" && o.Status != "in_progress"
}

// respond sends an input and follows its stream, if it has one, beside the next.
func (s *session) respond(ctx context.Context, in *schedule.Input) {
	body := map[string]any{
		"model": s.plan.Adapter, "input": in.Prompt(s.nap), "conversation": "conv_" + strings.TrimPrefix(s.id, "agsess_"),
	}
	if !in.Stream {
		body["background"] = !in.Wait
		a, tries := s.insist(ctx, "POST", "/v1/responses", body, s.key(in.Tag))
		var o struct{ ID string }
		if a.ok() {
			decode(a.body, &o)
		}
		s.took(ctx, in, &a, tries, o.ID)
		return
	}
	body["stream"] = true
	accepted := make(chan struct{})
	s.streams.Go(func() {
		f := &follower{session: s, in: in, last: -1, told: accepted}
		f.run(ctx, body)
	})
	<-accepted
}

// took notes an accepted response and cancels it if that was planned.
func (s *session) took(ctx context.Context, in *schedule.Input, a *answer, tries int, id string) {
	if !s.told(in, a, tries, id) {
		return
	}
	s.answers = append(s.answers, &response{in.Tag, id})
	if in.Cancel > 0 {
		s.cancelLater(ctx, in, id)
	}
}

// follower reads a response's stream to its end, over whatever breaks it.
type follower struct {
	*session
	in    *schedule.Input
	id    string
	last  int64         // sequence number
	told  chan struct{} // closed when it is known whether the input was accepted
	known bool
	tries int
	over  bool
}

func (f *follower) run(ctx context.Context, body any) {
	defer f.tell(ctx, &answer{})
	for end := time.Now().Add(patience); !f.over; {
		method, path, b, key := "POST", "/v1/responses", body, f.key(f.in.Tag)
		if f.id != "" {
			method, path, b, key = "GET", "/v1/responses/"+f.id+"?stream=true", nil, ""
			if f.last >= 0 {
				path += fmt.Sprintf("&starting_after=%d", f.last)
			}
		}
		f.tries++
		resp, err := f.request(ctx, method, path, b, key)
		if err == nil {
			f.take(ctx, resp)
		}
		if f.over {
			return
		}
		if time.Now().After(end) {
			f.note(evidence.Record{What: evidence.Behind, Stream: f.in.Tag, Text: fmt.Sprintf("the stream of %s did not end; its last number was %d", f.id, f.last)})
			return
		}
		pause(ctx, retryWait)
	}
}

func (f *follower) tell(ctx context.Context, a *answer) {
	if !f.known {
		f.known = true
		f.took(ctx, f.in, a, f.tries, f.id)
		close(f.told)
	}
}

// take reads an answer, stream or refusal.
func (f *follower) take(ctx context.Context, resp *http.Response) {
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != 200 {
		b, err := io.ReadAll(resp.Body)
		a := &answer{resp.StatusCode, b}
		if err != nil || a.again() {
			return
		}
		f.over = true
		if f.id != "" {
			f.note(evidence.Record{What: evidence.Odd, Tag: f.in.Tag, Text: fmt.Sprintf("the response %s was accepted and its stream answers %d %s", f.id, a.status, clip(b))})
			return
		}
		f.tell(ctx, a)
		return
	}
	r := evidence.Record{What: evidence.Segment, Stream: f.in.Tag, Tag: f.in.Tag}
	if f.last >= 0 {
		r.After = fmt.Sprint(f.last)
	}
	r.File, r.Whole = f.store(f.in.Tag, resp.Body, nopace, func(frame *evidence.Frame) bool {
		if id := frame.Data.Response.ID; id != "" && f.id == "" {
			f.id = id
			f.tell(ctx, &answer{status: 200})
		}
		if n := frame.Data.Sequence; n != nil {
			f.last = *n
		}
		switch frame.Kind {
		case "response.completed", "response.failed", "response.incomplete", "response.cancelled":
			f.over = true
		}
		return true
	})
	f.note(r)
}

// replayResponses reads the streams of the session's responses once more, at rest.
func (s *session) replayResponses(ctx context.Context) {
	for _, r := range s.answers {
		s.whole(ctx, r.tag, "/v1/responses/"+r.id+"?stream=true")
	}
}

// whole reads a stream at rest to its end and gives its last frame.
func (s *session) whole(ctx context.Context, stream, path string) (last *evidence.Frame) {
	for over := time.Now().Add(patience); time.Now().Before(over); pause(ctx, retryWait) {
		limited, cancel := context.WithTimeout(ctx, patience)
		resp, err := s.request(limited, "GET", path, nil, "")
		if err != nil {
			cancel()
			continue
		}
		if resp.StatusCode != 200 {
			b, _ := io.ReadAll(resp.Body) // an unreadable answer has no text
			_ = resp.Body.Close()
			cancel()
			if a := (&answer{resp.StatusCode, b}); a.again() {
				continue
			}
			s.note(evidence.Record{What: evidence.Odd, Stream: stream, Text: fmt.Sprintf("GET %s: %d %s", path, resp.StatusCode, clip(b))})
			return nil
		}
		r := evidence.Record{What: evidence.Replay, Stream: stream}
		last = nil
		r.File, r.Whole = s.store(stream+"-replay", resp.Body, nopace, func(f *evidence.Frame) bool {
			last = f
			return true
		})
		_ = resp.Body.Close()
		cancel()
		if r.Whole {
			s.note(r)
			return last
		}
	}
	s.note(evidence.Record{What: evidence.Behind, Stream: stream, Text: "GET " + path + " could not be read to its end"})
	return nil
}

// replay reads the session at rest from its start and gives the id of its last event.
func (s *session) replay(ctx context.Context) string {
	if s.accepted.Load() == 0 && s.plan.Wire == schedule.Responses {
		return ""
	}
	if last := s.whole(ctx, s.plan.Name, s.path()+"/events?after=0&close_on_idle=true"); last != nil {
		return last.Data.EventID
	}
	return ""
}
