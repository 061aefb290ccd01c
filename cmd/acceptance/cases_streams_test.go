package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters"
	"github.com/agenthost/agenthost/adapters/adaptertest"
)

// streamCase is bytes of a CLI and what both wires must make of them.
type streamCase struct {
	number int
	name   string
	claude bool // dialect; else codex
	cursor bool
	file   string // recorded, or
	script string // of its own
	exit   int
	status string // completed, failed
	texts  []string
	turn   string // error code on the Agents wire
	// reason is incomplete_details.reason on the Responses wire; the response is
	// incomplete then.
	reason string
	check  func(t *testing.T, e *ending)
}

const nativeCodex = "01a00000-0000-7000-8000-000000000001"

// wide is made of three-byte characters behind one byte, so that every cut at a
// round place is inside a character.
const wide = `w=$(printf '漢%.0s' $(seq 1 2000))
many() { i=0; while [ $i -lt "$1" ]; do printf '%s' "$w"; i=$((i+1)); done; }
`

var streamCases = []streamCase{
	{number: 8, name: "no result", claude: true, file: "p_no_result.jsonl", status: "failed", texts: []string{"half done"}, turn: "internal_error"},
	{number: 20, name: "long line", script: "cat >/dev/null\n" + printed(codexThread, codexTurn) +
		`printf '{"type":"item.completed","item":{"id":"c","type":"command_execution","command":"rg x","aggregated_output":"'
head -c 12582912 /dev/zero | tr '\0' z
printf '","exit_code":0,"status":"completed"}}\n'
` + printed(codexSays("after the long line"), codexDone), status: "completed", texts: []string{"after the long line"}, check: boundedOutput},
	{number: 21, name: "no final newline", file: "l_no_final_newline.jsonl", status: "completed", texts: []string{"ok"}, check: usageTotal(18)},
	{number: 22, name: "byte by byte", script: "cat >/dev/null\n" + bytewise(codexThread, codexTurn, codexSays("한글 🎉 ≤ naïve 漢字"), codexDone),
		status: "completed", texts: []string{"한글 🎉 ≤ naïve 漢字"}},
	{number: 23, name: "bom crlf blank", file: "l_bom_crlf_blank.jsonl", status: "completed", texts: []string{"ok"}},
	{number: 24, name: "ansi", file: "l_ansi.jsonl", status: "completed", texts: []string{"ok"}},
	{number: 25, name: "noise", file: "l_noise.jsonl", status: "completed", texts: []string{"ok"}},
	{number: 27, name: "line separators", file: "l_line_separators.jsonl", status: "completed", texts: []string{"a\u2028b\u2029c\u0085d"}},
	{number: 28, name: "unknown types", claude: true, file: "l_unknown_types.jsonl", status: "completed", texts: []string{"ok"}},
	{number: 28, name: "unknown items", file: "l_unknown_items_codex.jsonl", status: "completed", texts: []string{"ok"}},
	{number: 29, name: "reconnecting", file: "l_reconnecting.jsonl", status: "completed", texts: []string{"ok"}},
	{number: 30, name: "error then exit 1", file: "l_error_then_exit1.jsonl", exit: 1, status: "failed", check: lastError},
	{number: 31, name: "success but error", claude: true, file: "l_success_but_error.jsonl", status: "failed", turn: "authentication_error", texts: nil},
	{number: 33, name: "max turns", claude: true, file: "l_max_turns.jsonl", exit: 1, status: "failed", turn: "usage_limit_exceeded", reason: "max_messages", texts: []string{"partial work"}},
	{number: 34, name: "exit 1 after success", claude: true, file: "ok_claude.jsonl", exit: 1, status: "completed", texts: []string{"ok"}},
	{number: 35, name: "two results", claude: true, file: "l_two_results.jsonl", status: "completed", texts: []string{"started a background task", "background task done"}},
	{number: 37, name: "short result", claude: true, file: "l_short_result.jsonl", status: "completed", texts: []string{"The first half and the second half."}},
	{number: 38, name: "dup final", claude: true, file: "l_dup_final.jsonl", status: "completed", texts: []string{"one two three"}},
	{number: 39, name: "flush repeats", cursor: true, file: "l_cursor_flush.jsonl", status: "completed", texts: []string{"I will look.", "All good."}},
	{number: 41, name: "usage absent", file: "l_usage_absent.jsonl", status: "completed", texts: []string{"ok"}},
	{number: 41, name: "usage null", file: "l_usage_null.jsonl", status: "completed", texts: []string{"ok"}},
	{number: 41, name: "usage strings", file: "l_usage_strings.jsonl", status: "completed", texts: []string{"ok"}},
	{number: 41, name: "usage partial", file: "l_usage_partial.jsonl", status: "completed", texts: []string{"ok"}},
	{number: 42, name: "tool disorder", claude: true, file: "l_tool_disorder.jsonl", status: "completed", texts: []string{"ok"}, check: closedItems},
	{number: 42, name: "codex item disorder", file: "l_codex_item_disorder.jsonl", status: "completed", texts: []string{"ok"}, check: closedItems},
	{number: 43, name: "lone surrogate", file: "l_lone_surrogate.jsonl", status: "completed", texts: []string{"cut \ufffd here, ok \U0001f600, low \ufffd."}},
	{number: 45, name: "cut multibyte", exit: 1, status: "failed", check: noCuts,
		script: "cat >/dev/null\n" + wide + "printf x >&2; many 20 >&2\n" + printed(codexThread, codexTurn) +
			`printf '{"type":"item.completed","item":{"id":"c","type":"command_execution","command":"cat","aggregated_output":"x'
many 400
printf '","exit_code":1,"status":"failed"}}\n'
exit 1
`},
	{number: 46, name: "numbers and depth", claude: true, file: "l_numbers_depth.jsonl", status: "completed", texts: []string{"ok"}, check: keepsNumber},
	{number: 47, name: "bad tool json", claude: true, file: "l_bad_tool_json.jsonl", status: "completed", texts: []string{"ok"}, check: failedTool},
	{number: 62, name: "lifecycle", file: "l_lifecycle.jsonl", status: "completed", texts: []string{"first", "last"}},
	{number: 64, name: "no output", file: "l_no_output.jsonl", status: "completed", texts: []string{""}},
	{number: 67, name: "after terminal", file: "l_after_terminal.jsonl", exit: 1, status: "completed", texts: []string{"ok"}},
}

func bytewise(lines ...string) string {
	var b strings.Builder
	for _, c := range []byte(strings.Join(lines, "\n") + "\n") {
		fmt.Fprintf(&b, "printf '\\%03o'\n", c)
	}
	return b.String()
}

func (c *streamCase) scene(s *stage) string {
	if c.script != "" {
		return c.script
	}
	return fmt.Sprintf("cat >/dev/null\ncat '%s'\nexit %d\n", s.data(c.file), c.exit)
}

// Every case runs on the built-in adapter of its dialect and on a declared one, on
// both wires, streamed and not. The same bytes mean the same everywhere.
//
//cases:streamCases
func TestCaseStreams(t *testing.T) {
	t.Parallel()
	for _, adapter := range []string{"codex", "claude-code", "plain-codex", "plain-claude", "plain-cursor"} {
		t.Run(adapter, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			for i := range streamCases {
				c := &streamCases[i]
				if c.claude != strings.Contains(adapter, "claude") || c.cursor != strings.Contains(adapter, "cursor") {
					continue
				}
				t.Run(fmt.Sprintf("case %d %s", c.number, c.name), func(t *testing.T) {
					s.at(t)
					scene := fmt.Sprintf("case-%d", i)
					s.scene(scene, c.scene(s))
					session := ""
					for _, way := range ways {
						e := way.ask(s, play{adapter: adapter, scene: scene})
						c.judge(t, e)
						if session == "" {
							session = e.session
						}
					}
					if c.number == 23 || c.number == 24 { // the id on the first line was read
						s.plain(play{adapter: adapter, scene: scene, session: session})
						if calls := s.calls(scene); !strings.Contains(calls[len(calls)-1], "<"+nativeCodex+">") {
							t.Errorf("the next turn does not resume: %s", calls[len(calls)-1])
						}
					}
					if c.number == 43 { // the session goes on
						if e := s.plain(play{adapter: adapter, scene: scene, session: session}); e.status != "completed" {
							t.Errorf("the next turn: %s", e)
						}
					}
					s.well()
				})
			}
			s.at(t)
			s.Stop()
			for _, feature := range map[string][]string{
				"plain-codex": {"text", "reasoning", "commands", "file_changes"}, "plain-claude": {"deltas"},
			}[adapter] {
				adaptertest.Record(t, adapters.Declared, feature, agent.Verified, "")
			}
		})
	}
}

// A declared CLI is cancelled like any other.
func TestDeclaredCLIIsCancelled(t *testing.T) {
	t.Parallel()
	s := newStage(t, grace("300ms", "300ms"))
	s.scene("hangs", "cat >/dev/null\n"+printed(codexThread, codexTurn)+"exec sleep 600\n")
	a := s.http.ok("POST", "/agents/plain-codex/v1/responses", map[string]any{"model": "hangs", "input": "go", "background": true})
	s.until(time.Minute, "the CLI runs", func() bool { return len(s.Marked()) > 0 })
	if c := s.http.ok("POST", "/v1/responses/"+a.str("id")+"/cancel", nil); c.str("status") != "cancelled" {
		t.Errorf("%s", clip(c.body))
	}
	adaptertest.Record(t, adapters.Declared, "cancel", agent.Verified, "")
	s.well()
	s.Stop()
}

// at makes t the test that s reports to. Subtests of one stage run one by one.
func (s *stage) at(t *testing.T) { s.t, s.http.t = t, t }

func (c *streamCase) judge(t *testing.T, e *ending) {
	t.Helper()
	want := c.status
	code := c.turn
	if e.responses {
		code = ""
		if c.reason != "" {
			want, code = "incomplete", c.reason
		}
	}
	if e.status != want || code != "" && e.code != code {
		t.Errorf("%s; it should be %s %s", e, want, code)
	}
	if c.status == "failed" && c.reason == "" && e.message == "" {
		t.Errorf("%s has no message", e)
	}
	if c.check == nil || c.texts != nil {
		if !slices.Equal(e.texts, c.texts) {
			t.Errorf("%s: the texts are %q, not %q", e.way, e.texts, c.texts)
		}
	}
	if c.status == "completed" {
		last := e.items[len(e.items)-1]
		if at(last, "type") != "message" || at(last, "phase") != "final_answer" {
			t.Errorf("%s: the last item is %v", e.way, last)
		}
	}
	if e.responses && c.status == "completed" {
		wholeUsage(t, e)
	}
	for _, item := range e.items {
		if at(item, "status") == "in_progress" {
			t.Errorf("%s: an item is left open: %v", e.way, item)
		}
	}
	if !utf8.ValidString(e.message) || !utf8.ValidString(strings.Join(e.texts, "")) {
		t.Errorf("%s: invalid UTF-8", e.way)
	}
	if c.check != nil {
		c.check(t, e)
	}
}

// wholeUsage: SDKs want every number.
func wholeUsage(t *testing.T, e *ending) {
	t.Helper()
	for _, path := range [][]any{
		{"input_tokens"}, {"output_tokens"}, {"total_tokens"}, {"input_tokens_details", "cached_tokens"},
		{"input_tokens_details", "cache_write_tokens"}, {"output_tokens_details", "reasoning_tokens"},
	} {
		n, ok := at(e.usage, path...).(float64)
		if !ok || n != float64(int64(n)) || n < 0 {
			t.Errorf("%s: usage %v is %v", e.way, path, at(e.usage, path...))
		}
	}
}

func usageTotal(n float64) func(*testing.T, *ending) {
	return func(t *testing.T, e *ending) {
		t.Helper()
		if got := at(e.usage, "total_tokens"); e.responses && got != n {
			t.Errorf("total_tokens is %v, not %v", got, n)
		}
	}
}

func boundedOutput(t *testing.T, e *ending) {
	t.Helper()
	for _, item := range e.items {
		if out, _ := at(item, "output").(string); len(out) > 2<<20+200 {
			t.Errorf("%s: an output of %d bytes", e.way, len(out))
		}
	}
}

func lastError(t *testing.T, e *ending) {
	t.Helper()
	if e.message == "" || strings.HasPrefix(e.message, "exit") {
		t.Errorf("%s: the message is %q", e.way, e.message)
	}
}

// kindsOf counts items by type and status.
func kindsOf(items []any) map[string]int {
	out := map[string]int{}
	for _, item := range items {
		out[fmt.Sprintf("%v %v", at(item, "type"), at(item, "status"))]++
	}
	return out
}

func closedItems(t *testing.T, e *ending) {
	t.Helper()
	incomplete := 0
	for k, n := range kindsOf(e.items) {
		if strings.HasSuffix(k, " incomplete") {
			incomplete += n
		}
	}
	if incomplete < 1 {
		t.Errorf("%s: the call that never ended is not closed as incomplete: %v", e.way, kindsOf(e.items))
	}
	seen := map[any]bool{}
	for _, item := range e.items {
		if id := at(item, "id"); seen[id] {
			t.Errorf("%s: item %v is there twice", e.way, id)
		} else {
			seen[id] = true
		}
	}
}

func noCuts(t *testing.T, e *ending) {
	t.Helper()
	if strings.ContainsRune(fmt.Sprint(e.items), utf8.RuneError) || strings.ContainsRune(e.message, utf8.RuneError) {
		t.Errorf("%s: a character was cut in two", e.way)
	}
	if !strings.Contains(e.message, "漢") || len([]rune(e.message)) > 2200 {
		t.Errorf("%s: the message has %d characters: %s", e.way, len([]rune(e.message)), clip([]byte(e.message)))
	}
	boundedOutput(t, e)
}

func keepsNumber(t *testing.T, e *ending) {
	t.Helper()
	if !strings.Contains(e.raw, "9007199254740993") {
		t.Errorf("%s: no arguments with 9007199254740993: %s", e.way, clip([]byte(e.raw)))
	}
}

func failedTool(t *testing.T, e *ending) {
	t.Helper()
	for _, item := range e.items {
		if at(item, "type") != "mcp_call" {
			continue
		}
		// The Agents wire shows what is JSON as it is, the Responses wire always text.
		_, text := at(item, "arguments").(string)
		if at(item, "status") != "failed" || at(item, "arguments") == nil || e.responses && !text {
			t.Errorf("%s: %v", e.way, item)
		}
		return
	}
	t.Errorf("%s: no failed tool: %v", e.way, e.items)
}

// Case 70: a response is streamed again, whole or from behind any number, while it
// runs and after its end, and each time with the same bytes.
//
//cases:70
func TestCase70StreamAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	gate := filepath.Join(t.TempDir(), "gate")
	lines := strings.Split(strings.TrimSpace(string(recorded(t, "l_lifecycle.jsonl"))), "\n")
	half := len(lines) / 2
	s.scene("slow", "cat >/dev/null\n"+quoted(lines[:half])+"until [ -e '"+gate+"' ]; do sleep 0.05; done\n"+quoted(lines[half:]))
	started := s.http.ok("POST", "/agents/codex/v1/responses", map[string]any{"model": "slow", "input": "go", "background": true})
	id := started.str("id")
	seen := s.http.response(id, -1).waitKind(20*time.Second, "response.output_item.added", 2)
	during := []*stream{s.http.response(id, -1)}
	for i := range seen {
		during = append(during, s.http.response(id, i))
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	whole := during[0]
	frames := whole.end(20 * time.Second)
	checkResponse(t, whole)
	if frames[0].kind() != "response.created" || frames[len(frames)-1].kind() != "response.completed" {
		t.Errorf("from %s to %s", frames[0].kind(), frames[len(frames)-1].kind())
	}
	rest := string(whole.content())
	for i := range frames {
		at := strings.Index(rest, "\n\n") + 2
		rest = rest[at:]
		if i < len(seen) {
			during[i+1].end(20 * time.Second)
			if string(during[i+1].content()) != rest {
				t.Errorf("behind %d, while it ran: other bytes", i)
			}
		}
		again := s.http.response(id, i)
		again.end(20 * time.Second)
		if string(again.content()) != rest {
			t.Errorf("behind %d, after the end: other bytes", i)
		}
	}
	s.well()
	s.Stop()
}

// quoted prints lines as they are.
func quoted(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("printf '%s\\n' '" + strings.ReplaceAll(l, "'", `'\''`) + "'\n")
	}
	return b.String()
}
