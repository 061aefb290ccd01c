package apierr

import (
	"maps"
	"slices"

	"github.com/agenthost/agenthost/wires/openapi"
)

// Envelope describes the body of every refusal.
func Envelope() any { return described{} }

// described is what envelope and disabledEnvelope have together.
type described struct {
	Error    detail `json:"error"`
	Code     string `json:"code,omitempty"`
	Endpoint string `json:"endpoint,omitempty"`
	Rule     string `json:"rule,omitempty"`
}

// Refusals describes every row of the table, by code.
func Refusals() []openapi.Refusal {
	var out []openapi.Refusal
	for _, code := range slices.Sorted(maps.Keys(table)) {
		row := table[code]
		out = append(out, openapi.Refusal{Code: string(code), Status: row.Status, Type: row.Type, RetryLater: row.Retry == Later})
	}
	return out
}
