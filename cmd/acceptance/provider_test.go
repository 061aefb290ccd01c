package acceptance

import (
	"strings"
	"testing"
)

const providerKey = "agenthost.llm_base_url"

// letting is a policy under which everyone may name providers at the hosts.
func letting(hosts ...string) setting {
	return key("policy", []any{map[string]any{"id": "all", "allow": []string{"**"}, "principals": []string{"*"}, "scope": map[string]any{"llm_hosts": hosts}}})
}

// A caller whose policy lists the host names the provider of its turns, a request before
// its session, that before its agent, and all before what is configured; for one turn,
// all of a session, all of an agent.
func TestCallersNameProvidersOfTheirScope(t *testing.T) {
	t.Parallel()
	r := newRig(t, env("FAKE_MODE=echo", "ABX_LLM_BASE_URL=https://own.example/v1"), letting("llm.example", "*.more.example"))
	const ofRequest, ofSession, ofAgent = "https://llm.example/request", "https://a.more.example/session", "https://b.more.example/agent"
	named := func(url string) map[string]any { return map[string]any{providerKey: url} }
	asks := func(a *answer, what, want string) {
		t.Helper()
		e := echoed(outputText(a))
		told := strings.Join(e.args, " ")
		for _, v := range e.env {
			told += " " + v
		}
		for _, url := range []string{"https://own.example", ofRequest, ofSession, ofAgent} {
			if is := strings.Contains(told, url); is != (url == want) {
				t.Errorf("%s: told of %s: %v", what, url, is)
			}
		}
	}
	for _, adapter := range []string{"codex", "claude-code"} {
		first := r.http.ok("POST", "/v1/responses", map[string]any{"model": adapter, "input": "hello", "metadata": named(ofRequest)})
		asks(first, adapter+", a response", ofRequest)
		asks(r.http.ok("POST", "/v1/responses", map[string]any{"model": adapter, "input": "again", "previous_response_id": first.str("id")}), adapter+", the next response", "https://own.example")

		turn := func(body map[string]any) *answer {
			t.Helper()
			id := r.http.ok("POST", "/v1/agents/sessions", body).str("id")
			r.http.idle(id, cliTurnLimit)
			return r.http.ok("GET", "/v1/agents/sessions/"+id+"/items?order=asc", nil)
		}
		with := func(metadata, agent map[string]any) map[string]any {
			body := sessionBody(adapter, "hello")
			if agent != nil {
				delete(body, "agent")
				body["agent_id"] = r.http.ok("POST", "/v1/agents", map[string]any{"model": adapter, "metadata": agent}).str("id")
			}
			if metadata != nil {
				body["metadata"] = metadata
			}
			return body
		}
		asks(turn(with(nil, nil)), adapter+", a session", "https://own.example")
		asks(turn(with(nil, named(ofAgent))), adapter+", a session of an agent", ofAgent)
		asks(turn(with(named(ofSession), named(ofAgent))), adapter+", a session with its own", ofSession)
		saved := r.http.ok("POST", "/v1/agents", map[string]any{"model": adapter, "metadata": named(ofAgent)}).str("id")
		asks(r.http.ok("POST", "/v1/responses", map[string]any{"model": saved, "input": "hello"}), adapter+", a saved agent", ofAgent)
		asks(r.http.ok("POST", "/v1/responses", map[string]any{"model": saved, "input": "hello", "metadata": named(ofRequest)}), adapter+", a response of a saved agent", ofRequest)
	}
	r.Stop()
}

// Any other host is 403 by its name and the rule's, on each way, before anything is
// stored; on a server without a policy all are.
func TestProvidersOutsideTheScopeAreRefused(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string][]setting{"policy": {letting("llm.example")}, "no policy": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, append(settings, env("FAKE_MODE=echo"))...)
			session := r.http.session("codex")
			saved := r.http.ok("POST", "/v1/agents", map[string]any{"model": "codex"}).str("id")
			refuses := func(url string, status int) {
				t.Helper()
				meta := map[string]any{providerKey: url}
				own := sessionBody("codex", "hello")
				own["metadata"] = meta
				for what, a := range map[string]*answer{
					"metadata":                 r.http.do("POST", "/v1/responses", map[string]any{"model": "codex", "input": "hello", "metadata": meta}),
					"metadata of a session":    r.http.do("POST", "/v1/agents/sessions", own),
					"metadata of an agent":     r.http.do("POST", "/v1/agents", map[string]any{"model": "codex", "metadata": meta}),
					"metadata of an old agent": r.http.do("POST", "/v1/agents/"+saved, map[string]any{"metadata": meta}),
					"metadata of its session":  r.http.do("POST", "/v1/agents/sessions/"+session, map[string]any{"metadata": meta}),
				} {
					param, _, _ := strings.Cut(what, " ")
					if a.status != status || a.str("error", "param") != param+"."+providerKey {
						t.Errorf("%s in %s: %d %s", url, what, a.status, clip(a.body))
					}
					if said := a.str("error", "message"); status == 403 && (!strings.Contains(said, "attacker.example") || !strings.Contains(said, "scope.llm_hosts") || a.code() != "permission_denied") {
						t.Errorf("%s in %s: %s", url, what, clip(a.body))
					}
				}
			}
			refuses("https://attacker.example/v1", 403)
			refuses("https://llm.example.attacker.example/v1", 403)
			refuses("https://llm.example@attacker.example/v1", 400)
			refuses("https://attacker.example/v1?x=https://llm.example", 400)
			refuses("attacker.example", 400)
			if n := len(r.http.ok("GET", "/v1/agents/sessions", nil).list("data")); n != 1 {
				t.Errorf("%d sessions are stored", n)
			}
			r.Stop()
		})
	}
}
