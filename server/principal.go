package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/apierr"
)

// Principal is who may come in, and with which tokens.
type Principal struct {
	ID    string
	Roles []string
	// Token is its token; Tokens are further ones.
	Token  string
	Tokens []Token
	// RequestsPerMinute bounds its requests; 0 is the server's bound.
	RequestsPerMinute int
}

// Token is one token of a principal, as its digest.
type Token struct {
	Digest [sha256.Size]byte
	// Expires is when it ends; the zero time is never.
	Expires time.Time
}

// Digest is what is kept of a token.
func Digest(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// Roles that mean something without a policy.
const (
	RoleAdmin = "admin"
	RoleDev   = "dev"
)

// Anonymous is everyone on a server without tokens.
const Anonymous = "anonymous"

// keyring knows the tokens, as digests of one length. It is not changed after it was
// made: another one takes its place.
type keyring struct {
	keys []key
	now  func() time.Time
}

type key struct {
	digest  [sha256.Size]byte
	expires time.Time
	holder  *holder
}

type holder struct {
	id        string
	admin     bool
	perMinute int // 0: the server's
	// places are where it came from with a valid token.
	places *places
}

// everyone is the holder of a server without tokens.
var everyone = &holder{id: Anonymous, admin: true}

// newKeyring makes a keyring. What is known of principals that were in the old one,
// which may be nil, stays known.
func newKeyring(list []Principal, old *keyring) (*keyring, error) {
	known := map[string]*places{}
	if old != nil {
		for i := range old.keys {
			known[old.keys[i].holder.id] = old.keys[i].holder.places
		}
	}
	k := &keyring{now: time.Now}
	ids, digests := map[string]bool{}, map[[sha256.Size]byte]string{}
	for _, p := range list {
		tokens := slices.Clone(p.Tokens)
		if p.Token != "" {
			tokens = append(tokens, Token{Digest: Digest(p.Token)})
		}
		switch {
		case p.ID == "" || len(tokens) == 0:
			return nil, fmt.Errorf("server: principal %q: id and token must be set", p.ID)
		case ids[p.ID]:
			return nil, fmt.Errorf("server: principal %q is there twice; give one all its tokens", p.ID)
		}
		ids[p.ID] = true
		h := &holder{id: p.ID, admin: slices.Contains(p.Roles, RoleAdmin), perMinute: p.RequestsPerMinute, places: known[p.ID]}
		if h.places == nil {
			h.places = &places{}
		}
		for _, t := range tokens {
			if other, twice := digests[t.Digest]; twice {
				return nil, fmt.Errorf("server: principals %q and %q have the same token", other, p.ID)
			}
			digests[t.Digest] = p.ID
			k.keys = append(k.keys, key{digest: t.Digest, expires: t.Expires, holder: h})
		}
	}
	return k, nil
}

// open says that there is no token, so everyone is admin.
func (k *keyring) open() bool { return len(k.keys) == 0 }

// A token that is unknown and one that has expired are one answer: which it was is
// the business of who holds the valid ones.
var (
	errUnauthorized = event.Fail(apierr.Unauthorized, "this server needs a token; send it as Authorization: Bearer TOKEN or X-Access-Token: TOKEN")
	errWrongToken   = event.Fail(apierr.Unauthorized, "the token is not known here; check the value of Authorization: Bearer or X-Access-Token")
	errAmbiguous    = event.Fail(apierr.AmbiguousCredentials, "the request carries two different valid tokens; send one")
)

// who finds the holder of the request's token. A token counts in the
// Authorization and X-Access-Token headers only: a query ends up in logs. Of an
// expired token stale is whose it was, for the audit.
func (k *keyring) who(h *fasthttp.RequestHeader) (found, stale *holder, err error) {
	if k.open() {
		return everyone, nil, nil
	}
	presented := false
	for _, token := range presentedTokens(h) {
		presented = true
		one := k.find(token)
		switch {
		case one == nil:
		case !one.expires.IsZero() && !k.now().Before(one.expires):
			stale = one.holder
		case found != nil && found != one.holder:
			return nil, nil, errAmbiguous
		default:
			found = one.holder
		}
	}
	switch {
	case found != nil:
		return found, nil, nil
	case presented:
		return nil, stale, errWrongToken
	}
	return nil, nil, errUnauthorized
}

// find compares with every token, so that time tells nothing.
func (k *keyring) find(token string) *key {
	digest := Digest(token)
	at := -1
	for i := range k.keys {
		at = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(digest[:], k.keys[i].digest[:]), i, at)
	}
	if at < 0 {
		return nil
	}
	return &k.keys[at]
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
