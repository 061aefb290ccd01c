package actors

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/endpoint"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/turn"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages of a turn about calls that its CLI makes at the host's own MCP server.
type (
	// asked is a call. reply is buffered (1) and gets at most one answer; who waits for
	// it stops waiting when the door is closed.
	asked struct {
		item  *event.Item
		reply chan *event.Item
	}
	// askedNoMore says that the CLI gave the call up.
	askedNoMore struct{ reply chan *event.Item }
)

// tokenEnv is the variable that holds the token of the host's own MCP server.
const tokenEnv = "HOST_TOOLS_TOKEN"

// door opens the turn's way to its caller, when it has functions or may ask.
func (h *Host) door(r *RuntimeConfig, req *agent.Request, self *actor.PID) (*endpoint.Door, error) {
	prompter, asks := r.Adapter.(agent.Prompter)
	asks = asks && req.Permissions == spec.Ask && h.persistent(r) == nil // a runner asks in its own words
	if len(req.Functions) == 0 && !asks {
		return nil, nil
	}
	tools := make([]endpoint.Tool, 0, len(req.Functions)+1)
	for _, f := range req.Functions {
		tools = append(tools, endpoint.Tool{Name: f.Name, Description: f.Description, Schema: f.Parameters})
	}
	var prompt spec.Function
	if asks {
		prompt = prompter.PromptTool()
		tools = append(tools, endpoint.Tool{Name: prompt.Name, Description: prompt.Description, Schema: prompt.Parameters})
	}
	d, err := h.endpoint.Open(tools, func(c endpoint.Call) endpoint.Result {
		if asks && c.Tool == prompt.Name {
			return h.prompted(prompter, r, self, c)
		}
		if why := h.unfit(c.Arguments); why != "" {
			return endpoint.Result{Failed: true, Content: []endpoint.Content{{Text: why}}}
		}
		return result(h.askCaller(self, c, &event.Item{Type: event.FunctionCall, Tool: c.Tool, Arguments: string(c.Arguments)}))
	})
	if refused := (*endpoint.RefusedError)(nil); errors.As(err, &refused) {
		return nil, &event.Failure{Code: event.InvalidRequest, Message: refused.Error() + "; correct its parameters", Cause: err}
	}
	if err != nil {
		return nil, &event.Failure{Code: event.WorkspaceUnavail, Message: "the host's tool server cannot be reached by CLIs: " + err.Error(), Cause: err}
	}
	req.Host = &agent.HostServer{
		Name: spec.HostServer, URL: d.URL, TokenEnv: tokenEnv, Token: d.Token,
		Timeout: 2*h.cfg.limits.ToolResultTimeout + h.cfg.limits.TurnTimeout, // ours strikes first
	}
	return d, nil
}

// unfit says why a caller's function is not called with these arguments: it would be
// handed others than the agent meant, "" when it is called.
func (h *Host) unfit(arguments []byte) string {
	if limit := h.cfg.limits.MaxItemBytes; len(bytes.ToValidUTF8(arguments, []byte("\uFFFD"))) > limit {
		return fmt.Sprintf("the arguments take %d bytes and a function takes at most %d: call it with less", len(arguments), limit)
	}
	if !bytes.HasPrefix(bytes.TrimLeft(arguments, " \t\r\n"), []byte("{")) {
		return "the arguments of a function are a JSON object"
	}
	return ""
}

// askCaller hands a call to the turn and waits for its answer; nil when there is none.
func (h *Host) askCaller(self *actor.PID, c endpoint.Call, it *event.Item) *event.Item {
	m := &asked{item: it, reply: make(chan *event.Item, 1)}
	h.root.Send(self, m)
	select {
	case a := <-m.reply:
		return a
	case <-c.Context.Done():
		h.root.Send(self, &askedNoMore{m.reply})
		return nil
	}
}

// result is a function's output as its CLI is told it.
func result(a *event.Item) endpoint.Result {
	if a == nil {
		return endpoint.Result{Failed: true, Content: []endpoint.Content{{Text: "the call was given up"}}}
	}
	r := endpoint.Result{Failed: a.Status == event.ItemFailed}
	for _, p := range a.Parts {
		if mime, data, ok := inlineImage(p.ImageURL); ok {
			r.Content = append(r.Content, endpoint.Content{MIME: mime, Image: data})
		} else {
			r.Content = append(r.Content, endpoint.Content{Text: p.Text + p.ImageURL})
		}
	}
	if a.Output != "" || len(r.Content) == 0 && a.Error == "" {
		r.Content = append(r.Content, endpoint.Content{Text: a.Output})
	}
	if a.Error != "" {
		r.Content = append(r.Content, endpoint.Content{Text: a.Error})
	}
	return r
}

// inlineImage reads a data URL.
func inlineImage(url string) (mime string, data []byte, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", nil, false
	}
	mime, encoded, ok := strings.Cut(rest, ";base64,")
	if !ok {
		return "", nil, false
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	return mime, data, err == nil
}

// prompted asks the caller for permission.
func (h *Host) prompted(p agent.Prompter, r *RuntimeConfig, self *actor.PID, c endpoint.Call) endpoint.Result {
	adapter := r.Adapter.Name()
	var ask agent.Prompt
	permit := func(approved bool, reason string) (out endpoint.Result) {
		if err := h.asked(r, "permit", func() error {
			out.Content = []endpoint.Content{{Text: p.Permit(ask, approved, reason)}}
			return nil
		}); err != nil {
			return endpoint.Result{Failed: true, Content: []endpoint.Content{{Text: err.Error()}}}
		}
		return out
	}
	err := h.asked(r, "prompt", func() (err error) {
		ask, err = p.Prompt(c.Arguments)
		return err
	})
	if err != nil {
		h.log.Warn("a CLI's question for permission was not understood", "adapter", adapter, "error", err)
		return permit(false, "the host did not understand the question")
	}
	approved, reason := decided(h.askCaller(self, c, approval(adapter, &ask)))
	return permit(approved, reason)
}

// approval is the item of a question for permission.
func approval(adapter string, ask *agent.Prompt) *event.Item {
	it := &event.Item{Type: event.Approval, Server: ask.Server, Tool: ask.Tool, Arguments: ask.Arguments, Text: ask.Message}
	if it.Server == "" {
		it.Server = adapter
	}
	if it.Text == "" {
		it.Text = fmt.Sprintf("%s asks for permission to use %s", adapter, ask.Tool)
	}
	return it
}

// decided is what the caller's answer, nil for none, means.
func decided(a *event.Item) (approved bool, reason string) {
	switch {
	case a == nil:
		return false, "the turn ended before the question was answered"
	case !a.Approved && a.Text == "":
		return false, "the caller denied it"
	}
	return a.Approved, a.Text
}

// asked takes a call of the CLI in.
func (t *turnActor) asked(c actor.Context, m *asked) {
	if t.over {
		return // the door is closed, which lets the call go
	}
	t.lastCall++
	if t.calls == nil {
		t.calls = map[int64]chan *event.Item{}
	}
	t.calls[t.lastCall] = m.reply
	t.step(c, turn.Called{Call: t.lastCall, Item: m.item}, nil)
}

func (t *turnActor) askedNoMore(c actor.Context, m *askedNoMore) {
	for n, reply := range t.calls {
		if reply == m.reply {
			delete(t.calls, n)
			t.step(c, turn.CallLeft{Call: n}, nil)
			return
		}
	}
}

func (t *turnActor) deliver(e turn.Deliver) {
	if reply := t.calls[e.Call]; reply != nil {
		delete(t.calls, e.Call)
		reply <- e.Answer
	}
}

// answers hands what the caller says to the core.
func (t *turnActor) answers(c actor.Context, m *answers) {
	t.answering, t.refused = m, nil
	t.step(c, m.in, nil)
	if t.answering == nil {
		return // they are on their way to the store
	}
	t.answering = nil
	f := t.refused
	if f == nil {
		f = event.Fail(event.CallAnsweredAlready, "the turn no longer waits for an answer")
	}
	m.tell(nil, f)
}
