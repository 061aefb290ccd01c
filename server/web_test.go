package server

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const webPage = "https://console.example.com"

func (r *running) ask(t *testing.T, line string, headers ...string) *answer {
	t.Helper()
	return parse(t, r.raw(t, line+" HTTP/1.1\r\nConnection: close\r\n"+strings.Join(append(headers, "", ""), "\r\n")))
}

// A webPage whose name the attacker makes mean 127.0.0.1 sends what it likes, but not
// another Host.
func TestRebinding(t *testing.T) {
	t.Parallel()
	open := start(t, Config{}, nil)
	for _, c := range []struct {
		line, host string
		want       int
	}{
		{"GET /v1/agents", "attacker.example:9000", 403},
		{"GET /v1/agents", "127.0.0.1.attacker.example", 403},
		{"GET /v1/agents", "attacker.example.", 403},
		{"GET /v1/agents", "LOCALHOST.attacker.example", 403},
		{"GET /v1/agents", "localhost.", 200},
		{"GET /metrics", "attacker.example", 403},
		{"GET /openapi.json", "attacker.example", 403},
		{"GET /capabilities", "attacker.example", 403},
		{"GET /healthz", "attacker.example", 200}, // tells nothing
		{"GET /metrics", "127.0.0.1:9000", 200},
	} {
		if a := open.ask(t, c.line, "Host: "+c.host); a.status != c.want {
			t.Errorf("%s for %s: %d %s", c.line, c.host, a.status, a.body)
		}
	}
	// A browser sends no Origin with an image, but this.
	if a := open.ask(t, "GET /v1/agents", "Host: localhost", "Sec-Fetch-Site: cross-site"); a.status != 403 {
		t.Errorf("an image of another site: %d", a.status)
	}
	for _, site := range []string{"same-origin", "same-site", "none"} {
		if a := open.ask(t, "GET /v1/agents", "Host: localhost", "Sec-Fetch-Site: "+site); a.status != 200 {
			t.Errorf("%s: %d", site, a.status)
		}
	}
}

func TestServerAnswersToItsNamesOnly(t *testing.T) {
	t.Parallel()
	const bearer = "Authorization: Bearer " + aliceToken
	named := start(t, Config{Principals: principals, Hosts: []string{"agents.example.com", "*.internal.example.com"}}, nil)
	open := start(t, Config{Hosts: []string{"agents.example.com"}}, nil)
	for host, want := range map[string]int{
		"agents.example.com": 200, "AGENTS.example.com:443": 200, "a.internal.example.com": 200, "localhost:9000": 200, "10.1.2.3": 200, "[2001:db8::1]:9000": 200,
		"internal.example.com": 403, "example.com": 403, "agents.example.com.attacker.example": 403, "t": 403,
	} {
		if a := named.ask(t, "GET /v1/agents", "Host: "+host, bearer); a.status != want {
			t.Errorf("%s: %d %s", host, a.status, a.body)
		}
	}
	if a := open.ask(t, "GET /v1/agents", "Host: agents.example.com"); a.status != 200 {
		t.Errorf("a listed name without a token: %d %s", a.status, a.body)
	}
	if a := open.ask(t, "GET /v1/agents", "Host: other.example.com"); a.status != 403 {
		t.Errorf("another name without a token: %d", a.status)
	}
}

func TestPagesOfOtherSites(t *testing.T) {
	t.Parallel()
	const bearer, host, cors = "Authorization: Bearer " + aliceToken, "Host: t", "Access-Control-Allow-Origin"
	closed := start(t, Config{Principals: principals}, nil)
	shared := start(t, Config{Principals: principals, Origins: []string{webPage}}, nil)
	open := start(t, Config{Origins: []string{webPage}}, nil)
	preflight := []string{host, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization, content-type, x-stainless-os, x-evil"}

	if a := closed.ask(t, "OPTIONS /v1/responses", append(preflight, "Origin: "+webPage)...); a.status != 204 || a.header.Get(cors) != "" || a.header.Get("Access-Control-Allow-Methods") != "" {
		t.Errorf("CORS is off and answers %d %v", a.status, a.header)
	}
	a := shared.ask(t, "OPTIONS /v1/responses", append(preflight, "Origin: "+webPage)...)
	if a.status != 204 || a.header.Get(cors) != webPage || a.header.Get("Access-Control-Allow-Headers") != "authorization, content-type, x-stainless-os" || !strings.Contains(a.header.Get("Access-Control-Allow-Methods"), "POST") {
		t.Errorf("preflight: %d %v", a.status, a.header)
	}
	if a := shared.ask(t, "OPTIONS /v1/responses", append(preflight, "Origin: https://attacker.example")...); a.header.Get(cors) != "" || a.header.Get("Access-Control-Allow-Headers") != "" {
		t.Errorf("preflight of a stranger: %v", a.header)
	}
	if a := shared.ask(t, "GET /v1/agents", host, bearer, "Origin: "+webPage); a.status != 200 || a.header.Get(cors) != webPage || a.header.Get("Vary") != "Origin" {
		t.Errorf("%d %v", a.status, a.header)
	}
	if a := shared.ask(t, "GET /v1/agents", host, "Origin: "+webPage); a.status != 401 || a.header.Get(cors) != webPage {
		t.Errorf("a refusal that the webPage may read: %d %v", a.status, a.header)
	}
	if a := shared.ask(t, "GET /v1/agents", host, bearer, "Origin: null"); a.header.Get(cors) != "" || a.header.Get("Vary") != "Origin" {
		t.Errorf("a hidden origin: %v", a.header)
	}
	if a := open.ask(t, "GET /v1/agents", "Host: localhost", "Origin: "+webPage, "Sec-Fetch-Site: cross-site"); a.status != 200 || a.header.Get(cors) != webPage {
		t.Errorf("a listed webPage of a server without a token: %d %s", a.status, a.body)
	}
}

func TestAnswersCarrySecurityHeaders(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Principals: principals}, nil)
	for _, line := range []string{"GET /healthz", "GET /v1/agents", "GET /nowhere", "OPTIONS /v1/agents", "GET /openapi.json"} {
		a := r.ask(t, line, "Host: t")
		for _, kv := range browserHeaders {
			if got := a.header.Values(kv[0]); len(got) != 1 || got[0] != kv[1] {
				t.Errorf("%s: %s is %q, want %q", line, kv[0], got, kv[1])
			}
		}
		if a.header.Get("Strict-Transport-Security") != "" || a.header.Get("Server") != "" {
			t.Errorf("%s: %v", line, a.header)
		}
	}
	if a := parse(t, r.raw(t, "NONSENSE\r\n\r\n")); a.status != 400 || a.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("what is no request: %d %v", a.status, a.header)
	}
}

func TestOneAddressIsBounded(t *testing.T) {
	t.Parallel()
	r := start(t, Config{MaxAddressConnections: 2}, nil)
	dial := func(from string) net.Conn {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := d.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		return c
	}
	get := func(c net.Conn) string {
		_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n")
		line, _ := bufio.NewReader(c).ReadString('\n')
		return line
	}
	var held []net.Conn
	for range 2 {
		c := dial("127.0.0.1")
		if line := get(c); !strings.HasPrefix(line, "HTTP/1.1 200") {
			t.Fatalf("within the limit: %q", line)
		}
		held = append(held, c)
	}
	c := dial("127.0.0.1")
	text, err := io.ReadAll(c)
	_ = c.Close()
	if a := parse(t, string(text)); err != nil || a.status != 429 || !strings.Contains(a.body, "limits.max_address_connections") {
		t.Errorf("%v %s", err, text)
	}
	other := dial("127.0.0.2")
	if line := get(other); !strings.HasPrefix(line, "HTTP/1.1 200") {
		t.Errorf("another address: %q", line)
	}
	_ = other.Close()
	for _, c := range held {
		_ = c.Close()
	}
	for deadline := time.Now().Add(10 * time.Second); ; { // a place that comes free is given away again
		c := dial("127.0.0.1")
		line := get(c)
		_ = c.Close()
		if strings.HasPrefix(line, "HTTP/1.1 200") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("still refused: %q", line)
		}
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		r.visitors.mu.Lock()
		n := len(r.visitors.open)
		r.visitors.mu.Unlock()
		if n == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d addresses are still counted", n)
		}
	}
}

func TestRequestsOfOneAddressAreBounded(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Principals: principals, AddressRequestsPerMinute: 2}, nil)
	refused := false
	for range 10 { // with and without a token alike
		a := r.ask(t, "GET /v1/agents", "Host: t")
		if a.status == 429 && a.code() == "rate_limit_reached" && a.header.Get("Retry-After") != "" {
			refused = true
			break
		}
	}
	if !refused {
		t.Error("ten at once were taken")
	}
}

func TestAddressesAreCountedByWhoHasThem(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::", "2001:db8:1:2::1": "2001:db8:1:2::", "::1": "::",
	} {
		if got := addressOf(&net.TCPAddr{IP: net.ParseIP(in)}).String(); got != want {
			t.Errorf("%s counts as %s, want %s", in, got, want)
		}
	}
}

// writeCertificate makes a self-signed one for name.
func writeCertificate(t *testing.T, dir, name string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := writeCertificate(t, dir, "one.example")
	c, err := LoadCertificate(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, Config{Principals: principals, Certificate: c, MaxBody: 4096}, nil)
	dial := func(most uint16) (*tls.Conn, error) {
		return tls.Dial("tcp", r.addr, &tls.Config{InsecureSkipVerify: true, MaxVersion: most})
	}
	if conn, err := dial(tls.VersionTLS11); err == nil {
		_ = conn.Close()
		t.Error("TLS 1.1 is taken")
	}
	subject := func() string {
		conn, err := dial(0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
	}
	if got := subject(); got != "one.example" {
		t.Errorf("the certificate is %q", got)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	post := func(body string) (*http.Response, string) {
		req, err := http.NewRequest("POST", "https://"+r.addr+"/v1/responses", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+aliceToken)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		return res, string(text)
	}
	if res, text := post("{}"); res.StatusCode != 200 || res.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("%d %s %v", res.StatusCode, text, res.Header)
	}
	if res, text := post(strings.Repeat("x", 1<<20)); res.StatusCode != 413 { // its answer is not lost with the rest of the body
		t.Errorf("%d %s", res.StatusCode, text)
	}

	writeCertificate(t, dir, "two.example")
	if err := c.Reload(); err != nil || subject() != "two.example" {
		t.Errorf("read again: %v, %s", err, subject())
	}
	if err := os.WriteFile(cert, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Reload(); err == nil || subject() != "two.example" {
		t.Errorf("a broken file: %v, %s", err, subject())
	}
	// Plain HTTP at such a port gets no answer of the wires.
	if text := r.raw(t, "GET /healthz HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"); strings.Contains(text, "HTTP/1.1 200") {
		t.Errorf("plain: %s", fmt.Sprintf("%.60q", text))
	}
}
