package responses

import (
	"bytes"
	stdjson "encoding/json"
	"strconv"
	"time"

	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/wires/apierr"
)

// Response is a response object.
type Response struct {
	ID                 string               `json:"id"`
	Object             string               `json:"object" enum:"response"`
	CreatedAt          int64                `json:"created_at"`
	Status             string               `json:"status" enum:"queued,in_progress,completed,failed,incomplete,cancelled"`
	Background         bool                 `json:"background"`
	CompletedAt        *int64               `json:"completed_at"`
	Conversation       conversation         `json:"conversation"`
	Error              *responseError       `json:"error"`
	IncompleteDetails  *incomplete          `json:"incomplete_details"`
	Instructions       *string              `json:"instructions"`
	MaxOutputTokens    *int64               `json:"max_output_tokens"`
	MaxToolCalls       *int64               `json:"max_tool_calls"`
	Metadata           map[string]string    `json:"metadata"`
	Model              string               `json:"model"`
	Output             []stdjson.RawMessage `json:"output"`
	ParallelToolCalls  bool                 `json:"parallel_tool_calls"`
	PreviousResponseID *string              `json:"previous_response_id"`
	PromptCacheKey     *string              `json:"prompt_cache_key,omitempty"`
	CacheRetention     *string              `json:"prompt_cache_retention,omitempty"`
	Reasoning          reasoning            `json:"reasoning"`
	SafetyIdentifier   *string              `json:"safety_identifier,omitempty"`
	ServiceTier        *string              `json:"service_tier"`
	Store              bool                 `json:"store"`
	Temperature        *float64             `json:"temperature"`
	Text               textConfig           `json:"text"`
	ToolChoice         stdjson.RawMessage   `json:"tool_choice"`
	Tools              []stdjson.RawMessage `json:"tools"`
	TopLogprobs        *int64               `json:"top_logprobs,omitempty"`
	TopP               *float64             `json:"top_p"`
	Truncation         string               `json:"truncation"`
	Usage              *usage               `json:"usage"`
	User               *string              `json:"user,omitempty"`
	AccessPrograms     *struct{}            `json:"access_programs" as:"null"`
}

// Variants implements openapi.Variants.
func (Response) Variants() map[string][]any {
	return map[string][]any{"output": outputItems(), "tool_choice": {"", toolChoice{}}, "tools": {functionTool{}, mcpTool{}}}
}

// toolChoice is given back as it came.
type toolChoice struct{}

type conversation struct {
	ID string `json:"id"`
}

// responseError carries our own code in type: the wire's set of codes is closed
// and coarse.
type responseError struct {
	Code    string  `json:"code" enum:"server_error,rate_limit_exceeded,invalid_prompt"`
	Message string  `json:"message"`
	Param   *string `json:"param"`
	Type    string  `json:"type"`
}

type incomplete struct {
	Reason string `json:"reason" enum:"max_output_tokens,max_messages"`
}

type reasoning struct {
	Effort  *string `json:"effort"`
	Summary *string `json:"summary"`
	Context *string `json:"context,omitempty"`
	Mode    *string `json:"mode,omitempty"`
}

type textConfig struct {
	Format    stdjson.RawMessage `json:"format" as:"object"`
	Verbosity *string            `json:"verbosity,omitempty"`
}

type usage struct {
	InputTokens        int64         `json:"input_tokens"`
	InputTokensDetails inputDetails  `json:"input_tokens_details"`
	OutputTokens       int64         `json:"output_tokens"`
	OutputDetails      outputDetails `json:"output_tokens_details"`
	TotalTokens        int64         `json:"total_tokens"`
}

type inputDetails struct {
	Cached     int64 `json:"cached_tokens"`
	CacheWrite int64 `json:"cache_write_tokens"`
}

type outputDetails struct {
	Reasoning int64 `json:"reasoning_tokens"`
}

// Keys of metadata that the host adds.
const (
	metaTrimmed   = "agenthost.output_trimmed"
	metaQueued    = "agenthost.queued_at"
	metaStarted   = "agenthost.started_at"
	metaFirstByte = "agenthost.first_byte_at"
	metaEnded     = "agenthost.ended_at"
	metaIsolation = "agenthost.isolation"
)

const (
	// maxObject bounds an encoded response object, so that its frame stays below
	// what readers of streams take (8 MiB a line).
	maxObject = 8<<20 - 4<<10
	// maxEchoed bounds the instructions that are given back.
	maxEchoed = 256 << 10
)

// Of is the response of a turn as it stands.
func Of(t *fold.Turn) *Response {
	e, asked := readEcho(t.Input.Echo)
	r := &Response{
		ID:                 t.ID.With(event.PrefixResponse),
		Object:             "response",
		CreatedAt:          t.Created / 1000,
		Status:             status(t),
		Background:         t.Input.Background || !asked,
		Conversation:       conversation{t.Session.With(event.PrefixConversation)},
		Instructions:       e.Instructions,
		MaxOutputTokens:    e.MaxOutputTokens,
		MaxToolCalls:       e.MaxToolCalls,
		Metadata:           map[string]string{},
		Model:              e.Model,
		Output:             []stdjson.RawMessage{},
		ParallelToolCalls:  e.ParallelToolCalls == nil || *e.ParallelToolCalls,
		PreviousResponseID: e.PreviousResponseID,
		PromptCacheKey:     e.PromptCacheKey,
		CacheRetention:     e.CacheRetention,
		Reasoning:          reasoning{e.Effort, e.Summary, e.Context, e.Mode},
		SafetyIdentifier:   e.SafetyIdentifier,
		ServiceTier:        e.ServiceTier,
		Store:              !t.Input.Forget,
		Temperature:        e.Temperature,
		Text:               textConfig{rawOr(e.Format, `{"type":"text"}`), e.Verbosity},
		ToolChoice:         rawOr(e.ToolChoice, `"auto"`),
		Tools:              e.tools(),
		TopLogprobs:        e.TopLogprobs,
		TopP:               e.TopP,
		Truncation:         "disabled",
		User:               e.User,
	}
	if e.Truncation != nil {
		r.Truncation = *e.Truncation
	}
	for k, v := range e.Metadata {
		r.Metadata[k] = v
	}
	r.settings(t)
	r.ended(t)
	r.output(t)
	return r
}

// settings fills in what the request left to the agent.
func (r *Response) settings(t *fold.Turn) {
	if t.Settings == nil {
		return
	}
	a := &t.Settings.Agent
	if r.Model == "" {
		r.Model = t.Model()
	}
	if r.Model == "" {
		r.Model = a.Adapter
	}
	if r.Instructions == nil && len(t.Input.Echo) == 0 && a.Instructions != "" {
		text := head(a.Instructions, maxEchoed)
		r.Instructions = &text
	}
	if r.Reasoning.Effort == nil && a.Reasoning.Effort != "" {
		r.Reasoning.Effort = &a.Reasoning.Effort
	}
	if r.Reasoning.Summary == nil && a.Reasoning.Summary != "" {
		r.Reasoning.Summary = &a.Reasoning.Summary
	}
}

func (r *Response) ended(t *fold.Turn) {
	if t.End == nil {
		return
	}
	u := event.Usage{}
	if t.End.Usage != nil {
		u = *t.End.Usage
	}
	r.Usage = &usage{
		InputTokens: u.Input, InputTokensDetails: inputDetails{u.Cached, u.CacheWrite},
		OutputTokens: u.Output, OutputDetails: outputDetails{u.Reasoning}, TotalTokens: u.Total(),
	}
	switch {
	case t.Status == fold.Completed:
		at := t.Ended / 1000
		r.CompletedAt = &at
	case r.Status == "incomplete":
		r.IncompleteDetails = &incomplete{apierr.Incomplete(t.End.Failure)}
	case r.Status == "failed":
		code, message := apierr.ResponseError(t.End.Failure)
		r.Error = &responseError{Code: code, Message: message, Type: string(apierr.Internal)}
		if f := t.End.Failure; f != nil {
			r.Error.Type = string(f.Code)
			if f.Param != "" {
				r.Error.Param = &f.Param
			}
		}
	}
	if is := t.End.Isolation; is != "" {
		r.Metadata[metaIsolation] = is
	}
	if t.Status == fold.Failed {
		r.time(metaQueued, t.Created)
		r.time(metaStarted, t.Started)
		r.time(metaFirstByte, t.End.FirstByte)
		r.time(metaEnded, t.Ended)
	}
}

func (r *Response) time(key string, millis int64) {
	if millis > 0 {
		r.Metadata[key] = time.UnixMilli(millis).UTC().Format("2006-01-02T15:04:05.000Z07:00")
	}
}

// output adds the newest items that fit.
func (r *Response) output(t *fold.Turn) {
	if t.Forgotten || len(t.Items) == 0 {
		return
	}
	room := maxObject - len(encode(r)) - 64 // for the trim mark
	from := len(t.Items)
	items := make([]stdjson.RawMessage, len(t.Items))
	for i := len(t.Items) - 1; i >= 0; i-- {
		b := appendItem(nil, t.Items[i], nil)
		if it := t.Items[i]; len(b) > room && i == len(t.Items)-1 && it.Type == event.Message {
			short := *it // an answer of control characters: six bytes each
			short.Text = head(it.Text, room/6-1024)
			b = appendItem(nil, &short, nil)
			r.Metadata[metaTrimmed] = "the last message is cut"
		}
		if room -= len(b) + 1; room < 0 {
			break
		}
		items[i], from = b, i
	}
	if from > 0 {
		r.Metadata[metaTrimmed] = strconv.Itoa(from) + " of " + strconv.Itoa(len(t.Items)) + " items left out"
	}
	r.Output = items[from:]
}

// status is the wire's word for where a turn stands.
func status(t *fold.Turn) string {
	switch t.Status {
	case fold.Queued:
		if t.Input.Waiting {
			return "queued"
		}
		return "in_progress" // it is next: nothing was ahead of it
	case fold.Running:
		return "in_progress"
	case fold.Completed:
		return "completed"
	case fold.Cancelled:
		return "cancelled"
	default:
		if t.End != nil && apierr.Incomplete(t.End.Failure) != "" {
			return "incomplete"
		}
		return "failed"
	}
}

func rawOr(raw stdjson.RawMessage, otherwise string) stdjson.RawMessage {
	if len(raw) == 0 || !stdjson.Valid(raw) {
		return stdjson.RawMessage(otherwise)
	}
	return raw
}

// trusting is the usual encoder without its check of raw values, which decodes
// each of them: those of our objects are made by it or were checked on arrival.
var trusting = jsoniter.Config{EscapeHTML: true, SortMapKeys: true}.Froze()

// encode is v as JSON on one line.
func encode(v any) []byte { return appendJSON(nil, v) }

// appendJSON appends v as JSON on one line. Values given back as they came may hold
// line breaks between tokens, which would end an event's data.
func appendJSON(dst []byte, v any) []byte {
	from := len(dst)
	s := trusting.BorrowStream(nil)
	own := s.Buffer()
	s.SetBuffer(dst)
	s.WriteVal(v)
	b, err := s.Buffer(), s.Error
	s.SetBuffer(own) // what the stream has of its own is lent again
	trusting.ReturnStream(s)
	if err != nil { // structs of strings and numbers cannot fail
		return append(b[:from], "null"...)
	}
	if bytes.IndexByte(b[from:], '\n') < 0 && bytes.IndexByte(b[from:], '\r') < 0 {
		return b
	}
	var line bytes.Buffer
	if stdjson.Compact(&line, b[from:]) != nil {
		return append(b[:from], "null"...)
	}
	return append(b[:from], line.Bytes()...)
}
