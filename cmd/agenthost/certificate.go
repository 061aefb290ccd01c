package main

import (
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/agenthost/agenthost/actors/crash"
	"github.com/agenthost/agenthost/cmd/config"
	"github.com/agenthost/agenthost/server"
)

// openCertificate reads what the server proves itself with, nil without one, and reads
// it again on each SIGHUP until end.
func openCertificate(cfg *config.Config, log *slog.Logger) (c *server.Certificate, end func(), err error) {
	if cfg.TLSCert == "" {
		return nil, func() {}, nil
	}
	if c, err = server.LoadCertificate(cfg.TLSCert, cfg.TLSKey); err != nil {
		return nil, nil, fmt.Errorf("tls_cert and tls_key: %w; name a PEM file of the certificate and one of its key that this user may read", err)
	}
	hangups, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		defer crash.Guard()
		defer close(done)
		for range hangups {
			if err := c.Reload(); err != nil {
				log.Error("the certificate was not read again; the one before stays in use", "error", err)
				continue
			}
			log.Info("certificate read again", "file", cfg.TLSCert)
		}
	}()
	return c, func() {
		signal.Stop(hangups)
		close(hangups)
		<-done
	}, nil
}

// scheme begins the URL of the server.
func scheme(cfg *config.Config) string {
	if cfg.TLSCert != "" {
		return "https://"
	}
	return "http://"
}

func lowered(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.ToLower(s)
	}
	return out
}
