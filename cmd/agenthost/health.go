package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

type healthVerb struct {
	Host    string        `default:"127.0.0.1" help:"Address of the server."`
	Port    int           `default:"9000" help:"Port of the server."`
	Timeout time.Duration `default:"5s" help:"Longest wait."`
}

// Run asks GET /health, as container health checks do.
func (v *healthVerb) Run(c *console) error {
	ctx, cancel := context.WithTimeout(context.Background(), v.Timeout)
	defer cancel()
	url := "http://" + net.JoinHostPort(v.Host, strconv.Itoa(v.Port)) + "/health"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return exit(exitUsage, err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
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
