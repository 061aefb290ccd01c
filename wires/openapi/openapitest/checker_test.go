package openapitest_test

import (
	"strings"
	"testing"

	"github.com/agenthost/agenthost/wires/openapi"
	"github.com/agenthost/agenthost/wires/openapi/openapitest"
)

type refusal struct {
	Error string `json:"error"`
}

type thing struct {
	ID   string  `json:"id"`
	Note *string `json:"note"`
}

type frame struct {
	Type string `json:"type"`
	N    int    `json:"n"`
}

func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	c, err := openapitest.Wire(refusal{}, map[string]openapi.Operation{
		"read": {Answer: thing{}, Events: map[string]any{"one": frame{}, "two": frame{}}},
		"drop": {Status: 202},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []struct {
		operation string
		status    int
		body      string
		fault     string
	}{
		{"read", 200, `{"id":"x","note":null}`, ""},
		{"read", 404, `{"error":"no"}`, ""},
		{"drop", 202, ``, ""},
		{"read", 200, `{"id":"x"}`, "missing"},
		{"read", 200, `{"id":7,"note":null}`, "string"},
		{"read", 200, `{"id":"x","note":null,"more":1}`, "more"},
		{"read", 404, `{"id":"x","note":null}`, "error"},
		{"read", 201, `{}`, "201"},
		{"drop", 202, `{}`, "empty"},
		{"gone", 200, `{}`, "gone"},
	} {
		err := c.Answer(a.operation, a.status, []byte(a.body))
		if (err == nil) != (a.fault == "") || err != nil && !strings.Contains(err.Error(), a.fault) {
			t.Errorf("%s %d %s: %v", a.operation, a.status, a.body, err)
		}
	}
	if !c.Answered("drop", 202) || c.Answered("drop", 404) {
		t.Error("what was answered is not noted")
	}
	stream := "event: one\ndata: {\"type\":\"one\",\"n\":1}\n\n: a comment\nevent: one\ndata: {\"type\":\"one\"}\n\nevent: three\ndata: {\"type\":\"three\",\"n\":1}\n\n"
	if errs := c.Stream("read", []byte(stream)); len(errs) != 2 || !strings.Contains(errs[0].Error(), "'n'") || !strings.Contains(errs[1].Error(), "three") {
		t.Errorf("%v", errs)
	}
	if unseen := c.Unseen("read"); len(unseen) != 1 || unseen[0] != "two" {
		t.Errorf("unseen: %s", unseen)
	}
}
