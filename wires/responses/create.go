package responses

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/apierr"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/files"
)

// headerAdapter pins the adapter of a request.
const headerAdapter = "X-ABX-Adapter"

// Create answers POST /responses. A caller that leaves does not end the turn.
func (w *Wire) Create(c *call.Call) {
	r, err := decode(c)
	if err != nil {
		c.Fail(err)
		return
	}
	posted, err := w.post(c, r)
	if err != nil {
		c.Fail(call.ToolFault(err, r.servers.places, "server_url"))
		return
	}
	if len(posted.Turns) == 0 {
		c.Fail(fmt.Errorf("the host accepted a response without a turn"))
		return
	}
	if names := r.ignoredHeader(); names != "" {
		c.Ctx.Response.Header.Set(HeaderIgnored, names)
	}
	t := posted.Turns[0]
	if posted.Replayed {
		if t, err = w.engine.Turn(c.Context(), c.Principal, t.ID); err != nil {
			c.Fail(hidden(err, "", posted.Turns[0].ID.With(event.PrefixResponse)))
			return
		}
	}
	leg := legAfter(t, posted.Before)
	part, ok := t.Part(leg)
	if !ok {
		c.Fail(fmt.Errorf("the host accepted a response without a leg"))
		return
	}
	switch {
	case r.stream:
		w.stream(c, part, leg, -1, true)
	case r.background || part.Status.Ended():
		c.Raw(200, encode(Of(part)))
	default:
		w.plain(c, part, leg)
	}
}

// legAfter is the number of the leg that was the first to begin after an event.
func legAfter(t *fold.Turn, before int64) int32 {
	for i, l := range t.Legs {
		if l.First > before {
			return int32(i)
		}
	}
	return 0
}

// plain answers when the turn has ended.
func (w *Wire) plain(c *call.Call, t *fold.Turn, leg int32) {
	done, err := w.wait(c, t, leg, t.First-1, nil)
	if err != nil {
		c.Fail(accepted(t, err))
		return
	}
	c.Raw(200, encode(Of(done)))
}

// fromNow is for who does not care what was before. The last event that an answer of
// the engine knows of may not be stored yet, so it is no place to begin at.
const fromNow = -1

// wholeTurn is the leg of who waits for the end of the turn itself.
const wholeTurn = -1

// wait returns the leg t of a turn as it ended, or as it stands when limit fires
// first.
func (w *Wire) wait(c *call.Call, t *fold.Turn, leg int32, before int64, limit <-chan time.Time) (*fold.Turn, error) {
	turn := event.TurnOf(t.ID)
	standing := func() (*fold.Turn, error) {
		now, err := w.engine.Turn(c.Context(), c.Principal, turn)
		if err != nil {
			return nil, err
		}
		if part, ok := partOf(now, leg); ok {
			return part, nil
		}
		return t, nil
	}
	ctx := c.Context()
	sub, err := w.engine.Subscribe(ctx, c.Principal, t.Session, before)
	if err != nil {
		return nil, err
	}
	defer sub.Close()
	if before == fromNow { // it may have ended in between
		if now, err := standing(); err == nil && now.Status.Ended() {
			return now, nil
		}
	}
	for {
		b, wake, err := sub.Next()
		if err != nil {
			// The session may be gone by now; its last word counts.
			if now, terr := standing(); terr == nil && now.Status.Ended() {
				return now, nil
			}
			return nil, err
		}
		if b != nil {
			if done, ok := ended(b, turn, leg); ok {
				return done, nil
			}
			continue
		}
		select {
		case <-wake:
		case <-limit:
			return standing()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// stream answers with the frames of the turn's leg t after skip. fresh says that the call has
// just started the turn, so that its refusal must not invite a repetition.
func (w *Wire) stream(c *call.Call, t *fold.Turn, leg int32, skip int64, fresh bool) {
	before := t.First - 1
	sub, err := w.engine.Subscribe(c.Context(), c.Principal, t.Session, before)
	if err == nil {
		src := newSource(sub, event.TurnOf(t.ID), leg, before, skip)
		if err = src.prime(); err == nil {
			c.Hijack(src)
			return
		}
		src.Close()
	}
	if fresh {
		err = accepted(t, err)
	}
	c.Fail(err)
}

// accepted is the answer when a turn was started and cannot be told about: SDKs
// would otherwise start it again. One that is gone by now is as unknown as any.
func accepted(t *fold.Turn, err error) error {
	id := t.ID.With(event.PrefixResponse)
	switch event.CodeOf(err) {
	case event.SessionNotFound, event.TurnNotFound: // its caller deleted it meanwhile
		return notFound("", id)
	}
	return &event.Failure{
		Code: apierr.Internal, Cause: err,
		Message: "the response " + id + " was accepted and goes on, but its end could not be waited for (" + apierr.Refusal(err).Message + "); retrieve it by its id",
	}
}

// post hands the request to the engine.
func (w *Wire) post(c *call.Call, r *request) (*call.Posted, error) {
	if len(r.input.answers) > 0 {
		if posted, done, err := w.answer(c, r); done {
			return posted, err
		}
	}
	in := &spec.NewInput{Wire: "responses", Background: r.background, Forget: r.forget, OnBusy: spec.OnBusy(r.echo.Metadata[spec.OnBusyKey])}
	if r.previous != "" || r.conversation != "" {
		return w.goOn(c, r, in)
	}
	agent, err := w.resolve(c, r.echo.Model, "")
	if err != nil {
		return nil, err
	}
	if err := w.prepare(c, r, in, agent, nil); err != nil {
		return nil, err
	}
	if err := w.conclude(c, r); err != nil {
		return nil, err
	}
	return w.engine.CreateSession(c.Context(), c.Principal, &spec.NewSession{Agent: *agent, Input: in, Key: c.Key()})
}

// goOn posts to the session that the request continues.
func (w *Wire) goOn(c *call.Call, r *request, in *spec.NewInput) (*call.Posted, error) {
	id, err := w.continued(c, r, in)
	if err != nil {
		return nil, err
	}
	s, err := w.engine.Session(c.Context(), c.Principal, id)
	if err != nil {
		return nil, hidden(err, "conversation", r.conversation)
	}
	if err := unanswered(s, &r.input); err != nil {
		return nil, err
	}
	agent := &s.Settings.Agent
	var model *string
	if s.Settings.Settled() {
		model, err = w.otherModel(c, r.echo.Model, agent)
	} else { // a conversation, whose first response brings the agent
		agent, err = w.resolve(c, r.echo.Model, "")
		in.Agent = agent
	}
	if err != nil {
		return nil, err
	}
	if err := w.prepare(c, r, in, agent, model); err != nil {
		return nil, err
	}
	posted, err := w.engine.Post(c.Context(), c.Principal, id, []spec.Action{{Input: in}}, c.Key())
	if f, ok := event.AsFailure(err); ok && f.Code == event.PreviousNotLatest && f.Param == "" {
		named := *f
		named.Param = "previous_response_id"
		return nil, &named
	}
	return posted, err
}

// continued finds the session that the request names.
func (w *Wire) continued(c *call.Call, r *request, in *spec.NewInput) (event.ID, error) {
	if r.conversation != "" {
		id, ok := event.Parse(r.conversation, event.PrefixConversation, event.PrefixSession)
		if !ok {
			return id, notFound("conversation", r.conversation)
		}
		return id, nil
	}
	id, ok := event.Parse(r.previous, event.PrefixResponse)
	if !ok {
		return id, notFound("previous_response_id", r.previous)
	}
	t, part, err := w.leg(c, id, w.engine.TurnInBrief)
	if err != nil {
		return id, hidden(err, "previous_response_id", r.previous)
	}
	if gone(part) {
		return id, notFound("previous_response_id", r.previous)
	}
	if later := laterResponse(t, part.ID); later != nil {
		return id, event.FailParam(event.PreviousNotLatest, "previous_response_id",
			"previous_response_id must name the newest response of its conversation, and "+later.ID.With(event.PrefixResponse)+" answered what this one called; to branch, send the transcript as input without it")
	}
	in.After = t.ID
	return t.Session, nil
}

// laterResponse is the newest response that went on with the turn behind the leg, nil
// for none. A leg that no response asked for, begun by the end of the caller's time or
// by an answer on the other wire, is none that its caller could know.
func laterResponse(t *fold.Turn, leg event.ID) *fold.Leg {
	for _, l := range slices.Backward(t.Legs) {
		if l.ID == leg {
			break
		}
		if l.Input != nil && l.Input.Wire == "responses" {
			return l
		}
	}
	return nil
}

// otherModel is the model to use instead of the session's, nil to keep it.
func (w *Wire) otherModel(c *call.Call, model string, agent *spec.Agent) (*string, error) {
	if model == "" || model == agent.Model || model == agent.Name {
		if pin := pinned(c); pin == "" || pin == agent.Adapter {
			return nil, nil
		}
	}
	other, err := w.resolve(c, model, agent.Adapter)
	if err != nil {
		return nil, err
	}
	return agent.Continue(other)
}

// resolve finds the agent that a model's name stands for.
func (w *Wire) resolve(c *call.Call, model, pin string) (*spec.Agent, error) {
	if p := pinned(c); p != "" {
		pin = p
	}
	agent, err := w.engine.ResolveModel(c.Context(), c.Principal, model, pin)
	if f, ok := event.AsFailure(err); ok && (f.Code == event.AdapterRequired || f.Code == event.ModelNotFound) {
		return nil, &event.Failure{Code: event.ModelNotFound, Param: "model", Message: f.Message, Cause: f}
	}
	return agent, err
}

// pinned is the adapter that the path or a header names.
func pinned(c *call.Call) string {
	if p := c.Param("adapter"); p != "" {
		return p
	}
	return c.Header(headerAdapter)
}

// takers names the adapters that take pictures.
func (w *Wire) takers() string {
	var names []string
	for _, a := range w.opts.Adapters {
		if a.Images {
			names = append(names, a.Name)
		}
	}
	if names == nil {
		return "none here does"
	}
	return strings.Join(names, ", ")
}

// prepare judges the input by what the agent can do, loads what it names, and sets
// what the turn changes for itself.
func (w *Wire) prepare(c *call.Call, r *request, in *spec.NewInput, agent *spec.Agent, model *string) error {
	if at := r.input.picture(); at != "" {
		if a, ok := w.adapter(agent.Adapter); !ok || !a.Images {
			return event.FailParam(event.Unsupported, at, agent.Adapter+" does not take pictures; send text only, or use an agent that takes them: "+w.takers())
		}
	}
	err := r.input.refer(func(id event.ID) (*event.Item, error) {
		it, err := w.engine.Item(c.Context(), c.Principal, event.ID{}, id)
		if err != nil {
			return nil, err
		}
		return it.Item, nil
	})
	if err != nil {
		return err
	}
	if err := r.input.load(c.Context(), files.NewLoader(w.engine, c.Principal)); err != nil {
		return err
	}
	item, before := r.input.prompt()
	in.Items, in.Before = []*event.Item{item}, before
	o := spec.Overrides{Model: model, Reasoning: r.reasoning, Text: r.format, Functions: r.functions}
	if text := r.input.allInstructions(); text != "" {
		if agent.Instructions != "" {
			text = agent.Instructions + "\n\n" + text
		}
		o.Instructions = &text
	}
	if base, ok := r.echo.Metadata[spec.ProviderKey]; ok {
		o.BaseURL = &base
	}
	if r.servers.byLabel != nil {
		o.MCP = &r.servers.byLabel
	}
	if o != (spec.Overrides{}) {
		in.Overrides = &o
	}
	in.Echo, err = r.echoed()
	return err
}

// echoed is what the response gives back of the request.
func (r *request) echoed() ([]byte, error) {
	if r.input.instructions != "" {
		said := head(r.input.instructions, maxEchoed)
		r.echo.Instructions = &said
	}
	if r.previous != "" {
		r.echo.PreviousResponseID = &r.previous
	}
	return json.Marshal(&r.echo)
}
