package acceptance

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters/claudecode"
	"github.com/agenthost/agenthost/adapters/codex"
	"github.com/agenthost/agenthost/adapters/opencode"
	"github.com/agenthost/agenthost/adapters/qwen"
	"github.com/agenthost/agenthost/bench/hostproc"
)

// persistentCLIs are the adapters that have a driver with runners.
var persistentCLIs = []string{"codex", "claude-code", "qwen-code", "opencode", "gemini"}

// certifiedOnly are the tests that only make certify plays with a CLI.
var certifiedOnly = map[string][]string{
	"codex":       {"TestRealRunnerProviderTrouble", "TestRealRunnerProviderStalls"},
	"claude-code": {"TestRealRunnerProviderTrouble", "TestRealRunnerProviderStalls", "TestRealRunnerIsShared"},
}

// runnerArgs tell the process of a runner from others.
var runnerArgs = map[string]string{"codex": "app-server", "claude-code": "--input-format", "qwen-code": "--acp", "opencode": "opencode acp", "gemini": "bin/gemini --acp"}

// eachRunner plays a test with each CLI that serves many turns from one process.
func eachRunner(t *testing.T, settings map[string]any, play func(t *testing.T, r *cliRig, adapter string), more ...setting) {
	for _, adapter := range persistentCLIs {
		if !plays(t, adapter) || adapter == "gemini" && !(certifies() && slices.Contains(geminiPlays, t.Name())) || slices.Contains(certifiedOnly[adapter], t.Name()) && !certifies() {
			continue
		}
		t.Run(adapter, func(t *testing.T) {
			t.Parallel()
			own := map[string]any{"driver": "persistent"}
			for k, v := range settings {
				own[k] = v
			}
			idle := "2s"
			if adapter == "gemini" { // see settled
				idle = "1m"
			}
			play(t, newCLIRig(t, adapter, need(t, adapter), append([]setting{cli(adapter, own), limit("runner_idle", idle)}, more...)...), adapter)
		})
	}
}

// persistent reports whether the adapter's CLI serves many turns from one process.
func (r *cliRig) persistent(adapter string) bool {
	for _, one := range r.http.ok("GET", "/v1/agents/runtimes", nil).list("data") {
		if word(one, "id") == adapter {
			return word(one, "driver") == "persistent"
		}
	}
	return false
}

// runners are the processes that serve turns.
func (r *cliRig) runners(adapter string) (pids []int) {
	for _, p := range r.Descendants() {
		if p.State != 'Z' && p.Parent == r.Pid && strings.Contains(p.Command, runnerArgs[adapter]) {
			pids = append(pids, p.Pid)
		}
	}
	return pids
}

// settled waits until a conversation that has begun outlives its process. The Gemini CLI
// names its record by the minute and begins it anew when it loads it in the same one, so
// there it lives through a killed process from the next minute on.
func (r *cliRig) settled(adapter string) {
	if adapter != "gemini" {
		return
	}
	begun := time.Now().UTC().Minute()
	r.until(cliTurnLimit, "the minute is over", func() bool { return time.Now().UTC().Minute() != begun })
}

// A conversation of a CLI that serves many turns: what is said comes in pieces, and
// all is done that a process a turn does.
func TestRealRunnerConversation(t *testing.T) {
	t.Parallel()
	eachRunner(t, nil, func(t *testing.T, r *cliRig, adapter string) {
		if !r.persistent(adapter) {
			t.Fatal("the driver is another")
		}
		for name, ask := range askers {
			if adapter != "codex" && name != "agents streamed" && !certifies() {
				continue // starting a process for each takes its time
			}
			t.Run(name, func(t *testing.T) {
				first := ask(t, r, adapter, nil, "Please remember the word heron.")
				completed(t, first, "I will remember the word heron.")
				ran := ask(t, r, adapter, first, "[[say: I will run it.]] [[shell: echo from a real shell]]")
				completed(t, ran, "from a real shell")
				if adapter == "gemini" { // it tells nothing of what a command printed
					oneCommand(t, ran, "echo from a real shell", "", 0)
				} else {
					oneCommand(t, ran, "echo from a real shell", "from a real shell", 0)
				}
				file := strings.ReplaceAll(name, " ", "-") + "/a.txt"
				wrote := ask(t, r, adapter, ran, "[[write: "+file+" some text]]")
				if r.fileOf(file) != "some text" || len(wrote.files) != 1 {
					t.Errorf("the turn that writes: %+v", wrote)
				}
				completed(t, ask(t, r, adapter, wrote, "What did I ask you to remember?"), "heron")
				if own := r.conversations(first.session); len(slices.Compact(own)) != 1 {
					t.Errorf("the CLI's own conversations: %v", own)
				}
			})
		}
		s := r.http.open("POST", "/v1/responses", map[string]any{"model": adapter, "input": "[[slow: 5]] [[count: 30]]", "stream": true})
		if pieces := count(s.end(cliTurnLimit), "response.output_text.delta"); pieces < 5 {
			t.Errorf("a slow answer came in %d pieces", pieces)
		}
		r.Clean(cliTurnLimit)
		cold := askAgents(t, r, adapter, nil, "Please remember the word heron.")
		r.settled(adapter)
		r.until(cliTurnLimit, "the runner is gone", func() bool { return len(r.runners(adapter)) == 0 })
		completed(t, askAgents(t, r, adapter, cold, "What did I ask you to remember?"), "heron")
		r.Clean(cliTurnLimit)
	})
}

// By itself, the server runs those CLIs so of which it is known that it can.
func TestRealRunnerIsTakenByAuto(t *testing.T) {
	t.Parallel()
	eachRunner(t, map[string]any{"driver": "auto"}, func(t *testing.T, r *cliRig, adapter string) {
		set := map[string]agent.Persistent{"codex": &codex.Adapter{}, "claude-code": &claudecode.Adapter{}, "qwen-code": &qwen.Adapter{}, "opencode": opencode.New()}
		_, only := set[adapter].(agent.Only)
		if got, want := r.persistent(adapter), only || len(set[adapter].Certified()) > 0; got != want {
			t.Errorf("runs as a long-lived process: %v, want %v", got, want)
		}
	})
}

// Twenty turns of five sessions, five at once, are served by one process, or by one a
// session where a process has room for one only; they are ended when nobody asks any
// more.
func TestRealRunnerIsShared(t *testing.T) {
	t.Parallel()
	eachRunner(t, nil, func(t *testing.T, r *cliRig, adapter string) {
		seen := map[int]bool{}
		var wait sync.WaitGroup
		for i := range 5 {
			wait.Go(func() {
				var last *told
				for j := range 4 {
					text := fmt.Sprintf("session %d says %d", i, j)
					turn := askAgents(t, r, adapter, last, "[[say: "+text+"]] [[shell: pwd]]")
					if turn.status != "completed" || !slices.Contains(texts(turn.items), text) {
						t.Errorf("%s: %s %q", text, turn.status, texts(turn.items))
					}
					last = turn
				}
			})
		}
		done := make(chan struct{})
		go func() { wait.Wait(); close(done) }()
		for running := true; running; {
			select {
			case <-done:
				running = false
			case <-time.After(50 * time.Millisecond):
				for _, pid := range r.runners(adapter) {
					seen[pid] = true
				}
			}
		}
		if want := map[string]int{"codex": 1, "claude-code": 5, "qwen-code": 1, "opencode": 1, "gemini": 5}[adapter]; len(seen) != want {
			t.Errorf("%d processes served them, want %d", len(seen), want)
		}
		r.Clean(cliTurnLimit)
	})
}

// A runner that is killed in the middle of a turn fails that turn alone; the next
// input is answered by another one, which knows what was said.
func TestRealRunnerIsKilled(t *testing.T) {
	t.Parallel()
	eachRunner(t, nil, func(t *testing.T, r *cliRig, adapter string) {
		first := askAgents(t, r, adapter, nil, "Please remember the word heron.")
		completed(t, first, "heron")
		r.settled(adapter)
		session := "agsess_" + first.session
		if adapter == "gemini" { // its record lacks the answer of a call that was cut off, so the scripted model makes it again
			for _, pid := range r.runners(adapter) {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Error(err)
				}
			}
			completed(t, askAgents(t, r, adapter, first, "What did I ask you to remember?"), "heron")
			return
		}
		r.http.say(session, "[[shell: tail -f /dev/null]]")
		r.until(cliTurnLimit, "the command runs", r.tails)
		before := r.runners(adapter)
		if len(before) != 1 {
			t.Fatalf("runners: %v", before)
		}
		if err := syscall.Kill(before[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		killed := toldBySession(t, r, first.session)
		if killed.status != "failed" || !strings.Contains(killed.message, "SIGKILL") {
			t.Errorf("the turn: %+v", killed)
		}
		r.until(cliTurnLimit, "the command is gone", func() bool { return !r.tails() })
		completed(t, askAgents(t, r, adapter, killed, "What did I ask you to remember?"), "heron")
		r.Clean(cliTurnLimit)
	})
}

// A cancelled command is gone, and so is what it left; the process that served the
// turn serves the other turns on, those of the session among them.
func TestRealRunnerCancelsMidCommand(t *testing.T) {
	t.Parallel()
	eachRunner(t, map[string]any{"permissions": "full_access", "sandboxed": true}, func(t *testing.T, r *cliRig, adapter string) {
		other := r.http.session(adapter)
		s := r.http.open("POST", "/v1/responses", map[string]any{"model": adapter, "input": "[[shell: setsid sleep 3000 & tail -f /dev/null]]", "stream": true})
		id := word(s.waitKind(cliTurnLimit, "response.mcp_call.in_progress", 1)[0].data(), "response", "id")
		r.until(cliTurnLimit, "the command runs", r.tails)
		before := r.runners(adapter)
		r.http.say(other, "[[wait: 3000]] [[say: undisturbed]]")
		r.http.ok("POST", "/v1/responses/"+id+"/cancel", nil)
		s.end(cliTurnLimit)
		if o := r.http.ok("GET", "/v1/responses/"+id, nil); o.str("status") != "cancelled" {
			t.Errorf("the response: %s", clip(o.body))
		}
		r.until(cliTurnLimit, "nothing of the command is left", func() bool {
			return !slices.ContainsFunc(r.Marked(), func(p hostproc.Proc) bool {
				return strings.HasPrefix(p.Command, "sleep 3000") || strings.HasPrefix(p.Command, "tail")
			})
		})
		next := r.http.open("POST", "/v1/responses", map[string]any{"model": adapter, "previous_response_id": id, "input": "[[shell: tail -f /dev/null]]", "stream": true})
		id = word(next.waitKind(cliTurnLimit, "response.mcp_call.in_progress", 1)[0].data(), "response", "id")
		r.until(cliTurnLimit, "the next turn's command runs", r.tails)
		if after := r.runners(adapter); len(before) != 1 || !slices.Contains(after, before[0]) {
			t.Errorf("runners %v, then %v", before, after)
		}
		r.http.ok("POST", "/v1/responses/"+id+"/cancel", nil)
		next.end(cliTurnLimit)
		completed(t, toldBySession(t, r, strings.TrimPrefix(other, "agsess_")), "undisturbed")
		r.Clean(cliTurnLimit)
	})
}

// asksFor are the tools that a CLI asks about before it writes a file and runs a
// command.
var asksFor = map[string][]string{
	"codex": {"file_change", "command_execution"}, "claude-code": {"Write", "Bash"},
	"qwen-code": {"file_change", "command_execution"}, "opencode": {"file_change", "command_execution"}, "gemini": {"file_change", "command_execution"},
}

// A CLI that asks in its own protocol is answered: what was approved is done, what was
// denied is not.
func TestRealRunnerAsks(t *testing.T) {
	t.Parallel()
	eachRunner(t, map[string]any{"permissions": "ask"}, func(t *testing.T, r *cliRig, adapter string) {
		for name, approve := range map[string]bool{"approve": true, "deny": false} {
			t.Run(name, func(t *testing.T) {
				file := name + ".txt"
				o := r.respondTo(t, true, map[string]any{"model": adapter, "input": "[[write: " + file + " some text]] [[shell: echo ran >ran-" + file + "]]"})
				for _, tool := range asksFor[adapter] {
					item, _ := at(o, "output", -1).(map[string]any)
					if item["type"] != "mcp_approval_request" || item["name"] != tool || item["server_label"] != adapter || !strings.Contains(word(item, "arguments"), file) {
						t.Fatalf("%s was not asked for: %v", tool, at(o, "output"))
					}
					o = r.respondTo(t, true, map[string]any{"model": adapter, "previous_response_id": o["id"], "input": []any{
						map[string]any{"type": "mcp_approval_response", "approval_request_id": item["id"], "approve": approve, "reason": "the moon is full"},
					}})
					if !approve && adapter == "qwen-code" {
						break // what is denied ends its turn
					}
				}
				if told := toldByResponse(t, o); adapter == "claude-code" && !approve && !strings.Contains(told.text, "the moon is full") {
					t.Errorf("the agent was not told why: %q", told.text)
				}
				if o["status"] != "completed" || (r.fileOf(file) != "") != approve || (r.fileOf("ran-"+file) != "") != approve {
					t.Errorf("the last leg: %v; the files have %q and %q", o, r.fileOf(file), r.fileOf("ran-"+file))
				}
			})
		}
		if adapter != "qwen-code" { // auto runs it by the driver that cannot ask
			r.verified(t, adapter, "approvals", "permission_ask")
		}
		r.Clean(cliTurnLimit)
	})
}

// A caller's function is called through the thread's own configuration.
func TestRealRunnerCallsFunctions(t *testing.T) {
	t.Parallel()
	eachRunner(t, nil, func(t *testing.T, r *cliRig, adapter string) {
		var last any
		for range 2 { // each turn has its own address of the function
			body := map[string]any{"model": adapter, "input": askWeather, "tools": []any{weather()}}
			if last != nil {
				body["previous_response_id"] = last
			}
			first := r.respondTo(t, false, body)
			call, _ := at(first, "output", -1).(map[string]any)
			if call["type"] != "function_call" || call["name"] != "get_weather" {
				t.Fatalf("the call: %v", first["output"])
			}
			second := r.respondTo(t, false, map[string]any{"model": adapter, "previous_response_id": first["id"], "tools": []any{weather()}, "input": []any{
				map[string]any{"type": "function_call_output", "call_id": call["call_id"], "output": "rain in Oslo"},
			}})
			completed(t, toldByResponse(t, second), "rain in Oslo")
			if last == nil {
				r.settled(adapter) // the next turn has another process
			}
			last = second["id"]
		}
		r.Clean(cliTurnLimit)
	})
}

// What is said to a runner that was just refused by the provider is said by the same
// process. Claude Code and Qwen Code say the refused prompt again with it, so that is
// refused too.
func TestRealRunnerOutlivesTheProviderRefusing(t *testing.T) {
	t.Parallel()
	eachRunner(t, nil, func(t *testing.T, r *cliRig, adapter string) {
		first := askAgents(t, r, adapter, nil, "Please remember the word heron.")
		completed(t, first, "heron")
		before := r.runners(adapter)
		refused := func(turn *told) {
			t.Helper()
			if turn.status != "failed" || turn.code != "resource_not_found" {
				t.Errorf("%s %s %q", turn.status, turn.code, turn.message)
			}
		}
		refused(askAgents(t, r, adapter, first, "[[error: 404]]"))
		again := askAgents(t, r, adapter, first, "What did I ask you to remember?")
		if adapter == "claude-code" || adapter == "qwen-code" {
			refused(again)
		} else {
			completed(t, again, "heron")
		}
		if after := r.runners(adapter); !slices.Equal(before, after) {
			t.Errorf("runners %v, then %v", before, after)
		}
		r.Clean(cliTurnLimit)
	})
}

// A provider that says nothing more, and one for which the conversation is too long.
func TestRealRunnerProviderTrouble(t *testing.T) {
	t.Parallel()
	eachRunner(t, nil, func(t *testing.T, r *cliRig, adapter string) {
		for fault, code := range map[string]string{"context": "context_length_exceeded", "cut": "connection_failed"} {
			if fault == "cut" && adapter == "gemini" {
				continue // it tries again for longer than a test should wait
			}
			t.Run(fault, func(t *testing.T) {
				t.Parallel()
				if turn := askAgents(t, r, adapter, nil, "[[error: "+fault+"]]"); turn.status != "failed" || turn.code != code {
					t.Errorf("%s %s %q", turn.status, turn.code, turn.message)
				}
			})
		}
	})
}

// A stream that stalls ends the turn when it was silent for too long, not its runner,
// which serves the next one.
func TestRealRunnerProviderStalls(t *testing.T) {
	t.Parallel()
	eachRunner(t, nil, func(t *testing.T, r *cliRig, adapter string) {
		first := askAgents(t, r, adapter, nil, "Please remember the word heron.")
		completed(t, first, "heron")
		before := r.runners(adapter)
		stalled := askAgents(t, r, adapter, first, "[[error: stall]]")
		if stalled.status != "failed" || stalled.code != "request_timeout" {
			t.Errorf("%s %s %q", stalled.status, stalled.code, stalled.message)
		}
		next := askAgents(t, r, adapter, stalled, "What did I ask you to remember?")
		if adapter == "claude-code" || adapter == "qwen-code" { // it says the stalled prompt again
			if next.status != "failed" || next.code != "request_timeout" {
				t.Errorf("the next turn: %s %s %q", next.status, next.code, next.message)
			}
		} else {
			completed(t, next, "heron")
		}
		if after := r.runners(adapter); !slices.Equal(before, after) {
			t.Errorf("runners %v, then %v", before, after)
		}
		r.Clean(cliTurnLimit)
	}, limit("idle_timeout", "15s"))
}

// Runners are killed at random moments of the turns of many sessions, one after the
// other: each input is answered by one turn or fails with it, none is lost or doubled,
// and nothing is left.
func TestRealRunnersAreKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	const sessions, inputs, blows = 4, 4, 3
	eachRunner(t, map[string]any{"permissions": "full_access", "sandboxed": true}, func(t *testing.T, r *cliRig, adapter string) {
		dice := rand.New(rand.NewPCG(3, 169))
		var ids []string
		for range sessions {
			ids = append(ids, r.http.session(adapter))
		}
		for n := range inputs {
			for s, id := range ids {
				text := fmt.Sprintf("[[slow: %d]] [[shell: echo %d.%d >>log]] [[count: 20]]", dice.IntN(30), s, n)
				if a := r.http.say(id, text); a.status != 202 {
					t.Fatalf("input: %d %s", a.status, clip(a.body))
				}
			}
		}
		struck := 0
		busy := func() bool {
			return slices.ContainsFunc(ids, func(id string) bool { return r.http.ok("GET", "/v1/agents/sessions/"+id, nil).str("status") != "idle" })
		}
		next := time.Now().Add(time.Duration(dice.IntN(1000)) * time.Millisecond)
		r.until(cliTurnLimit, "all sessions are idle", func() bool {
			if pids := r.runners(adapter); len(pids) > 0 && struck < blows && time.Now().After(next) {
				struck++
				_ = syscall.Kill(pids[dice.IntN(len(pids))], syscall.SIGKILL)
				next = time.Now().Add(time.Duration(dice.IntN(2500)) * time.Millisecond)
			}
			return !busy()
		})
		failed := 0
		for s, id := range ids {
			turns := r.http.ok("GET", "/v1/agents/sessions/"+id+"/turns?order=asc", nil).list("data")
			if len(turns) != inputs {
				t.Errorf("session %d has %d turns", s, len(turns))
			}
			for _, turn := range turns {
				switch word(turn, "status") {
				case "completed":
				case "failed":
					if failed++; !strings.Contains(word(turn, "error", "message"), "SIGKILL") {
						t.Errorf("a turn failed otherwise: %v", turn)
					}
				default:
					t.Errorf("a turn is %v", turn)
				}
			}
		}
		if struck == 0 || failed == 0 || failed == sessions*inputs {
			t.Errorf("%d blows, %d failed turns", struck, failed)
		}
		ran := strings.Fields(r.fileOf("log"))
		slices.Sort(ran)
		if once := slices.Compact(slices.Clone(ran)); len(once) != len(ran) {
			t.Errorf("commands ran as %q", ran)
		}
		r.Clean(cliTurnLimit)
	})
}

// The program tests an installed CLI by both drivers and says what it found.
func TestAdapterIsCertified(t *testing.T) {
	t.Parallel()
	if !certifies() {
		t.Skip("half a minute; make certify plays it")
	}
	for _, adapter := range persistentCLIs {
		bin, err := hostproc.Build()
		if err != nil {
			t.Fatal(err)
		}
		state := filepath.Join(t.TempDir(), "state")
		if adapter == "opencode" || adapter == "gemini" { // they have one driver
			continue
		}
		out, err := exec.CommandContext(t.Context(), bin.Server, "adapter", "certify", adapter, "--state-dir", state, "--agents."+adapter+".binary", need(t, adapter)).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "certified: ") || strings.Contains(string(out), "!!") {
			t.Errorf("%s: %v\n%s", adapter, err, out)
		}
		left, err := os.ReadDir(state)
		if err != nil || len(left) != 1 || left[0].Name() != "certified.json" {
			t.Errorf("left in the state directory: %v %v", left, err)
		}
	}
}
