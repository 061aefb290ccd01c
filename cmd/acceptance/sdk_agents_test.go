package acceptance

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/fakes/tools"
)

// The OpenAI Agents SDK, unchanged, runs its loops against the server, behind which
// the real Codex works on a scripted model: testdata/agentssdk has a program a
// language, which says what the SDK returned, and agentsSDKCases judges it.

func TestAgentsSDKPython(t *testing.T) {
	t.Parallel()
	agentsSDK(t, "python", "py", tools.Need(t, "py-agents-0.24.0/bin/python"), "-B", "cases.py")
}

func TestAgentsSDKJavaScript(t *testing.T) {
	t.Parallel()
	tools.Need(t, "sdk-js/agents/node_modules/@openai/agents/dist/index.mjs")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("the SDK is installed, but node is not on PATH")
	}
	agentsSDK(t, "javascript", "js", node, "cases.mjs")
}

// agentsRun is a run as the SDK's caller knows it.
type agentsRun struct {
	Final     any
	Items     []string // types of the new items
	Texts     []string // of the messages among them
	Outputs   []any    // of the caller's tools
	ID        string   // of the last response
	Agent     string   // the last one
	Responses int
	Usage     struct{ Requests, Input, Output, Total, Cached, Reasoning int }

	// Of a streamed run: types of the wire's events, names of the SDK's own, agents
	// that took over, text of the deltas.
	Raw, Named, Agents []string
	Text               string

	// What single cases tell besides.
	Ignored, Raised, Roles, Newest []string
	Popped                         string
	Left                           int
}

// agentsLine is what the program says of a case, and at its end.
type agentsLine struct {
	Case    string
	Facts   []agentsRun
	Raised  string
	Seconds float64

	End          *int
	Known, Hosts []string
}

func agentsSDK(t *testing.T, language, folder, program string, args ...string) {
	t.Helper()
	r := newCLIRig(t, "codex", tools.Need(t, "bin/codex"))
	names := slices.Sorted(maps.Keys(agentsSDKCases))
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(agentsSDKCases[name].not, language) })
	start := time.Now()
	said, end := playAgents(t, r, folder, program, append(args, names...)...)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			line, ok := said[name]
			switch want := agentsSDKCases[name]; {
			case !ok:
				t.Fatal("was not played")
			case line.Raised != "":
				t.Fatal(line.Raised)
			case len(line.Facts) != want.runs:
				t.Fatalf("%d runs, want %d", len(line.Facts), want.runs)
			default:
				want.judge(t, line.Facts)
			}
		})
	}
	if !slices.Equal(end.Known, names) {
		t.Errorf("the program knows other cases than are judged: %v\n%v", end.Known, names)
	}
	for _, host := range end.Hosts {
		if name, _, _ := strings.Cut(host, ":"); name != "127.0.0.1" || !strings.HasSuffix(r.URL, host) {
			t.Errorf("the SDK turned to %s, the server is %s", host, r.URL)
		}
	}
	if len(end.Hosts) == 0 {
		t.Error("the program did not note whom it spoke to")
	}
	if !instructed(r, "Speak like a heron in "+language+".") {
		t.Error("the agent's instructions did not reach the model")
	}
	if strings.Contains(r.Log(), "level=ERROR") {
		t.Errorf("the server logged an error:\n%s", r.LogTail())
	}
	t.Logf("%d cases in %.1f s", len(names), time.Since(start).Seconds())
	r.Clean(time.Minute)
}

// playAgents runs the program and reads its lines.
func playAgents(t *testing.T, r *cliRig, folder, program string, args ...string) (said map[string]agentsLine, end agentsLine) {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", "agentssdk", folder))
	if err != nil {
		t.Fatal(err)
	}
	root, err := tools.Root()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), oracleLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LANG=C.UTF-8", "NO_PROXY=*", "no_proxy=*",
		"OPENAI_BASE_URL=" + r.URL + "/v1", "OPENAI_API_KEY=" + sdkToken, "AGENTS_SDK=" + filepath.Join(root, "sdk-js", "agents", "node_modules"),
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(program), err, clip(errs.Bytes()))
	}
	said = map[string]agentsLine{}
	for text := range bytes.Lines(out.Bytes()) {
		var line agentsLine
		if err := json.Unmarshal(text, &line); err != nil {
			t.Fatalf("unexpected line: %v: %s", err, clip(text))
		}
		if line.End != nil {
			end = line
			continue
		}
		said[line.Case] = line
		t.Logf("%-22s %4.1f s", line.Case, line.Seconds)
	}
	if end.End == nil {
		t.Fatalf("the program was cut short:\n%s", clip(errs.Bytes()))
	}
	return said, end
}

// instructed says whether a text stood in the instructions of a model request.
func instructed(r *cliRig, text string) bool {
	for _, q := range r.provider.Requests() {
		if bytes.Contains(q.Body, []byte(text)) {
			return true
		}
	}
	return false
}
