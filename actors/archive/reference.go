package archive

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// The sessions.json of the Python server that deployments move from: one document
// with sessions, their ended turns and the items of those. Owner, adapter, workspace
// and definition are not in it, so its sessions are history: their agent has the
// adapter spec.Imported, which runs nothing.

type (
	refFile struct {
		Version  int           `json:"version"`
		Sessions []*refSession `json:"sessions"`
	}
	refSession struct {
		ID         string         `json:"id"`
		Agent      string         `json:"agent"`
		Created    float64        `json:"created_at"`
		LastActive float64        `json:"last_active_at"`
		Metadata   map[string]any `json:"metadata"`
		Turns      []*refTurn     `json:"turns"`
	}
	refTurn struct {
		ID         string          `json:"id"`
		Status     string          `json:"status"`
		Created    float64         `json:"created_at"`
		Started    float64         `json:"started_at"`
		Completed  float64         `json:"completed_at"`
		Error      json.RawMessage `json:"error"`
		Usage      *refUsage       `json:"usage"`
		Prompt     string          `json:"prompt"`
		InputItems []refInput      `json:"input_items"`
		Items      []*refItem      `json:"items"`
	}
	refUsage struct {
		Input     int64 `json:"input_tokens"`
		Output    int64 `json:"output_tokens"`
		Cached    int64 `json:"cached_tokens"`
		Reasoning int64 `json:"reasoning_tokens"`
	}
	refInput struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	refItem struct {
		Type   string          `json:"type"`
		Status string          `json:"status"`
		Data   json.RawMessage `json:"data"`
	}
	// refData are the fields of an item's data, of whatever type.
	refData struct {
		Text      string          `json:"text"`
		Summary   json.RawMessage `json:"summary"`
		Phase     string          `json:"phase"`
		Command   json.RawMessage `json:"command"`
		Output    json.RawMessage `json:"output"`
		ExitCode  *int            `json:"exit_code"`
		Server    string          `json:"server_label"`
		Name      string          `json:"name"`
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
		Error     json.RawMessage `json:"error"`
	}
)

// refMax bounds the file, which is read whole.
const refMax = 2 << 30

// ErrReference says that a file is no sessions.json.
var ErrReference = errors.New("not a sessions.json of the reference server")

// ImportReference puts the sessions of a sessions.json into s, as owner's. What is
// there already is left as it is.
func ImportReference(ctx context.Context, s store.Store, owner string, r io.Reader) (*store.Imported, error) {
	done := &store.Imported{}
	b, err := io.ReadAll(io.LimitReader(r, refMax))
	if err != nil {
		return done, err
	}
	file := refFile{}
	if err := json.Unmarshal(b, &file); err != nil {
		return done, fmt.Errorf("%w: %w", ErrReference, err)
	}
	if file.Version != 1 {
		return done, fmt.Errorf("%w: it has version %d, and 1 is known", ErrReference, file.Version)
	}
	m := store.NewImporter(s)
	for i, ses := range file.Sessions {
		if err := importOne(ctx, m, owner, ses, done); err != nil {
			return done, fmt.Errorf("sessions[%d]: %w", i, err)
		}
	}
	return done, nil
}

func importOne(ctx context.Context, m *store.Importer, owner string, ses *refSession, done *store.Imported) error {
	if ses == nil || ses.ID == "" {
		return fmt.Errorf("%w: a session without an id", ErrReference)
	}
	id := refID(ses.ID, event.PrefixSession)
	in, err := m.Session(ctx, id, store.NewSession{Owner: owner, Created: millis(ses.Created)}, nil)
	if err != nil {
		return err
	}
	events, err := ses.events(id, owner)
	if err != nil {
		return err
	}
	rested, err := Refold(nil, events, true)
	if err != nil {
		return fmt.Errorf("session %s: %w", ses.ID, err)
	}
	to := &done.There
	if in != nil {
		to = &done.ExportCounts
		for at := 0; at < len(events); at += 1000 {
			if err := in.Events(ctx, events[at:min(at+1000, len(events))], nil); err != nil {
				return err
			}
		}
		if err := in.End(ctx, rested); err != nil {
			return err
		}
	}
	to.Sessions++
	to.Turns += int64(len(rested.Turns))
	to.Events += int64(len(events))
	return nil
}

// events are the session's journal.
func (r *refSession) events(id event.ID, owner string) ([]event.Event, error) {
	set := spec.Session{
		ID: id, Owner: owner, Created: millis(r.Created), Metadata: map[string]string{},
		Agent:       spec.Agent{ID: refID("agent "+r.Agent, ""), Name: "imported", Adapter: spec.Imported, Model: spec.Imported},
		Environment: spec.Environment{Type: spec.EnvSelfHosted, ID: refID("environment "+r.ID, "")},
	}
	for k, v := range r.Metadata {
		if text, ok := v.(string); ok {
			set.Metadata[k] = text
		} else {
			b, _ := json.Marshal(v) // it came from JSON
			set.Metadata[k] = string(b)
		}
	}
	b, err := json.Marshal(&set)
	if err != nil {
		return nil, err
	}
	j := &journal{state: fold.New()}
	j.add(millis(r.Created), event.Event{Kind: event.SessionCreated, Body: &event.Settings{JSON: b}})
	for i, t := range r.Turns {
		if t == nil || t.ID == "" {
			return nil, fmt.Errorf("%w: turns[%d] of session %s has no id", ErrReference, i, r.ID)
		}
		j.turn(t)
	}
	return j.events, j.err
}

// journal stamps events as a session's actor does.
type journal struct {
	state  *fold.State
	events []event.Event
	at     int64
	err    error
}

func (j *journal) add(at int64, ev event.Event) {
	if j.err != nil {
		return
	}
	j.at = max(j.at, at) // times do not go back
	ev.At = j.at
	j.state.Stamp(&ev)
	if _, j.err = j.state.Apply(&ev); j.err == nil {
		j.events = append(j.events, ev)
	}
}

func (j *journal) turn(t *refTurn) {
	id := refTurnID(t.ID)
	in := &event.Input{Prompt: t.prompt(), WasIdle: true, Wire: "agents"}
	if in.Prompt != "" {
		in.Items = []*event.Item{{ID: event.ItemID(id, 0), Type: event.Message, Status: event.Done, User: true, Text: in.Prompt}}
	}
	j.add(millis(t.Created), event.Event{Kind: event.InputAccepted, Turn: id, Body: in})
	if t.Started > 0 || len(t.Items) > 0 {
		j.add(millis(t.Started), event.Event{Kind: event.TurnStarted, Turn: id})
	}
	for i, it := range t.Items {
		if it == nil {
			continue
		}
		done := it.item()
		done.ID = event.ItemID(id, uint32(len(in.Items)+i))
		open := *done
		open.Status = event.InProgress
		if open.Type == event.Message || open.Type == event.Reasoning {
			open.Text = ""
		}
		at := millis(t.Completed)
		j.add(at, event.Event{Kind: event.ItemStarted, Turn: id, Item: done.ID, Body: &open})
		j.add(at, event.Event{Kind: event.ItemDone, Turn: id, Item: done.ID, Body: done})
	}
	j.add(millis(t.Completed), event.Event{Kind: event.TurnEnded, Turn: id, Body: t.end()})
}

func (t *refTurn) prompt() string {
	if t.Prompt != "" {
		return t.Prompt
	}
	var texts []string
	for _, in := range t.InputItems {
		if text := plain(in.Content); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}

func (t *refTurn) end() *event.End {
	end := &event.End{Outcome: event.Failed, Idle: true}
	if u := t.Usage; u != nil {
		end.Usage = &event.Usage{Input: max(u.Input, 0), Output: max(u.Output, 0), Cached: max(u.Cached, 0), Reasoning: max(u.Reasoning, 0)}
	}
	switch t.Status {
	case "completed":
		end.Outcome = event.Completed
	case "cancelled":
		end.Outcome = event.Cancelled
	case "failed":
		f := struct{ Code, Message string }{}
		if json.Unmarshal(t.Error, &f) != nil || f.Message == "" {
			f.Message = plain(t.Error)
		}
		if f.Message == "" {
			f.Message = "this turn failed on the server that it was imported from"
		}
		code, known := refCodes[f.Code]
		if !known {
			code = event.CLICrashed
		}
		end.Failure = event.Fail(code, f.Message)
	default:
		end.Failure = event.Fail(event.ServerRestarted, "this turn had not ended on the server that it was imported from")
	}
	return end
}

// refCodes are that server's words for what a turn failed of.
var refCodes = map[string]event.Code{
	"authentication_error":    event.AuthenticationError,
	"rate_limit_exceeded":     event.RateLimited,
	"server_overloaded":       event.ProviderOverloaded,
	"context_length_exceeded": event.ContextTooLong,
	"connection_failed":       event.ProviderUnreachable,
	"request_timeout":         event.TurnTimeout,
	"session_budget_exceeded": event.BudgetReached,
}

func (r *refItem) item() *event.Item {
	it := &event.Item{Status: event.Done}
	switch r.Status {
	case "failed":
		it.Status = event.ItemFailed
	case "incomplete", "in_progress":
		it.Status = event.Incomplete
	}
	d := refData{}
	_ = json.Unmarshal(r.Data, &d) // what does not fit is empty, and the whole is kept below
	switch r.Type {
	case "message":
		it.Type, it.Text = event.Message, d.Text
		switch d.Phase {
		case "final_answer":
			it.Phase = event.FinalAnswer
		case "commentary":
			it.Phase = event.Commentary
		}
	case "reasoning":
		it.Type, it.Text = event.Reasoning, d.Text
		if it.Text == "" {
			it.Text = plain(d.Summary)
		}
	case "command", "command_execution":
		it.Type, it.Command, it.Output, it.ExitCode = event.Command, plain(d.Command), plain(d.Output), d.ExitCode
	default:
		it.Type, it.Server, it.Tool, it.Output, it.Error = event.ToolCall, d.Server, d.Name, plain(d.Output), plain(d.Error)
		if it.Tool == "" {
			it.Tool = d.Tool
		}
		if it.Tool == "" {
			it.Tool = r.Type
		}
		it.Arguments = plain(d.Arguments)
		if !json.Valid([]byte(it.Arguments)) {
			it.Arguments = string(r.Data)
		}
		if it.Arguments == "" {
			it.Arguments = "{}"
		}
	}
	return it
}

// plain is the text of a JSON value: a string, the texts of a list, or the JSON.
func plain(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		return string(raw)
	}
	var texts []string
	for _, p := range parts {
		var one struct{ Text string }
		if json.Unmarshal(p, &text) == nil {
			texts = append(texts, text)
		} else if json.Unmarshal(p, &one) == nil && one.Text != "" {
			texts = append(texts, one.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// millis are Unix milliseconds of seconds, within what a date can be.
func millis(seconds float64) int64 {
	if !(seconds > 0) {
		return 0
	}
	return int64(min(seconds, 253402300799) * 1000)
}

// refID is the identity that a written id leads to: the one it names, or, of one that
// no request could name, one that is always the same.
func refID(text, prefix string) event.ID {
	if prefix != "" {
		if id, ok := event.Parse(text, prefix); ok {
			return id
		}
	}
	sum := sha256.Sum256([]byte(text))
	return event.ID(sum[:16])
}

// refTurnID is one that items' ids lead back to.
func refTurnID(text string) event.ID {
	return event.TurnOf(refID(text, event.PrefixTurn))
}
