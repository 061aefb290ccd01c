package server

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/wires/openapi"
)

var update = flag.Bool("update", false, "rewrite docs/openapi.json")

const documentFile = "../docs/openapi.json"

// generated is the document of the real table.
func generated(t *testing.T, closed bool) (*openapi.Document, []byte) {
	t.Helper()
	d, err := document(realTable(t), closed)
	if err != nil {
		t.Fatal(err)
	}
	b, err := openapi.MarshalIndent(d)
	if err != nil {
		t.Fatal(err)
	}
	return d, b
}

// realTable is the table with the handlers that a started server has.
func realTable(t *testing.T) []route {
	t.Helper()
	s, err := New(Config{Host: &fakeHost{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	return s.table
}

func TestDocumentIsCheckedIn(t *testing.T) {
	_, b := generated(t, false)
	if *update {
		if err := os.WriteFile(documentFile, b, 0o644); err != nil { //nolint:gosec // a document for everyone
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(documentFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, b) {
		t.Errorf("docs/openapi.json is not what the code says (%d bytes, want %d); look at the difference after go test ./server -run TestDocumentIsCheckedIn -update", len(have), len(b))
	}
}

func TestDocumentHasEveryRoute(t *testing.T) {
	t.Parallel()
	d, b := generated(t, false)
	var whole map[string]any
	if err := json.Unmarshal(b, &whole); err != nil {
		t.Fatal(err)
	}
	ids, n := map[string]bool{}, 0
	for _, r := range realTable(t) {
		item := d.Paths[r.path]
		if item == nil {
			t.Errorf("no path %s", r.path)
			continue
		}
		e := map[string]*openapi.Entry{"GET": item.Get, "POST": item.Post, "DELETE": item.Delete}[r.method]
		switch {
		case e == nil:
			t.Errorf("no %s %s", r.method, r.path)
			continue
		case e.OperationID != r.operation || ids[e.OperationID]:
			t.Errorf("%s %s is called %s", r.method, r.path, e.OperationID)
		case e.Unavailable != (r.handler == nil):
			t.Errorf("%s: x-unavailable is %v", r.operation, e.Unavailable)
		case e.Unavailable != (e.Responses["501"] != nil):
			t.Errorf("%s: unavailable operations answer 501, and only they: %v", r.operation, e.Responses)
		case r.stream && e.Responses["200"].Content["text/event-stream"] == nil:
			t.Errorf("%s has no events", r.operation)
		}
		ids[e.OperationID] = true
		n++
		if names := len(placeholder.FindAllString(r.path, -1)); names != len(item.Parameters) {
			t.Errorf("%s has %d parameters", r.path, len(item.Parameters))
		}
	}
	if n < 95 {
		t.Errorf("only %d operations", n)
	}
	refs := 0
	references(t, whole, whole, &refs)
	if refs < 200 {
		t.Errorf("only %d references", refs)
	}
}

// references resolves every $ref below v.
func references(t *testing.T, whole map[string]any, v any, n *int) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			references(t, whole, e, n)
		}
	case map[string]any:
		for key, e := range v {
			ref, ok := e.(string)
			if key != "$ref" || !ok {
				references(t, whole, e, n)
				continue
			}
			*n++
			var at any = whole
			for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
				m, _ := at.(map[string]any)
				at = m[part]
			}
			if m, _ := at.(map[string]any); len(m) == 0 {
				t.Errorf("%s leads nowhere", ref)
			}
		}
	}
}

func TestDocumentIsServed(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Principals: principals}, wireHandlers(&fakeHost{}, &Config{}))
	_, want := generated(t, false)
	if a := r.do(t, "GET", "/openapi.json", "", ""); a.status != 200 || a.body != string(want) {
		t.Errorf("on a loopback address: %d, %d bytes", a.status, len(a.body))
	}
	if a := r.do(t, "HEAD", "/openapi.json", "", ""); a.status != 200 {
		t.Errorf("HEAD: %d", a.status)
	}
	r.loopback.Store(false)
	if a := r.do(t, "GET", "/openapi.json", "", ""); a.status != 401 {
		t.Errorf("elsewhere without a token: %d", a.status)
	}
	if a := r.do(t, "GET", "/openapi.json", guestToken, ""); a.status != 200 || a.body != string(want) {
		t.Errorf("elsewhere with a token: %d", a.status)
	}
}
