package provider_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	jsoniter "github.com/json-iterator/go"
	"go.uber.org/goleak"

	"github.com/agenthost/agenthost/fakes/mcp"
	"github.com/agenthost/agenthost/fakes/mind"
	"github.com/agenthost/agenthost/fakes/provider"
)

var json = jsoniter.ConfigCompatibleWithStandardLibrary

// asMCP makes the test program an MCP server, for the CLIs to start.
const asMCP = "SCRIPTED_MCP_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asMCP) != "" {
		if err := mcp.Serve(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// start runs a provider for one test.
func start(t *testing.T, script provider.Script) (*provider.Server, string) {
	t.Helper()
	s := provider.New(script)
	url, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s, url
}

func post(t *testing.T, url, key, body string) (status int, answer string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil && resp.StatusCode == http.StatusOK {
		return resp.StatusCode, string(b) + " (broken off)"
	}
	return resp.StatusCode, string(b)
}

// The same conversation on each wire, as its clients send it.
var wires = []struct{ name, path, body, text, end string }{
	{"responses", "/v1/responses", `{"model":"m","stream":STREAM,"input":[{"role":"user","content":"PROMPT"}],"tools":[{"type":"function","name":"exec_command","parameters":{"properties":{"cmd":{"type":"string"}}}}]}`, `"delta":"three"`, "response.completed"},
	{"messages", "/v1/messages", `{"model":"m","stream":STREAM,"messages":[{"role":"user","content":[{"type":"text","text":"PROMPT"}]}],"tools":[{"name":"Bash","input_schema":{"properties":{"command":{"type":"string"}}}}]}`, `"text":"three"`, "message_stop"},
	{"chat", "/v1/chat/completions", `{"model":"m","stream":STREAM,"messages":[{"role":"user","content":"PROMPT"}],"tools":[{"type":"function","function":{"name":"bash","parameters":{"properties":{"command":{"type":"string"}}}}}]}`, `"content":"three"`, "[DONE]"},
}

func body(b, stream, prompt string) string {
	return strings.NewReplacer("STREAM", stream, "PROMPT", prompt).Replace(b)
}

func TestEveryWireAnswersStreamedAndWhole(t *testing.T) {
	t.Parallel()
	_, url := start(t, provider.Script{})
	for _, w := range wires {
		status, got := post(t, url+w.path, "k", body(w.body, "true", "[[say: one two three]]"))
		if status != 200 || !strings.Contains(got, w.text) || !strings.Contains(got, w.end) {
			t.Errorf("%s streamed: %d %s", w.name, status, got)
		}
		for _, block := range strings.Split(strings.TrimSpace(got), "\n\n") {
			data := block[strings.Index(block, "data: ")+len("data: "):]
			if data != "[DONE]" && !json.Valid([]byte(data)) {
				t.Errorf("%s: not JSON: %s", w.name, data)
			}
		}
		status, got = post(t, url+w.path, "k", body(w.body, "false", "[[say: one two three]]"))
		if status != 200 || !strings.Contains(got, `"one two three"`) || !json.Valid([]byte(got)) {
			t.Errorf("%s whole: %d %s", w.name, status, got)
		}
	}
}

func TestACallNamesTheCallersOwnTool(t *testing.T) {
	t.Parallel()
	_, url := start(t, provider.Script{})
	for i, tool := range []string{`{\"cmd\":\"ls\"}`, `{\"command\":\"ls\"}`, `{\"command\":\"ls\"}`} {
		w := wires[i]
		if _, got := post(t, url+w.path, "k", body(w.body, "true", "[[shell: ls]]")); !strings.Contains(got, tool) {
			t.Errorf("%s: no %s in %s", w.name, tool, got)
		}
	}
}

func TestFaultsHaveTheirStatusOrBreakTheStream(t *testing.T) {
	t.Parallel()
	_, url := start(t, provider.Script{})
	for kind, want := range map[string]int{"400": 400, "401": 401, "403": 403, "404": 404, "429": 429, "quota": 429, "500": 500, "503": 503, "529": 529, "context": 400} {
		for _, w := range wires {
			status, got := post(t, url+w.path, "k", body(w.body, "true", "[[error: "+kind+"]]"))
			if status != want || !json.Valid([]byte(got)) || !strings.Contains(got, `"message"`) {
				t.Errorf("%s %s: %d %s", w.name, kind, status, got)
			}
		}
	}
	for _, w := range wires {
		if _, got := post(t, url+w.path, "k", body(w.body, "true", "[[say: some]] [[error: cut]]")); !strings.Contains(got, "some") || strings.Contains(got, w.end) || !strings.HasSuffix(got, "(broken off)") {
			t.Errorf("%s cut: %s", w.name, got)
		}
	}
	w := wires[0]
	if _, got := post(t, url+w.path, "k", body(w.body, "true", "[[say: some]] [[error: incomplete]]")); !strings.Contains(got, `"max_output_tokens"`) {
		t.Errorf("incomplete: %s", got)
	}
}

func TestACountedFaultEnds(t *testing.T) {
	t.Parallel()
	_, url := start(t, provider.Script{})
	w := wires[0]
	var statuses []int
	for range 3 {
		status, _ := post(t, url+w.path, "k", body(w.body, "false", "[[error: 500 2]]"))
		statuses = append(statuses, status)
	}
	if statuses[0] != 500 || statuses[1] != 500 || statuses[2] != 200 {
		t.Errorf("statuses %v", statuses)
	}
}

func TestAStalledStreamEndsWithItsClient(t *testing.T) {
	t.Parallel()
	_, url := start(t, provider.Script{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := wires[0]
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+w.path, strings.NewReader(body(w.body, "true", "[[say: some]] [[error: stall]]")))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var got []byte
	b := make([]byte, 4096)
	for !bytes.Contains(got, []byte("some")) {
		n, err := resp.Body.Read(b)
		if err != nil {
			t.Fatalf("after %s: %v", got, err)
		}
		got = append(got, b[:n]...)
	}
	// goleak sees a handler that does not end.
}

func TestQueuedMovesComeBeforeTheMind(t *testing.T) {
	t.Parallel()
	s, url := start(t, provider.Script{Moves: []mind.Move{{Say: "first"}}})
	s.Queue(mind.Move{Say: "second"})
	w := wires[0]
	for _, want := range []string{"first", "second", "heard: hello"} {
		if _, got := post(t, url+w.path, "k", body(w.body, "false", "hello")); !strings.Contains(got, want) {
			t.Errorf("want %s, got %s", want, got)
		}
	}
}

func TestTheLogKeepsBodiesAndNoKeys(t *testing.T) {
	t.Parallel()
	s, url := start(t, provider.Script{Key: "sk-right"})
	w := wires[0]
	if status, _ := post(t, url+w.path, "sk-wrong", body(w.body, "false", "hello")); status != 401 {
		t.Errorf("wrong key: %d", status)
	}
	if status, _ := post(t, url+w.path, "sk-right", body(w.body, "false", "hello")); status != 200 {
		t.Errorf("right key: %d", status)
	}
	log := s.Requests()
	if len(log) != 2 || log[1].Auth != "Authorization" || log[1].KeySHA256 != provider.SHA256("sk-right") || !bytes.Contains(log[1].Body, []byte("hello")) || log[1].Path != w.path {
		t.Errorf("log %+v", log)
	}
	all, err := json.Marshal(log)
	if err != nil || bytes.Contains(all, []byte("sk-")) {
		t.Errorf("a key is in the log: %s %v", all, err)
	}
}

func TestUnknownRoutesAndBadBodiesAreRefused(t *testing.T) {
	t.Parallel()
	_, url := start(t, provider.Script{})
	if status, got := post(t, url+"/v1/other", "", "{}"); status != 404 || !json.Valid([]byte(got)) {
		t.Errorf("unknown route: %d %s", status, got)
	}
	for _, w := range wires {
		if status, got := post(t, url+w.path, "", "{"); status != 400 || !json.Valid([]byte(got)) {
			t.Errorf("%s bad body: %d %s", w.name, status, got)
		}
	}
}

func TestAScriptThatStillRunsIsWaitedFor(t *testing.T) {
	t.Parallel()
	_, url := start(t, provider.Script{})
	const asked = `{"model":"m","tools":[{"type":"custom","name":"exec"},{"type":"function","name":"wait"}],"input":[{"role":"user","content":"[[shell: sleep 60]]"},` +
		`{"type":"custom_tool_call_output","call_id":"call_scripted_1","output":"Script running with cell ID 7\nWall time 30.0 seconds\nOutput:\n"}`
	_, answer := post(t, url+"/v1/responses", "", asked+"]}")
	for _, part := range []string{`"name":"wait"`, `"arguments":"{\"cell_id\":\"7\"}"`, `"call_id":"call_scripted_1_wait_7"`} {
		if !strings.Contains(answer, part) {
			t.Errorf("no %s in %s", part, answer)
		}
	}
	_, answer = post(t, url+"/v1/responses", "", asked+`,{"type":"function_call_output","call_id":"call_scripted_1_wait_7","output":[{"text":"Script completed\nWall time 30.0 seconds\nOutput:\n"},{"text":"slept"}]}]}`)
	if !strings.Contains(answer, "The tool returned: slept") {
		t.Errorf("after the script: %s", answer)
	}
}
