package server

import (
	"crypto/tls"
	"fmt"
	"sync/atomic"
)

// Certificate is what a server proves itself with: two files, read again on Reload.
type Certificate struct {
	cert, key string
	now       atomic.Pointer[tls.Certificate]
}

// LoadCertificate reads the files, in PEM.
func LoadCertificate(cert, key string) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key}
	return c, c.Reload()
}

// Reload reads the files again. If that fails, what was read before stays in use.
func (c *Certificate) Reload() error {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("the certificate %s with the key %s: %w", c.cert, c.key, err)
	}
	c.now.Store(&pair)
	return nil
}

// config is the server's side of TLS. Streams need no HTTP/2, which the library does
// not speak.
func (c *Certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return c.now.Load(), nil
		},
	}
}
