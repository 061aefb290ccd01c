package server

import "testing"

func TestPagesOfStrangersCannotUseAServerWithoutAToken(t *testing.T) {
	t.Parallel()
	open := start(t, Config{}, nil)
	guarded := start(t, Config{Principals: principals}, nil)
	gateway := start(t, Config{AllowAnonymous: true}, nil)
	for name, c := range map[string]struct {
		host, origin string
		ok           bool
	}{
		"a program":       {"127.0.0.1:9000", "", true},
		"a name":          {"localhost:9000", "", true},
		"IPv6":            {"[::1]:9000", "", true},
		"a short name":    {"t", "", true},
		"a local page":    {"localhost:9000", "http://localhost:3000", true},
		"another site":    {"127.0.0.1:9000", "https://evil.example", false},
		"a hidden origin": {"127.0.0.1:9000", "null", false},
		"rebound name":    {"evil.example:9000", "", false},
		"rebound, local":  {"evil.example", "http://localhost", false},
	} {
		head := "Host: " + c.host + "\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n"
		if c.origin != "" {
			head += "Origin: " + c.origin + "\r\n"
		}
		const line = "POST /v1/responses HTTP/1.1\r\n"
		want := 403
		if c.ok {
			want = 200
		}
		if a := parse(t, open.raw(t, line+head+"\r\n{}")); a.status != want || !c.ok && a.code() != "forbidden" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		if a := parse(t, guarded.raw(t, line+head+"Authorization: Bearer "+aliceToken+"\r\n\r\n{}")); a.status != 200 {
			t.Errorf("%s with a token: %d %s", name, a.status, a.body)
		}
		if a := parse(t, gateway.raw(t, line+head+"\r\n{}")); a.status != 200 {
			t.Errorf("%s through a gateway: %d %s", name, a.status, a.body)
		}
	}
}
