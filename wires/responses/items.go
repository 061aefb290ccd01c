package responses

import (
	"regexp"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/call"
)

var plainID = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

type page struct {
	Object  string  `json:"object" enum:"list"`
	Data    []any   `json:"data"`
	FirstID *string `json:"first_id"`
	LastID  *string `json:"last_id"`
	HasMore bool    `json:"has_more"`
}

// Variants implements openapi.Variants.
func (page) Variants() map[string][]any {
	return map[string][]any{"data": {inputMessage{}, functionOutput{}, approvalResponse{}}}
}

// InputItems answers GET /responses/{response_id}/input_items: the messages that
// the response answers.
func (w *Wire) InputItems(c *call.Call) {
	_, t, _, err := w.find(c)
	if err != nil {
		c.Fail(err)
		return
	}
	p, after, err := c.Page()
	if err != nil {
		c.Fail(err)
		return
	}
	items := slices.Clone(t.Input.Items)
	if p.Desc {
		slices.Reverse(items)
	}
	if after != "" {
		id, ok := event.Parse(after, event.PrefixItem)
		at := slices.IndexFunc(items, func(it *event.Item) bool { return it.ID == id })
		if !ok || at < 0 {
			c.Fail(event.FailParam(event.InvalidRequest, "after", "after is not an item of this list"))
			return
		}
		items = items[at+1:]
	}
	out := page{Object: "list", Data: []any{}, HasMore: len(items) > p.Limit}
	for i, it := range items[:min(len(items), p.Limit)] {
		id := it.ID.With(event.PrefixItem)
		if out.LastID = &id; i == 0 {
			out.FirstID = &id
		}
		out.Data = append(out.Data, inputItem(it))
	}
	c.JSON(200, out)
}
