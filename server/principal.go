package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/apierr"
)

// Principal is who may come in with one token.
type Principal struct {
	ID    string
	Roles []string
	Token string
	// SHA256 is the digest of the token in hex, where Token is not known.
	SHA256 string
	// RequestsPerMinute bounds its requests; 0 is the server's bound.
	RequestsPerMinute int
}

// Roles that mean something without a policy.
const (
	RoleAdmin = "admin"
	RoleDev   = "dev"
)

// Anonymous is everyone on a server without tokens.
const Anonymous = "anonymous"

// keyring knows the tokens, as digests of one length.
type keyring struct {
	holders []holder
}

type holder struct {
	id        string
	admin     bool
	perMinute int // 0: the server's
	digest    [sha256.Size]byte
}

func newKeyring(list []Principal) *keyring {
	k := &keyring{}
	for _, p := range list {
		h := holder{id: p.ID, admin: slices.Contains(p.Roles, RoleAdmin), digest: sha256.Sum256([]byte(p.Token)), perMinute: p.RequestsPerMinute}
		if p.Token == "" {
			if n, err := hex.Decode(h.digest[:], []byte(p.SHA256)); err != nil || n != sha256.Size {
				continue // Config.fill has refused it
			}
		}
		k.holders = append(k.holders, h)
	}
	return k
}

// open says that there is no token, so everyone is admin.
func (k *keyring) open() bool { return len(k.holders) == 0 }

var (
	errUnauthorized = event.Fail(apierr.Unauthorized, "this server needs a token; send it as Authorization: Bearer TOKEN or X-Access-Token: TOKEN")
	errWrongToken   = event.Fail(apierr.Unauthorized, "the token is not known here; check the value of Authorization: Bearer or X-Access-Token")
	errAmbiguous    = event.Fail(apierr.AmbiguousCredentials, "the request carries two different valid tokens; send one")
)

// who finds the holder of the request's token. A token counts in the
// Authorization and X-Access-Token headers only: a query ends up in logs.
func (k *keyring) who(h *fasthttp.RequestHeader) (*holder, error) {
	if k.open() {
		return &holder{id: Anonymous, admin: true}, nil
	}
	var found *holder
	presented := false
	for _, token := range presentedTokens(h) {
		presented = true
		one := k.find(token)
		if one == nil {
			continue
		}
		if found != nil && found != one {
			return nil, errAmbiguous
		}
		found = one
	}
	switch {
	case found != nil:
		return found, nil
	case presented:
		return nil, errWrongToken
	}
	return nil, errUnauthorized
}

// find compares with every holder, so that time tells nothing.
func (k *keyring) find(token string) *holder {
	digest := sha256.Sum256([]byte(token))
	at := -1
	for i := range k.holders {
		at = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(digest[:], k.holders[i].digest[:]), i, at)
	}
	if at < 0 {
		return nil
	}
	return &k.holders[at]
}

// presentedTokens lists the tokens of a request. The scheme's case and the
// spaces or tabs around the token do not matter.
func presentedTokens(h *fasthttp.RequestHeader) []string {
	var out []string
	for _, v := range h.PeekAll("Authorization") {
		value := strings.Trim(string(v), " \t")
		at := strings.IndexAny(value, " \t")
		if at < 0 || !strings.EqualFold(value[:at], "bearer") {
			continue
		}
		if token := strings.Trim(value[at:], " \t"); token != "" {
			out = append(out, token)
		}
	}
	for _, v := range h.PeekAll("X-Access-Token") {
		if token := strings.Trim(string(v), " \t"); token != "" {
			out = append(out, token)
		}
	}
	return out
}
