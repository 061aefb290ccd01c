package server

import (
	"net"
	"net/url"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/apierr"
)

// A server without a token trusts everyone on this machine, and a browser there
// carries requests of strangers' pages. Such a page shows itself by its Origin,
// or, when its name was made to resolve to this machine, by a Host that is a
// public name.
var (
	errOrigin = event.Fail(apierr.Forbidden, "this server has no token, so it does not take requests that a web page of another site sends; set a token")
	errHost   = event.Fail(apierr.Forbidden, "this server has no token and only answers to names of this machine; set a token, or auth.allow_anonymous if a gateway guards it")
)

// foreign refuses what a stranger's page sends to a server without a token.
func (s *Server) foreign(h *fasthttp.RequestHeader) error {
	if !s.keys.Load().open() || s.cfg.AllowAnonymous || !s.loopback.Load() {
		return nil
	}
	if origin := string(h.Peek("Origin")); origin != "" {
		if u, err := url.Parse(origin); err != nil || !ofThisMachine(u.Hostname()) {
			return errOrigin
		}
	}
	host := string(h.Host())
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	// A name without a dot is not a public one.
	if strings.Contains(strings.TrimSuffix(host, "."), ".") && !ofThisMachine(host) {
		return errHost
	}
	return nil
}

func ofThisMachine(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}
