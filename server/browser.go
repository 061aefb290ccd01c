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
// carries requests of strangers' pages. Such a page shows itself by its Origin, by
// Sec-Fetch-Site where a browser sends no Origin, or, when its name was made to resolve
// to this machine (DNS rebinding), by a Host that is a public name. A server with a list
// of its names answers to no other, whoever asks.
var (
	errOrigin = event.Fail(apierr.Forbidden, "this server has no token, so it does not take requests that a web page of another site sends; set a token, or list the page's origin in web.origins")
	errHost   = event.Fail(apierr.Forbidden, "this server has no token and only answers to names of this machine; set a token, list the name in web.hosts, or set auth.allow_anonymous if a gateway guards it")
	errName   = event.Fail(apierr.Forbidden, "this server does not answer to this name; its own are in web.hosts")
)

// foreign refuses what a stranger's page sends to a server without a token, and what is
// for another name than the server's.
func (s *Server) foreign(h *fasthttp.RequestHeader) error {
	host := hostname(string(h.Host()))
	if len(s.cfg.Hosts) > 0 && !literal(host) && !ofThisMachine(host) && !s.named(host) {
		return errName
	}
	if !s.keys.Load().open() || s.cfg.AllowAnonymous || !s.loopback.Load() {
		return nil
	}
	origin := string(h.Peek("Origin"))
	switch {
	case s.allowedOrigin(h) != "":
	case origin != "":
		if u, err := url.Parse(origin); err != nil || !ofThisMachine(u.Hostname()) {
			return errOrigin
		}
	case string(h.Peek("Sec-Fetch-Site")) == "cross-site":
		return errOrigin
	}
	// A name without a dot is not a public one.
	if strings.Contains(host, ".") && !ofThisMachine(host) && !s.named(host) {
		return errHost
	}
	return nil
}

// hostname is a Host header without its port and last dot, in lower case.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// literal says that a host is an address: nobody can make it mean another.
func literal(host string) bool { return net.ParseIP(strings.Trim(host, "[]")) != nil }

// named says that a host is one of the server's own.
func (s *Server) named(host string) bool {
	for _, own := range s.cfg.Hosts {
		if suffix, many := strings.CutPrefix(own, "*"); host == own || many && strings.HasSuffix(host, suffix) {
			return true
		}
	}
	return false
}

func ofThisMachine(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}
