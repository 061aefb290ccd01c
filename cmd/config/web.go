package config

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/agenthost/agenthost/actors/spec"
)

// checkWeb judges what browsers may do, and the certificate.
func (l *loader) checkWeb() {
	c := l.cfg
	c.TLSCert, c.TLSKey = l.directory("tls_cert", c.TLSCert), l.directory("tls_key", c.TLSKey)
	switch {
	case c.TLSCert != "" && c.TLSKey == "":
		l.fault("tls_cert", "", "has no key", "name the file of its key with tls_key")
	case c.TLSKey != "" && c.TLSCert == "":
		l.fault("tls_key", "", "has no certificate", "name the file of its certificate with tls_cert")
	}
	for i, host := range c.Web.Hosts {
		if !spec.ValidHostPattern(host) || host == "*" {
			l.fault(fmt.Sprintf("web.hosts[%d]", i), host, "is not a host", "write a name such as agents.example.com, or *.example.com for all below it; without scheme, port and path")
		}
	}
	for i, origin := range c.Web.Origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Scheme+"://"+u.Host != origin || strings.Contains(origin, "*") || origin != strings.ToLower(origin) {
			l.fault(fmt.Sprintf("web.origins[%d]", i), origin, "is not an origin", "write scheme, name and port as a browser sends them, such as https://console.example.com or http://localhost:5173; * is never one")
		}
	}
}
