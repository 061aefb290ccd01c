package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/agenthost/agenthost/actors/crash"
	"github.com/agenthost/agenthost/actors/event"
)

// remote asks a running server on its Responses wire and prints the stream.
func (v *runVerb) remote(ctx context.Context, c *console, prompt string, interrupted <-chan os.Signal) error {
	base, err := baseURL(v.URL)
	if err != nil {
		return exit(exitUsage, err)
	}
	r := &remote{base: base, token: v.Token, client: &http.Client{}}
	model, header := v.Model, http.Header{}
	if v.Agent != "" {
		adapter, err := r.adapter(ctx, v.Agent)
		switch {
		case err != nil:
			return exit(exitFailed, err)
		case model == "":
			model = v.Agent
		case !adapter:
			return exit(exitFailed, fmt.Errorf("%s is a saved agent of the server, which has its own model; leave out --model", v.Agent))
		default:
			header.Set("X-ABX-Adapter", v.Agent)
		}
	}
	if model == "" {
		if model, err = r.defaultModel(ctx); err != nil {
			return exit(exitFailed, err)
		}
	}
	say(c.err, "agent %s · server %s · workdir, home and permissions are the server's%s", model, r.base, v.notRead())
	body, err := json.Marshal(map[string]any{"model": model, "input": prompt, "stream": true})
	if err != nil {
		return exit(exitFailed, err)
	}
	res, err := r.send(ctx, http.MethodPost, "/v1/responses", header, body)
	if err != nil {
		return exit(exitFailed, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return exit(exitFailed, refused(res))
	}
	return r.follow(ctx, c, res.Body, v.JSON, interrupted)
}

// remote is a server as a client sees it.
type remote struct {
	base, token string
	client      *http.Client
}

func (r *remote) send(ctx context.Context, method, path string, header http.Header, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", r.base, err)
	}
	for k, vs := range header {
		req.Header[k] = vs
	}
	req.Header.Set("Content-Type", "application/json")
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	return r.client.Do(req)
}

// baseURL is where the server's routes begin.
func baseURL(text string) (string, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("%q is no address of a server; write it as http://HOST:PORT", text)
	}
	return strings.TrimRight(text, "/"), nil
}

// listed is an entry of the server's lists: an adapter, or a model.
type listed struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Aliases []string `json:"aliases"`
	Default bool     `json:"default"`
}

func (r *remote) list(ctx context.Context, path string) ([]listed, error) {
	res, err := r.send(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, refused(res)
	}
	var list struct {
		Data []listed `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 16<<20)).Decode(&list); err != nil {
		return nil, fmt.Errorf("read the list %s of the server: %w", path, err)
	}
	return list.Data, nil
}

// adapter says whether name is an adapter of the server, or else a saved agent. A
// name that is neither is refused: the server would take it for a model.
func (r *remote) adapter(ctx context.Context, name string) (bool, error) {
	adapters, err := r.list(ctx, "/v1/agents/runtimes")
	if err != nil {
		return false, err
	}
	var has []string
	for _, one := range adapters {
		if one.Name == name || slices.Contains(one.Aliases, name) {
			return true, nil
		}
		has = append(has, one.Name)
	}
	models, err := r.list(ctx, "/v1/models")
	if err != nil {
		return false, err
	}
	for _, one := range models {
		if one.ID == name {
			return false, nil
		}
		if !slices.Contains(has, one.ID) {
			has = append(has, one.ID)
		}
	}
	if strings.HasPrefix(name, event.PrefixAgent) { // agents are listed by name; this one may be there
		return false, nil
	}
	return false, fmt.Errorf("the server has no agent or adapter %q; it has %s; use --model for a model", name, strings.Join(has, ", "))
}

// defaultModel is the adapter that the server takes by default.
func (r *remote) defaultModel(ctx context.Context) (string, error) {
	adapters, err := r.list(ctx, "/v1/agents/runtimes")
	if err != nil {
		return "", err
	}
	for _, one := range adapters {
		if one.Default {
			return one.Name, nil
		}
	}
	return "", errors.New("the server has no default agent; name one with --agent")
}

// refused reads a refusal.
func refused(res *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	var envelope struct {
		Error struct {
			Message string `json:"message"`
			Code    string `json:"code"`
		} `json:"error"`
	}
	if err == nil && json.Unmarshal(b, &envelope) == nil && envelope.Error.Message != "" {
		return fmt.Errorf("the server refused: %s (%s)", envelope.Error.Message, envelope.Error.Code)
	}
	return fmt.Errorf("the server answered %s", res.Status)
}

// frame is what is read of a stream's event.
type frame struct {
	Type     string `json:"type"`
	Delta    string `json:"delta"`
	Response *struct {
		ID     string `json:"id"`
		Status string `json:"status"`
		Error  *struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	} `json:"response"`
	Item *struct {
		Type      string `json:"type"`
		Name      string `json:"name"`
		Server    string `json:"server_label"`
		Arguments string `json:"arguments"`
	} `json:"item"`
}

// follow prints the stream until its terminal event. Ctrl-C asks the server to
// cancel; a second one leaves.
func (r *remote) follow(ctx context.Context, c *console, body io.Reader, asJSON bool, interrupted <-chan os.Signal) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := make(chan []byte)
	go readData(ctx, body, lines)
	out := &printer{out: c.out, err: c.err, json: asJSON}
	id, cancelled := "", false
	for {
		select {
		case <-interrupted:
			if cancelled || id == "" {
				return exit(exitCancelled, errors.New("left; the turn may go on at the server"))
			}
			cancelled = true
			say(c.err, "cancelling; once more to leave at once")
			if err := r.cancel(ctx, id); err != nil {
				return exit(exitFailed, err)
			}
		case line, ok := <-lines:
			if !ok {
				return exit(exitFailed, errors.New("the server ended the stream before the turn ended"))
			}
			var f frame
			if err := json.Unmarshal(line, &f); err != nil {
				return exit(exitFailed, fmt.Errorf("read the server's stream: %w", err))
			}
			if f.Response != nil {
				id = f.Response.ID
			}
			if asJSON {
				out.write(string(line) + "\n")
			} else {
				out.frame(&f)
			}
			if out.failed != nil {
				return exit(exitFailed, out.failed)
			}
			if done, err := f.end(); done {
				out.endLine()
				return err
			}
		}
	}
}

// readData sends the data of each event; it ends with body or ctx.
func readData(ctx context.Context, body io.Reader, lines chan<- []byte) {
	defer crash.Guard()
	defer close(lines)
	b := bufio.NewReaderSize(body, 64<<10)
	for {
		line, err := b.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			select {
			case lines <- bytes.TrimSpace(data):
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (r *remote) cancel(ctx context.Context, id string) error {
	ctx, end := context.WithTimeout(ctx, 30*time.Second)
	defer end()
	res, err := r.send(ctx, http.MethodPost, "/v1/responses/"+id+"/cancel", nil, nil)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return refused(res)
	}
	return nil
}

// frame prints one event of the Responses wire for a person.
func (p *printer) frame(f *frame) {
	switch f.Type {
	case "response.output_text.delta":
		p.write(f.Delta)
		p.open = !strings.HasSuffix(f.Delta, "\n")
	case "response.output_item.done":
		if f.Item == nil || f.Item.Type != "mcp_call" {
			p.endLine()
			return
		}
		var args struct {
			Command string `json:"command"`
		}
		if f.Item.Name == "command_execution" && json.Unmarshal([]byte(f.Item.Arguments), &args) == nil {
			p.note("$ %s", args.Command)
			return
		}
		p.note("tool %s.%s", f.Item.Server, f.Item.Name)
	}
}

// end says whether the event is the last one, and how the turn ended.
func (f *frame) end() (bool, error) {
	switch f.Type {
	case "response.completed":
		return true, nil
	case "response.failed", "response.incomplete":
		if f.Response == nil {
			return true, verdict(event.Failed, nil)
		}
		if f.Response.Status == "cancelled" {
			return true, verdict(event.Cancelled, nil)
		}
		if e := f.Response.Error; e != nil {
			return true, verdict(event.Failed, event.Fail(event.Code(e.Code), e.Message))
		}
		return true, verdict(event.Failed, nil)
	}
	return false, nil
}
