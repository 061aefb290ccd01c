package responses_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

func TestTranscriptsBecomeAPreface(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, answers("ok")))
	for _, x := range []struct{ name, input, prompt string }{
		{"a text", `"hi"`, "hi"},
		{"one message", `[{"role":"user","content":"hi"}]`, "hi"},
		{"parts", `[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]}]`, "a\n\nb"},
		{"assistant without type", `[{"role":"system","content":"be brief"},{"role":"user","content":"A"},{"role":"assistant","content":"B"},{"role":"user","content":[{"type":"input_text","text":"C"}]}]`,
			"Earlier in this conversation:\n\nuser: A\n\nassistant: B\n\nThe user's message now:\n\nC"},
		{"bare output text and refusal", `[{"type":"message","role":"user","content":"A"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"B"}]},{"type":"message","role":"assistant","id":"msg_x","status":"completed","content":[{"type":"output_text","text":"B2","annotations":[],"logprobs":[]},{"type":"refusal","refusal":"no"}]},{"role":"developer","content":"D"},{"role":"user","content":"C"}]`,
			"Earlier in this conversation:\n\nuser: A\n\nassistant: B\n\nassistant: B2\nno\n\nThe user's message now:\n\nC"},
		{"our own items", `[{"role":"user","content":"A"},{"id":"item_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},` +
			`{"id":"item_2","type":"mcp_call","server_label":"codex","name":"command_execution","arguments":"{\"command\":\"ls\"}","status":"completed"},` +
			`{"type":"mcp_call","server_label":"d","name":"t","arguments":"{}","output":"line 1\nline 2"},` +
			`{"type":"web_search_call","id":"w","status":"completed","action":{"type":"search","query":"q"}},` +
			`{"type":"function_call","call_id":"c","name":"f","arguments":"{\"x\":1}"},{"type":"function_call_output","call_id":"c","output":"42"},` +
			`{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"43"}]},` +
			`{"role":"assistant","content":null},{"role":"user","content":"C"}]`,
			"Earlier in this conversation:\n\nuser: A\n\n[called codex/command_execution {\"command\":\"ls\"}]\n\n[called d/t {} -> line 1 line 2]\n\n" +
				"[searched the web {\"type\":\"search\",\"query\":\"q\"}]\n\n[called f {\"x\":1}]\n\n[result -> 42]\n\n[result -> [{\"type\":\"input_text\",\"text\":\"43\"}]]\n\n" +
				"The user's message now:\n\nC"},
		{"a trailing answer", `[{"role":"user","content":"A"},{"role":"assistant","content":"B"}]`,
			"Earlier in this conversation:\n\nassistant: B\n\nThe user's message now:\n\nA"},
		{"a long tool line", `[{"type":"function_call","name":"f","arguments":"` + strings.Repeat("x", 5000) + `"},{"role":"user","content":"C"}]`,
			"Earlier in this conversation:\n\n[called f " + strings.Repeat("x", 1024-10) + "...]\n\nThe user's message now:\n\nC"},
		{"lone surrogate", `"cut \ud83d end"`, "cut \uFFFD end"},
	} {
		t.Run(x.name, func(t *testing.T) {
			c.create(`{"model":"codex","input":` + x.input + `}`).object()
			if got := c.lastInput(); got != x.prompt {
				t.Errorf("prompt\n%q, want\n%q", got, x.prompt)
			}
		})
	}
}

func TestPrefaceKeepsTheNewestWholeMessages(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, answers("ok")))
	var items []string
	for i := range 40 {
		items = append(items, fmt.Sprintf(`{"role":"assistant","content":"%d %s"}`, i, strings.Repeat("w", 4000)))
	}
	items = append(items, `{"role":"user","content":"C"}`)
	c.create(`{"model":"codex","input":[` + strings.Join(items, ",") + `]}`).object()
	got := c.lastInput()
	if len(got) > 66<<10 || !strings.HasPrefix(got, "Earlier in this conversation (older messages are left out):\n\nassistant: 24 w") || !strings.Contains(got, "assistant: 39 w") {
		t.Errorf("%d bytes: %.100q", len(got), got)
	}
	c.create(`{"model":"codex","input":[{"role":"assistant","content":"` + strings.Repeat("w", 70<<10) + `"},{"role":"user","content":"C"}]}`).object()
	if got := c.lastInput(); got != "(The earlier messages of this conversation are too long and are left out.)\n\nC" {
		t.Errorf("%.200q", got)
	}
}

func TestWhatCannotBeAskedIsRefusedByName(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("ok"))
	c := newClient(t, e)
	for _, x := range []struct{ name, body, code, param string }{
		{"no body", ``, "invalid_request", ""},
		{"no input", `{"model":"codex"}`, "invalid_request", "input"},
		{"null", `{"input":null}`, "invalid_request", "input"},
		{"number", `{"input":5}`, "invalid_request", "input"},
		{"object", `{"input":{}}`, "invalid_request", "input"},
		{"empty text", `{"input":""}`, "invalid_request", "input"},
		{"empty list", `{"input":[]}`, "invalid_request", "input"},
		{"empty item", `{"input":[{}]}`, "invalid_request", "input[0]"},
		{"text item", `{"input":["x"]}`, "invalid_request", "input[0]"},
		{"blank text", `{"input":[{"role":"user","content":[{"type":"input_text","text":"  "}]}]}`, "invalid_request", "input[0].content"},
		{"no content", `{"input":[{"role":"user","content":[]}]}`, "invalid_request", "input[0].content"},
		{"content of a wrong kind", `{"input":[{"role":"user","content":5}]}`, "invalid_request", "input[0].content"},
		{"blank last message", `{"input":[{"role":"user","content":"A"},{"role":"user","content":" \n"}]}`, "invalid_request", "input[1].content"},
		{"only assistant", `{"input":[{"role":"assistant","content":"x"}]}`, "invalid_request", "input"},
		{"only system", `{"input":[{"role":"system","content":"x"}]}`, "invalid_request", "input"},
		{"unknown role", `{"input":[{"role":"tool","content":"x"}]}`, "invalid_request", "input[0].role"},
		{"unknown part", `{"input":[{"role":"user","content":[{"type":"input_text","text":"x"},{"type":"hologram"}]}]}`, "agents.unsupported", "input[0].content[1]"},
		{"a file of nothing", `{"input":[{"role":"user","content":[{"type":"input_file"}]}]}`, "invalid_request", "input[0].content[0]"},
		{"a file twice", `{"input":[{"role":"user","content":[{"type":"input_file","file_data":"eA==","file_id":"f"}]}]}`, "invalid_request", "input[0].content[0]"},
		{"a file by URL", `{"input":[{"role":"user","content":[{"type":"input_file","file_url":"https://x"}]}]}`, "agents.unsupported", "input[0].content[0]"},
		{"a file that is no base64", `{"input":[{"role":"user","content":[{"type":"input_file","file_data":"***"}]}]}`, "invalid_request", "input[0].content[0]"},
		{"a file that is no text", `{"input":[{"role":"user","content":[{"type":"input_file","file_data":"data:application/pdf;base64,JVBERv8="}]}]}`, "agents.unsupported", "input[0].content[0]"},
		{"a file that is too long", `{"input":[{"role":"user","content":[{"type":"input_file","file_data":"` + strings.Repeat("eHh4", 90_000) + `"}]}]}`, "invalid_request", "input[0].content[0]"},
		{"a picture", `{"model":"codex","input":[{"role":"user","content":[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"data:image/png;base64,AA=="}]}]}`, "agents.unsupported", "input[0].content[1]"},
		{"a picture by file id", `{"model":"codex","input":[{"role":"user","content":[{"type":"input_text","text":"x"},{"type":"input_image","file_id":"file-00000000000000000000000000000001"}]}]}`, "agents.unsupported", "input[0].content[1]"},
		{"a picture without words", `{"model":"claude-code","input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AA=="}]}]}`, "invalid_request", "input[0].content"},
		{"a picture by URL", `{"model":"claude-code","input":[{"role":"user","content":[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"https://x/y.png"}]}]}`, "agents.unsupported", "input[0].content[1]"},
		{"a picture of another kind", `{"model":"claude-code","input":[{"role":"user","content":[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"data:image/svg+xml;base64,AA=="}]}]}`, "invalid_request", "input[0].content[1]"},
		{"a picture of nothing", `{"model":"claude-code","input":[{"role":"user","content":[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"data:image/png;base64,"}]}]}`, "invalid_request", "input[0].content[1]"},
		{"an assistant's picture", `{"model":"claude-code","input":[{"role":"assistant","content":[{"type":"input_image","image_url":"data:image/png;base64,AA=="}]},{"role":"user","content":"x"}]}`, "agents.unsupported", "input[0].content[0]"},
		{"unknown item", `{"input":[{"type":"hologram_call"},{"role":"user","content":"x"}]}`, "agents.unsupported", "input[0].type"},
		{"function tool without a name", `{"input":"x","tools":[{"type":"function"}]}`, "invalid_request", "tools[0].name"},
		{"two functions of a name", `{"input":"x","tools":[{"type":"function","name":"f"},{"type":"function","name":"f"}]}`, "invalid_request", "tools[1].name"},
		{"function of Chat Completions", `{"input":"x","tools":[{"type":"function","function":{"name":"f"}}]}`, "invalid_request", "tools[0].function"},
		{"function without a schema", `{"input":"x","tools":[{"type":"function","name":"f","parameters":[]}]}`, "invalid_request", "tools[0].parameters"},
		{"unknown call", `{"input":[{"type":"function_call_output","output":"x"}]}`, "invalid_request", "input[0].call_id"},
		{"a call without its output", `{"input":[{"type":"function_call_output","call_id":"call_00000000000000000000000000000001"}]}`, "invalid_request", "input[0].output"},
		{"a call whose output is null", `{"input":[{"type":"function_call_output","call_id":"c","output":null},{"role":"user","content":"x"}]}`, "invalid_request", "input[0].output"},
		{"mixed tools", `{"input":"x","tools":[{"type":"mcp","server_label":"d","server_url":"https://a.b"},{"type":"custom"}]}`, "agents.unsupported", "tools[1]"},
		{"tools of a wrong kind", `{"input":"x","tools":{}}`, "invalid_request", "tools"},
		{"both continuations", `{"input":"x","conversation":"conv_1","previous_response_id":"resp_1"}`, "invalid_request", "conversation"},
		{"conversation without id", `{"input":"x","conversation":{}}`, "invalid_request", "conversation.id"},
		{"conversation of a wrong kind", `{"input":"x","conversation":5}`, "invalid_request", "conversation"},
		{"background, not stored", `{"input":"x","background":true,"store":false}`, "invalid_request", "background"},
		{"prompt template", `{"input":"x","prompt":{"id":"pmpt_1"}}`, "agents.unsupported", "prompt"},
		{"stream of a wrong kind", `{"input":"x","stream":"yes"}`, "invalid_request", "stream"},
		{"model of a wrong kind", `{"input":"x","model":5}`, "invalid_request", "model"},
		{"long model", `{"input":"x","model":"` + strings.Repeat("m", 257) + `"}`, "invalid_request", "model"},
		{"temperature of a wrong kind", `{"input":"x","temperature":"hot"}`, "invalid_request", "temperature"},
		{"user of a wrong kind", `{"input":"x","user":5}`, "invalid_request", "user"},
		{"unknown effort", `{"input":"x","reasoning":{"effort":"huge"}}`, "invalid_request", "reasoning.effort"},
		{"unknown summary", `{"input":"x","reasoning":{"summary":"huge"}}`, "invalid_request", "reasoning.summary"},
		{"reasoning of a wrong kind", `{"input":"x","reasoning":"high"}`, "invalid_request", "reasoning"},
		{"unknown verbosity", `{"input":"x","text":{"verbosity":"huge"}}`, "invalid_request", "text.verbosity"},
		{"json_object", `{"input":"x","text":{"format":{"type":"json_object"}}}`, "agents.unsupported", "text.format.type"},
		{"schema missing", `{"input":"x","text":{"format":{"type":"json_schema","name":"n"}}}`, "invalid_request", "text.format.schema"},
		{"schema too large", `{"input":"x","text":{"format":{"type":"json_schema","schema":{"a":"` + strings.Repeat("x", 300<<10) + `"}}}}`, "invalid_request", "text.format.schema"},
		{"format of a wrong kind", `{"input":"x","text":{"format":"json"}}`, "invalid_request", "text.format"},
		{"text of a wrong kind", `{"input":"x","text":"json"}`, "invalid_request", "text"},
		{"tool_choice of a wrong kind", `{"input":"x","tool_choice":5}`, "invalid_request", "tool_choice"},
		{"include of a wrong kind", `{"input":"x","include":"all"}`, "invalid_request", "include"},
		{"metadata of a wrong kind", `{"input":"x","metadata":{"a":1}}`, "invalid_request", "metadata"},
		{"too long a value", `{"input":"x","metadata":{"a":"` + strings.Repeat("x", 513) + `"}}`, "invalid_request", "metadata.a"},
		{"no word for a busy session", `{"input":"x","metadata":{"agenthost.on_busy":"wait"}}`, "invalid_request", "metadata.agenthost.on_busy"},
		{"cut JSON", `{"input":"x`, "invalid_request", ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			a := c.create(x.body)
			if x.param == "metadata" && bytes.Contains(a.body, []byte(`"param":"metadata.`)) {
				return
			}
			a.refused(400, x.code, x.param)
		})
	}
	if len(e.inputs)+len(e.sessions) != 0 {
		t.Errorf("%d inputs reached the engine", len(e.inputs))
	}
}

func TestWishesReachTheTurn(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("ok"))
	c := newClient(t, e)
	a := c.create("{\"model\":\"codex\",\"input\":\"x\",\"reasoning\":{\"effort\":\"high\",\"generate_summary\":\"auto\"}," +
		"\"text\":{\"verbosity\":\"low\",\"format\":{\"type\":\"json_schema\",\n \"name\":\"n\",\"schema\":{\"a\" : \"<\u2028>\"},\"strict\":true}}," +
		"\"metadata\":{\"agenthost.on_busy\":\"reject\"},\"service_tier\":null}")
	a.object()
	if e.inputs[0].OnBusy != spec.Reject {
		t.Errorf("on busy: %q", e.inputs[0].OnBusy)
	}
	o := e.inputs[0].Overrides
	if o == nil || o.Reasoning == nil || o.Reasoning.Effort != "high" || o.Reasoning.Summary != "auto" ||
		o.Text == nil || o.Text.Type != "json_schema" || o.Text.Name != "n" || o.Text.Verbosity != "low" ||
		string(o.Text.Schema) != `{"a":"\u003c\u2028\u003e"}` || o.Instructions != nil || o.Model != nil {
		t.Errorf("overrides %+v", o)
	}
	if !bytes.Contains(a.body, []byte(`"text":{"format":{"type":"json_schema","name":"n","schema":{"a":"\u003c\u2028\u003e"},"strict":true},"verbosity":"low"}`)) ||
		!bytes.Contains(a.body, []byte(`"reasoning":{"effort":"high","summary":"auto"}`)) {
		t.Errorf("%s", a.body)
	}
	c.create(`{"model":"codex","input":"x","text":{"format":{"type":"text"}}}`).object()
	if e.inputs[1].Overrides != nil {
		t.Errorf("overrides %+v", e.inputs[1].Overrides)
	}
	if in := e.inputs[0]; in.Wire != "responses" || in.Items[0].Text != "x" || !in.Items[0].User || in.Items[0].Type != event.Message {
		t.Errorf("%+v", in)
	}
}

func TestIgnoredParametersAreListedAndGivenBack(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, answers("ok")))
	a := c.create(`{"model":"codex","input":"hi","prompt_cache_key":"k","prompt_cache_retention":"24h","safety_identifier":"u1",
		"client_metadata":{"a":"b"},"verbosity":"low","zz_future":{"x":[1]},"include":["reasoning.encrypted_content"],"temperature":0.2,
		"top_p":1,"max_output_tokens":100,"parallel_tool_calls":true,"truncation":"auto","service_tier":"auto","store":true,"user":"u",
		"tool_choice":{"type":"function","name":"f"},"bad name\r\nX-Evil: 1":true,"unset":null,"top_logprobs":2}`)
	const want = "client_metadata,include,max_output_tokens,parallel_tool_calls,prompt_cache_key,prompt_cache_retention,safety_identifier," +
		"service_tier,temperature,tool_choice,top_logprobs,top_p,truncation,user,verbosity,zz_future"
	if got := a.header.Get("X-Agent-Sandbox-Ignored-Params"); got != want {
		t.Errorf("ignored %s", got)
	}
	b := c.create(`{"model":"codex","input":"hi","include":["message.input_image.image_url"],"access_programs":{"cyber":"standard"},"moderation":{"model":"m"},
		"reasoning":{"effort":"low","context":"auto","mode":"fast"},"prompt_cache_options":{"ttl":"30m"},"stream_options":{"include_obfuscation":false}}`)
	if got := b.header.Get("X-Agent-Sandbox-Ignored-Params"); got != "access_programs,moderation,prompt_cache_options,reasoning.context,reasoning.mode" {
		t.Errorf("ignored %s", got)
	}
	if !bytes.Contains(b.body, []byte(`"reasoning":{"effort":"low","summary":null,"context":"auto","mode":"fast"}`)) {
		t.Errorf("%s", b.body)
	}
	if a.header.Get("X-Evil") != "" {
		t.Error("a name became a header")
	}
	for _, part := range []string{
		`"prompt_cache_key":"k"`, `"prompt_cache_retention":"24h"`, `"safety_identifier":"u1"`, `"temperature":0.2`, `"top_p":1`,
		`"max_output_tokens":100`, `"parallel_tool_calls":true`, `"truncation":"auto"`, `"service_tier":"auto"`, `"store":true`, `"user":"u"`,
		`"tool_choice":{"type":"function","name":"f"}`, `"top_logprobs":2`, `"tools":[]`,
	} {
		if !bytes.Contains(a.body, []byte(part)) {
			t.Errorf("%s is not given back: %s", part, a.body)
		}
	}
	b = c.create(`{"model":"codex","input":"hi","tool_choice":"none","user":"` + strings.Repeat("u", 2000) + `","instructions":"` + strings.Repeat("i", 300<<10) + `"}`)
	if len(b.body) > 260<<10 || !bytes.Contains(b.body, []byte(`"tool_choice":"none"`)) {
		t.Errorf("%d bytes are given back", len(b.body))
	}
}
