package config

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/agenthost/agenthost/actors/policy"
)

// referencePolicy is a policy document of existing deployments, as far as it means
// something here: who has a token, and which of the agents routes are on, for whom,
// and how often.
type referencePolicy struct {
	Version   int                           `yaml:"version"`
	Groups    []string                      `yaml:"groups"`
	Auth      referenceAuth                 `yaml:"auth"`
	Endpoints map[string]*referenceEndpoint `yaml:"endpoints"`
}

type referenceAuth struct {
	Tokens         []referenceToken `yaml:"tokens"`
	AllowAnonymous bool             `yaml:"allow_anonymous"`
}

type referenceToken struct {
	ID          string   `yaml:"id"`
	Scopes      []string `yaml:"scopes"`
	TokenEnv    string   `yaml:"token_env" secret:"true"`
	TokenSHA256 string   `yaml:"token_sha256" secret:"true"`
}

type referenceEndpoint struct {
	Enabled *bool              `yaml:"enabled"`
	Scopes  []string           `yaml:"scopes"`
	Limits  referenceEndLimits `yaml:"limits"`
}

type referenceEndLimits struct {
	RatePerMinute  int `yaml:"rate_per_minute"`
	MaxConcurrency int `yaml:"max_concurrency"`
}

// agentsScope is what every agents route needs there.
const agentsScope = "agents:use"

// notKept says why keys of such a document have no place here.
var notKept = map[string]string{
	"preset":           "write policy.preset into agenthost.yaml, if one of " + strings.Join(policy.Presets(), ", ") + " is meant",
	"base_dir":         "it is of routes that are not served here; remove it",
	"defaults":         "remove it; a setting for all agents routes is endpoints: {\"agents_*\": ...}",
	"anonymous_scopes": "with tokens everyone needs one, and without any everyone is admin; remove it",
	"paths":            "it is of routes that are not served here; a statement's scope.workdir bounds where agents work",
	"params":           "a request's fields are bounded by a statement's scope; write a policy of agenthost's own",
	"audit":            "remove it: what is audited is not chosen by route here",
}

// policySource names the variable that gave the document.
func (l *loader) policySource() string {
	if l.env["ABX_SERVER_POLICY"] != "" {
		return "variable ABX_SERVER_POLICY"
	}
	return l.env["ABX_SERVER_POLICY_FILE"]
}

// abxPolicy reads such a document.
func (l *loader) abxPolicy() {
	text, path := l.env["ABX_SERVER_POLICY"], l.env["ABX_SERVER_POLICY_FILE"]
	if text == "" && path == "" {
		return
	}
	if text == "" {
		data, err := os.ReadFile(path)
		if err != nil {
			l.problems.add(unreadable("variable ABX_SERVER_POLICY_FILE", path, err))
			return
		}
		text = string(data)
	}
	d := &decoder{file: l.policySource(), env: l.lookup, origins: map[string]origin{}}
	var doc referencePolicy
	d.decode([]byte(text), structOf(&doc))
	for _, p := range d.problems {
		last := p.Key[strings.LastIndexByte(p.Key, '.')+1:]
		if remedy, known := notKept[last]; known && p.What == "unknown key" {
			p.What, p.Remedy = "is not kept by this server", remedy
		}
		l.problems.add(p)
	}
	if len(d.problems) > 0 {
		return
	}
	r := referenceReader{loader: l, d: d}
	r.read(&doc)
}

// referenceReader makes settings of a document.
type referenceReader struct {
	*loader
	d *decoder
}

func (r *referenceReader) wrong(key, value, what, remedy string) {
	at := loader{origins: r.d.origins}
	o := at.origin(key)
	r.problems.add(Problem{Source: r.d.file, Line: o.line, Key: key, Value: value, What: what, Remedy: remedy})
}

func (r *referenceReader) read(doc *referencePolicy) {
	if doc.Version > 1 {
		r.wrong("version", fmt.Sprint(doc.Version), "is not known here", "this server reads version 1")
	}
	if doc.Groups != nil && r.env["ABX_SERVER_ENABLED_GROUPS"] == "" {
		r.cfg.Groups = []string{}
		r.origins["groups"] = origin{source: r.d.file}
		for i, g := range doc.Groups {
			switch {
			case g == "agents":
				r.cfg.Groups = append(r.cfg.Groups, g)
			case contains(otherGroups, g):
				r.warn(r.d.file + ": the group " + g + " is not served here; the server that has it can run beside this one")
			default:
				r.wrong(fmt.Sprintf("groups[%d]", i), g, "is no group", suggest(g, append([]string{"agents"}, otherGroups...)))
			}
		}
	}
	if doc.Auth.AllowAnonymous {
		if len(doc.Auth.Tokens) > 0 {
			r.wrong("auth.allow_anonymous", "true", "stands beside tokens, and here everyone needs one of them then", "remove it, or the tokens")
		}
		r.cfg.Auth.AllowAnonymous = true
	}
	for i := range doc.Auth.Tokens {
		r.token(fmt.Sprintf("auth.tokens[%d]", i), &doc.Auth.Tokens[i])
	}
	if len(doc.Endpoints) > 0 && len(r.src.Operations) > 0 {
		r.endpoints(doc)
	}
}

var hexDigest = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)

// token adds a principal.
func (r *referenceReader) token(key string, in *referenceToken) {
	t := Token{ID: in.ID, TokenEnv: in.TokenEnv, SHA256: strings.ToLower(in.TokenSHA256)}
	switch {
	case contains(in.Scopes, "*"):
		t.Roles = []string{"admin"}
	case contains(in.Scopes, agentsScope):
		t.Roles = []string{"dev"}
	}
	for _, s := range in.Scopes {
		if s != "*" && s != agentsScope {
			t.Roles = append(t.Roles, "scope:"+s) // what endpoints may ask for
		}
	}
	switch {
	case (in.TokenEnv == "") == (in.TokenSHA256 == ""):
		r.wrong(key, "", "needs either token_env or token_sha256", "keep one of both")
		return
	case in.TokenSHA256 != "" && !hexDigest.MatchString(in.TokenSHA256):
		r.wrong(key+".token_sha256", "", "is no SHA-256 digest", "write its 64 hex digits")
		return
	case in.TokenEnv != "":
		t.Value = r.env[in.TokenEnv]
		if t.Value == "" {
			r.wrong(key+".token_env", in.TokenEnv, "is not set", "set that variable to the token")
			return
		}
		if len(t.Value) < minToken {
			r.warn(r.d.file + ": " + key + ": SHORTER THAN 16 CHARACTERS AND EASY TO GUESS; set a longer one, such as the output of: openssl rand -hex 32")
		}
	}
	r.cfg.Auth.Tokens = append(r.cfg.Auth.Tokens, t)
	r.origins[tokenKey(len(r.cfg.Auth.Tokens)-1)] = origin{source: r.d.file}
}

// endpoints makes statements of selectors: exact ones go before globs, and those
// before group:agents.
func (r *referenceReader) endpoints(doc *referencePolicy) {
	usable := []string{"role:admin", "role:dev"}
	out := &policy.Document{Statements: []policy.Statement{{ID: "tokens", Allow: []string{"**"}, Principals: usable}, {ID: "no-install", Deny: []string{"agents.*.install"}, Principals: []string{"role:dev"}}}}
	taken := map[string]bool{}
	for _, selector := range sortedKeys(doc.Endpoints) {
		found := false
		for _, o := range r.src.Operations {
			found = found || rank(selector, o.Old) > 0
		}
		if !found {
			r.wrong("endpoints."+selector, "", "selects no route that is served here", "remove it; the routes of this server have the ids that docs/policy.md lists")
		}
	}
	for _, o := range r.src.Operations {
		e := effective(doc.Endpoints, o.Old)
		if e == nil || taken[o.ID] {
			continue
		}
		taken[o.ID] = true
		id := "endpoints:" + o.Old
		if e.Enabled != nil && !*e.Enabled {
			out.Statements = append(out.Statements, policy.Statement{ID: id, Deny: []string{o.ID}, Principals: []string{policy.Everyone}})
			continue
		}
		if without := r.lacking(e.Scopes); len(without) > 0 {
			out.Statements = append(out.Statements, policy.Statement{ID: id + ":scopes", Deny: []string{o.ID}, Principals: without})
		}
		if e.Limits != (referenceEndLimits{}) {
			out.Statements = append(out.Statements, policy.Statement{
				ID: id, Allow: []string{o.ID}, Principals: usable,
				Limits: policy.Limits{RequestsPerMinute: e.Limits.RatePerMinute, Concurrency: e.Limits.MaxConcurrency},
			})
		}
	}
	r.cfg.document = out
}

// lacking are the principals that have not all of scopes.
func (r *referenceReader) lacking(scopes []string) (ids []string) {
	for _, t := range r.cfg.Auth.Tokens {
		for _, s := range scopes {
			if !contains(t.Roles, "admin") && s != agentsScope && !contains(t.Roles, "scope:"+s) {
				ids = append(ids, t.ID)
				break
			}
		}
	}
	return ids
}

// rank says how exactly a selector means a route: 0 not at all.
func rank(selector, old string) int {
	switch {
	case old == "":
		return 0
	case selector == old:
		return 3
	case selector == "group:agents" && strings.HasPrefix(old, "agents_"):
		return 1
	case !strings.ContainsAny(selector, ":") && strings.Contains(selector, "*") && policy.Matches(selector, old):
		return 2
	}
	return 0
}

// effective is what the selectors say of a route together, the exact one having the
// last word; nil for nothing.
func effective(endpoints map[string]*referenceEndpoint, old string) *referenceEndpoint {
	var out *referenceEndpoint
	for want := 1; want <= 3; want++ {
		for _, selector := range sortedKeys(endpoints) {
			e := endpoints[selector]
			if e == nil || rank(selector, old) != want {
				continue
			}
			if out == nil {
				out = &referenceEndpoint{}
			}
			if e.Enabled != nil {
				out.Enabled = e.Enabled
			}
			if e.Scopes != nil {
				out.Scopes = e.Scopes
			}
			if e.Limits.RatePerMinute > 0 {
				out.Limits.RatePerMinute = e.Limits.RatePerMinute
			}
			if e.Limits.MaxConcurrency > 0 {
				out.Limits.MaxConcurrency = e.Limits.MaxConcurrency
			}
		}
	}
	return out
}
