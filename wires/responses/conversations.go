package responses

import (
	stdjson "encoding/json"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
)

// A conversation is a session seen from this wire: the same id under another
// prefix, its items in one list. One that was made here has no agent until its
// first response brings one; the Agents wire, whose sessions have an agent, does
// not show it before.

// conversationParam is the path value of a conversation's id.
const conversationParam = "conversation_id"

// conversationView is a conversation.
type conversationView struct {
	ID        string            `json:"id"`
	Object    string            `json:"object" enum:"conversation"`
	CreatedAt int64             `json:"created_at"`
	Metadata  map[string]string `json:"metadata"`
}

type deletedConversation struct {
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
	Object  string `json:"object" enum:"conversation.deleted"`
}

type newConversationBody struct {
	Items    []itemBody        `json:"items" doc:"at most 20"`
	Metadata map[string]string `json:"metadata"`
}

type changedConversationBody struct {
	Metadata map[string]string `json:"metadata" doc:"replaces what is there; null clears it. It must be given"`
}

func viewOf(s *fold.Session) *conversationView {
	v := &conversationView{ID: s.ID.With(event.PrefixConversation), Object: "conversation", CreatedAt: s.Created / 1000, Metadata: map[string]string{}}
	if s.Settings != nil {
		for k, value := range s.Settings.Metadata {
			v.Metadata[k] = value
		}
	}
	return v
}

// CreateConversation answers POST /conversations.
func (w *Wire) CreateConversation(c *call.Call) {
	body := map[string]stdjson.RawMessage{}
	var err error
	if len(strings.TrimSpace(string(c.Body))) > 0 {
		body, err = c.Object()
	}
	n := &spec.NewSession{Conversation: true, Key: c.Key()}
	if err == nil {
		n.Metadata, err = conversationMetadata(body["metadata"])
	}
	if raw := body["items"]; err == nil && len(raw) > 0 && !isNull(raw) {
		n.Items, err = w.poster(c).read(raw)
	}
	if err != nil {
		c.Fail(err)
		return
	}
	posted, err := w.engine.CreateSession(c.Context(), c.Principal, n)
	if err != nil {
		c.Fail(err)
		return
	}
	ignore(c, body, "items", "metadata")
	c.JSON(200, viewOf(&posted.Session))
}

// GetConversation answers GET /conversations/{conversation_id}.
func (w *Wire) GetConversation(c *call.Call) {
	s, err := w.conversation(c)
	if err != nil {
		c.Fail(err)
		return
	}
	c.JSON(200, viewOf(s))
}

// UpdateConversation answers POST /conversations/{conversation_id}.
func (w *Wire) UpdateConversation(c *call.Call) {
	s, err := w.conversation(c)
	if err != nil {
		c.Fail(err)
		return
	}
	body, err := c.Object()
	if err != nil {
		c.Fail(err)
		return
	}
	raw, ok := body["metadata"]
	if !ok {
		c.Fail(event.FailParam(event.InvalidRequest, "metadata", "metadata is required: an object of strings, or null"))
		return
	}
	meta, err := conversationMetadata(raw)
	if err == nil {
		s, err = w.engine.UpdateSession(c.Context(), c.Principal, s.ID, &spec.Update{Metadata: &meta})
	}
	if err != nil {
		c.Fail(lost(c, err))
		return
	}
	ignore(c, body, "metadata")
	c.JSON(200, viewOf(s))
}

// DeleteConversation answers DELETE /conversations/{conversation_id}. What runs in
// it is cancelled first; its responses go with it.
func (w *Wire) DeleteConversation(c *call.Call) {
	s, err := w.conversation(c)
	if err == nil {
		err = lost(c, w.engine.DeleteSession(c.Context(), c.Principal, s.ID))
	}
	if err != nil {
		c.Fail(err)
		return
	}
	c.JSON(200, deletedConversation{ID: s.ID.With(event.PrefixConversation), Deleted: true, Object: "conversation.deleted"})
}

// conversation is the session that the path names. Unknown, foreign, malformed and
// deleted ids are answered alike.
func (w *Wire) conversation(c *call.Call) (*fold.Session, error) {
	id, ok := c.ID(conversationParam, event.PrefixConversation, event.PrefixSession)
	if !ok {
		return nil, noConversation(c)
	}
	s, err := w.engine.Session(c.Context(), c.Principal, id)
	return s, lost(c, err)
}

// lost makes every kind of not found the same answer.
func lost(c *call.Call, err error) error {
	switch event.CodeOf(err) {
	case event.NotFound, event.SessionNotFound:
		return noConversation(c)
	}
	return err
}

func noConversation(c *call.Call) error {
	f, _ := event.AsFailure(notFound("conversation", c.Param(conversationParam)))
	f.Param = conversationParam
	return f
}

func conversationMetadata(raw []byte) (map[string]string, error) {
	if len(raw) == 0 || isNull(raw) {
		return nil, nil
	}
	var m map[string]string
	if err := call.Unmarshal("metadata", raw, &m); err != nil {
		return nil, err
	}
	return m, spec.ValidMetadata("metadata", m)
}

// ignore names the parameters of a body that were not read.
func ignore(c *call.Call, body map[string]stdjson.RawMessage, read ...string) {
	r := request{}
	for name, raw := range body {
		if !isNull(raw) && !slices.Contains(read, name) {
			r.ignored = append(r.ignored, name)
		}
	}
	if names := r.ignoredHeader(); names != "" {
		c.Ctx.Response.Header.Set(HeaderIgnored, names)
	}
}
