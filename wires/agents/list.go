package agents

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/apierr"
	"github.com/agenthost/agenthost/wires/call"
)

// listObject is a page. SDKs turn it by the last element's id or by last_id.
type listObject struct {
	Object  string  `json:"object" enum:"list"`
	Data    []any   `json:"data"`
	FirstID *string `json:"first_id"`
	LastID  *string `json:"last_id"`
	HasMore bool    `json:"has_more"`
}

// page reads a list's paging; what after names must have one of prefixes.
func page(c *call.Call, prefixes ...string) (spec.Page, error) {
	p, after, err := c.Page()
	if err != nil || after == "" {
		return p, err
	}
	id, ok := event.Parse(after, prefixes...)
	if !ok || id.IsZero() { // the zero id would mean the beginning
		return p, noSuchPage()
	}
	p.After = id
	return p, nil
}

func noSuchPage() error {
	return event.FailParam(apierr.ListCursorNotFound, "after", "after names nothing in this list")
}

// answerList sends a page of what the engine gave. Of the engine's failures, that
// of the cursor is named as a list's.
func answerList[T any](c *call.Call, list []T, more bool, err error, object func(T) (id string, o any)) {
	if code := event.CodeOf(err); code == event.CursorNotFound || code == event.NotFound {
		err = noSuchPage()
	}
	if err != nil {
		c.Fail(err)
		return
	}
	out := &listObject{Object: "list", Data: make([]any, 0, len(list)), HasMore: more && len(list) > 0}
	for i, e := range list {
		id, o := object(e)
		if i == 0 {
			out.FirstID = &id
		}
		out.LastID = &id
		out.Data = append(out.Data, o)
	}
	c.JSON(200, out)
}

// deletedObject is the answer of a DELETE.
type deletedObject struct {
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
	Object  string `json:"object"`
}

// missing makes every way of naming nothing (unknown, foreign, malformed) the same
// answer; other errors stay.
func missing(err error, code event.Code, what, id string) error {
	if c := event.CodeOf(err); c != code && c != event.NotFound {
		return err
	}
	return notFound(code, what, id)
}

func notFound(code event.Code, what, id string) error {
	return event.FailParam(code, what+"_id", "there is no "+what+" "+clip(id))
}
