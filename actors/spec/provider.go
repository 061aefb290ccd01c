package spec

import (
	"net/url"

	"github.com/agenthost/agenthost/actors/event"
)

// ProviderKey is the key of metadata with which a caller names the base URL of the
// provider: of an agent for its turns, of a session for its own, of a response for
// this one. Neither wire has a field for it. A key of a caller's cannot be named:
// metadata are stored and shown.
const ProviderKey = "agenthost.llm_base_url"

// validProvider checks what metadata name, if they do.
func validProvider(param string, m map[string]string) error {
	base, ok := m[ProviderKey]
	if !ok {
		return nil
	}
	param += "." + ProviderKey
	if err := ValidServerURL(param, base); err != nil {
		return err
	}
	if u, err := url.Parse(base); err != nil || u.RawQuery != "" || u.ForceQuery {
		return event.FailParam(event.InvalidRequest, param, param+" must not have a query: CLIs add their paths to it")
	}
	return nil
}
