package acceptance

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// paged reads a list page by page.
func (c *caller) paged(path, order string, limit int) (ids []string, pages int) {
	c.t.Helper()
	after := ""
	for pages < 50 {
		query := fmt.Sprintf("?limit=%d&order=%s", limit, order)
		if after != "" {
			query += "&after=" + after
		}
		a := c.ok("GET", path+query, nil)
		pages++
		data := a.list("data")
		for _, one := range data {
			id, _ := at(one, "id").(string)
			ids = append(ids, id)
		}
		if len(data) > 0 && (a.at("first_id") != at(data, 0, "id") || a.at("last_id") != at(data, -1, "id")) {
			c.t.Errorf("%s: first_id %v, last_id %v", path, a.at("first_id"), a.at("last_id"))
		}
		if a.at("has_more") != true {
			return ids, pages
		}
		after = a.str("last_id")
	}
	c.t.Errorf("%s: no end after %d pages", path, pages)
	return ids, pages
}

// Case 86: lists end, whatever the cursor.
//
//cases:86
func TestCase86Lists(t *testing.T) {
	t.Parallel()
	const n = 45
	r := newRig(t)
	var sessions, turns []string
	for range n {
		sessions = append(sessions, r.http.session("codex"))
	}
	long := sessions[0]
	for i := range n {
		if a := r.http.say(long, fmt.Sprintf("tag:i%d [[say: %d]]", i, i)); a.status == 429 {
			r.http.idle(long, 30*time.Second)
			r.http.say(long, fmt.Sprintf("tag:i%d [[say: %d]]", i, i))
		}
	}
	r.http.idle(long, 60*time.Second)
	turns, _ = r.http.paged("/v1/agents/sessions/"+long+"/turns", "asc", 20)
	for path, want := range map[string]int{
		"/v1/agents/sessions": n, "/v1/agents/sessions/" + long + "/turns": n, "/v1/agents/sessions/" + long + "/items": 2 * n,
	} {
		for _, limit := range []int{20, 1 + want/2, 100} {
			up, _ := r.http.paged(path, "asc", limit)
			down, _ := r.http.paged(path, "desc", limit)
			seen := map[string]bool{}
			for _, id := range up {
				seen[id] = true
			}
			if len(up) != want || len(seen) != want || len(down) != want || len(up) == len(down) && up[0] != down[len(down)-1] {
				t.Errorf("%s by %d: %d up (%d distinct), %d down", path, limit, len(up), len(seen), len(down))
			}
		}
	}
	last := sessions[n-1]
	a := r.http.ok("GET", "/v1/agents/sessions?order=asc&after="+last, nil)
	if len(a.list("data")) != 0 || a.at("data") == nil || a.at("has_more") != false || a.at("first_id") != nil || a.at("last_id") != nil {
		t.Errorf("behind the last: %s", a.body)
	}
	// One that was deleted is in no page, but who deleted what a page showed goes on behind it.
	r.http.ok("DELETE", "/v1/agents/sessions/"+last, nil)
	if a := r.http.ok("GET", "/v1/agents/sessions?limit=1&after="+last, nil); a.str("data", 0, "id") != sessions[n-2] || a.at("has_more") != true {
		t.Errorf("behind a deleted one: %s", clip(a.body))
	}
	for _, after := range []string{"agsess_" + strings.Repeat("0", 32), "garbage", turns[0]} {
		if a := r.http.do("GET", "/v1/agents/sessions?after="+after, nil); a.status/100 != 4 || a.code() == "" {
			t.Errorf("after=%s: %d %s", after, a.status, clip(a.body))
		}
	}
	for _, query := range []string{"limit=0", "limit=101", "limit=abc", "limit=-1", "order=up"} {
		if a := r.http.do("GET", "/v1/agents/sessions?"+query, nil); a.status != 400 || a.code() == "" || a.at("error", "param") == nil {
			t.Errorf("%s: %d %s", query, a.status, clip(a.body))
		}
	}
	empty := r.http.ok("GET", "/v1/agents/sessions/"+sessions[1]+"/items", nil)
	if empty.at("has_more") != false || len(empty.list("data")) != 0 || empty.at("data") == nil {
		t.Errorf("an empty list: %s", empty.body)
	}
	r.Stop()
}

// Case 88: a retried post starts nothing twice.
//
//cases:88
func TestCase88Idempotency(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	body := map[string]any{"model": "codex", "input": "tag:once [[wait: 100]] [[say: done]]"}
	var mu sync.Mutex
	answers := map[string]int{}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			a := r.http.do("POST", "/v1/responses", body, "Idempotency-Key: one")
			mu.Lock()
			defer mu.Unlock()
			answers[fmt.Sprint(a.status, " ", string(a.body))]++
		})
	}
	wg.Wait()
	if len(answers) != 1 {
		t.Errorf("%d different answers: %v", len(answers), answers)
	}
	session := r.http.session("codex")
	for range 10 {
		wg.Go(func() {
			if a := r.http.say(session, "tag:event [[say: done]]", "Idempotency-Key: two"); a.status != 202 {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
	wg.Wait()
	r.http.idle(session, 20*time.Second)
	if n := r.times(); n["once"] != 1 || n["event"] != 1 {
		t.Errorf("the CLIs ran %v", n)
	}
	body["input"] = "tag:other"
	if a := r.http.do("POST", "/v1/responses", body, "Idempotency-Key: one"); a.status != 409 || a.code() != "idempotency.mismatch" || a.header.Get("x-should-retry") != "false" {
		t.Errorf("%d %s", a.status, clip(a.body))
	}
	r.Clean(time.Minute)
	r.Stop()
}

// Case 93: what is not to be stored is not kept.
//
//cases:93
func TestCase93StoreFalse(t *testing.T) {
	t.Parallel()
	n := 300
	r := newRig(t)
	body := map[string]any{"model": "codex", "input": "[[say: forget me]]", "store": false}
	for range 50 {
		r.http.respond(body)
	}
	base := r.RSS()
	for range n {
		a := r.http.respond(body)
		if got := r.http.do("GET", "/v1/responses/"+a.str("id"), nil); got.status != 404 {
			t.Fatalf("%d %s", got.status, clip(got.body))
		}
	}
	grown := r.RSS() - base
	t.Logf("RSS grows by %d KiB over %d responses", grown>>10, n)
	if grown > 32<<20 {
		t.Errorf("RSS grew by %d MiB", grown>>20)
	}
	a := r.http.respond(body)
	session := "agsess_" + strings.TrimPrefix(a.str("conversation", "id"), "conv_")
	if items := r.http.ok("GET", "/v1/agents/sessions/"+session+"/items", nil).list("data"); len(items) != 0 {
		t.Errorf("items are left: %v", items)
	}
	// The end is told before the event that takes the text away.
	r.until(time.Minute, "the stream has the text no longer", func() bool {
		return !strings.Contains(string(r.http.replay(session).raw()), "forget me")
	})
	if turns := r.http.turns(session); len(turns) != 1 || at(turns, 0, "status") != "completed" || at(turns, 0, "usage") == nil {
		t.Errorf("the turns are %v", turns)
	}
	r.Clean(time.Minute)
	r.Stop()
}

// Case 95: nothing of a request ends up in another.
//
//cases:95
func TestCase95RequestsDoNotMix(t *testing.T) {
	t.Parallel()
	const n = 200
	r := newRig(t, limit("max_concurrent_turns", 8))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 40)
	for i := range n {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			mark := fmt.Sprintf("mark-%04d-%s", i, strings.Repeat(fmt.Sprintf("%d.", i), 10+i%50))
			adapter := []string{"codex", "claude-code"}[i%2]
			body := map[string]any{"model": adapter, "input": "tag:" + mark + " [[say: said " + mark + "]]", "metadata": map[string]string{"mark": mark}}
			a := r.http.do("POST", "/v1/responses", body, "Idempotency-Key: "+mark, "X-Filler: "+strings.Repeat("f", i*7))
			if a.status != 200 {
				t.Errorf("%d %s", a.status, clip(a.body))
				return
			}
			again := r.http.do("GET", "/v1/responses/"+a.str("id"), nil)
			for _, one := range []*answer{a, again} {
				if outputText(one) != "said "+mark || one.str("metadata", "mark") != mark || one.str("model") != adapter {
					t.Errorf("%s: %s", mark, clip(one.body))
				}
			}
			items := r.http.do("GET", "/v1/responses/"+a.str("id")+"/input_items", nil)
			if !strings.Contains(string(items.body), mark+" [[say") {
				t.Errorf("%s: %s", mark, clip(items.body))
			}
		})
	}
	wg.Wait()
	if got := len(r.times()); got != n {
		t.Errorf("%d different prompts ran", got)
	}
	r.Clean(time.Minute)
	r.Stop()
}

// Case 54: a response can be built on as soon as it is told that it ended.
//
//cases:54
func TestCase54ChainAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	previous := ""
	for i := range 60 {
		body := map[string]any{"model": "codex", "input": fmt.Sprintf("[[say: %d]]", i), "stream": true}
		if previous != "" {
			body["previous_response_id"] = previous
		}
		s := r.http.open("POST", "/v1/responses", body)
		frames := s.waitKind(20*time.Second, "response.completed", 1)
		previous, _ = at(frames[0].data(), "response", "id").(string)
		if a := r.http.do("GET", "/v1/responses/"+previous, nil); a.status != 200 {
			t.Fatalf("%d %s", a.status, clip(a.body))
		}
	}
	a := r.http.ok("POST", "/v1/responses", map[string]any{"model": "codex", "input": "[[wait: 200]] [[say: bg]]", "background": true})
	if b := r.http.ok("GET", "/v1/responses/"+a.str("id"), nil); b.str("status") == "completed" {
		t.Errorf("already %s", b.str("status"))
	}
	r.Clean(time.Minute)
	r.Stop()
}
