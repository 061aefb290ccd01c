package policy

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/agenthost/agenthost/actors/spec"
)

// Fault is one thing that is wrong with a document, or doubtful.
type Fault struct {
	// Path is where: "[1].deny[0]", counted from the list of statements.
	Path string
	// Value is the bad value, What says what is wrong with it, Remedy what to do.
	Value, What, Remedy string
	// Doubt says that the document is valid all the same.
	Doubt bool
}

// String is one line.
func (f Fault) String() string {
	s := "policy" + f.Path + ": "
	if f.Value != "" {
		s += fmt.Sprintf("%q ", f.Value)
	}
	s += f.What
	if f.Remedy != "" {
		s += "; " + f.Remedy
	}
	return s
}

// Faults are all of one document.
type Faults []Fault

// Error lists them, one a line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i := range f {
		lines[i] = f[i].String()
	}
	return strings.Join(lines, "\n")
}

func (f *Faults) add(path, value, what, remedy string) {
	*f = append(*f, Fault{Path: path, Value: clip(value), What: what, Remedy: remedy})
}

func clip(s string) string { return s[:min(len(s), 120)] }

// MaxStatements bounds a document.
const MaxStatements = 1000

var (
	statementID  = regexp.MustCompile(`^[A-Za-z0-9._:\[\]-]{1,64}$`)
	variableName = regexp.MustCompile(`^[A-Za-z_*][A-Za-z0-9_*]*$`)
	groupName    = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
)

// Validate says what is wrong with a document; the error is Faults.
func (d *Document) Validate() error {
	var f Faults
	if len(d.Statements) > MaxStatements {
		f.add("", "", fmt.Sprintf("has %d statements", len(d.Statements)), fmt.Sprintf("at most %d are allowed", MaxStatements))
		return f
	}
	ids := map[string]int{}
	for i := range d.Statements {
		s, at := &d.Statements[i], fmt.Sprintf("[%d]", i)
		s.validate(at, &f)
		if s.ID == "" {
			continue
		}
		if other, twice := ids[s.ID]; twice {
			f.add(at+".id", s.ID, fmt.Sprintf("is the id of policy[%d] too", other), "give each statement an id of its own, or none")
		}
		ids[s.ID] = i
	}
	if f == nil {
		return nil
	}
	return f
}

func (s *Statement) validate(at string, f *Faults) {
	if s.ID != "" && !statementID.MatchString(s.ID) {
		f.add(at+".id", s.ID, "is no statement's id", "use 1 to 64 of A-Z a-z 0-9 . _ : [ ] -")
	}
	switch {
	case len(s.Allow) > 0 && len(s.Deny) > 0:
		f.add(at, "", "both allows and denies", "make two statements of it")
	case len(s.Allow) == 0 && len(s.Deny) == 0:
		f.add(at, "", "neither allows nor denies anything", "write allow: [operations] or deny: [operations]")
	}
	for _, l := range []struct {
		key  string
		list []string
	}{{"allow", s.Allow}, {"deny", s.Deny}} {
		for j, p := range l.list {
			if !ValidPattern(p) {
				f.add(fmt.Sprintf("%s.%s[%d]", at, l.key, j), p, "is no pattern of operations", `write an operation's id, such as agents.sessions.create; "*" stands for one word or a part of it, "**" at the end for all that follows`)
			}
		}
	}
	if len(s.Principals) == 0 {
		f.add(at+".principals", "", "names nobody", `list ids, "role:NAME", or "*" for everyone`)
	}
	for j, p := range s.Principals {
		if !principalPattern.MatchString(p) {
			f.add(fmt.Sprintf("%s.principals[%d]", at, j), p, "names no principal", `write an id, "role:NAME", or "*" for everyone`)
		}
	}
	if s.Limits.Concurrency < 0 {
		f.add(at+".limits.concurrency", fmt.Sprint(s.Limits.Concurrency), "is negative", "use 1 or more, or leave it out")
	}
	if s.Limits.RequestsPerMinute < 0 {
		f.add(at+".limits.requests_per_minute", fmt.Sprint(s.Limits.RequestsPerMinute), "is negative", "use 1 or more, or leave it out")
	}
	if len(s.Deny) > 0 && s.Limits != (Limits{}) {
		f.add(at+".limits", "", "stands in a statement that denies", "put it into one that allows")
	}
	if len(s.Deny) > 0 && !s.Scope.isZero() {
		f.add(at+".scope", "", "stands in a statement that denies", "put it into one that allows")
	}
	s.Scope.validate(at+".scope", f)
}

func (s *Scope) isZero() bool {
	return s.Workdir == nil && s.Permissions == "" && s.Commands == nil && s.Models == nil && s.MaxTurns == 0 && s.Timeout == 0 &&
		s.MaxOutput == 0 && s.LLMHosts == nil && s.MCP == nil && s.Env == nil && s.ShareSessions == "" && s.UnconfinedOK == nil
}

func (s *Scope) validate(at string, f *Faults) {
	each := func(key string, list []string, ok func(string) bool, what, remedy string) {
		for i, v := range list {
			if !ok(v) {
				f.add(fmt.Sprintf("%s.%s[%d]", at, key, i), v, what, remedy)
			}
		}
	}
	each("workdir", s.Workdir, func(v string) bool { return path.IsAbs(v) && path.Clean(v) == v && !strings.ContainsRune(v, 0) },
		"is not an absolute directory", "write it from / on, without .. and without a / at the end")
	each("commands", s.Commands, func(v string) bool {
		return v != "" && len(v) <= 4096 && !strings.ContainsRune(v, 0) && (!strings.Contains(v, "/") || path.IsAbs(v) && path.Clean(v) == v)
	}, "is no program", "write the name of a program, or its path from / on")
	each("models", s.Models, func(v string) bool { return v != "" && len(v) <= 256 }, "is no model", `write a model's name; "*" stands for any part of it`)
	each("llm_hosts", s.LLMHosts, spec.ValidHostPattern, "is no host", `write a name or an address without scheme and port; "*.NAME" stands for all below NAME, "*" for all`)
	each("mcp", s.MCP, spec.ValidHostPattern, "is no host", `write a name or an address without scheme and port; "*.NAME" stands for all below NAME, "*" for all`)
	each("env", s.Env, variableName.MatchString, "is not the name of a variable", `"*" stands for any part of it`)
	if spec.ValidPermissions(s.Permissions) != nil {
		f.add(at+".permissions", string(s.Permissions), "is no permission", "use one of read_only, workspace_write, full_access, ask")
	}
	for _, n := range []struct {
		key string
		v   int64
	}{{"max_turns", int64(s.MaxTurns)}, {"timeout", int64(s.Timeout)}, {"max_output", s.MaxOutput}} {
		if n.v < 0 {
			f.add(at+"."+n.key, "", "is negative", "use more than 0, or leave it out")
		}
	}
	if s.ShareSessions != "" && !groupName.MatchString(s.ShareSessions) {
		f.add(at+".share_sessions", s.ShareSessions, "is no name of a group", "use 1 to 64 of A-Z a-z 0-9 . _ -")
	}
}
