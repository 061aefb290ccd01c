package acp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/reason"
)

// stops are the reasons for which a prompt ends without the answer.
var stops = map[string]struct {
	code event.Code
	text string
}{
	"max_tokens":        {event.MaxOutputTokens, "the model stopped at its limit of output tokens"},
	"max_turn_requests": {event.TurnLimit, "the limit of agent turns is reached"},
	"refusal":           {event.InvalidRequest, "the agent refused to go on with this conversation"},
}

// finished: the prompt was answered.
func (p *protocol) finished(s *served, m *envelope, failed bool, out *agent.Talk) {
	s.mark(p.agent, out)
	if failed {
		v := &agent.Verdict{Final: true, Outcome: event.Failed}
		if s.cancelled {
			v.Outcome = event.Cancelled // some give up with an error
		} else {
			c := complaint(m.Error)
			v.Failure = c.failure(event.CLICrashed)
		}
		s.verdict(v, out)
		p.leave(s, out)
		return
	}
	var r struct {
		Stop jsonl.Str `json:"stopReason"`
	}
	if !jsonl.Decode(m.Result, &r) || r.Stop == "" {
		out.Break(p.agent.Name + " ended a prompt without a reason")
		return
	}
	v := &agent.Verdict{Final: true, Outcome: event.Completed}
	switch stop := string(r.Stop); {
	case stop == "end_turn" && !s.cancelled:
		s.stays = s.restored == 0 && !s.denied
	case s.cancelled && (stop == "cancelled" || stop == "end_turn"):
		v.Outcome = event.Cancelled
	case stop == "cancelled" && s.denied: // some end a turn that may not do what it was about to
		v.Outcome, v.Failure = event.Failed, event.Fail(event.CLICrashed, p.agent.Name+" cancelled the turn by itself, after a call was denied")
	case stop == "cancelled": // only a client cancels
		out.Break(p.agent.Name + " cancelled a turn by itself")
		return
	default:
		why, known := stops[stop]
		if !known {
			why.code, why.text = event.NoVerdict, fmt.Sprintf("%s stopped for a reason that the host does not know: %q", p.agent.Name, stop)
		}
		v.Outcome, v.Failure = event.Failed, event.Fail(why.code, why.text)
	}
	s.verdict(v, out)
	p.leave(s, out)
}

// fault is an error of JSON-RPC, in words.
type fault struct {
	code int64
	text string
	kind string // a class that some tell
}

// authRequired is the protocol's code for a CLI that is not signed in; notThere for a
// session that there is not.
const (
	authRequired = -32000
	notThere     = -32002
)

// complaint reads an error. Its text is in data, if there, behind a message that says
// nothing.
func complaint(raw json.RawMessage) fault {
	var e struct {
		Code    jsonl.Num       `json:"code"`
		Message jsonl.Str       `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if !jsonl.Decode(raw, &e) {
		return fault{text: "it gave no reason"}
	}
	f := fault{code: int64(e.Code), text: strings.TrimPrefix(string(e.Message), "Internal error: ")}
	var d struct {
		Details jsonl.Str `json:"details"`
		Message jsonl.Str `json:"message"`
		Name    jsonl.Str `json:"errorName"`
	}
	var plain struct {
		Text jsonl.Str `json:"data"`
	}
	switch {
	case jsonl.Decode(e.Data, &d) && d.Details != "":
		f.text = string(d.Details)
	case d.Message != "":
		f.text = string(d.Message)
	case jsonl.Decode(raw, &plain) && plain.Text != "":
		f.text += ": " + string(plain.Text)
	}
	f.kind = string(d.Name)
	if f.text == "" {
		f.text = "it gave no reason"
	}
	return f
}

// failure finds the code for an error: by its words, else by a status that its text or
// its number is, else by the protocol's own numbers.
func (f fault) failure(fallback event.Code) *event.Failure {
	code := reason.Code(f.text+" "+f.kind, "")
	if code == "" && f.text == "terminated" { // node's whole word for an answer that was cut off
		code = event.ProviderUnreachable
	}
	if code == "" && strings.Contains(f.kind, "ContextOverflow") {
		code = event.ContextTooLong
	}
	if code == "" {
		status := f.code
		if first, _, _ := strings.Cut(f.text, " "); len(first) == 3 {
			if n, err := strconv.Atoi(first); err == nil {
				status = int64(n)
			}
		}
		code = byStatus(status)
	}
	if code == "" {
		switch f.code {
		case authRequired:
			code = event.AuthenticationError
		case notThere:
			code = event.ResumeLost
		default:
			code = fallback
		}
	}
	return reason.Failure(code, f.text)
}

// byStatus is the code for a provider's HTTP status, "" for what is none.
func byStatus(s int64) event.Code {
	switch {
	case s == 401 || s == 403:
		return event.AuthenticationError
	case s == 404:
		return event.ModelNotFound
	case s == 429:
		return event.RateLimited
	case s >= 500 && s < 600:
		return event.ProviderOverloaded
	case s >= 400 && s < 500:
		return event.InvalidRequest
	}
	return ""
}
