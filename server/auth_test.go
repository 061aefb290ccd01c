package server

import (
	"net"
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Principals: principals}, nil)
	for name, c := range map[string]struct {
		headers string
		status  int
		who     string
	}{
		"bearer":              {"Authorization: Bearer " + aliceToken, 200, "alice"},
		"lower case scheme":   {"Authorization: bearer " + aliceToken, 200, "alice"},
		"two spaces":          {"Authorization: BEARER  " + aliceToken, 200, "alice"},
		"tab":                 {"Authorization: Bearer\t" + aliceToken, 200, "alice"},
		"trailing space":      {"Authorization: Bearer " + aliceToken + " ", 200, "alice"},
		"access token":        {"X-Access-Token: " + rootToken, 200, "root"},
		"same twice":          {"X-Access-Token: " + rootToken + "\r\nAuthorization: Bearer " + rootToken, 200, "root"},
		"a valid one decides": {"X-Access-Token: something-else\r\nAuthorization: Bearer " + aliceToken, 200, "alice"},
		"two different":       {"X-Access-Token: " + rootToken + "\r\nAuthorization: Bearer " + aliceToken, 400, ""},
		"none":                {"Accept: */*", 401, ""},
		"wrong":               {"Authorization: Bearer " + aliceToken + "x", 401, ""},
		"wrong case":          {"Authorization: Bearer " + strings.ToUpper(aliceToken), 401, ""},
		"basic":               {"Authorization: Basic " + aliceToken, 401, ""},
		"no scheme":           {"Authorization: " + aliceToken, 401, ""},
		"empty":               {"Authorization: Bearer ", 401, ""},
		"role without rights": {"Authorization: Bearer " + guestToken, 403, ""},
	} {
		a := r.do(t, "GET", "/v1/models", "", "", c.headers)
		if a.status != c.status || c.who != "" && a.json["principal"] != c.who {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		if challenge := a.header.Get("WWW-Authenticate"); (challenge != "") != (c.status == 401) {
			t.Errorf("%s: WWW-Authenticate %q", name, challenge)
		}
		if c.status == 400 && a.code() != "ambiguous_credentials" {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	if a := r.do(t, "GET", "/v1/models", rootToken, ""); a.json["admin"] != true {
		t.Error(a.body)
	}
}

//cases:99
func TestTokensInTheQueryAreNeitherAcceptedNorLogged(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Principals: principals}, nil)
	q := "?token=" + aliceToken + "&access_token=" + aliceToken + "&api_key=" + aliceToken
	if a := r.do(t, "GET", "/v1/models"+q, "", ""); a.status != 401 {
		t.Errorf("%d", a.status)
	}
	if a := r.do(t, "GET", "/v1/models"+q, aliceToken, ""); a.status != 200 {
		t.Errorf("%d", a.status)
	}
	r.raw(t, "GET /v1/models"+q+" HTTP/1.1\r\nAuthorization: Bearer "+aliceToken+"\r\nbroken line\r\n\r\n")
	if log := r.log.String(); strings.Contains(log, aliceToken) || !strings.Contains(log, "/v1/models") {
		t.Errorf("log: %s", log)
	}
}

func TestWithoutTokensEveryoneOnThisMachineIsAdmin(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, nil)
	a := r.do(t, "GET", "/v1/models", "any-token-at-all", "")
	if a.status != 200 || a.json["principal"] != "anonymous" || a.json["admin"] != true {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestOtherMachinesNeedATokenOrAnExplicitWayOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cfg Config
		ok  bool
	}{{Config{}, false}, {Config{AllowAnonymous: true}, true}, {Config{Principals: principals}, true}} {
		c.cfg.Host, c.cfg.Groups = &fakeHost{}, []string{"agents"}
		s, err := build(c.cfg, func(Host, *Config) *handlers { return echoHandlers() })
		if err != nil {
			t.Fatal(err)
		}
		ln, err := net.Listen("tcp", "0.0.0.0:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- s.Serve(ln) }()
		if c.ok {
			up := &running{Server: s, addr: strings.Replace(ln.Addr().String(), "[::]", "127.0.0.1", 1)}
			if a := up.do(t, "GET", "/healthz", "", ""); a.status != 200 {
				t.Errorf("%d", a.status)
			}
			want := 200
			if len(c.cfg.Principals) > 0 {
				want = 401
			}
			if a := up.do(t, "GET", "/metrics", "", ""); a.status != want {
				t.Errorf("/metrics on a reachable address: %d, want %d", a.status, want)
			}
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		_ = ln.Close()
		if err := <-done; (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.cfg, err)
		}
	}
}

func TestSwitchedOffGroup(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Principals: principals, Groups: []string{}}, nil)
	a := r.do(t, "POST", "/v1/agents/sessions", aliceToken, "{}")
	if a.status != 404 || a.code() != "endpoint_disabled" || a.json["code"] != "endpoint_disabled" || a.json["endpoint"] != "agents_sessions_create" || a.json["rule"] != "groups" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.do(t, "POST", "/v1/agents/sessions", "", "{}"); a.status != 401 {
		t.Errorf("who asks comes first: %d", a.status)
	}
	if a := r.do(t, "GET", "/v1/nothing", "", ""); a.status != 404 || a.code() != "route_not_found" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.do(t, "GET", "/health", "", ""); a.status != 200 || a.body != `{"status":"ok"}` {
		t.Errorf("%d %s", a.status, a.body)
	}
}
