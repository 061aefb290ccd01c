package audit

import (
	"time"

	jsoniter "github.com/json-iterator/go"
)

var json = jsoniter.ConfigCompatibleWithStandardLibrary

// Decision is what was decided about an act.
type Decision string

// Decisions. An act that was allowed may still have failed: see Record.Status.
const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
)

// Operations that are no route of the server.
const (
	OpStart  = "server.start"
	OpStop   = "server.stop"
	OpReload = "config.reload"
	// OpGap stands where records are missing.
	OpGap = "audit.gap"
)

// Record is one act. Fields that do not belong to it are left out of its line.
type Record struct {
	Time time.Time `json:"time"`
	// Request is the x-request-id.
	Request   string `json:"request,omitempty"`
	Principal string `json:"principal,omitempty"`
	// Address is where the request came from: the peer of the connection.
	Address   string   `json:"address,omitempty"`
	Operation string   `json:"operation"`
	Decision  Decision `json:"decision,omitempty"`
	// Statement is the rule that decided.
	Statement string `json:"statement,omitempty"`
	// Status and Code are what was answered.
	Status int    `json:"status,omitempty"`
	Code   string `json:"code,omitempty"`
	// Session and Agent are ids; Object is that of what else the act was about.
	Session string `json:"session,omitempty"`
	Agent   string `json:"agent,omitempty"`
	Object  string `json:"object,omitempty"`
	// Owner is whose the object is, when that is not the principal.
	Owner string `json:"owner,omitempty"`
	// Detail is a sentence of the host itself, never of a caller.
	Detail string `json:"detail,omitempty"`
	// Lost is how many records are missing before the next one, of OpGap.
	Lost int64 `json:"lost,omitempty"`
}

// Concerns says that principal did the act or owns what it was about.
func (r *Record) Concerns(principal string) bool {
	return r.Principal == principal || r.Owner == principal
}
