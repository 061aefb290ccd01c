package responses

import (
	"context"
	"strconv"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/wires/call"
)

// param is the path value of a response's id.
const param = "response_id"

// Retrieve answers GET /responses/{response_id}, with stream=true as a stream of
// all frames, or of those after starting_after.
func (w *Wire) Retrieve(c *call.Call) {
	_, t, leg, err := w.find(c)
	if err != nil {
		c.Fail(err)
		return
	}
	streamed, err := wantsStream(c)
	if err != nil {
		c.Fail(err)
		return
	}
	if !streamed {
		c.Raw(200, encode(Of(t)))
		return
	}
	skip := int64(-1)
	if v, ok := c.Query("starting_after"); ok {
		if skip, err = strconv.ParseInt(v, 10, 32); err != nil || skip < 0 {
			c.Fail(event.FailParam(event.InvalidRequest, "starting_after", "starting_after must be a sequence number"))
			return
		}
	}
	w.stream(c, t, leg, skip, false)
}

// wantsStream reads stream from the query, or from a JSON body: the official Go SDK
// sends it there with a GET as well.
func wantsStream(c *call.Call) (bool, error) {
	if _, ok := c.Query("stream"); ok {
		return c.Flag("stream")
	}
	var body struct {
		Stream bool `json:"stream"`
	}
	_, err := c.DecodeOptional(&body)
	return body.Stream, err
}

// Cancel answers POST /responses/{response_id}/cancel: with the response as it
// ended, or as it stands when that takes long. An ended one stays as it is.
func (w *Wire) Cancel(c *call.Call) {
	turn, t, leg, err := w.find(c)
	if err != nil {
		c.Fail(err)
		return
	}
	// A response that asked its caller has ended, and its turn waits: that is what a
	// cancel of it ends.
	waits := turn.Status == fold.Waiting && int(leg) == len(turn.Legs)-1
	if !t.Status.Ended() || waits {
		now, err := w.engine.CancelTurn(c.Context(), c.Principal, turn.ID)
		if err != nil {
			c.Fail(hidden(err, "", c.Param(param)))
			return
		}
		if part, ok := now.Part(leg); ok {
			t = part
		}
		if !now.Status.Ended() {
			limit := time.NewTimer(w.opts.CancelWait)
			defer limit.Stop()
			// Being cancelled does not depend on being watched.
			if done, err := w.wait(c, turn, wholeTurn, fromNow, limit.C); err == nil {
				if part, ok := done.Part(leg); ok {
					t = part
				}
			}
		}
	}
	c.Raw(200, encode(Of(t)))
}

type deleted struct {
	ID      string `json:"id"`
	Object  string `json:"object" enum:"response"`
	Deleted bool   `json:"deleted"`
}

// Delete answers DELETE /responses/{response_id}: its items are removed on both wires,
// those of the other responses of its turn stay, the conversation goes on.
func (w *Wire) Delete(c *call.Call) {
	_, part, _, err := w.find(c)
	if err == nil {
		err = hidden(w.engine.ForgetTurn(c.Context(), c.Principal, part.ID), "", c.Param(param))
	}
	if err != nil {
		c.Fail(err)
		return
	}
	c.JSON(200, deleted{part.ID.With(event.PrefixResponse), "response", true})
}

// find is the turn that the path names, its leg as a turn of its own, and the leg's
// number. Unknown, foreign, malformed and forgotten ids are answered alike.
func (w *Wire) find(c *call.Call) (turn, part *fold.Turn, leg int32, err error) {
	id, ok := c.ID(param, event.PrefixResponse)
	if !ok {
		return nil, nil, 0, notFound("", c.Param(param))
	}
	turn, part, err = w.leg(c, id, w.engine.Turn)
	if err != nil {
		return nil, nil, 0, hidden(err, "", c.Param(param))
	}
	if gone(part) {
		return nil, nil, 0, notFound("", c.Param(param))
	}
	_, leg, _ = event.LegOf(id)
	return turn, part, leg, nil
}

// leg reads the turn of a response and the part of it that the response is.
func (w *Wire) leg(c *call.Call, id event.ID, read func(context.Context, string, event.ID) (*fold.Turn, error)) (turn, part *fold.Turn, err error) {
	of, number, ok := event.LegOf(id)
	if !ok {
		return nil, nil, event.Fail(event.TurnNotFound, "there is no such response")
	}
	turn, err = read(c.Context(), c.Principal, of)
	if err != nil {
		return nil, nil, err
	}
	if part, ok = turn.Part(number); !ok {
		return nil, nil, event.Fail(event.TurnNotFound, "there is no such response")
	}
	return turn, part, nil
}

// gone reports whether nobody may read the turn any more. The end of a response
// that is not stored takes it away; the event that says so follows.
func gone(t *fold.Turn) bool { return t.Forgotten || t.Input.Forget && t.Status.Ended() }

// hidden makes every kind of not found of the engine the same answer.
func hidden(err error, param, id string) error {
	switch event.CodeOf(err) {
	case event.NotFound, event.TurnNotFound, event.SessionNotFound:
		return notFound(param, id)
	}
	return err
}

func notFound(param, id string) error {
	what, code := "response", event.TurnNotFound
	if param == "conversation" {
		what, code = "conversation", event.SessionNotFound
	}
	if len(id) > 80 || !plainID.MatchString(id) {
		return event.FailParam(code, param, "there is no "+what+" with this id")
	}
	return event.FailParam(code, param, "there is no "+what+" with the id "+id)
}
