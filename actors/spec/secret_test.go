package spec_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/spec"
	jsoniter "github.com/json-iterator/go"
)

func TestASecretIsNeverShown(t *testing.T) {
	t.Parallel()
	const value = "canary-0123456789"
	var m spec.MCPServer
	m.SetHeader("X-Key", value)
	secret := m.Secrets["X-Key"]
	if secret.Reveal() != value || (spec.Secret{}).Reveal() != "" {
		t.Fatal("the value is lost")
	}
	hidden := struct {
		private spec.Secret
		list    map[string]spec.Secret
	}{secret, m.Secrets}
	var out []string
	for _, v := range []any{secret, &secret, m, &m, hidden, []spec.Secret{secret}, spec.Agent{MCP: map[string]spec.MCPServer{"a": m}}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			out = append(out, fmt.Sprintf(verb, v))
		}
		std, err1 := json.Marshal(v)
		iter, err2 := jsoniter.ConfigCompatibleWithStandardLibrary.Marshal(v)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "v", v)
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", v)
		out = append(out, string(std), string(iter), log.String())
	}
	for _, s := range out {
		if strings.Contains(s, value) || strings.Contains(s, fmt.Sprintf("%x", value)) {
			t.Errorf("shown in %s", s)
		}
	}
	stored, _ := json.Marshal(m)
	if string(stored) != `{"headers":{"X-Key":"${secret}"}}` {
		t.Errorf("stored as %s", stored)
	}
}
