package observer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// answer is what came back; status 0 says that nothing did.
type answer struct {
	status int
	body   []byte
}

func (a *answer) ok() bool { return a.status == 200 || a.status == 202 }

// again says that the same may be asked again: nothing was heard, or the server says
// that it cannot now.
func (a *answer) again() bool { return a.status == 0 || a.status == 429 || a.status >= 500 }

func (o *observer) request(ctx context.Context, method, path string, body any, key string) (*http.Response, error) {
	url, err := os.ReadFile(o.url)
	if err != nil {
		return nil, err
	}
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSpace(string(url))+path, in)
	if err != nil {
		return nil, err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	return o.client.Do(req)
}

// ask asks once and reads the whole answer.
func (o *observer) ask(ctx context.Context, limit time.Duration, method, path string, body any, key string) answer {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	resp, err := o.request(ctx, method, path, body, key)
	if err != nil {
		return answer{}
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return answer{}
	}
	return answer{resp.StatusCode, b}
}

// oneTry bounds one request, so that a stopped server is asked again.
const oneTry = 10 * time.Second

// insist asks until there is an answer that another try would not change.
func (o *observer) insist(ctx context.Context, method, path string, body any, key string) (a answer, tries int) {
	for over := time.Now().Add(patience); ; {
		tries++
		if a = o.ask(ctx, oneTry, method, path, body, key); !a.again() || time.Now().After(over) || !pause(ctx, retryWait) {
			return a, tries
		}
	}
}

// object is insist for something that has to be there.
func (o *observer) object(ctx context.Context, method, path string, body any, key string, into any) error {
	a, tries := o.insist(ctx, method, path, body, key)
	if !a.ok() {
		return fmt.Errorf("%s %s: %d %s after %d tries", method, path, a.status, clip(a.body), tries)
	}
	return json.Unmarshal(a.body, into)
}

func clip(b []byte) string {
	if len(b) > 300 {
		return string(b[:300]) + "..."
	}
	return string(b)
}
