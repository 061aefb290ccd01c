package server

import (
	"bufio"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/wires/call"
)

// rows builds the table with every handler set.
func rows(t *testing.T) []route {
	t.Helper()
	return start(t, Config{}, nil).table
}

func TestTableHasEveryOperationOfTheSDK(t *testing.T) {
	t.Parallel()
	have := map[string]string{}
	for _, r := range rows(t) {
		have[r.method+" "+r.path] = r.operation
	}
	f, err := os.Open("testdata/operations.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		n++
		part := strings.Fields(lines.Text())
		if have[part[1]+" /v1"+part[2]] == "" {
			t.Errorf("no route for %s: %s /v1%s", part[0], part[1], part[2])
		}
	}
	if n != 67 {
		t.Errorf("%d operations listed", n)
	}
}

func TestOperationIDsAreUniqueAndEndInAVerb(t *testing.T) {
	t.Parallel()
	verb := regexp.MustCompile(`^(agents\.(definitions|sessions|environments|templates|vaults|automations|models|runtimes|queue|files|webhooks)|responses|conversations|server)\.` +
		`(create|get|list|update|delete|send|stream|download|pause|resume|invoke|install|cancel|compact|count|rotate|test|check|read)(_[a-z_]+)?$`)
	seen, old := map[string]bool{}, map[string]bool{}
	for _, r := range rows(t) {
		if !verb.MatchString(r.operation) {
			t.Errorf("operation %q", r.operation)
		}
		if seen[r.operation] || seen[r.method+r.path] || r.old != "" && old[r.old] {
			t.Errorf("twice: %s %s %s", r.operation, r.method, r.path)
		}
		seen[r.operation], seen[r.method+r.path], old[r.old] = true, true, true
	}
	if len(seen) < 2*90 {
		t.Errorf("only %d rows", len(seen)/2)
	}
}

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

func TestEveryRouteLeadsToItsOwnOperation(t *testing.T) {
	t.Parallel()
	h := echoHandlers()
	h.getModel = h.getAgent
	r := start(t, Config{}, h)
	for _, row := range r.table {
		if row.group == groupOpen || row.group == groupCore {
			continue
		}
		for _, prefix := range []string{"", "/agents/codex"} {
			path := prefix + placeholder.ReplaceAllString(row.path, "x1")
			a := r.do(t, row.method, path, "", "")
			switch {
			case row.operation == "agents.runtimes.install":
				if a.code() != "agents.install_not_allowed" {
					t.Errorf("%s: %s", path, a.body)
				}
			case row.operation == "agents.runtimes.list":
				if a.json["object"] != "list" {
					t.Errorf("%s: %s", path, a.body)
				}
			case row.handler == nil:
				e, _ := a.json["error"].(map[string]any)
				if a.status != 501 || a.code() != "operation_unavailable" || e["param"] != row.operation || a.header.Get("x-should-retry") != "false" {
					t.Errorf("%s %s: %d %v %s", row.method, path, a.status, a.header, a.body)
				}
			case a.status != 200 || a.json["operation"] != row.operation || (a.json["adapter"] == "codex") != (prefix != ""):
				t.Errorf("%s %s: %d %s", row.method, path, a.status, a.body)
			}
		}
	}
}

func TestNamesBesideFixedSegmentsAreParameters(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, nil)
	for _, id := range []string{"sess", "sessions2", "s", "environment", "environmentsX", "runtimes-x", "automation", "queu", "agent_0123456789abcdef0123456789abcdef"} {
		if a := r.do(t, "GET", "/v1/agents/"+id, "", ""); a.json["agent_id"] != id || a.json["operation"] != "agents.definitions.get" {
			t.Errorf("%s: %d %s", id, a.status, a.body)
		}
	}
	for _, id := range []string{"compact", "compactX", "input_tokens", "input", "resp_1"} {
		if a := r.do(t, "GET", "/v1/responses/"+id, "", ""); a.json["response_id"] != id {
			t.Errorf("%s: %d %s", id, a.status, a.body)
		}
	}
}

//cases:84
func TestUnknownRoutesAnd405(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Principals: principals}, nil)
	for _, path := range []string{"/", "/v1", "/v1/", "/v1/responses/", "//v1//responses", "/V1/Responses",
		"/v1/agents/sessions/s1/artifacts/../../../../etc/passwd/content", "/v1/agents/sessions/s1/nothing", "/agents/codex/v1", "/agents/codex/v1/responses/x/y", "/etc/passwd"} {
		for _, method := range []string{"GET", "POST"} {
			a := r.do(t, method, path, aliceToken, "", "X-Forwarded-Host: evil.example")
			if a.status/100 == 3 || a.header.Get("Location") != "" {
				t.Errorf("%s %s redirects: %d", method, path, a.status)
			}
			if method == "POST" && (a.status != 404 || a.code() != "route_not_found") {
				t.Errorf("%s %s: %d %s", method, path, a.status, a.body)
			}
		}
	}
	a := r.do(t, "PUT", "/v1/agents/sessions/x", aliceToken, "")
	if allow := a.header.Get("Allow"); a.status != 405 || a.code() != "method_not_allowed" || allow != "DELETE, GET, HEAD, OPTIONS, POST" {
		t.Errorf("%d Allow %q %s", a.status, allow, a.body)
	}
	if a := r.do(t, "GET", "/v1/conversations", aliceToken, ""); a.status != 405 || !strings.Contains(a.body, "GET /v1/agents/sessions lists them") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.do(t, "PATCH", "/v1/models", aliceToken, ""); !strings.Contains(a.body, "it takes GET, ") {
		t.Errorf("no word of what it takes: %s", a.body)
	}
	if a := r.do(t, "POST", "/responses", aliceToken, ""); a.status != 404 || !strings.Contains(a.body, "begin with /v1") {
		t.Errorf("no word of where routes are: %s", a.body)
	}
	if a := r.do(t, "BREW", "/v1/models", aliceToken, ""); a.status != 405 {
		t.Errorf("unknown method: %d", a.status)
	}
}

//cases:83
func TestPathValuesStayRaw(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, nil)
	for _, id := range []string{"a%2Fb", "..%2f..%2fetc", "a%00b", "%ff%fe", "..%252f..%252fetc"} {
		if a := r.do(t, "GET", "/v1/responses/"+id, "", ""); a.json["response_id"] != id {
			t.Errorf("%s: %d %s", id, a.status, a.body)
		}
	}
}

//cases:85
func TestHeadAndOptions(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Principals: principals}, nil)
	if a := r.do(t, "HEAD", "/v1/models", aliceToken, ""); a.status != 200 || a.body != "" {
		t.Errorf("HEAD: %d %q", a.status, a.body)
	}
	if a := r.do(t, "HEAD", "/v1/models", "", ""); a.status != 401 || a.body != "" {
		t.Errorf("HEAD without a token: %d %q", a.status, a.body)
	}
	if a := r.do(t, "HEAD", "/v1/agents/sessions/x/events", aliceToken, ""); a.status != 405 {
		t.Errorf("HEAD of a stream: %d", a.status)
	}
	text := r.raw(t, "OPTIONS /v1/agents/sessions HTTP/1.1\r\nHost: t\r\nOrigin: http://app.example\r\nAccess-Control-Request-Method: POST\r\nConnection: close\r\n\r\n")
	a := parse(t, text)
	if a.status != 204 || a.header.Get("Allow") != "DELETE, GET, HEAD, OPTIONS, POST" || strings.Contains(strings.ToLower(text), "access-control-allow") {
		t.Errorf("preflight: %s", text)
	}
	if a := r.do(t, "OPTIONS", "/nothing", "", ""); a.status != 404 {
		t.Errorf("OPTIONS of nothing: %d", a.status)
	}
}

func TestHeadNeverOpensAStream(t *testing.T) {
	t.Parallel()
	h := echoHandlers()
	asked := make(chan bool, 1)
	h.getResponse = func(c *call.Call) { _, has := c.Query("stream"); asked <- has; c.JSON(200, nil) }
	r := start(t, Config{}, h)
	if a := r.do(t, "HEAD", "/v1/responses/x?stream=true", "", ""); a.status != 200 || <-asked {
		t.Errorf("HEAD with stream=true reached the wire: %d", a.status)
	}
}
