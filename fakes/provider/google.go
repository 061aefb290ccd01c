package provider

import (
	"net/http"
	"strings"

	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/fakes/mind"
)

// google is Google's wire: models/NAME:generateContent and :streamGenerateContent. The
// model and whether the answer is streamed are in the path.
type google struct {
	model    string
	streamed bool
}

// gemini serves the wire below a path that begins with a version.
func (s *Server) gemini(w http.ResponseWriter, r *http.Request) {
	model, method, _ := strings.Cut(r.PathValue("call"), ":")
	switch method {
	case "generateContent", "streamGenerateContent":
		s.serve(google{model, method == "streamGenerateContent"})(w, r)
	case "countTokens":
		s.record(r, nil)
		reply(w, http.StatusOK, object{"totalTokens": InputTokens})
	default:
		s.unknown(w, r)
	}
}

// googleStatus is the word of a status.
var googleStatus = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 529: "UNAVAILABLE",
}

func (google) fault(f failure) any {
	status := f.status
	if status == 0 {
		status = http.StatusInternalServerError
	}
	return object{"error": object{"code": status, "message": f.message, "status": googleStatus[status]}}
}

// googlePart is a piece of what was said.
type googlePart struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought"`
	Call    *struct {
		ID   string              `json:"id"`
		Name string              `json:"name"`
		Args jsoniter.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string              `json:"id"`
		Name     string              `json:"name"`
		Response jsoniter.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

func (g google) read(body []byte) (*question, error) {
	var in struct {
		System struct {
			Parts []googlePart `json:"parts"`
		} `json:"systemInstruction"`
		Contents []struct {
			Role  string       `json:"role"`
			Parts []googlePart `json:"parts"`
		} `json:"contents"`
		Tools []struct {
			Functions []struct {
				Name       string `json:"name"`
				Parameters schema `json:"parameters"`
				Schema     schema `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		Config struct {
			Schema jsoniter.RawMessage `json:"responseJsonSchema"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	q := &question{Model: g.model, Stream: g.streamed, Schema: in.Config.Schema}
	for _, list := range in.Tools {
		for _, f := range list.Functions {
			t := tool{Name: f.Name, Schema: f.Schema}
			if len(t.Schema.Properties) == 0 {
				t.Schema = f.Parameters
			}
			q.Tools = append(q.Tools, t)
		}
	}
	say := func(role string, list []googlePart) {
		var texts []string
		for _, p := range list {
			switch {
			case p.Response != nil:
				q.result(p.Response.ID, []string{googleOutput(p.Response.Response)})
			case p.Text != "" && !p.Thought:
				texts = append(texts, p.Text)
			}
		}
		if len(texts) > 0 {
			q.say(role, texts)
		}
	}
	say("system", in.System.Parts)
	for _, c := range in.Contents {
		role := c.Role
		if role == "model" {
			role = "assistant"
		}
		say(role, c.Parts)
	}
	return q, nil
}

// googleOutput is what a function returned, as text.
func googleOutput(raw jsoniter.RawMessage) string {
	var r struct {
		Output *string `json:"output"`
		Error  *string `json:"error"`
	}
	if json.Unmarshal(raw, &r) == nil {
		switch {
		case r.Output != nil:
			return *r.Output
		case r.Error != nil:
			return *r.Error
		}
	}
	return string(raw)
}

// chunk is one piece of an answer; the last one has a reason.
func (google) chunk(a *answer, parts []any, finish string) object {
	c := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != "" {
		c["finishReason"] = finish
	}
	return object{
		"candidates": []any{c}, "modelVersion": a.Model, "responseId": a.id("resp"),
		"usageMetadata": object{
			"promptTokenCount": a.input(), "candidatesTokenCount": a.output() - ReasoningTokens, "thoughtsTokenCount": ReasoningTokens,
			"cachedContentTokenCount": CachedTokens, "totalTokenCount": a.input() + a.output(),
		},
	}
}

func (google) calls(a *answer) []any {
	list := make([]any, 0, len(a.Calls))
	for _, c := range a.Calls {
		list = append(list, object{"functionCall": object{"id": c.ID, "name": c.Name, "args": jsoniter.RawMessage(c.Args)}})
	}
	return list
}

func (google) finish(a *answer) string {
	switch {
	case a.ends("incomplete"):
		return "MAX_TOKENS"
	case a.ends("refusal"):
		return "SAFETY"
	}
	return "STOP"
}

func (g google) whole(a *answer) any {
	var parts []any
	if a.Move.Think != "" {
		parts = append(parts, object{"text": a.Move.Think, "thought": true})
	}
	if a.Schema != nil { // a question of the CLI's own, such as which model is to answer
		return g.chunk(a, []any{object{"text": sample(a.Schema)}}, g.finish(a))
	}
	if a.Move.Say != "" {
		parts = append(parts, object{"text": a.Move.Say})
	}
	return g.chunk(a, append(parts, g.calls(a)...), g.finish(a))
}

func (g google) stream(e *events, a *answer) {
	for _, p := range mind.Pieces(a.Move.Think) {
		e.piece("", g.chunk(a, []any{object{"text": p, "thought": true}}, ""))
	}
	for _, p := range mind.Pieces(a.Move.Say) {
		e.piece("", g.chunk(a, []any{object{"text": p}}, ""))
	}
	if e.broken(a) {
		return
	}
	for _, c := range g.calls(a) {
		e.piece("", g.chunk(a, []any{c}, ""))
	}
	e.send("", g.chunk(a, []any{object{"text": ""}}, g.finish(a)))
}
