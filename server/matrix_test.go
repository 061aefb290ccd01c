package server

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/server/audit"
	"github.com/agenthost/agenthost/wires/responses"
)

// columns are who tries every operation of the table, in the order in which they do.
var columns = []struct{ name, token string }{
	{"nobody", ""},
	{"wrong token", "token-that-nobody-has-01"},
	{"observer", "token-of-the-observer-01"},
	{"dev without adapter", "token-of-a-bare-dev-0001"},
	{"dev with adapter", "token-of-an-equipped-dev"},
	{"other principal", "token-of-the-other-00001"},
	{"owner", "token-of-the-owner-00001"},
	{"admin", "token-of-the-admin-00001"},
}

func tokenOf(column string) string {
	return columns[slices.IndexFunc(columns, func(c struct{ name, token string }) bool { return c.name == column })].token
}

// matrixPolicy is the preset agent-host, with the adapter as a right of its own.
const matrixPolicy = `[
	{"id":"admin","allow":["**"],"principals":["role:admin"]},
	{"id":"dev","allow":["agents.sessions.**","agents.definitions.**","agents.environments.**","agents.templates.**","agents.vaults.**","agents.automations.**",
		"agents.models.get","agents.models.list","agents.runtimes.list","agents.queue.list","agents.files.**","agents.webhooks.**","responses.**","conversations.**"],"principals":["role:dev"]},
	{"id":"shell","allow":["agents.shell.sessions.*"],"principals":["equipped","other","owner"]},
	{"id":"observer","allow":["agents.*.get","agents.*.get_*","agents.*.list","agents.*.list_*","agents.*.stream_events","agents.*.download","agents.*.download_*",
		"responses.get","responses.list_*","conversations.get","conversations.get_*","conversations.list_*"],"principals":["role:observer"]}
]`

// matrixBodies are what an operation is asked for; others that take a body get {}.
var matrixBodies = map[string]string{
	"agents.definitions.create":  `{"name":"made","model":"shell"}`,
	"agents.definitions.update":  `{"name":"renamed"}`,
	"agents.sessions.create":     `{"agent":{"model":"shell"},"input":"echo hi"}`,
	"agents.sessions.update":     `{"metadata":{"k":"v"}}`,
	"agents.sessions.send_event": `{"events":[{"type":"agent.session.input.message","input":"echo more"}]}`,
	"responses.create":           `{"model":"shell","input":"echo hi"}`,
	"conversations.create":       `{}`,
	"conversations.update":       `{"metadata":{}}`,
	"conversations.create_items": `{"items":[{"type":"message","role":"user","content":"a note"}]}`,
	"agents.files.create":        `{"filename":"a.txt","data":"aGk=","purpose":"user_data"}`,
}

// matrix is a server with principals of every kind, over a real engine.
type matrix struct {
	*running
	t    *testing.T
	book string
	log  *audit.Log
}

func newMatrix(t *testing.T) *matrix {
	t.Helper()
	list := []Principal{
		{ID: "observer", Roles: []string{"observer"}, Token: tokenOf("observer")},
		{ID: "bare", Roles: []string{"dev"}, Token: tokenOf("dev without adapter")},
		{ID: "equipped", Roles: []string{"dev"}, Token: tokenOf("dev with adapter")},
		{ID: "other", Roles: []string{"dev"}, Token: tokenOf("other principal")},
		{ID: "owner", Roles: []string{"dev"}, Token: tokenOf("owner")},
		{ID: "admin", Roles: []string{"admin"}, Token: tokenOf("admin")},
	}
	roster := rosterOf(t, matrixPolicy, list...)
	host := shellHost(t, actors.WithPolicy(roster))
	m := &matrix{t: t, book: t.TempDir() + "/audit.jsonl"}
	var err error
	if m.log, err = audit.Open(audit.Options{File: m.book, Queue: 1 << 16}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.log.Close() })
	cfg := Config{
		Host: host, Principals: list, Policy: roster, CancelWait: 5 * time.Second, Hosted: true, Audit: m.log,
		Adapters: []responses.Adapter{{Name: "shell", Aliases: []string{"sh"}}},
	}
	m.running = start(t, cfg, wireHandlers(host, &cfg))
	return m
}

// records are those of the audit so far.
func (m *matrix) records() (list []audit.Record) {
	m.t.Helper()
	if err := m.log.Close(); err != nil {
		m.t.Fatal(err)
	}
	var out bytes.Buffer
	if _, _, err := audit.Export(&out, m.book, func(r *audit.Record) bool { list = append(list, *r); return false }); err != nil {
		m.t.Fatal(err)
	}
	return list
}

// as sends a request with the token of a column. The table of addresses that guess is
// emptied before: every column comes from the same one.
func (m *matrix) as(column, method, path, body string, headers ...string) *answer {
	m.t.Helper()
	m.guesses.mu.Lock()
	clear(m.guesses.of)
	m.guesses.mu.Unlock()
	return m.do(m.t, method, path, tokenOf(column), body, headers...)
}

func (m *matrix) ok(method, path, body string) *answer {
	m.t.Helper()
	a := m.as("owner", method, path, body)
	if a.status/100 != 2 {
		m.t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
	}
	return a
}

func (m *matrix) first(path string) string {
	m.t.Helper()
	ids := idsOf(m.ok("GET", path, ""))
	if len(ids) == 0 {
		m.t.Fatalf("%s is empty", path)
	}
	return ids[0]
}

// world is something of everything that the owner can own, by the names that paths
// have for it.
type world map[string]string

// world makes it; with a session only if whole.
func (m *matrix) world(whole bool) world {
	m.t.Helper()
	w := world{"runtime": "shell"}
	w["agent_id"] = m.ok("POST", "/v1/agents", `{"name":"mine`+fmt.Sprint(time.Now().UnixNano())+`","model":"shell"}`).id()
	w["model"] = w["agent_id"]
	w["file_id"] = m.ok("POST", "/v1/files", matrixBodies["agents.files.create"]).id()
	if !whole {
		return w
	}
	a := m.ok("POST", "/v1/responses", `{"model":"`+w["agent_id"]+`","input":"mkdir outputs; echo hi >outputs/a.txt; echo '#sub digger'; echo hello"}`)
	w["response_id"] = a.id()
	talk, _ := a.json["conversation"].(map[string]any)
	w["conversation_id"], _ = talk["id"].(string)
	w["session_id"] = strings.Replace(w["conversation_id"], "conv_", "agsess_", 1)
	at := "/v1/agents/sessions/" + w["session_id"]
	w["turn_id"] = m.first(at + "/turns")
	w["artifact_id"] = m.first(at + "/artifacts")
	w["subagent_id"] = m.first(at + "/subagents")
	w["subagent turn_id"] = m.first(at + "/subagents/" + w["subagent_id"] + "/turns")
	w["item_id"] = m.first("/v1/conversations/" + w["conversation_id"] + "/items")
	return w
}

// value is what stands in the path of a row for a name.
func (w world) value(row *route, name string) string {
	if name == "turn_id" && strings.Contains(row.path, "/subagents/") {
		name = "subagent turn_id"
	}
	if v := w[name]; v != "" {
		return v
	}
	return "x_" + strings.Repeat("0", 32) // of what is not built
}

// unknown is an id of the same kind that nothing has.
func unknown(id string) string {
	prefix, hex, ok := strings.Cut(id, "_")
	if sep := "_"; ok || strings.HasPrefix(id, "file-") {
		if !ok {
			prefix, hex, _ = strings.Cut(id, "-")
			sep = "-"
		}
		return prefix + sep + strings.Map(func(r rune) rune {
			const digits = "0123456789abcdef"
			if at := strings.IndexRune(digits, r); at >= 0 {
				return rune(digits[15-at])
			}
			return r
		}, hex)
	}
	return id
}

// path fills a path of the table. names lists the values that it has now.
func (w world) path(row *route, path string, of func(name, value string) string) (filled string, values []string) {
	return placeholder.ReplaceAllStringFunc(path, func(in string) string {
		v := of(in[1:len(in)-1], w.value(row, in[1:len(in)-1]))
		values = append(values, v)
		return v
	}), values
}

func same(_, value string) string { return value }

func hasIDs(row *route) bool {
	return strings.Contains(row.path, "_id}") || strings.Contains(row.path, "{model}")
}

var requestID = regexp.MustCompile(`req_[0-9a-f]{32}`)

// said is everything of an answer that may not differ between a foreign id and an
// unknown one.
func said(a *answer, values []string) string {
	text := a.body
	for i, v := range values {
		text = strings.ReplaceAll(text, v, fmt.Sprintf("ID%d", i))
	}
	h := a.header.Clone()
	h.Del("Date")
	h.Del("X-Request-Id")
	return fmt.Sprint(a.status, h, requestID.ReplaceAllString(text, "REQ"))
}

// strangers are the columns to which what is the owner's must not exist.
var strangers = []string{"observer", "dev without adapter", "dev with adapter", "other principal"}

// Everybody tries every operation of the table on what is the owner's. The answers are
// those of testdata/matrix.txt, which a person has read; go test -update writes it.
//
//cases:100
func TestMatrix(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	w := m.world(true)
	before := m.picture(w)
	var out strings.Builder
	out.WriteString("# Who gets which answer, of every operation on what is the owner's. Written by\n# go test ./server -run TestMatrix -update; read it before you commit it.\n")
	for i := range m.table {
		row := &m.table[i]
		got := map[string][]string{}
		var order []string
		for _, c := range columns {
			mine := w
			if row.handler != nil && row.method != "GET" && hasIDs(row) && (c.name == "owner" || c.name == "admin") {
				mine = m.world(slices.ContainsFunc([]string{"session_id", "response_id", "conversation_id"}, func(p string) bool { return strings.Contains(row.path, "{"+p) }))
			}
			answer := m.try(row, c.name, mine)
			if got[answer] == nil {
				order = append(order, answer)
			}
			got[answer] = append(got[answer], c.name)
		}
		fmt.Fprintf(&out, "%s\n", row.operation)
		for _, a := range order {
			fmt.Fprintf(&out, "\t%s: %s\n", a, strings.Join(got[a], ", "))
		}
		if row.group == groupOpen {
			continue
		}
		for _, c := range columns[:2] {
			if a := m.try(row, c.name, w); a != "401 unauthorized" {
				t.Errorf("%s as %s: %s", row.operation, c.name, a)
			}
		}
		if hasIDs(row) && row.handler != nil {
			m.compare(row, w)
		}
	}
	if after := m.picture(w); after != before {
		t.Errorf("others changed what is the owner's:\n%s\nwas\n%s", after, before)
	}
	const file = "testdata/matrix.txt"
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("the answers are not those of %s:\n%s", file, differing(string(want), out.String()))
	}
	m.audited(w)
}

// differing shows the lines that one of two texts has alone.
func differing(want, got string) string {
	var b strings.Builder
	for _, side := range []struct{ mark, a, b string }{{"-", want, got}, {"+", got, want}} {
		operation, printed := "", ""
		for line := range strings.Lines(side.a) {
			if !strings.HasPrefix(line, "\t") {
				operation = line
			} else if _, block, ok := strings.Cut("\n"+side.b, "\n"+operation); !ok || !strings.Contains(block, line) {
				if operation != printed {
					b.WriteString(side.mark + operation)
				}
				printed = operation
				b.WriteString(side.mark + line)
			}
		}
	}
	return b.String()
}

// try sends a row's request and returns the status and the code.
func (m *matrix) try(row *route, column string, w world) string {
	m.t.Helper()
	path, _ := w.path(row, row.path, same)
	a := m.as(column, row.method, path+matrixQuery(row), matrixBody(row))
	if code := a.code(); code != "" {
		return fmt.Sprintf("%d %s", a.status, code)
	}
	return fmt.Sprint(a.status)
}

func matrixQuery(row *route) string {
	if row.stream {
		return "?close_on_idle=true&after=0"
	}
	return ""
}

func matrixBody(row *route) string {
	if body, ok := matrixBodies[row.operation]; ok {
		return body
	}
	if row.method == "POST" {
		return "{}"
	}
	return ""
}

// compare asks strangers for what is the owner's and for what does not exist, by the
// path, by the one with the adapter pinned, and by HEAD: the answers are the same.
func (m *matrix) compare(row *route, w world) {
	m.t.Helper()
	methods := []string{row.method}
	if row.method == "GET" && !row.stream {
		methods = append(methods, "HEAD")
	}
	for _, column := range strangers {
		for _, template := range []string{row.path, strings.Replace(row.pinnedPath(), "{adapter}", "shell", 1)} {
			foreign, values := w.path(row, template, same)
			never, others := w.path(row, template, func(_, v string) string { return unknown(v) })
			for _, method := range methods {
				a := m.as(column, method, foreign+matrixQuery(row), matrixBody(row))
				b := m.as(column, method, never+matrixQuery(row), matrixBody(row))
				if x, y := said(a, values), said(b, others); x != y || a.status/100 != 4 {
					m.t.Errorf("%s: %s %s\nforeign %s\nunknown %s", column, method, template, x, y)
				}
			}
		}
	}
}

// picture is what the owner sees of its own.
func (m *matrix) picture(w world) string {
	var all []string
	at := "/v1/agents/sessions/" + w["session_id"]
	for _, path := range []string{at, at + "/items", at + "/turns", at + "/artifacts", "/v1/responses/" + w["response_id"], "/v1/agents/" + w["agent_id"], "/v1/files/" + w["file_id"]} {
		all = append(all, path+" "+m.ok("GET", path, "").body)
	}
	return strings.Join(all, "\n")
}

// audited holds the book to what the matrix did.
func (m *matrix) audited(w world) {
	count := map[string]int{}
	for _, r := range m.records() {
		switch {
		case r.Request == "" || r.Address != "127.0.0.1" || r.Operation == "" || r.Decision == "" || r.Status == 0:
			m.t.Errorf("a record without its facts: %+v", r)
		case r.Principal == "admin" && r.Owner == "owner":
			count["admin: "+r.Operation]++
		case r.Principal == "admin" && r.Owner == "*":
			count["admin lists: "+r.Operation]++
		case r.Owner != "":
			m.t.Errorf("%s reached what is %s's: %+v", r.Principal, r.Owner, r)
		case r.Decision == audit.Deny:
			count[string(r.Decision)+" "+r.Principal+" "+r.Operation]++
		}
		if r.Operation == "agents.sessions.get" && r.Principal == "admin" && (r.Session != w["session_id"] || r.Statement != "admin") {
			m.t.Errorf("%+v", r)
		}
	}
	for i := range m.table {
		row := &m.table[i]
		if row.group != groupAgents {
			continue
		}
		if count["deny  "+row.operation] == 0 {
			m.t.Errorf("%s: an entry without a valid token is not in the book", row.operation)
		}
		if row.handler != nil && hasIDs(row) && count["admin: "+row.operation] == 0 {
			m.t.Errorf("%s: what the admin did with what is the owner's is not in the book", row.operation)
		}
	}
	for _, want := range []string{
		"deny observer agents.sessions.create", "deny bare agents.sessions.create", "deny bare responses.create", "deny owner agents.runtimes.install",
		"admin lists: agents.sessions.list", "admin lists: agents.definitions.list", "admin lists: agents.files.list",
	} {
		if count[want] == 0 {
			m.t.Errorf("%s is not in the book, which has %v", want, slices.Sorted(maps.Keys(count)))
		}
	}
}
