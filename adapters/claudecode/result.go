package claudecode

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/reason"
)

type resultLine struct {
	Subtype    jsonl.Str       `json:"subtype"`
	IsError    jsonl.Flag      `json:"is_error"`
	Result     jsonl.Str       `json:"result"`
	Errors     json.RawMessage `json:"errors"`
	Status     jsonl.Num       `json:"api_error_status"`
	Type       jsonl.Str       `json:"api_error_type"`
	APIError   jsonl.Str       `json:"api_error"`
	Terminal   jsonl.Str       `json:"terminal_reason"`
	Usage      json.RawMessage `json:"usage"`
	Cost       json.RawMessage `json:"total_cost_usd"`
	Structured json.RawMessage `json:"structured_output"`
	Index      *jsonl.Num      `json:"result_index"`
}

// result takes the terminal line. The CLI may go on after it, so the verdict is
// tentative.
func (p *Parser) result(obj []byte, out *agent.Batch) bool {
	var l resultLine
	if !jsonl.Decode(obj, &l) {
		return false
	}
	p.flush(out)
	v := &agent.Verdict{Outcome: event.Completed, Usage: p.spentBy(&l)}
	if own := p.tally.sum; own != nil && (v.Usage == nil || own.Total() > v.Usage.Total()) {
		// The line leaves out what subagents used, what came before an earlier result,
		// and the last response of a run that ended at a limit.
		counted := *own
		v.Usage = &counted
	}
	if spent, ok := microUSD(l.Cost); ok {
		if v.Usage != nil {
			v.Usage.MicroUSD = spent
			if spent >= p.spent { // else it is another count
				v.Usage.MicroUSD -= p.spent
			}
		}
		if spent > 0 { // a run that reached no provider counts nothing, the total stands
			v.Carry = carry(spent)
		}
	}
	if bool(l.IsError) || strings.HasPrefix(string(l.Subtype), "error") {
		v.Outcome, v.Failure = event.Failed, p.failure(&l)
	} else {
		v.Text = string(l.Result)
		if !jsonl.Null(l.Structured) {
			v.Text = jsonl.Args(l.Structured)
			out.Add(agent.Fact{Kind: agent.FactDone, Key: "structured_output", Item: &event.Item{Type: event.Message, Text: v.Text}})
		}
	}
	p.verdict, p.apiError = true, nil
	out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: v})
	return true
}

// spentBy is the turn's usage up to a result: each result of a run counts only what
// came since the one before it, which woken subagents cause. What subagents used is
// in no result's count, only in the cost; the tally has it.
func (p *Parser) spentBy(l *resultLine) *event.Usage {
	u := readUsage(l.Usage)
	if u == nil || l.Index == nil {
		return u
	}
	if p.usage == nil {
		p.usage = map[int64]*event.Usage{}
	}
	p.usage[int64(*l.Index)] = u
	sum := &event.Usage{}
	for _, u := range p.usage {
		sum.Add(u)
	}
	return sum
}

// failure finds the reason in what the CLI said, the most specific first.
func (p *Parser) failure(l *resultLine) *event.Failure {
	said := string(l.Result)
	if said == "" {
		said = strings.Join(texts(l.Errors), "; ")
	}
	class, status, typ := "", int64(l.Status), string(l.Type)
	if e := p.apiError; e != nil {
		class = e.Class
		if said == "" {
			said = e.Text
		}
		if status == 0 {
			status = e.Status
		}
		if typ == "" {
			typ = e.Type
		}
	}
	c := code(l, class, status, typ, said)
	switch {
	case strings.HasPrefix(string(l.Terminal), "aborted"):
		said = "the CLI was interrupted (" + string(l.Terminal) + ")"
	case said == "" && c == event.TurnLimit:
		said = "the limit of agent turns is reached"
	case said == "" && c == event.BudgetReached:
		said = "the CLI's budget is used up"
	}
	f := reason.Failure(c, said)
	if f.Code == event.RateLimited || f.Code == event.UsageLimited {
		f.ResetsAt = p.resetsAt
	}
	return f
}

func code(l *resultLine, class string, status int64, typ, said string) event.Code {
	switch l.Subtype {
	case "error_max_turns":
		return event.TurnLimit
	case "error_max_budget_usd":
		return event.BudgetReached
	}
	switch {
	case l.Terminal == "prompt_too_long":
		return event.ContextTooLong
	case l.APIError == "max_output_tokens" || class == "max_output_tokens":
		return event.MaxOutputTokens
	case l.APIError == "connection_failed":
		return event.ProviderUnreachable
	case typ == "insufficient_quota" || class == "billing_error":
		return event.UsageLimited
	case class == "authentication_failed" || status == 401 || status == 403:
		return event.AuthenticationError
	case class == "model_not_found":
		return event.ModelNotFound
	case class == "rate_limit" || status == 429:
		return reason.Code(said, event.RateLimited)
	case status >= 500:
		return event.ProviderOverloaded
	case status >= 400:
		return reason.Code(said, event.InvalidRequest)
	case class == "server_error":
		return reason.Code(said, event.ProviderUnreachable)
	case class == "invalid_request":
		return event.InvalidRequest
	}
	return reason.Code(said, event.CLICrashed)
}

// texts reads a list of strings.
func texts(raw json.RawMessage) []string {
	var l struct {
		Texts []jsonl.Str `json:"l"`
	}
	if jsonl.Null(raw) || !jsonl.Decode(slices.Concat([]byte(`{"l":`), raw, []byte("}")), &l) {
		return nil
	}
	list := make([]string, len(l.Texts))
	for i, t := range l.Texts {
		list[i] = string(t)
	}
	return list
}

// readUsage reads a turn's usage. The wires count cached input as input, the
// provider does not.
func readUsage(raw json.RawMessage) *event.Usage {
	var u struct {
		Input      *jsonl.Num `json:"input_tokens"`
		CacheWrite jsonl.Num  `json:"cache_creation_input_tokens"`
		Cached     jsonl.Num  `json:"cache_read_input_tokens"`
		Output     *jsonl.Num `json:"output_tokens"`
		Details    struct {
			Thinking jsonl.Num `json:"thinking_tokens"`
		} `json:"output_tokens_details"`
	}
	if jsonl.Null(raw) || !jsonl.Decode(raw, &u) || u.Input == nil && u.Output == nil {
		return nil
	}
	usage := &event.Usage{Cached: int64(u.Cached), CacheWrite: int64(u.CacheWrite), Reasoning: int64(u.Details.Thinking)}
	if u.Input != nil {
		usage.Input = int64(*u.Input)
	}
	usage.Input += usage.Cached + usage.CacheWrite
	if u.Output != nil {
		usage.Output = int64(*u.Output)
	}
	return usage
}

// microUSD reads a cost in dollars.
func microUSD(raw json.RawMessage) (int64, bool) {
	var usd float64
	if jsonl.Null(raw) || json.Unmarshal(raw, &usd) != nil || usd < 0 || usd > 1e9 {
		return 0, false
	}
	return int64(math.Round(usd * 1e6)), true
}

// carry is how the session's cost travels to its next turn.
func carry(spent int64) []byte {
	b, err := json.Marshal(struct {
		MicroUSD int64 `json:"micro_usd"`
	}{spent})
	if err != nil {
		return nil
	}
	return b
}

func carried(b []byte) int64 {
	var c struct {
		MicroUSD int64 `json:"micro_usd"`
	}
	if len(b) == 0 || json.Unmarshal(b, &c) != nil {
		return 0
	}
	return c.MicroUSD
}
