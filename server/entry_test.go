package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agenthost/agenthost/server/audit"
	"github.com/agenthost/agenthost/wires/call"
)

func TestAnAddressThatGuessesWaits(t *testing.T) {
	t.Parallel()
	var g guesses
	a, b := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	now := time.Unix(1000, 0)
	for n := range guessBurst {
		if g.wait(a, now) != 0 {
			t.Fatalf("waits after %d", n)
		}
		if last := g.wrong(a, now); last != (n == guessBurst-1) {
			t.Errorf("number %d is the last: %v", n, last)
		}
	}
	wait := g.wait(a, now)
	if wait <= guessEvery-time.Millisecond || wait > guessEvery+time.Millisecond {
		t.Errorf("waits %s", wait)
	}
	if g.wait(b, now) != 0 {
		t.Error("another address waits")
	}
	if g.wait(a, now.Add(wait-time.Millisecond)) == 0 || g.wait(a, now.Add(wait+time.Millisecond)) != 0 {
		t.Error("what it was told to wait is not what it has to")
	}
	g.wrong(a, now.Add(wait+time.Millisecond))
	if g.wait(a, now.Add(wait+time.Millisecond)) == 0 {
		t.Error("it has a whole allowance again")
	}
	if g.wait(a, now.Add(guessBurst*guessEvery+wait)) != 0 {
		t.Error("it is not forgiven")
	}
}

func TestTheTableOfAddressesIsBounded(t *testing.T) {
	t.Parallel()
	var g guesses
	now := time.Unix(1000, 0)
	at := netip.MustParseAddr("10.0.0.0")
	for range maxGuessers + 500 {
		at = at.Next()
		g.wrong(at, now)
	}
	if n := len(g.of); n > maxGuessers {
		t.Errorf("%d addresses", n)
	}
	g.wrong(at.Next(), now.Add(guessBurst*guessEvery)) // those that waited long enough make room
	if n := len(g.of); n != 1 {
		t.Errorf("%d addresses are kept for nothing", n)
	}
}

func TestAnAddressIsAHousehold(t *testing.T) {
	t.Parallel()
	of := func(ip string) netip.Addr { return addressOf(&net.TCPAddr{IP: net.ParseIP(ip), Port: 1}) }
	for _, c := range []struct {
		a, b string
		same bool
	}{{"10.0.0.1", "10.0.0.1", true}, {"10.0.0.1", "::ffff:10.0.0.1", true}, {"10.0.0.1", "10.0.0.2", false},
		{"2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true}, {"2001:db8:0:1::1", "2001:db8:0:2::1", false}} {
		if (of(c.a) == of(c.b)) != c.same {
			t.Errorf("%s and %s: %v", c.a, c.b, !c.same)
		}
	}
	if addressOf(&net.UnixAddr{Name: "x"}) != (netip.Addr{}) {
		t.Error("a socket has an address")
	}
}

// from sends a request from an address of this machine.
func (r *running) from(t *testing.T, address, request string) *answer {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: 20 * time.Second}
	c, err := d.DialContext(t.Context(), "tcp", r.addr)
	if err != nil {
		t.Skipf("this machine has no address %s: %v", address, err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(c)
	if err != nil && len(text) == 0 {
		t.Fatal(err)
	}
	return parse(t, string(text))
}

func asking(token string, more ...string) string {
	return "GET /v1/models HTTP/1.1\r\nHost: t\r\nConnection: close\r\nAuthorization: Bearer " + token + "\r\n" + strings.Join(more, "") + "\r\n"
}

func TestGuessesAreSlowedAndOthersAreNot(t *testing.T) {
	t.Parallel()
	book := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(audit.Options{File: book})
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, Config{Principals: principals, Audit: log}, nil)
	clock := time.Unix(1000, 0)
	r.keys.Load().now = func() time.Time { return clock } // before the first request
	const here, there = "127.0.0.1", "127.0.0.9"
	if a := r.from(t, here, asking(aliceToken)); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for n := range guessBurst {
		if a := r.from(t, here, asking(fmt.Sprintf("guess-number-%d", n))); a.status != 401 || a.code() != "unauthorized" {
			t.Fatalf("%d: %d %s", n, a.status, a.body)
		}
	}
	wrong, right := r.from(t, here, asking("one-guess-more")), r.from(t, here, asking(rootToken))
	if wrong.status != 429 || wrong.code() != "rate_limit_reached" || wrong.header.Get("Retry-After") != "6" {
		t.Errorf("%d %v %s", wrong.status, wrong.header, wrong.body)
	}
	if said(right, nil) != said(wrong, nil) {
		t.Errorf("a right guess is told: %s", said(right, nil))
	}
	big := "POST /v1/responses HTTP/1.1\r\nHost: t\r\nConnection: close\r\nAuthorization: Bearer %s\r\nContent-Length: 100000\r\n%s\r\n"
	for _, request := range []string{fmt.Sprintf(big, "one-guess-more", "") + strings.Repeat("x", 100000), fmt.Sprintf(big, "one-guess-more", "Expect: 100-continue\r\n"), fmt.Sprintf(big, rootToken, "Expect: 100-continue\r\n")} {
		if a := r.from(t, here, request); a.status != 429 {
			t.Errorf("with a body: %d %s", a.status, a.body)
		}
	}
	if a := r.from(t, here, asking(aliceToken)); a.status != 200 {
		t.Errorf("who came in from there before is shut out: %d", a.status)
	}
	if a := r.do(t, "GET", "/v1/models", "", ""); a.status != 401 {
		t.Errorf("a request without a token is no guess: %d", a.status)
	}
	for _, token := range []string{rootToken, guestToken} {
		if a := r.from(t, there, asking(token)); a.status == 429 || a.status == 401 {
			t.Errorf("from another address: %d %s", a.status, a.body)
		}
	}
	if a := r.from(t, there, asking("a-guess-from-there")); a.status != 401 {
		t.Errorf("from another address: %d", a.status)
	}
	metrics := r.do(t, "GET", "/metrics", aliceToken, "").body
	for _, want := range []string{`agenthost_auth_failures_total{reason="wrong"} 11`, `agenthost_auth_failures_total{reason="slowed"} 5`, `agenthost_auth_failures_total{reason="missing"} 1`, `agenthost_audit_records_total{fate="lost"} 0`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s", want)
		}
	}
	if text := r.log.String(); !strings.Contains(text, "many wrong tokens from one address") || strings.Contains(text, "guess-number") {
		t.Errorf("log: %s", text)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	count := map[string]int{}
	if _, _, err := audit.Export(&out, book, func(r *audit.Record) bool { count[r.Detail]++; return true }); err != nil {
		t.Fatal(err)
	}
	if count["unknown token"] != guessBurst-1+1 || count["unknown token; further ones from this address are not judged for a while"] != 1 || count["no token"] != 1 || strings.Contains(out.String(), "guess") {
		t.Errorf("%v %s", count, out.String())
	}
}

func TestATokenThatExpiresIsUnknown(t *testing.T) {
	t.Parallel()
	end := time.Unix(2000, 0)
	r := start(t, Config{Principals: []Principal{{ID: "alice", Roles: []string{"dev"}, Token: aliceToken, Tokens: []Token{{Digest: Digest("another-token-of-alice"), Expires: end}}}}}, nil)
	clock := end.Add(-time.Second)
	var mu sync.Mutex
	r.keys.Load().now = func() time.Time { mu.Lock(); defer mu.Unlock(); return clock }
	if a := r.do(t, "GET", "/v1/models", "another-token-of-alice", ""); a.status != 200 || a.json["principal"] != "alice" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	mu.Lock()
	clock = end
	mu.Unlock()
	over, never := r.do(t, "GET", "/v1/models", "another-token-of-alice", ""), r.do(t, "GET", "/v1/models", "a-token-that-never-was-x", "")
	if over.status != 401 || said(over, nil) != said(never, nil) {
		t.Errorf("over %s, unknown %s", said(over, nil), said(never, nil))
	}
	if a := r.do(t, "GET", "/v1/models", aliceToken, ""); a.status != 200 {
		t.Errorf("its other token: %d", a.status)
	}
}

func TestTokensChangeWhileRequestsRun(t *testing.T) {
	t.Parallel()
	h := echoHandlers()
	inside, release := make(chan struct{}), make(chan struct{})
	h.createResponse = func(c *call.Call) {
		close(inside)
		<-release
		c.JSON(200, map[string]any{"principal": c.Principal})
	}
	r := start(t, Config{Principals: principals}, h)
	slow := make(chan *answer, 1)
	go func() { slow <- r.do(t, "POST", "/v1/responses", aliceToken, "{}") }()
	<-inside
	next := []Principal{
		{ID: "alice", Roles: []string{"observer"}, Tokens: []Token{{Digest: Digest("the-next-token-of-alice")}}},
		{ID: "guest", Roles: []string{"dev"}, Token: guestToken},
	}
	if err := r.Rekey(next, nil); err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]int{aliceToken: 401, rootToken: 401, guestToken: 200, "the-next-token-of-alice": 403} {
		if a := r.do(t, "GET", "/v1/models", token, ""); a.status != want {
			t.Errorf("%s: %d %s", token, a.status, a.body)
		}
	}
	close(release)
	if a := <-slow; a.status != 200 || a.json["principal"] != "alice" {
		t.Errorf("what ran: %d %s", a.status, a.body)
	}
	for name, bad := range map[string][]Principal{
		"none":       {},
		"no token":   {{ID: "alice"}},
		"twice":      {{ID: "a", Token: aliceToken}, {ID: "a", Token: rootToken}},
		"same token": {{ID: "a", Token: aliceToken}, {ID: "b", Token: aliceToken}},
	} {
		if err := r.Rekey(bad, nil); err == nil {
			t.Errorf("%s: taken", name)
		}
		if a := r.do(t, "GET", "/v1/models", guestToken, ""); a.status != 200 {
			t.Errorf("%s: the old ones are gone: %d", name, a.status)
		}
	}
}

// Many change and use tokens at once; a request sees one keyring or the other.
func TestRekeyRacesNothing(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Principals: principals}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			list := slices.Clone(principals)
			list[2].Roles = []string{[]string{"observer", "dev"}[n%2]}
			if err := r.Rekey(list, nil); err != nil {
				t.Error(err)
			}
		}
	})
	for range 50 {
		if a := r.do(t, "GET", "/v1/models", aliceToken, ""); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
		if a := r.do(t, "GET", "/v1/models", guestToken, ""); a.status != 200 && a.status != 403 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	cancel()
	wg.Wait()
}
