package responses

import (
	stdjson "encoding/json"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/openapi"
)

const itemParam = "item_id"

// maxPage bounds a page of items in bytes; one with fewer items than asked for says
// has_more.
const maxPage = 8 << 20

type itemsPage struct {
	Object  string               `json:"object" enum:"list"`
	Data    []stdjson.RawMessage `json:"data"`
	FirstID *string              `json:"first_id"`
	LastID  *string              `json:"last_id"`
	HasMore bool                 `json:"has_more"`
}

// Variants implements openapi.Variants.
func (itemsPage) Variants() map[string][]any { return map[string][]any{"data": conversationItems()} }

// postedPage is what was posted: never nothing.
type postedPage struct {
	Object  string               `json:"object" enum:"list"`
	Data    []stdjson.RawMessage `json:"data"`
	FirstID string               `json:"first_id"`
	LastID  string               `json:"last_id"`
	HasMore bool                 `json:"has_more"`
}

// Variants implements openapi.Variants.
func (postedPage) Variants() map[string][]any { return itemsPage{}.Variants() }

type postBody struct {
	Items []itemBody `json:"items" need:"true" doc:"1 to 20"`
	includeQuery
}

// includeQuery names what hosted services leave out unless they are asked; this
// host leaves nothing out.
type includeQuery struct {
	Include []string `json:"include" enum:"file_search_call.results,web_search_call.results,web_search_call.action.sources,message.input_image.image_url,computer_call_output.output.image_url,code_interpreter_call.outputs,reasoning.encrypted_content,message.output_text.logprobs"`
}

type itemsQuery struct {
	call.PageQuery
	includeQuery
}

var includes = openapi.Words(includeQuery{}, "include")

// judgeInclude judges include, written once for each word, with or without [].
func judgeInclude(c *call.Call) error {
	for name, value := range c.Ctx.QueryArgs().All() {
		if n := string(name); n != "include" && !strings.HasPrefix(n, "include[") {
			continue
		}
		if !slices.Contains(includes, string(value)) {
			return event.FailParam(event.InvalidRequest, "include", "include must be one of "+strings.Join(includes, ", "))
		}
	}
	return nil
}

// CreateItems answers POST /conversations/{conversation_id}/items: all are stored,
// durably, or none. Nothing runs; the next response's agent is told of them.
func (w *Wire) CreateItems(c *call.Call) {
	s, err := w.conversation(c)
	if err == nil {
		err = judgeInclude(c)
	}
	if err != nil {
		c.Fail(err)
		return
	}
	body, err := c.Object()
	if err != nil {
		c.Fail(err)
		return
	}
	items, err := w.poster(c).read(body["items"])
	if err == nil && len(items) == 0 {
		err = event.FailParam(event.InvalidRequest, "items", "items needs 1 to 20 items")
	}
	if err != nil {
		c.Fail(err)
		return
	}
	posted, err := w.engine.PostItems(c.Context(), c.Principal, s.ID, items, c.Key())
	if err != nil {
		c.Fail(lost(c, err))
		return
	}
	ignore(c, body, "items", "include")
	var list []fold.ItemOf
	for _, note := range posted.Turns {
		list = append(list, note.AllItems()...)
	}
	c.Raw(200, encode(pageOf(list, false)))
}

// ListItems answers GET /conversations/{conversation_id}/items: those of responses
// and those that were posted, in one order.
func (w *Wire) ListItems(c *call.Call) {
	s, err := w.conversation(c)
	if err == nil {
		err = judgeInclude(c)
	}
	if err != nil {
		c.Fail(err)
		return
	}
	p, after, err := c.Page()
	if err != nil {
		c.Fail(err)
		return
	}
	if after != "" {
		var ok bool
		if p.After, ok = event.Parse(after, event.PrefixItem); !ok || p.After.IsZero() {
			c.Fail(noSuchCursor())
			return
		}
	}
	list, more, err := w.engine.AllItems(c.Context(), c.Principal, s.ID, p)
	if code := event.CodeOf(err); code == event.CursorNotFound || code == event.NotFound {
		err = noSuchCursor()
	}
	if err != nil {
		c.Fail(lost(c, err))
		return
	}
	c.Raw(200, encode(pageOf(list, more)))
}

func noSuchCursor() error {
	return event.FailParam(event.InvalidRequest, "after", "after is not an item of this list")
}

// GetItem answers GET /conversations/{conversation_id}/items/{item_id}.
func (w *Wire) GetItem(c *call.Call) {
	s, id, err := w.itemOf(c)
	if err == nil {
		err = judgeInclude(c)
	}
	if err != nil {
		c.Fail(err)
		return
	}
	it, err := w.engine.Item(c.Context(), c.Principal, s.ID, id)
	if err != nil {
		c.Fail(lostItem(c, err))
		return
	}
	c.Raw(200, conversationItem(it.Item))
}

// DeleteItem answers DELETE /conversations/{conversation_id}/items/{item_id} with
// the conversation. A response that made the item still tells it, and an agent that
// heard it may know it.
func (w *Wire) DeleteItem(c *call.Call) {
	s, id, err := w.itemOf(c)
	if err == nil {
		err = lostItem(c, w.engine.RemoveItem(c.Context(), c.Principal, s.ID, id))
	}
	if err != nil {
		c.Fail(err)
		return
	}
	c.JSON(200, viewOf(s))
}

// itemOf is the conversation and the item's id that the path names.
func (w *Wire) itemOf(c *call.Call) (*fold.Session, event.ID, error) {
	s, err := w.conversation(c)
	if err != nil {
		return nil, event.ID{}, err
	}
	id, ok := c.ID(itemParam, event.PrefixItem)
	if !ok || id.IsZero() {
		return nil, id, noItem(itemParam, c.Param(itemParam))
	}
	return s, id, nil
}

func lostItem(c *call.Call, err error) error {
	switch event.CodeOf(err) {
	case event.ItemNotFound, event.NotFound, event.TurnNotFound:
		return noItem(itemParam, c.Param(itemParam))
	}
	return lost(c, err)
}

func pageOf(list []fold.ItemOf, more bool) *itemsPage {
	out := &itemsPage{Object: "list", Data: []stdjson.RawMessage{}, HasMore: more}
	size := 0
	for i := range list {
		raw := conversationItem(list[i].Item)
		if size += len(raw); size > maxPage && i > 0 {
			out.HasMore = true
			break
		}
		id := list[i].Item.ID.With(event.PrefixItem)
		if i == 0 {
			out.FirstID = &id
		}
		out.LastID, out.Data = &id, append(out.Data, raw)
	}
	return out
}
