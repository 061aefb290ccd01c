package main

import (
	"strings"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/redact"
)

// shortKey is below what any provider gives out.
const shortKey = 8

// plainKeys is a warning of provider keys whose value is likely to stand in an
// answer by chance, where it would be taken for the key; "" when there is none. One
// too short to be looked for is among them: it would be shown.
func plainKeys(runtimes []actors.RuntimeConfig) string {
	var names []string
	for _, r := range runtimes {
		if plainKey(strings.TrimSpace(r.LLM.APIKey)) {
			names = append(names, r.Adapter.Name())
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "the provider key of " + strings.Join(names, ", ") + " is short or an ordinary word: the same word in answers is shown as " + redact.Mark +
		", and a key below six characters is not hidden at all; use a real key, or a long random value where any will do"
}

func plainKey(key string) bool {
	word := strings.Trim(key, "abcdefghijklmnopqrstuvwxyz") == ""
	return key != "" && (len(key) < shortKey || word)
}
