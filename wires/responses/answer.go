package responses

import (
	"fmt"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/files"
)

// saidAnswer is what a caller says to a call or a question that ended the response
// before.
type saidAnswer struct {
	param string // of the id that names what is answered
	id    string // as it was written
	spec.Answer
	attached []attached
}

// readOutput reads a function_call_output.
func readOutput(param string, in *itemBody) (*saidAnswer, error) {
	a := &saidAnswer{param: param + ".call_id", id: in.CallID}
	if in.CallID == "" {
		return nil, event.FailParam(event.InvalidRequest, a.param, "a function_call_output needs the call_id of the call it answers")
	}
	a.Item, _ = event.Parse(in.CallID, event.PrefixCall)
	param += ".output"
	if len(in.Output) == 0 || isNull(in.Output) {
		return nil, event.FailParam(event.InvalidRequest, param, "a function_call_output needs the output of the call, a string or a list of parts")
	}
	if in.Output[0] != '[' {
		a.Output = plain(in.Output)
		return a, nil
	}
	var parts []partBody
	if err := call.Unmarshal(param, in.Output, &parts); err != nil {
		return nil, err
	}
	for i, p := range parts {
		at := fmt.Sprintf("%s[%d]", param, i)
		switch p.Type {
		case "input_text", "output_text", "text":
			a.Parts = append(a.Parts, event.Part{Text: p.Text})
		case files.InputImage, files.InputFile:
			file, err := files.ReadAttachment(at, p.Type, &p.RawPart)
			if err != nil {
				return nil, err
			}
			a.attached = append(a.attached, attached{at: i, Attachment: file})
			a.Parts = append(a.Parts, event.Part{})
		default:
			return nil, event.FailParam(event.Unsupported, at, "this part of a function's output is not supported; send input_text")
		}
	}
	return a, nil
}

// readApproval reads an mcp_approval_response.
func readApproval(param string, in *itemBody) (*saidAnswer, error) {
	a := &saidAnswer{param: param + ".approval_request_id", id: in.ApprovalID}
	switch {
	case in.ApprovalID == "":
		return nil, event.FailParam(event.InvalidRequest, a.param, "an mcp_approval_response needs the approval_request_id of the request it answers")
	case in.Approve == nil:
		return nil, event.FailParam(event.InvalidRequest, param+".approve", "an mcp_approval_response needs approve, true or false")
	}
	a.Item, _ = event.Parse(in.ApprovalID, event.PrefixItem)
	a.Permission, a.Approve, a.Reason = true, *in.Approve, value(in.Reason)
	return a, nil
}

// answer goes on with the turn that asked. It reports false when no turn of the
// caller's did, or not any more, and the input tells all that is needed to begin
// anew.
func (w *Wire) answer(c *call.Call, r *request) (*call.Posted, bool, error) {
	first := r.input.answers[0]
	turn := event.TurnOf(first.Item)
	t, err := w.engine.Turn(c.Context(), c.Principal, turn)
	if first.Item.IsZero() || event.CodeOf(err) == event.TurnNotFound {
		if r.input.tells() {
			return nil, false, nil
		}
		return nil, true, first.unknown()
	}
	if err != nil {
		return nil, true, err
	}
	same := r.same(t)
	if !waitsFor(t, first.Item) {
		if r.input.tells() && (!same || t.Status.Ended()) {
			return nil, false, nil
		}
		if !same || c.Key() == nil { // with a key this may be the answer itself, again
			return nil, true, event.FailParam(event.CallAnsweredAlready, first.param, "the call "+clipped(first.id)+" was answered before or timed out, or its turn has ended: it was cancelled, or the server was restarted; go on with a new message")
		}
	}
	leg := &spec.Leg{Background: r.background, Forget: r.forget, Conclude: !same}
	if leg.Echo, err = r.echoed(); err != nil {
		return nil, true, err
	}
	actions, err := w.actions(c, r.input.answers, leg)
	if err != nil {
		return nil, true, err
	}
	key := c.Key()
	if !same {
		key = nil // it is for what follows
	}
	posted, err := w.engine.Post(c.Context(), c.Principal, t.Session, actions, key)
	if err != nil || same {
		return posted, true, named(err, first)
	}
	// A handoff: somebody else goes on, with what was said so far.
	if !r.input.tells() {
		r.input.retell(t)
	}
	r.previous, r.conversation = "", ""
	return nil, false, nil
}

// actions are what gives a turn all its answers at once.
func (w *Wire) actions(c *call.Call, answers []*saidAnswer, leg *spec.Leg) ([]spec.Action, error) {
	loader := files.NewLoader(w.engine, c.Principal)
	actions := make([]spec.Action, len(answers))
	for i, a := range answers {
		for _, at := range a.attached {
			part, err := loader.Load(c.Context(), at.Attachment)
			if err != nil {
				return nil, err
			}
			a.Parts[at.at] = part
		}
		own := a.Answer
		actions[i].Answer = &own
	}
	actions[0].Answer.Leg = leg
	return actions, nil
}

// conclude answers a turn of the caller's that waits for what the transcript has, and
// ends it: more was said behind, so that the request begins anew with the transcript,
// as after a handoff. A turn that waits for more than that is left to wait.
func (w *Wire) conclude(c *call.Call, r *request) error {
	if len(r.input.passed) == 0 || r.input.passed[0].Item.IsZero() {
		return nil
	}
	first := r.input.passed[0]
	t, err := w.engine.TurnInBrief(c.Context(), c.Principal, event.TurnOf(first.Item)) // of an open turn that is all
	if event.CodeOf(err) == event.TurnNotFound {
		return nil
	}
	if err != nil || !waitsFor(t, first.Item) {
		return err
	}
	actions, err := w.actions(c, r.input.passed, &spec.Leg{Conclude: true})
	if err == nil {
		_, err = w.engine.Post(c.Context(), c.Principal, t.Session, actions, nil)
	}
	switch event.CodeOf(err) {
	case event.CallUnknown, event.CallAnsweredAlready, event.InvalidRequest, event.TurnNotFound, event.SessionNotFound:
		return nil // it waits for others too, or no longer
	}
	return err
}

func (a *saidAnswer) unknown() error {
	what := "no response with the call " + clipped(a.id) + " waits for its output"
	if a.Permission {
		what = "no response with the approval request " + clipped(a.id) + " waits for its answer"
	}
	return event.FailParam(event.CallUnknown, a.param, what)
}

// waitsFor reports whether the item is open and its turn waits.
func waitsFor(t *fold.Turn, id event.ID) bool {
	if t.Status != fold.Waiting {
		return false
	}
	it := itemOf(t, id)
	return it != nil && it.Type.Asks() && it.Status == event.InProgress
}

// named puts the field at fault to the engine's refusal.
func named(err error, a *saidAnswer) error {
	f, ok := event.AsFailure(err)
	if !ok || f.Param != "" || f.Code != event.CallUnknown && f.Code != event.CallAnsweredAlready && f.Code != event.InvalidRequest {
		return err
	}
	own := *f
	own.Param = a.param
	return &own
}

// same reports whether the request speaks to the agent that asked. An agent that
// hands over to another offers the other's tools, so one that still offers the
// functions that were called is the same, also with instructions made anew for each
// request. Without tools its instructions tell. What it does not say stays.
func (r *request) same(t *fold.Turn) bool {
	e, _ := readEcho(t.Input.Echo)
	if n := len(t.Legs); n > 0 && t.Legs[n-1].Input != nil {
		if newest, ok := readEcho(t.Legs[n-1].Input.Echo); ok {
			e = newest
		}
	}
	if r.echo.Model != "" && e.Model != "" && r.echo.Model != e.Model {
		return false
	}
	if r.functions == nil {
		said := head(r.input.instructions, maxEchoed)
		return said == "" || said == value(e.Instructions)
	}
	for _, a := range r.input.answers {
		if called := itemOf(t, a.Item); called != nil && called.Type == event.FunctionCall && !r.offers(called.Tool) {
			return false
		}
	}
	return true
}

func (r *request) offers(function string) bool {
	return slices.ContainsFunc(*r.functions, func(f spec.Function) bool { return f.Name == function })
}

func itemOf(t *fold.Turn, id event.ID) *event.Item {
	for _, it := range t.Items {
		if it.ID == id {
			return it
		}
	}
	return nil
}

// tells reports whether the input has a message to begin with.
func (in *input) tells() bool { return in.last >= 0 }

// retell makes the input tell what was said in t.
func (in *input) retell(t *fold.Turn) {
	answers := in.said
	in.said = nil
	for _, it := range t.AllItems() {
		if said := retold(it.Item); said != nil {
			if said.role == "user" {
				in.last = len(in.said)
			}
			in.said = append(in.said, said)
		}
	}
	in.said = append(in.said, answers...)
	if in.last < 0 {
		in.last = len(in.said)
		in.said = append(in.said, &saidItem{role: "user", parts: []event.Part{{Text: t.Input.Prompt}}})
	}
}

// retold is an item of a turn as if a caller had sent it.
func retold(it *event.Item) *saidItem {
	switch it.Type {
	case event.Message:
		s := &saidItem{role: "assistant", parts: it.Parts}
		if it.User {
			s.role = "user"
		}
		if len(it.Parts) == 0 {
			s.parts = []event.Part{{Text: it.Text}}
		}
		return s
	case event.Reasoning, event.Approval, event.ApprovalAnswer:
		return nil
	case event.FunctionOutput:
		return &saidItem{tool: toolLine("result", nil, []byte(it.Output))}
	case event.FunctionCall:
		return &saidItem{tool: toolLine("called "+it.Tool, []byte(it.Arguments), nil)}
	default:
		return &saidItem{tool: toolLine("called "+it.Server+"/"+callName(it), []byte(arguments(it)), nil)}
	}
}

// unanswered refuses a request that goes on with a turn that waits for something
// else: it would wait behind it.
func unanswered(s *fold.Session, in *input) error {
	if len(s.Required) == 0 {
		return nil
	}
	it := s.Required[0]
	if slices.ContainsFunc(in.said, func(said *saidItem) bool { return said.answer != nil && said.answer.Item == it.ID }) {
		return event.FailParam(event.InvalidRequest, "input", "the answer to what the response asked is followed by other items; send answers as the last items of input, and what is to follow when the response that they begin has ended")
	}
	if it.Type == event.Approval {
		return event.FailParam(event.InvalidRequest, "input", "no answer to the approval request "+it.ID.With(event.PrefixItem)+" found in input; send an mcp_approval_response, or cancel the response that asked to go on without")
	}
	return event.FailParam(event.InvalidRequest, "input", "no tool output found for function call "+it.ID.With(event.PrefixCall)+"; send its function_call_output, or cancel the response that called it to go on without")
}

func clipped(id string) string {
	if len(id) > 80 || !plainID.MatchString(id) {
		return "that was named"
	}
	return id
}
