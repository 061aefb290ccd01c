package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agenthost/agenthost/actors/spec"
)

// MaxDocument bounds the text of a document, in bytes.
const MaxDocument = 1 << 20

// Parse reads a document of JSON: a list of statements, with the keys that a
// configuration has. The error is Faults and names the place of each.
func Parse(text []byte) (*Document, error) {
	var r reader
	if len(text) > MaxDocument {
		r.add("", "", fmt.Sprintf("is longer than %d bytes", MaxDocument), "")
		return nil, r.Faults
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	var list []json.RawMessage
	if err := dec.Decode(&list); err != nil {
		r.add("", "", "is no list of statements in JSON", why(err))
		return nil, r.Faults
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		r.add("", "", "goes on behind the list of statements", "remove what follows it")
		return nil, r.Faults
	}
	d := &Document{Statements: make([]Statement, len(list))}
	for i, one := range list {
		r.statement(fmt.Sprintf("[%d]", i), one, &d.Statements[i])
	}
	if r.Faults != nil {
		return nil, r.Faults
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	return d, nil
}

func why(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return syntax.Error() + " at byte " + strconv.FormatInt(syntax.Offset, 10)
	}
	return ""
}

// reader reads values and notes what is wrong with them.
type reader struct{ Faults }

// object gives each key of an object to the reader of that key.
func (r *reader) object(at string, raw json.RawMessage, keys map[string]func(at string, raw json.RawMessage)) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		r.add(at, "", "is no object", "write {\"key\": value}")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		v, read := m[key], keys[key]
		switch {
		case read == nil:
			r.add(at+"."+clip(key), "", "unknown key", "its keys are "+strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
		case string(v) != "null":
			read(at+"."+key, v)
		}
	}
}

func (r *reader) statement(at string, raw json.RawMessage, s *Statement) {
	r.object(at, raw, map[string]func(string, json.RawMessage){
		"id": text(r, &s.ID), "allow": list(r, &s.Allow), "deny": list(r, &s.Deny), "principals": list(r, &s.Principals),
		"limits": func(at string, raw json.RawMessage) {
			r.object(at, raw, map[string]func(string, json.RawMessage){
				"concurrency": number(r, &s.Limits.Concurrency), "requests_per_minute": number(r, &s.Limits.RequestsPerMinute),
			})
		},
		"scope": func(at string, raw json.RawMessage) { r.scope(at, raw, &s.Scope) },
	})
}

func (r *reader) scope(at string, raw json.RawMessage, s *Scope) {
	r.object(at, raw, map[string]func(string, json.RawMessage){
		"workdir": list(r, &s.Workdir), "commands": list(r, &s.Commands), "models": list(r, &s.Models),
		"llm_hosts": list(r, &s.LLMHosts), "mcp": list(r, &s.MCP), "env": list(r, &s.Env),
		"permissions": func(at string, raw json.RawMessage) { text(r, (*string)(&s.Permissions))(at, raw) },
		"max_turns":   number(r, &s.MaxTurns), "max_output": number(r, &s.MaxOutput),
		"timeout": func(at string, raw json.RawMessage) {
			var written string
			text(r, &written)(at, raw)
			d, err := time.ParseDuration(written)
			if written != "" && err != nil {
				r.add(at, written, "is no time", "write a number with a unit, such as 15m")
			}
			s.Timeout = d
		},
		"share_sessions": text(r, &s.ShareSessions),
		"unconfined_ok": func(at string, raw json.RawMessage) {
			if s.UnconfinedOK = new(bool); json.Unmarshal(raw, s.UnconfinedOK) != nil {
				r.add(at, clip(string(raw)), "is not true or false", "")
			}
		},
	})
}

func text(r *reader, to *string) func(string, json.RawMessage) {
	return func(at string, raw json.RawMessage) {
		if json.Unmarshal(raw, to) != nil {
			r.add(at, clip(string(raw)), "is no text", "write it in quotes")
		}
	}
}

func number[T int | int64](r *reader, to *T) func(string, json.RawMessage) {
	return func(at string, raw json.RawMessage) {
		if json.Unmarshal(raw, to) != nil {
			r.add(at, clip(string(raw)), "is no whole number", "")
		}
	}
}

// list reads a list of texts; one text stands for a list of it alone.
func list(r *reader, to *[]string) func(string, json.RawMessage) {
	return func(at string, raw json.RawMessage) {
		var one string
		if json.Unmarshal(raw, &one) == nil {
			*to = []string{one}
			return
		}
		var many []*string
		if json.Unmarshal(raw, &many) != nil {
			r.add(at, clip(string(raw)), "is no list of texts", `write it as ["a", "b"]`)
			return
		}
		*to = make([]string, len(many))
		for i, v := range many {
			if v == nil {
				r.add(fmt.Sprintf("%s[%d]", at, i), "null", "is no text", "")
				continue
			}
			(*to)[i] = *v
		}
	}
}

// MarshalJSON writes what Parse reads.
func (d *Document) MarshalJSON() ([]byte, error) {
	out := make([]written, len(d.Statements))
	for i := range d.Statements {
		out[i] = d.Statements[i].written()
	}
	return json.Marshal(out)
}

type written struct {
	ID         string         `json:"id,omitempty"`
	Allow      []string       `json:"allow,omitempty"`
	Deny       []string       `json:"deny,omitempty"`
	Principals []string       `json:"principals,omitempty"`
	Limits     *writtenLimits `json:"limits,omitempty"`
	Scope      *writtenScope  `json:"scope,omitempty"`
}

type writtenLimits struct {
	Concurrency       int `json:"concurrency,omitempty"`
	RequestsPerMinute int `json:"requests_per_minute,omitempty"`
}

type writtenScope struct {
	Workdir       []string         `json:"workdir,omitzero"`
	Permissions   spec.Permissions `json:"permissions,omitempty"`
	Commands      []string         `json:"commands,omitzero"`
	Models        []string         `json:"models,omitzero"`
	MaxTurns      int              `json:"max_turns,omitempty"`
	Timeout       string           `json:"timeout,omitempty"`
	MaxOutput     int64            `json:"max_output,omitempty"`
	LLMHosts      []string         `json:"llm_hosts,omitzero"`
	MCP           []string         `json:"mcp,omitzero"`
	Env           []string         `json:"env,omitzero"`
	ShareSessions string           `json:"share_sessions,omitempty"`
	UnconfinedOK  *bool            `json:"unconfined_ok,omitempty"`
}

func (s *Statement) written() written {
	w := written{ID: s.ID, Allow: s.Allow, Deny: s.Deny, Principals: s.Principals}
	if s.Limits != (Limits{}) {
		w.Limits = (*writtenLimits)(&s.Limits)
	}
	if c := &s.Scope; !c.isZero() {
		w.Scope = &writtenScope{
			Workdir: c.Workdir, Permissions: c.Permissions, Commands: c.Commands, Models: c.Models, MaxTurns: c.MaxTurns,
			MaxOutput: c.MaxOutput, LLMHosts: c.LLMHosts, MCP: c.MCP, Env: c.Env, ShareSessions: c.ShareSessions, UnconfinedOK: c.UnconfinedOK,
		}
		if c.Timeout != 0 {
			w.Scope.Timeout = c.Timeout.String()
		}
	}
	return w
}

// String is the statement on one line of JSON.
func (s *Statement) String() string {
	b, err := json.Marshal(s.written())
	if err != nil {
		return strings.Join(append(s.Allow, s.Deny...), " ")
	}
	return string(b)
}
