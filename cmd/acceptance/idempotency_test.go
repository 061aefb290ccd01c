package acceptance

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"strings"
	"sync"
	"testing"
	"time"
)

// Every call that creates something is safe to repeat with its Idempotency-Key:
// twenty at once make one thing, a killed server remembers it, and another body
// under the same key is refused.
func TestEveryCreatingCallTakesAKey(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	session := r.http.session("codex")
	type bodies func(word string) (body any, headers []string)
	plain := func(body func(word string) any) bodies {
		return func(word string) (any, []string) { return body(word), nil }
	}
	creating := map[string]struct {
		path string
		body bodies
		// list is where what was made is counted.
		list string
	}{
		"responses.create": {
			path: "/v1/responses",
			body: plain(func(word string) any {
				return map[string]any{"model": "codex", "input": "tag:response [[say: " + word + "]]", "background": true}
			}),
		},
		"sessions.create": {
			path: "/v1/agents/sessions",
			body: plain(func(word string) any {
				return map[string]any{"agent": map[string]any{"model": "codex"}, "input": "tag:session [[say: " + word + "]]", "metadata": map[string]string{"keyed": "yes"}}
			}),
			list: "/v1/agents/sessions?metadata[keyed]=yes",
		},
		"sessions.send_event": {
			path: "/v1/agents/sessions/" + session + "/events",
			body: plain(func(word string) any { return message("tag:event [[say: " + word + "]]") }),
			list: "/v1/agents/sessions/" + session + "/turns",
		},
		"definitions.create": {
			path: "/v1/agents",
			body: plain(func(word string) any { return map[string]any{"model": "codex", "instructions": word} }),
			list: "/v1/agents",
		},
		"files.create, JSON": {
			path: "/v1/files",
			body: plain(func(word string) any { return map[string]any{"filename": "a", "purpose": "batch", "data": word} }),
			list: "/v1/files?purpose=batch",
		},
		"files.create, form": {
			path: "/v1/files",
			// The boundary is another one each time, as SDKs make them.
			body: func(word string) (any, []string) {
				var b bytes.Buffer
				w := multipart.NewWriter(&b)
				f, err := w.CreateFormFile("file", "a.txt")
				if err == nil {
					_, err = f.Write([]byte(word))
				}
				if err == nil {
					err = w.WriteField("purpose", "vision")
				}
				if err == nil {
					err = w.Close()
				}
				if err != nil {
					t.Error(err)
				}
				return b.Bytes(), []string{"Content-Type: " + w.FormDataContentType()}
			},
			list: "/v1/files?purpose=vision",
		},
	}
	post := func(name, word string) *answer {
		c := creating[name]
		body, headers := c.body(word)
		return r.http.do("POST", c.path, body, append(headers, "Idempotency-Key: "+name)...)
	}
	ids := map[string]string{}
	for name := range creating {
		var mu sync.Mutex
		answers := map[string]int{}
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				a := post(name, "aGVsbG8=")
				mu.Lock()
				defer mu.Unlock()
				ids[name] = a.str("id")
				answers[fmt.Sprint(a.status, " ", a.str("id"))]++
			})
		}
		wg.Wait()
		if len(answers) != 1 || !strings.HasPrefix(fmt.Sprint(answers), "map[20") {
			t.Errorf("%s: %v", name, answers)
		}
	}
	judge := func() {
		for name, c := range creating {
			if a := post(name, "aGVsbG8="); a.status/100 != 2 || a.str("id") != ids[name] {
				t.Errorf("%s again: %d %s, want %s", name, a.status, clip(a.body), ids[name])
			}
			if a := post(name, "b3RoZXI="); a.status != 409 || a.code() != "idempotency.mismatch" || a.header.Get("x-should-retry") != "false" {
				t.Errorf("%s with another body: %d %s", name, a.status, clip(a.body))
			}
			if c.list == "" {
				continue
			}
			if a := r.http.ok("GET", c.list, nil); len(a.list("data")) != 1 {
				t.Errorf("%s made %s", name, clip(a.body))
			}
		}
	}
	judge()
	ran := func() string {
		n := r.times()
		return fmt.Sprint(n["response"], n["session"], n["event"])
	}
	r.until(20*time.Second, "all turns have run", func() bool { return ran() == "1 1 1" })
	r.http.idle(session, 20*time.Second)
	r.Kill()
	r.Restart()
	judge()
	if got := ran(); got != "1 1 1" {
		t.Errorf("the CLIs ran %s times", got)
	}
	r.Clean(time.Minute)
}
