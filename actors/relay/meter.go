package relay

import (
	"bytes"
	"encoding/json"

	"github.com/agenthost/agenthost/actors/event"
)

// maxMetered bounds what is kept of an answer to read its usage: a line of a stream,
// or a whole answer. A longer one is passed on and not counted.
const maxMetered = 8 << 20

// meter reads what an answer says was used. A nil meter reads nothing.
type meter struct {
	stream bool
	buf    []byte
	over   bool // buf would be too long
	total  event.Usage
	told   bool
}

// newMeter is one for an answer of a media type, nil for one that tells no usage.
func newMeter(kind string) *meter {
	switch kind {
	case "text/event-stream":
		return &meter{stream: true}
	case "application/json":
		return &meter{}
	}
	return nil
}

func (m *meter) read(p []byte) {
	if m == nil {
		return
	}
	for m.stream {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		m.keep(line)
		if !ended {
			return
		}
		m.line()
		p = rest
	}
	m.keep(p)
}

func (m *meter) keep(p []byte) {
	if m.over || len(m.buf)+len(p) > maxMetered {
		m.over, m.buf = true, nil
		return
	}
	m.buf = append(m.buf, p...)
}

var usageWord = []byte(`usage`)

func (m *meter) line() {
	if data, ok := bytes.CutPrefix(m.buf, []byte("data:")); ok && bytes.Contains(data, usageWord) {
		m.count(data)
	}
	m.buf, m.over = m.buf[:0], false
}

// usage is what the whole answer used; told is false when it did not say.
func (m *meter) usage() (u event.Usage, told bool) {
	if m == nil {
		return u, false
	}
	if m.stream {
		m.line()
	} else if bytes.Contains(m.buf, usageWord) {
		m.count(m.buf)
	}
	m.buf = nil
	return m.total, m.told
}

// amounts is the usage of any of the wires.
type amounts struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	// What Anthropic counts beside its input; the others count theirs within it.
	CacheRead  int64   `json:"cache_read_input_tokens"`
	CacheWrite int64   `json:"cache_creation_input_tokens"`
	In         details `json:"input_tokens_details"`
	PromptIn   details `json:"prompt_tokens_details"`
	Out        details `json:"output_tokens_details"`
	PromptOut  details `json:"completion_tokens_details"`
	// Gemini's.
	PromptCount     int64 `json:"promptTokenCount"`
	CandidatesCount int64 `json:"candidatesTokenCount"`
	ThoughtsCount   int64 `json:"thoughtsTokenCount"`
}

type details struct {
	Cached    int64 `json:"cached_tokens"`
	Reasoning int64 `json:"reasoning_tokens"`
}

// count takes one event or answer. Those of one answer repeat themselves and grow, so
// the largest of each amount is what was used.
func (m *meter) count(data []byte) {
	var e struct {
		Usage    *amounts `json:"usage"`
		Metadata *amounts `json:"usageMetadata"`
		Response struct {
			Usage *amounts `json:"usage"`
		} `json:"response"`
		Message struct {
			Usage *amounts `json:"usage"`
		} `json:"message"`
	}
	if json.Unmarshal(data, &e) != nil {
		return
	}
	for _, a := range []*amounts{e.Usage, e.Metadata, e.Response.Usage, e.Message.Usage} {
		if a == nil {
			continue
		}
		m.told = true
		t := &m.total
		t.Input = max(t.Input, a.Input+a.CacheRead+a.CacheWrite, a.Prompt, a.PromptCount)
		t.Output = max(t.Output, a.Output, a.Completion, a.CandidatesCount+a.ThoughtsCount)
		t.Cached = max(t.Cached, a.CacheRead, a.In.Cached, a.PromptIn.Cached)
		t.CacheWrite = max(t.CacheWrite, a.CacheWrite)
		t.Reasoning = max(t.Reasoning, a.Out.Reasoning, a.PromptOut.Reasoning, a.ThoughtsCount)
	}
}
