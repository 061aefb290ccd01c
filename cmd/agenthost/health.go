package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

type healthVerb struct {
	Host    string        `placeholder:"ADDRESS" help:"Address of the server. Default: that of the configured listen."`
	Port    *int          `placeholder:"PORT" help:"Port of the server. Default: that of the configured listen."`
	Timeout time.Duration `default:"5s" help:"Longest wait."`
	settings
}

// Run asks GET /health, as container health checks do.
func (v *healthVerb) Run(c *console) error {
	address, secure, err := v.address()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), v.Timeout)
	defer cancel()
	url := "http://" + address + "/health"
	if secure {
		url = "https://" + address + "/health"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return exit(exitUsage, err)
	}
	client := &http.Client{Transport: &http.Transport{
		Proxy: nil, DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // it asks an address whether it lives, and says nothing
	}}
	res, err := client.Do(req)
	if err != nil {
		return exit(exitFailed, fmt.Errorf("not healthy: %w", err))
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20))
	if res.StatusCode != http.StatusOK {
		return exit(exitFailed, fmt.Errorf("not healthy: %s answered %s", url, res.Status))
	}
	say(c.out, "ok")
	return nil
}

// address is where the server listens, and whether by TLS, as --host and --port or else the
// configuration say. Of the configuration only listen counts: the check may run
// without the variables that hold the server's tokens.
func (v *healthVerb) address() (address string, secure bool, err error) {
	host, port := "127.0.0.1", "9000"
	cfg, _, err := v.load(nil)
	secure = cfg.TLSCert != ""
	if v.Host == "" || v.Port == nil {
		if err != nil && v.File != "" && cfg.File == "" {
			return "", false, err
		}
		if host, port, err = net.SplitHostPort(cfg.Listen); err != nil {
			return "", false, exit(exitUsage, fmt.Errorf("the configured listen: %w", err))
		}
		switch host { // every address of the machine: this one too
		case "", "0.0.0.0":
			host = "127.0.0.1"
		case "::":
			host = "::1"
		}
	}
	if v.Host != "" {
		host = v.Host
	}
	if v.Port != nil {
		port = strconv.Itoa(*v.Port)
	}
	if port == "0" {
		return "", false, exit(exitUsage, errors.New("the configured port is 0, any free one; name it with --port"))
	}
	return net.JoinHostPort(host, port), secure, nil
}
