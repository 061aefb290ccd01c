package acceptance

import (
	"bytes"
	"context"
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agenthost/agenthost/bench/hostproc"
	"github.com/agenthost/agenthost/fakes/drift"
	"github.com/agenthost/agenthost/fakes/provider"
	"github.com/agenthost/agenthost/fakes/tools"
)

const (
	sdkToken  = "sdk-test-token-0123456789"
	sdkOther  = "sdk-other-token-0123456789"
	sdkReader = "sdk-reader-token-0123456789"
	// oracleLimit is far above what a suite takes, about twenty seconds.
	oracleLimit = 4 * time.Minute
)

// judge is an official SDK that plays the cases of testdata.
type judge struct {
	program string
	// oracle plays on the stand-ins, real on the real CLIs.
	oracle, real []string
	env          []string
	sdk          func(t *testing.T) (*drift.SDK, error) // what it can call
}

// judges find the SDKs; one that is not installed skips its test, or fails it.
var judges = map[string]func(*testing.T) judge{
	"python-3.57.0": func(t *testing.T) judge { return python(t, "3.57.0", "codex", "claude-code") },
	"python-3.51.0": func(t *testing.T) judge { return python(t, "3.51.0", "codex") },
	"python-3.29.0": func(t *testing.T) judge { return python(t, "3.29.0") },
	"javascript-newest": func(t *testing.T) judge {
		node, sdk := javaScript(t)
		return judge{
			program: node, oracle: []string{"oracle.mjs"}, real: []string{"real.mjs"}, env: []string{sdk, "ORACLE_CLIS=codex,claude-code"},
			sdk: func(t *testing.T) (*drift.SDK, error) { return drift.JavaScript(tools.Need(t, drift.JavaScriptTool)) },
		}
	},
	"go-newest": func(t *testing.T) judge {
		return judge{
			program: goOracle(t), real: []string{"real"},
			sdk: func(t *testing.T) (*drift.SDK, error) {
				find := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/openai/openai-go/v3")
				find.Dir = filepath.Join("testdata", "sdk-go")
				dir, err := find.Output()
				if err != nil {
					return nil, err
				}
				return drift.Go(strings.TrimSpace(string(dir)))
			},
		}
	},
}

// python plays the cases of handlers with the named CLIs.
func python(t *testing.T, version string, handlers ...string) judge {
	t.Helper()
	program := tools.Need(t, "py-"+version+"/bin/python")
	return judge{
		program: program, oracle: []string{"-B", "oracle.py"}, real: []string{"-B", "real.py"},
		env: []string{"ORACLE_CLIS=" + strings.Join(handlers, ",")},
		sdk: func(t *testing.T) (*drift.SDK, error) { return drift.Python(t.Context(), program) },
	}
}

func javaScript(t *testing.T) (program, env string) {
	t.Helper()
	sdk := tools.Need(t, "sdk-js/newest/node_modules/openai/index.mjs")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("the SDK is installed, but node is not on PATH")
	}
	return node, "ORACLE_SDK=" + sdk
}

var goBuild struct {
	sync.Once
	path string
	said []byte
	err  error
}

// goOracle builds testdata/sdk-go, a module of its own, so that the product does not
// depend on the SDK. The SDK's source comes the way of all Go modules.
func goOracle(t *testing.T) string {
	t.Helper()
	goBuild.Do(func() {
		dir := filepath.Join("testdata", "sdk-go")
		if os.Getenv("AGENTHOST_TEST_CLIS") == "" {
			list := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
			list.Dir, list.Env = dir, append(os.Environ(), "GOPROXY=off")
			if list.Run() != nil {
				return
			}
		}
		bin, err := hostproc.Build()
		if err != nil {
			goBuild.err = err
			return
		}
		// Beside the server's binary; another run may hold the file.
		goBuild.path = filepath.Join(bin.Root, "build", "hostproc", "oracle-go")
		fresh := goBuild.path + "." + strconv.Itoa(os.Getpid())
		build := exec.CommandContext(t.Context(), "go", "build", "-o", fresh, ".")
		build.Dir = dir
		if goBuild.said, goBuild.err = build.CombinedOutput(); goBuild.err == nil {
			goBuild.err = os.Rename(fresh, goBuild.path)
		}
	})
	if goBuild.err != nil {
		t.Fatalf("build the Go SDK's oracle: %v\n%s", goBuild.err, goBuild.said)
	}
	if goBuild.path == "" {
		t.Skip("the Go SDK is not downloaded: run fakes/tools/install.sh sdk-go")
	}
	return goBuild.path
}

// sdkRig is a server as the oracles expect it: tokens of three principals, one of
// whom may do nothing; a short queue, small bodies and files; an adapter whose
// program does not exist, and one that speaks no MCP.
func sdkRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t,
		key("auth", map[string]any{"tokens": []any{
			map[string]any{"id": "app", "roles": []string{"dev"}, "token_env": "APP_API_KEY"},
			map[string]any{"id": "other", "roles": []string{"dev"}, "token_env": "OTHER_API_KEY"},
			map[string]any{"id": "reader", "roles": []string{"reader"}, "token_env": "READER_API_KEY"},
		}}),
		env("APP_API_KEY="+sdkToken, "OTHER_API_KEY="+sdkOther, "READER_API_KEY="+sdkReader, "ABX_AGENTS_MAX_FILE_BYTES=1048576"),
		limit("max_queue", 2),
		limit("max_body_bytes", "2MiB"),
		limit("max_concurrent_turns", 32),
		cli("ghost", map[string]any{"adapter": "command", "command": []string{"/nonexistent/ghost", "{prompt}"}, "prompt": "argv", "output": map[string]any{"format": "text"}}),
		cli("echo", map[string]any{"adapter": "command", "command": []string{"/bin/echo", "{prompt}"}, "prompt": "argv", "output": map[string]any{"format": "text"}}),
	)
	r.http.token = sdkToken
	return r
}

// realRig is a server whose agents are the real Codex and Claude Code on a scripted model, each session
// in a workspace of its own, for two principals; nil where a CLI is not installed. Its
// agent "careful" asks before it acts.
func realRig(t *testing.T) *cliRig {
	t.Helper()
	settings := []setting{
		func(c *rigConfig) { c.OutsideTemp = true },
		key("auth", map[string]any{"tokens": []any{
			map[string]any{"id": "app", "roles": []string{"dev"}, "token_env": "APP_API_KEY"},
			map[string]any{"id": "other", "roles": []string{"dev"}, "token_env": "OTHER_API_KEY"},
		}}),
		(*cliRig)(nil).definitions(map[string]any{"name": "careful", "runtime": "claude-code", "permissions": "ask"}),
	}
	for _, adapter := range []string{"codex", "claude-code"} {
		program := realCLIs[adapter]
		binary, ok := tools.Path(program)
		if !ok {
			if os.Getenv("AGENTHOST_TEST_CLIS") != "" {
				t.Fatalf("%s is not installed: run fakes/tools/install.sh all", program)
			}
			return nil
		}
		settings = append(settings, cli(adapter, map[string]any{"binary": binary, "passthrough_env": []string{}, "llm": map[string]any{"base_url_env": "ABX_LLM_BASE_URL", "api_key_env": "ABX_LLM_API_KEY"}}))
	}
	r := &cliRig{provider: provider.New(provider.Script{Key: cliKey})}
	url, err := r.provider.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.provider.Close(); err != nil {
			t.Error(err)
		}
	})
	r.rig = newRig(t, append(settings, env("APP_API_KEY="+sdkToken, "OTHER_API_KEY="+sdkOther, "ABX_LLM_BASE_URL="+url+"/v1", "ABX_LLM_API_KEY="+cliKey))...)
	r.http.token = sdkToken
	return r
}

// paged is how many objects each list of a pagesRig has, at least.
const paged = 255

// pagesRig is a server whose lists are long: saved agents, files and sessions, the
// turns of a session, the items of one of its turns, the artifacts of a session, the
// items of a conversation. Subagents have no long lists here: only the real CLIs tell of
// them, one model response each. env tells a script about them.
func pagesRig(t *testing.T) (r *rig, env []string) {
	t.Helper()
	r = newRig(t,
		limit("max_queue", paged+1),
		limit("max_concurrent_turns", 2),
		cli("echo", map[string]any{"adapter": "command", "command": []string{"/bin/echo", "{prompt}"}, "prompt": "argv", "output": map[string]any{"format": "text"}}),
	)
	var wg sync.WaitGroup
	many := func(n int, create func(i int) *answer) {
		for worker := range 8 {
			wg.Go(func() {
				for i := worker; i < n; i += 8 {
					if a := create(i); a.status != 200 {
						t.Errorf("%d %s", a.status, clip(a.body))
						return
					}
				}
			})
		}
	}
	long := r.http.session("echo")
	many(paged, func(int) *answer { return r.http.do("POST", "/v1/agents", map[string]any{"model": "echo"}) })
	many(paged-2, func(int) *answer {
		return r.http.do("POST", "/v1/agents/sessions", map[string]any{"agent": map[string]any{"model": "echo"}})
	})
	many(paged, func(i int) *answer {
		return r.http.do("POST", "/v1/files", map[string]any{"filename": strconv.Itoa(i), "data": base64.StdEncoding.EncodeToString([]byte{byte(i)})})
	})
	inputs := make([]any, paged)
	for i := range inputs {
		inputs[i] = map[string]any{"type": "agent.session.input.message", "input": []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "input_text", "text": strconv.Itoa(i)}}}}}
	}
	if a := r.http.do("POST", "/v1/agents/sessions/"+long+"/events", events(inputs...)); a.status != 202 {
		t.Fatalf("%d %s", a.status, clip(a.body))
	}
	busy := r.http.respond(map[string]any{"model": "codex", "input": strings.Repeat("[[shell: :]]", paged-2) + " [[say: done]]"})
	wrote := r.http.ok("POST", "/v1/agents/sessions", map[string]any{
		"agent": map[string]any{"model": "codex"}, "environment": map[string]any{"type": "self_hosted"},
		"input": "[[shell: mkdir -p outputs && for i in $(seq " + strconv.Itoa(paged) + "); do echo $i > outputs/$i; done]]",
	}).str("id")
	items := make([]any, 15)
	for i := range items {
		items[i] = map[string]any{"role": "user", "content": strconv.Itoa(i)}
	}
	talk := r.http.ok("POST", "/v1/conversations", map[string]any{}).str("id")
	for range paged / len(items) {
		r.http.ok("POST", "/v1/conversations/"+talk+"/items", map[string]any{"items": items})
	}
	wg.Wait()
	r.http.idle(long, time.Minute)
	r.http.idle(wrote, time.Minute)
	return r, []string{
		"ORACLE_PAGES_ARTIFACTS=" + wrote, "ORACLE_PAGES_CONVERSATION=" + talk,
		"ORACLE_PAGES_URL=" + r.URL, "ORACLE_PAGES=" + strconv.Itoa(paged), "ORACLE_PAGES_SESSION=" + long,
		"ORACLE_PAGES_TURN=" + "turn_" + strings.TrimPrefix(busy.str("id"), "resp_"),
		"ORACLE_PAGES_TURN_SESSION=" + "agsess_" + strings.TrimPrefix(busy.str("conversation", "id"), "conv_"),
	}
}

// verdict is what a script said.
type verdict struct {
	passed []string
	failed map[string]string // with the reason
	// slowest is how long each passed case took.
	slowest []string
	total   int // cases that the script has played, by its own count
	ended   error
	errors  string // standard error
	// called are the requests that the SDK made; those of a tamperer are not seen.
	called drift.Calls
}

// judged runs a program of testdata that prints a line for each of its cases, against
// a server at base; the requests to the server itself are noted. more is added to its
// environment.
func judged(t *testing.T, r *rig, base, program string, args []string, more ...string) *verdict {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("testdata", "sdk"))
	if err != nil {
		t.Fatal(err)
	}
	front, counted := countRequests(t, r.URL)
	if base == r.URL {
		base = front
	}
	ctx, cancel := context.WithTimeout(t.Context(), oracleLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LANG=C.UTF-8", "NO_PROXY=*", "no_proxy=*",
		"OPENAI_BASE_URL=" + base + "/v1", "OPENAI_API_KEY=" + sdkToken, "OTHER_API_KEY=" + sdkOther, "READER_API_KEY=" + sdkReader,
		"ORACLE_COUNT_URL=" + front,
	}, more...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	v := &verdict{failed: map[string]string{}}
	v.ended = cmd.Run()
	v.errors = errs.String()
	v.called = counted.calls()
	for line := range strings.Lines(out.String()) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, why, _ := strings.Cut(rest, " ")
		switch word {
		case "ok":
			v.passed = append(v.passed, name)
			v.slowest = append(v.slowest, why+" "+name)
		case "FAIL":
			v.failed[strings.TrimSuffix(name, ":")] = why
		case "end":
			if v.total, err = strconv.Atoi(rest); err != nil {
				t.Errorf("last line %q", line)
			}
		default:
			t.Errorf("unexpected line: %s", line)
		}
	}
	return v
}
