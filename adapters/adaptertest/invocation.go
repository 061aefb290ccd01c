package adaptertest

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

const maxArg = 128<<10 - 1

var allPermissions = []spec.Permissions{spec.ReadOnly, spec.WorkspaceWrite, spec.FullAccess, spec.Ask}

// invoke validates and builds, or reports the typed refusal.
func (s suite) invoke(t *testing.T, r *agent.Request) (*agent.Invocation, *event.Failure) {
	t.Helper()
	if err := s.a.Validate(r); err != nil {
		f, ok := event.AsFailure(err)
		if !ok {
			t.Fatalf("Validate gave %T, want *event.Failure: %v", err, err)
		}
		return nil, f
	}
	inv, err := s.a.Invocation(r)
	if err != nil {
		t.Fatalf("Invocation after Validate: %v", err)
	}
	for i, a := range inv.Args {
		if len(a) > maxArg || strings.IndexByte(a, 0) >= 0 {
			t.Errorf("argument %d of %d bytes cannot be passed", i, len(a))
		}
	}
	for _, f := range inv.Files {
		if f.Name == "" || strings.ContainsAny(f.Name, "/\\") || strings.HasPrefix(f.Name, ".") {
			t.Errorf("file name %q is not plain", f.Name)
		}
	}
	return inv, nil
}

func (s suite) must(t *testing.T, r *agent.Request) *agent.Invocation {
	t.Helper()
	inv, f := s.invoke(t, r)
	if f != nil {
		t.Fatalf("refused: %v", f)
	}
	return inv
}

func (s suite) permissions(t *testing.T) {
	offered := s.a.Capabilities().Permissions
	if len(offered) == 0 {
		t.Fatal("no permission is offered")
	}
	for _, p := range allPermissions {
		r := Request(s.a)
		r.Permissions = p
		_, f := s.invoke(t, r)
		switch {
		case slices.Contains(offered, p) && f != nil:
			t.Errorf("%s is offered and refused: %v", p, f)
		case !slices.Contains(offered, p) && (f == nil || f.Code != event.PermissionUnsupported || !strings.Contains(f.Message, string(p))):
			t.Errorf("%s is not offered; want a refusal by name, got %v", p, f)
		}
	}
}

// resumePermissions compares what distinguishes two permissions on a first turn with
// what distinguishes them on a resumed one.
func (s suite) resumePermissions(t *testing.T) {
	if !s.a.Capabilities().Resume {
		t.Skip("does not resume")
	}
	words := func(p spec.Permissions, native string) []string {
		r := Request(s.a)
		r.Permissions, r.Native = p, native
		inv := s.must(t, r)
		return append(slices.Clone(inv.Args), inv.Env...)
	}
	offered := s.a.Capabilities().Permissions
	for _, p := range offered {
		for _, q := range offered {
			first := minus(words(p, ""), words(q, ""))
			resumed := minus(words(p, s.c.Native), words(q, s.c.Native))
			if !slices.Equal(first, resumed) {
				t.Errorf("%s against %s: %q on a first turn, %q on a resumed one", p, q, first, resumed)
			}
		}
	}
}

// minus is the sorted multiset difference.
func minus(a, b []string) []string {
	left := slices.Clone(a)
	for _, w := range b {
		if i := slices.Index(left, w); i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
	}
	slices.Sort(left)
	return left
}

func (s suite) secrets(t *testing.T) {
	const key, header, bearer, variable = "sk-canary-key-0123456789", "canary-header-0123456789", "canary-bearer-0123456789", "canary-variable-0123456789"
	r := Request(s.a)
	r.LLM = agent.LLM{APIKey: key}
	if s.a.Capabilities().BaseURL {
		r.LLM.BaseURL = "https://llm.example.com/v1"
	}
	secret := []string{key}
	if s.a.Capabilities().MCP {
		r.MCP = map[string]spec.MCPServer{
			"docs":  {URL: "https://mcp.example.com/mcp", Headers: map[string]string{"Authorization": "Bearer " + bearer, "X-Team": header}},
			"local": {Command: "docs-server", Args: []string{"--stdio"}, Env: map[string]string{"DOCS_TOKEN": variable}},
		}
		secret = append(secret, header, bearer, variable)
	}
	for _, native := range []string{"", s.c.Native} {
		if native != "" && !s.a.Capabilities().Resume {
			continue
		}
		r.Native = native
		inv := s.must(t, r)
		for _, v := range secret {
			for _, a := range inv.Args {
				if strings.Contains(a, v) {
					t.Errorf("%q is in argument %q", v, a)
				}
			}
			for _, f := range inv.Files {
				if bytes.Contains(f.Data, []byte(v)) {
					t.Errorf("%q is in file %s", v, f.Name)
				}
			}
			if v == key {
				continue
			}
			if !slices.ContainsFunc(inv.Env, func(e string) bool { return strings.HasSuffix(e, v) }) {
				t.Errorf("%q reaches the CLI nowhere", v)
			}
			if !slices.ContainsFunc(inv.Secrets, func(x string) bool { return strings.Contains(x, v) }) {
				t.Errorf("%q is not named for redaction", v)
			}
		}
	}
}

// safePrompt reports whether a prompt reaches the CLI without being an option.
func safePrompt(inv *agent.Invocation, prompt string) bool {
	if bytes.Contains(inv.Stdin, []byte(prompt)) {
		return !slices.Contains(inv.Args, prompt) || prompt == "-"
	}
	behind := false
	for _, a := range inv.Args {
		if at := strings.LastIndex(a, prompt); at > 0 || at == 0 && behind {
			return true
		}
		behind = behind || a == "--"
	}
	return slices.ContainsFunc(inv.Files, func(f agent.File) bool { return bytes.Contains(f.Data, []byte(prompt)) })
}

func (s suite) dashes(t *testing.T) {
	plain := s.must(t, Request(s.a))
	for _, prompt := range []string{"--help", "-", "--model x", "---\nfoo", "--dangerously-skip-permissions"} {
		r := Request(s.a)
		r.Prompt = prompt
		inv, f := s.invoke(t, r)
		if f != nil {
			if f.Code != event.InvalidRequest {
				t.Errorf("prompt %q: refused as %s", prompt, f.Code)
			}
			continue
		}
		if !safePrompt(inv, prompt) {
			t.Errorf("prompt %q: arguments %q, stdin %q", prompt, inv.Args, inv.Stdin)
		}
		if len(inv.Args) != len(plain.Args) {
			t.Errorf("prompt %q changed the command line: %q", prompt, inv.Args)
		}
	}
	for _, text := range []string{"--help", "-x"} {
		r := Request(s.a)
		r.Instructions = text
		if inv, f := s.invoke(t, r); f == nil && slices.Contains(inv.Args, text) {
			t.Errorf("instructions %q are an argument of their own: %q", text, inv.Args)
		}
		r = Request(s.a)
		r.Model = text
		if inv, f := s.invoke(t, r); f == nil && slices.Contains(inv.Args, text) {
			t.Errorf("model %q is an argument of its own: %q", text, inv.Args)
		}
	}
}

func (s suite) big(t *testing.T) {
	text := strings.Repeat("漢字 and words. ", 200<<10/19)
	carries := func(inv *agent.Invocation) bool {
		return bytes.Contains(inv.Stdin, []byte(text)) || slices.ContainsFunc(inv.Files, func(f agent.File) bool { return bytes.Contains(f.Data, []byte(text)) })
	}
	r := Request(s.a)
	r.Prompt = text
	if inv, f := s.invoke(t, r); f != nil {
		if f.Code != event.InvalidRequest || f.Param == "" {
			t.Errorf("a prompt of %d bytes: want a refusal that names the field, got %v", len(text), f)
		}
	} else if !carries(inv) {
		t.Errorf("a prompt of %d bytes does not arrive", len(text))
	}
	r = Request(s.a)
	r.Instructions = text
	if inv, f := s.invoke(t, r); f != nil {
		if f.Code != event.InvalidRequest || f.Param == "" {
			t.Errorf("instructions of %d bytes: want a refusal that names the field, got %v", len(text), f)
		}
	} else if s.a.Capabilities().Instructions && !carries(inv) {
		t.Errorf("instructions of %d bytes do not arrive", len(text))
	}
}

func (s suite) odd(t *testing.T) {
	for _, blank := range []string{"", " \n\t"} {
		r := Request(s.a)
		r.Prompt = blank
		if _, f := s.invoke(t, r); f == nil || f.Code != event.InvalidRequest {
			t.Errorf("blank prompt %q: want invalid_request, got %v", blank, f)
		}
	}
	for _, text := range []string{"a\x00b", "quote \" back \\ dollar $HOME `id` ${X}", "\u2028\u202e", "\xff\xfe", "line\r\nend\x1b[0m", "{session_id} {prompt} {model}"} {
		r := Request(s.a)
		r.Prompt, r.Instructions = text, text
		_, _ = s.invoke(t, r) // either is fine; what is built must be possible
	}
}

func (s suite) pure(t *testing.T) {
	r := Request(s.a)
	r.Instructions, r.LLM = "be brief", agent.LLM{APIKey: "sk-canary-key-0123456789"}
	if s.a.Capabilities().MCP {
		r.MCP = map[string]spec.MCPServer{}
		for _, n := range []string{"a", "b", "c", "d"} {
			r.MCP[n] = spec.MCPServer{Command: n, Env: map[string]string{"A_" + n: "1", "B_" + n: "2"}}
		}
	}
	before := *r
	one := s.must(t, r)
	for range 8 {
		if two := s.must(t, r); !reflect.DeepEqual(one, two) {
			t.Fatalf("equal requests give\n%+v\n%+v", one, two)
		}
	}
	if !reflect.DeepEqual(before, *r) {
		t.Error("the request was changed")
	}
}
