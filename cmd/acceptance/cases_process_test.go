package acceptance

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/agenthost/agenthost/bench/hostproc"
)

var okCodex = printed(codexThread, codexTurn, codexSays("ok"), codexDone)

// all asks for one scene in every way and judges each ending.
func (s *stage) all(p play, judge func(*ending)) {
	s.t.Helper()
	for _, way := range ways {
		judge(way.ask(s, p))
	}
	s.well()
}

func (e *ending) is(t *testing.T, status, text string, within time.Duration) {
	t.Helper()
	if e.status != status || text != "" && strings.Join(e.texts, "|") != text {
		t.Errorf("%s; it should be %s with %q", e, status, text)
	}
	if within > 0 && e.took > within {
		t.Errorf("%s took %s, more than %s", e.way, e.took, within)
	}
}

// Cases 1, 2 and 3: the three pipes.
//
//cases:1,2,3
func TestCasePipes(t *testing.T) {
	t.Parallel()
	s := newStage(t, cli("argv-codex", map[string]any{
		"adapter": "command", "command": []string{"/bin/sh", "-c", "cat; " + okCodex, "sh", "{prompt}"},
		"output": map[string]any{"format": "jsonl-codex"},
	}))
	s.scene("eof", "cat >/dev/null\n"+okCodex)
	s.scene("unread", "echo 'bad flag' >&2\nexit 3\n")
	s.scene("closes", "exec 0<&-\nsleep 0.2\n"+okCodex)
	flood := "head -c 1048576 /dev/zero | tr '\\0' e >&2\n"
	s.scene("flood", "cat >/dev/null\n"+flood+printed(codexThread)+flood+printed(codexTurn)+flood+printed(codexSays("ok"))+flood+printed(codexDone))
	big := strings.Repeat("x", 2<<20)
	for _, adapter := range []string{"codex", "plain-codex"} {
		s.all(play{adapter: adapter, scene: "eof"}, func(e *ending) { e.is(t, "completed", "ok", 30*time.Second) })
		s.all(play{adapter: adapter, scene: "unread", prompt: big}, func(e *ending) {
			e.is(t, "failed", "", 30*time.Second)
			if !strings.Contains(e.message, "bad flag") || !strings.Contains(e.message, "3") {
				t.Errorf("%s: the message is %q", e.way, e.message)
			}
		})
		s.all(play{adapter: adapter, scene: "closes", prompt: big}, func(e *ending) { e.is(t, "completed", "ok", 0) })
		s.all(play{adapter: adapter, scene: "flood"}, func(e *ending) { e.is(t, "completed", "ok", 30*time.Second) })
	}
	// A prompt by argument: stdin is at its end at once.
	if a := s.http.respond(map[string]any{"model": "argv-codex", "input": "go"}); a.str("status") != "completed" || outputText(a) != "ok" {
		t.Errorf("a prompt by argument: %s", clip(a.body))
	}
	for _, empty := range []string{"", "  \n"} {
		if a := s.http.do("POST", "/v1/responses", map[string]any{"model": "argv-codex", "input": empty}); a.status != 400 || a.code() != "invalid_request" {
			t.Errorf("an empty prompt: %d %s", a.status, clip(a.body))
		}
	}
	s.Stop()
}

// Case 4: a background child holds stdout and stderr after a clean exit.
//
//cases:4
func TestCase04GrandchildHoldsStdout(t *testing.T) {
	t.Parallel()
	const turns = 20
	s := newStage(t, limit("max_concurrent_turns", 4))
	s.scene("holds", "cat >/dev/null\nsleep 300 &\n"+okCodex+"exit 0\n")
	var streams []*stream
	start := time.Now()
	for range turns {
		streams = append(streams, s.http.open("POST", "/agents/codex/v1/responses", map[string]any{"model": "holds", "input": "go", "stream": true}))
	}
	for _, stream := range streams {
		frames := stream.end(60 * time.Second)
		checkResponse(t, stream)
		if frames[len(frames)-1].kind() != "response.completed" {
			t.Errorf("ended with%s", kinds(frames))
		}
	}
	t.Logf("%d turns of 4 slots took %s", turns, time.Since(start).Round(time.Millisecond))
	s.Clean(time.Minute)
	s.all(play{adapter: "plain-codex", scene: "holds"}, func(e *ending) { e.is(t, "completed", "ok", 30*time.Second) })
	// A turn's slot is free when what the CLI left behind is gone, a moment after the answer.
	s.until(time.Minute, "the slots are free", func() bool { return s.Metric("agenthost_turns_running") == 0 })
	s.Stop()
}

// Case 6 is in host_cancel_test.go with its kin. Case 7: the CLI never exits after
// its result.
//
//cases:7
func TestCase07LingerAfterResult(t *testing.T) {
	t.Parallel()
	s := newStage(t, limit("linger", "500ms"), grace("300ms", "300ms"))
	for dialect, scene := range map[string]string{
		"claude-code": "cat >/dev/null\ncat '" + s.data("ok_claude.jsonl") + "'\nexec sleep 600\n",
		"codex":       "cat >/dev/null\n" + okCodex + "exec sleep 600\n",
		"plain-codex": "trap '' INT TERM\ncat >/dev/null\n" + okCodex + "sleep 600\n",
	} {
		s.scene("lingers", scene)
		s.all(play{adapter: dialect, scene: "lingers"}, func(e *ending) { e.is(t, "completed", "ok", 30*time.Second) })
	}
	s.Stop()
}

const openCommand = `{"type":"item.started","item":{"id":"c","type":"command_execution","command":"make","aggregated_output":"","exit_code":null,"status":"in_progress"}}`

// Cases 9 and 10: silence with nothing open is a hang, silence of a tool is not.
//
//cases:9,10
func TestCaseSilence(t *testing.T) {
	t.Parallel()
	s := newStage(t, limit("idle_timeout", "700ms"), limit("turn_timeout", "3s"), grace("300ms", "300ms"))
	s.scene("silent", "cat >/dev/null\n"+printed(codexThread, codexTurn)+"exec sleep 600\n")
	s.scene("tool", "cat >/dev/null\n"+printed(codexThread, codexTurn, openCommand)+"sleep 1.5\n"+
		printed(strings.NewReplacer("started", "completed", `"aggregated_output":""`, `"aggregated_output":"built"`, "null", "0", "in_progress", "completed").Replace(openCommand), codexSays("ok"), codexDone))
	s.scene("stuck", "cat >/dev/null\n"+printed(codexThread, codexTurn, openCommand)+"exec sleep 600\n")
	for _, adapter := range []string{"codex", "plain-codex"} {
		s.all(play{adapter: adapter, scene: "silent"}, func(e *ending) {
			e.is(t, "failed", "", 30*time.Second)
			if !e.responses && e.code != "request_timeout" {
				t.Errorf("the code is %q", e.code)
			}
		})
		s.all(play{adapter: adapter, scene: "tool"}, func(e *ending) { e.is(t, "completed", "ok", 0) })
	}
	s.all(play{adapter: "codex", scene: "stuck"}, func(e *ending) {
		e.is(t, "failed", "", 30*time.Second)
		if !strings.Contains(e.message, "make") {
			t.Errorf("the error does not name the open tool: %q", e.message)
		}
	})
	// The next one of the queue starts.
	session := s.newSession(play{adapter: "codex", scene: "silent"})
	events := s.http.events(session, "?after=0")
	s.http.say(session, "one")
	s.http.say(session, "two")
	events.waitKind(time.Minute, turnEvent+"in_progress", 2)
	s.http.idle(session, 20*time.Second)
	s.well()
	s.Stop()
}

// Case 12: reparented children are reaped, and exit codes stay right.
//
//cases:12
func TestCase12OrphansAreReaped(t *testing.T) {
	t.Parallel()
	orphans(t, newStage(t), 50, nil)
}

// The same with the server as the first process of a pid namespace, as in a container
// without an init: strangers that are none of its turns, such as those of a shell that
// somebody opened in the container, become its children when their parents end.
//
//cases:12
func TestCase12ServerIsInit(t *testing.T) {
	t.Parallel()
	wrap := []string{"unshare", "--pid", "--fork", "--mount-proc", "setsid"} // the first process of a container leads its session
	if err := exec.Command(wrap[0], append(wrap[1:], "true")...).Run(); err != nil {
		t.Skipf("no pid namespace can be made here: %v", err)
	}
	turns := 10
	if certifies() {
		turns = 50
	}
	s := newStage(t, func(c *rigConfig) { c.Wrap = wrap })
	enter := []string{"--target", strconv.Itoa(s.Pid), "--pid", "--mount", "sh", "-c", "for i in 1 2 3 4 5 6 7 8; do (sh -c 'sleep 0.2; exit 3' >/dev/null 2>&1 &); done; exit 5"}
	strangers := 0
	orphans(t, s, turns, func() {
		out, err := exec.Command("nsenter", enter...).CombinedOutput()
		var ended *exec.ExitError
		if !errors.As(err, &ended) || ended.ExitCode() != 5 {
			t.Logf("no stranger could be put into the namespace: %v %s", err, out)
			return
		}
		strangers += 8
	})
	t.Logf("%d strangers", strangers)
}

func orphans(t *testing.T, s *stage, turns int, beside func()) {
	s.scene("orphans", "cat >/dev/null\nfor i in 1 2 3 4 5; do (sh -c 'sleep 0.2' >/dev/null 2>&1 &); done\n"+okCodex)
	s.scene("exits", "cat >/dev/null\n(sh -c 'exit 4' >/dev/null 2>&1 &)\nexit 7\n")
	for i := range turns {
		if beside != nil {
			beside()
		}
		if i%5 == 4 {
			if e := s.plain(play{adapter: "codex", scene: "exits"}); e.status != "failed" || !strings.Contains(e.message, "7") {
				t.Errorf("%s", e)
			}
			continue
		}
		s.plain(play{adapter: "codex", scene: "orphans"}).is(t, "completed", "ok", 0)
	}
	s.until(time.Minute, "no zombie is left", func() bool { return len(s.Zombies()) == 0 })
	s.well()
	if beside != nil { // and no turn behind it
		beside()
		s.until(time.Minute, "the strangers are the server's", func() bool { return len(s.Descendants()) > 0 })
		s.Clean(time.Minute)
	}
	s.Stop()
}

// Case 13: nothing of a turn stays with the server, however it ended.
//
//cases:13
func TestCase13NothingLeaks(t *testing.T) {
	t.Parallel()
	const turns = 300
	s := newStage(t, grace("60ms", "60ms"), cli("missing", map[string]any{
		"adapter": "command", "command": []string{"/nowhere/no-such-cli"}, "prompt": "stdin", "output": map[string]any{"format": "text"},
	}))
	s.scene("hangs", "trap '' INT TERM\ncat >/dev/null\n"+printed(codexThread, codexTurn)+"while :; do sleep 0.1; done\n")
	session := s.newSession(play{adapter: "codex", scene: "hangs"})
	run := func(i int) {
		switch i % 3 {
		case 0:
			s.plain(play{adapter: "codex", scene: "normal"}).is(t, "completed", "all well", 0)
		case 1:
			a := s.http.do("POST", "/v1/responses", map[string]any{"model": "missing", "input": "go"})
			if a.status != 409 || a.code() != "runtime_not_installed" {
				t.Errorf("%d %s", a.status, clip(a.body))
			}
		case 2:
			s.http.say(session, "go")
			turns := s.http.ok("GET", "/v1/agents/sessions/"+session+"/turns?limit=1", nil)
			s.until(time.Minute, "the turn runs", func() bool { return len(s.Marked()) > 0 })
			s.http.do("POST", "/v1/responses/"+responseID(turns.str("data", 0, "id"))+"/cancel", nil)
			s.http.idle(session, time.Minute)
		}
	}
	for i := range 9 { // caches fill
		run(i)
	}
	s.Clean(time.Minute)
	base := s.Usage()
	for i := range turns {
		run(i)
	}
	s.Clean(time.Minute)
	s.Back(base, 5, 90*time.Second)
	t.Logf("%s before, %s after", base, s.Usage())
	s.well()
	s.Stop()
}

// Cases 14, 15 and 16: what callers say reaches the model unchanged and is never
// an option.
//
//cases:14,15,16
func TestCasePrompts(t *testing.T) {
	t.Parallel()
	bin, err := hostproc.Build()
	if err != nil {
		t.Fatal(err)
	}
	echoes := func(prompt string, args ...string) map[string]any {
		return map[string]any{
			"adapter": "command", "command": append([]string{bin.Fake, "--mode", "echo", "codex", "exec", "--json"}, args...), "prompt": prompt,
			"output": map[string]any{"format": "jsonl-codex"},
		}
	}
	r := newRig(t, env("FAKE_MODE=echo"), cli("by-stdin", echoes("stdin", "-")), cli("by-argv", echoes("argv", "--", "{prompt}")))
	said := func(adapter string, body map[string]any) (echo, *answer) {
		t.Helper()
		body["model"] = adapter
		a := r.http.do("POST", "/v1/responses", body)
		return echoed(outputText(a)), a
	}
	adapters := []string{"codex", "claude-code", "by-stdin", "by-argv"}
	big := strings.Repeat("0123456789abcde\n", 200<<10/16)
	for _, adapter := range adapters {
		e, a := said(adapter, map[string]any{"input": big})
		if adapter == "by-argv" {
			if a.status != 400 || a.code() == "" || a.at("error", "param") != "input" {
				t.Errorf("%s: a prompt that fits no argument: %d %s", adapter, a.status, clip(a.body))
			}
		} else if !strings.Contains(e.stdin, big) {
			t.Errorf("%s: a prompt of 200 KiB arrives as %d bytes: %d %s", adapter, len(e.stdin), a.status, clip(a.body))
		}
	}
	for _, adapter := range adapters {
		plain, _ := said(adapter, map[string]any{"input": "plain"})
		for _, prompt := range []string{"--help", "-", "--model x", "---\nfoo", "@file", "-c sandbox_mode=danger-full-access", "{session_id}"} {
			if adapter == "by-argv" && prompt == "-" {
				continue // codex itself reads stdin then, behind "--" too
			}
			e, a := said(adapter, map[string]any{"input": prompt})
			if a.status != 200 || e.stdin != prompt {
				t.Errorf("%s: %q arrives as %q: %d %s", adapter, prompt, e.stdin, a.status, clip(a.body))
			}
			if adapter != "by-argv" && !slices.Equal(e.args, plain.args) || len(e.args) != len(plain.args) {
				t.Errorf("%s: %q changes the arguments: %q", adapter, prompt, e.args)
			}
			e, a = said(adapter, map[string]any{"input": "plain", "instructions": prompt, "metadata": map[string]string{"k": prompt}})
			if a.status != 200 || adapter != "by-argv" && e.hasArg(prompt) != plain.hasArg(prompt) {
				t.Errorf("%s: instructions %q: %q %d %s", adapter, prompt, e.args, a.status, clip(a.body))
			}
		}
	}
	long := strings.Repeat("Be brief. ", 14<<10)
	for _, adapter := range adapters {
		agent := r.http.ok("POST", "/v1/agents", map[string]any{"name": "long-" + adapter, "model": adapter, "instructions": long})
		a := r.http.do("POST", "/v1/responses", map[string]any{"model": agent.str("name"), "input": "short", "instructions": strings.Repeat("More. ", 1700)})
		switch {
		case a.status == 200 && a.str("status") == "completed":
			for _, arg := range echoed(outputText(a)).args {
				if len(arg) > 128<<10 {
					t.Errorf("%s: an argument of %d bytes", adapter, len(arg))
				}
			}
		case a.status != 400 || a.code() == "":
			t.Errorf("%s: long instructions: %d %s", adapter, a.status, clip(a.body))
		}
	}
	r.Clean(time.Minute)
	r.Stop()
}

// Case 17: the server's environment does not reach the CLI.
//
//cases:17
func TestCase17Environment(t *testing.T) {
	t.Parallel()
	const token = "tok-0123456789abcdef"
	secret := map[string]string{
		"CLAUDECODE": "1", "CLAUDE_CODE_CHILD_SESSION": "1", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI", "ABX_SERVER_TOKEN": token,
		"LD_PRELOAD_X": "y", "GITHUB_TOKEN": "ghp_x", "AGENTHOST_LOG_LEVEL": "info",
	}
	var all []string
	for k, v := range secret {
		all = append(all, k+"="+v)
	}
	r := newRig(t, env(append(all, "FAKE_MODE=echo", "TZ=Europe/Berlin", "HTTPS_PROXY=http://127.0.0.1:9")...))
	r.http.token = token
	for _, adapter := range []string{"codex", "claude-code"} {
		a := r.http.respond(map[string]any{"model": adapter, "input": "go"})
		e := echoed(outputText(a))
		if e.env["PATH"] == "" || e.env["TZ"] != "Europe/Berlin" || e.env["HTTPS_PROXY"] == "" {
			t.Errorf("%s: the environment is %v", adapter, e.env)
		}
		for name, value := range secret {
			if _, ok := e.env[name]; ok {
				t.Errorf("%s: %s is passed on", adapter, name)
			}
			for k, v := range e.env {
				if len(value) > 4 && strings.Contains(v, value) {
					t.Errorf("%s: the value of %s is in %s", adapter, name, k)
				}
			}
		}
	}
	r.Clean(time.Minute)
	r.Stop()
}

// Case 18: what cannot start fails once, and works after the repair.
//
//cases:18
func TestCase18CannotStart(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	s := newStage(t)
	session := s.newSession(play{adapter: "codex", scene: "normal"})
	playerFile := filepath.Join(s.dir, "player")
	text, err := os.ReadFile(playerFile)
	if err != nil {
		t.Fatal(err)
	}
	repair := func() {
		_ = os.RemoveAll(playerFile)
		s.script(t, "player", string(text))
	}
	breakages := map[string]func(){
		"missing":        func() { _ = os.Remove(playerFile) },
		"not executable": func() { _ = os.Chmod(playerFile, 0o644) },
		"a directory":    func() { _ = os.Remove(playerFile); _ = os.Mkdir(playerFile, 0o755) },
		"no interpreter": func() { s.script(t, "player", "#!/nowhere/sh\n") },
	}
	turns := 0
	for name, breakIt := range breakages {
		calls := len(s.calls("normal"))
		breakIt()
		a := s.http.say(session, "go")
		switch a.status {
		case 409:
			if a.code() != "runtime_not_installed" || a.header.Get("x-should-retry") != "false" {
				t.Errorf("%s: %s", name, clip(a.body))
			}
		case 202:
			turns++
			s.http.idle(session, 20*time.Second)
			last := s.http.ok("GET", "/v1/agents/sessions/"+session+"/turns?limit=1", nil)
			if last.str("data", 0, "status") != "failed" || last.str("data", 0, "error", "code") != "sandbox_error" {
				t.Errorf("%s: %s", name, clip(last.body))
			}
		default:
			t.Errorf("%s: %d %s", name, a.status, clip(a.body))
		}
		if n := len(s.calls("normal")); n != calls {
			t.Errorf("%s: %d calls", name, n-calls)
		}
		repair()
		s.until(time.Minute, "the CLI is found again", func() bool { return s.http.say(session, "go").status == 202 })
		turns++
		s.http.idle(session, 20*time.Second)
		last := s.http.ok("GET", "/v1/agents/sessions/"+session+"/turns?limit=1", nil)
		if last.str("data", 0, "status") != "completed" {
			t.Errorf("after the repair of %s: %s", name, clip(last.body))
		}
	}
	if got := len(s.http.turns(session)); got != turns {
		t.Errorf("%d turns, not %d", got, turns)
	}
	// A workspace that goes away.
	there := filepath.Join(work, "there")
	if err := os.Mkdir(there, 0o755); err != nil {
		t.Fatal(err)
	}
	a := s.http.ok("POST", "/v1/agents/sessions", map[string]any{
		"agent": map[string]any{"model": "normal"}, "environment": map[string]any{"type": "self_hosted", "workspace_directory": there},
	}, "X-ABX-Adapter: codex")
	if err := os.Remove(there); err != nil {
		t.Fatal(err)
	}
	e := s.agents(play{adapter: "codex", scene: "normal", session: a.str("id")})
	if e.status != "failed" || e.code != "sandbox_error" {
		t.Errorf("without its workspace: %s", e)
	}
	if err := os.Mkdir(there, 0o755); err != nil {
		t.Fatal(err)
	}
	s.agents(play{adapter: "codex", scene: "normal", session: a.str("id")}).is(t, "completed", "all well", 0)
	s.well()
	s.Stop()
}

// Case 19: many lines, none of them long.
//
//cases:19
func TestCase19ManySmallLines(t *testing.T) {
	t.Parallel()
	lines := `pad=$(head -c 10000 /dev/zero | tr '\0' p)
i=0; while [ $i -lt 3000 ]; do
printf '{"type":"item.updated","item":{"id":"l","type":"todo_list","items":[{"text":"%s","completed":false}]}}\n' "$pad"
i=$((i+1)); done
`
	scene := "cat >/dev/null\n" + printed(codexThread, codexTurn) + lines + printed(codexSays("tail reached"), codexDone)
	s := newStage(t, limit("max_line_bytes", "1MiB"), limit("max_output_bytes", "64MiB"))
	s.scene("many", scene)
	s.all(play{adapter: "codex", scene: "many"}, func(e *ending) { e.is(t, "completed", "tail reached", 0) })
	s.Stop()
	s = newStage(t, limit("max_output_bytes", "8MiB"), grace("300ms", "300ms"))
	s.scene("many", scene)
	s.all(play{adapter: "codex", scene: "many"}, func(e *ending) {
		e.is(t, "failed", "", 0)
		if !e.responses && e.code != "sandbox_error" || !strings.Contains(e.message, "max_output_bytes") {
			t.Errorf("%s", e)
		}
	})
	s.Stop()
}

// Case 20 in memory: a line of 12 MiB costs its buffer, which is outside the heap,
// and its text. Escapes cost the decoder some more.
//
//cases:20
func TestCase20LongLineInMemory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		most int64
	}{
		"plain":   {`head -c 12582912 /dev/zero | tr '\0' z`, 64 << 20},
		"escaped": {`yes 'a line of forty bytes, as listings are.\n' | tr -d '\n' | head -c 12582906`, 80 << 20},
	} {
		s := newStage(t)
		s.scene("long", "cat >/dev/null\n"+printed(codexThread, codexTurn)+
			`printf '{"type":"item.completed","item":{"id":"c","type":"command_execution","command":"rg x","aggregated_output":"'
`+c.text+`
printf '","exit_code":0,"status":"completed"}}\n'
`+printed(codexSays("after the long line"), codexDone))
		s.well()
		base := s.RSS()
		s.ResetPeak()
		s.agents(play{adapter: "codex", scene: "long"}).is(t, "completed", "after the long line", 0)
		grown := s.PeakRSS() - base
		t.Logf("%s: RSS grows by %d MiB", name, grown>>20)
		if grown >= c.most {
			t.Errorf("%s: RSS grows by %d MiB", name, grown>>20)
		}
		s.Stop()
	}
}

// Case 72: no data line is longer than clients can read.
//
//cases:72
func TestCase72DataLinesAreBounded(t *testing.T) {
	t.Parallel()
	const size = 9 << 20
	r := newRig(t, limit("journal_max_bytes", "512MiB"))
	for adapter, prompt := range map[string]string{
		"codex":       fmt.Sprintf("[[big: %d]]", size),
		"claude-code": fmt.Sprintf("[[shell: head -c %d /dev/zero | tr '\\0' z]] [[say: done]]", size),
	} {
		s := r.http.open("POST", "/v1/responses", map[string]any{"model": adapter, "input": prompt, "stream": true})
		frames := s.end(60 * time.Second)
		checkResponse(t, s)
		session, _ := at(frames[0].data(), "response", "conversation", "id").(string)
		all := append(frames[:len(frames):len(frames)], r.http.replay("agsess_"+strings.TrimPrefix(session, "conv_")).all()...)
		text := 0
		for _, f := range all {
			if len(f.raw) > 8<<20 || !utf8.Valid(f.raw) {
				t.Errorf("%s: a data line of %d bytes (%s)", adapter, len(f.raw), f.kind())
			}
			if f.kind() == "response.output_text.delta" {
				delta, _ := f.data()["delta"].(string)
				text += len(delta)
			}
		}
		if adapter == "codex" && text < size {
			t.Errorf("%d bytes of text arrived, not %d", text, size)
		}
		if last := frames[len(frames)-1].kind(); last != "response.completed" {
			t.Errorf("%s: %s", adapter, last)
		}
	}
	r.normalTurn()
	r.Stop()
}

// Case 101: a configured secret is nowhere that a caller or a reader of the state
// directory sees it.
//
//cases:101
func TestCase101SecretIsRedacted(t *testing.T) {
	t.Parallel()
	const secret = "sk-canary-0123456789abcdef"
	s := newStage(t, env("ABX_LLM_API_KEY="+secret), key("log", map[string]any{"level": "debug"}))
	s.scene("leaks", `cat >/dev/null
k=${CODEX_API_KEY:-$AGENT_PROVIDER_KEY}
[ "$k" ] || exit 9
echo "auth failed for $k" >&2
`+printed(codexThread, codexTurn)+`printf '{"type":"item.completed","item":{"id":"m","type":"agent_message","text":"key is %s"}}\n' "$k"
exit 1
`)
	for _, way := range ways {
		e := way.ask(s, play{adapter: "codex", scene: "leaks"})
		if e.status != "failed" || strings.Contains(e.message, "9") && !strings.Contains(e.message, "auth failed") {
			t.Errorf("%s", e)
		}
		whole := string(s.http.replay(e.session).raw()) + string(s.http.response("resp_"+e.turn, -1).waitEnd(20*time.Second))
		if strings.Contains(whole+e.raw+e.message, secret) {
			t.Errorf("%s: the secret is in an answer", e.way)
		}
		if len(e.texts) != 1 || !strings.HasPrefix(e.texts[0], "key is ") {
			t.Errorf("%s: %q", e.way, e.texts)
		}
	}
	s.Stop()
	if strings.Contains(s.Log(), secret) {
		t.Error("the secret is in the log")
	}
	_ = filepath.WalkDir(s.StateDir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), secret) {
			t.Errorf("the secret is in %s", path)
		}
		return nil
	})
}

// waitEnd is the stream's bytes once it ended.
func (s *stream) waitEnd(timeout time.Duration) []byte {
	s.t.Helper()
	s.end(timeout)
	return s.raw()
}
