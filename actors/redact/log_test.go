package redact

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

type printed struct{ inner string }

func TestLogsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	const value, later = "the-secret-value", "one-that-came-later"
	var out bytes.Buffer
	live := NewLive(value)
	log := slog.New(Handler(slog.NewTextHandler(&out, nil), live)).With("with", "a "+value).WithGroup("group")
	live.Add(later, "")
	log.Info("message "+value, "text", later, "error", fmt.Errorf("get: %w", errors.New("bad "+value)), "struct", printed{value},
		slog.Group("deep", "in", value), "bytes", []byte(value), "plain", errors.New("nothing"), "n", 7, "key "+value, tokenGH)
	got := out.String()
	if strings.Contains(got, value) || strings.Contains(got, later) || strings.Contains(got, tokenGH) {
		t.Error(got)
	}
	for _, want := range []string{"group.n=7", "group.plain=nothing", `group.error="get: bad [redacted]"`, "group.deep.in=[redacted]"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

func TestLiveIsBounded(t *testing.T) {
	t.Parallel()
	l := NewLive()
	var values []string
	for i := range mostLive + 10 {
		values = append(values, fmt.Sprintf("value-%06d", i))
	}
	l.Add(values...)
	before := l.Set()
	if l.Add(values[20:]...); l.Set() != before {
		t.Error("what it knew made another set")
	}
	if got := before.String(values[0] + " " + values[len(values)-1]); got != values[0]+" "+Mark {
		t.Error(got)
	}
	var none *Live
	none.Add("value-000001")
	if got := none.Set().String("value-000001 " + tokenGH); got != "value-000001 "+Mark {
		t.Error(got)
	}
}
