package actors

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/relay"
	"github.com/asynkron/protoactor-go/actor"
)

// relayed is what an answer of the provider said was used, told by the relay.
type relayed struct{ usage event.Usage }

// relayed puts the host's relay in the place of the turn's provider: the request names
// the relay and a token from here on, and the key stays here. A turn with a process of
// its own has a pass of its own; runners serve many turns, so theirs belongs to what
// they are shared by. The key is given back, to be hidden and kept out of the
// environment. It may listen, so it is not for a Receive.
func (h *Host) relay(r *RuntimeConfig, req *agent.Request, owner string, self *actor.PID) (pass *relay.Pass, use *relay.Use, key string, err error) {
	if !r.Relay {
		return nil, nil, "", nil
	}
	name, up := r.Adapter.Name(), relay.Upstream{BaseURL: req.LLM.BaseURL, Key: req.LLM.APIKey}
	if up.BaseURL == "" {
		if p, ok := r.Adapter.(agent.Provided); ok {
			up.BaseURL = p.Provider()
		}
	}
	switch {
	case !r.Adapter.Capabilities().BaseURL:
		return nil, nil, "", event.Fail(event.InvalidRequest, fmt.Sprintf("agents.%s.llm.relay is on, and %s takes no other provider than its own; switch it off", name, name))
	case up.Key == "":
		return nil, nil, "", event.Fail(event.AuthenticationError, fmt.Sprintf("agents.%s.llm.relay is on, and there is no key to relay; set the variable of agents.%s.llm.api_key_env", name, name))
	case up.BaseURL == "":
		return nil, nil, "", event.Fail(event.InvalidRequest, fmt.Sprintf("agents.%s.llm.relay is on, and it is not known where the provider is; set the variable of agents.%s.llm.base_url_env", name, name))
	}
	lease := ""
	if h.persistent(r) != nil {
		sum := sha256.Sum256([]byte(strings.Join([]string{owner, name, up.BaseURL, up.Key}, "\x00")))
		lease = hex.EncodeToString(sum[:])
	}
	if pass, err = h.relays.Lease(lease, up); err != nil {
		return nil, nil, "", &event.Failure{Code: event.ProviderUnreachable, Message: fmt.Sprintf("the relay of agents.%s.llm.relay cannot serve this turn: %v", name, err), Cause: err}
	}
	root := h.root
	use = pass.Begin(func(u event.Usage) { root.Send(self, &relayed{u}) })
	req.LLM.BaseURL, req.LLM.APIKey = pass.URL, pass.Token
	return pass, use, up.Key, nil
}

// leastKey is how long a key must be to be looked for within other values.
const leastKey = 8

// keyless is an environment without the variables that hold the key, and with the
// relay reached directly, whatever proxies there are.
func keyless(env []string, key string) []string {
	out := make([]string, 0, len(env)+2)
	direct := map[string]string{"NO_PROXY": "", "no_proxy": ""}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		if value == key || len(key) >= leastKey && strings.Contains(value, key) {
			continue
		}
		if _, is := direct[name]; is {
			direct[name] = value
			continue
		}
		out = append(out, kv)
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		list := "127.0.0.1"
		if direct[name] != "" {
			list = direct[name] + "," + list
		}
		out = append(out, name+"="+list)
	}
	return out
}
