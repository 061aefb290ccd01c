package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

const zero = "00000000000000000000000000000000"

// each plays calls that are refused alike.
func each(status int, code string, calls map[string]func(openai.Client) error, more ...option.RequestOption) {
	for name, call := range calls {
		refused(status, code, fmt.Sprint(status, "_", name), call, more...)
	}
}

func creating(text string, more ...option.RequestOption) func(openai.Client) error {
	return func(c openai.Client) error {
		_, err := c.Responses.New(ctx, asking(text), more...)
		return err
	}
}

func streaming(text string) func(openai.Client) error {
	return func(c openai.Client) error {
		s := c.Responses.NewStreaming(ctx, asking(text))
		s.Next()
		return s.Err()
	}
}

var _ = add(map[string]func(){
	"refused_400": func() {
		each(400, "", map[string]func(openai.Client) error{
			"no_input": func(c openai.Client) error {
				_, err := c.Responses.New(ctx, responses.ResponseNewParams{Model: "codex"})
				return err
			},
			"bad_limit": func(c openai.Client) error {
				_, err := c.Beta.Agents.List(ctx, openai.BetaAgentListParams{Limit: openai.Int(1000)})
				return err
			},
			"no_agent": func(c openai.Client) error {
				_, err := c.Beta.Agents.Sessions.New(ctx, openai.BetaAgentSessionNewParams{Environment: none})
				return err
			},
		})
	},
	"refused_401": func() {
		each(401, "", map[string]func(openai.Client) error{"wrong_key": creating("x"), "wrong_key_stream": streaming("x")}, option.WithAPIKey("wrong"))
	},
	"refused_403": func() {
		each(403, "permission_denied", map[string]func(openai.Client) error{
			"respond": creating("x"), "stream": streaming("x"),
			"upload": func(c openai.Client) error { _, err := c.Files.New(ctx, upload("x", "x")); return err },
		}, option.WithAPIKey(os.Getenv("READER_API_KEY")))
	},
	"refused_404": func() {
		each(404, "", map[string]func(openai.Client) error{
			"response": func(c openai.Client) error {
				_, err := c.Responses.Get(ctx, "resp_"+zero, responses.ResponseGetParams{})
				return err
			},
			"stream": func(c openai.Client) error {
				s := c.Responses.GetStreaming(ctx, "resp_"+zero, responses.ResponseGetParams{})
				s.Next()
				return s.Err()
			},
			"agent":   func(c openai.Client) error { _, err := c.Beta.Agents.Get(ctx, "agent_"+zero); return err },
			"session": func(c openai.Client) error { _, err := c.Beta.Agents.Sessions.Get(ctx, "agsess_"+zero); return err },
			"events": func(c openai.Client) error {
				return c.Beta.Agents.Sessions.Events.New(ctx, "agsess_"+zero, inputs(message("x")))
			},
			"model": func(c openai.Client) error { _, err := c.Models.Get(ctx, "no such model"); return err },
			"file":  func(c openai.Client) error { _, err := c.Files.Get(ctx, "file-"+zero); return err },
		})
	},
	"refused_409": func() {
		s := sessionWith("hello")
		for name, create := range map[string]func(c openai.Client, text string, key option.RequestOption) (string, error){
			"response": func(c openai.Client, text string, key option.RequestOption) (string, error) {
				r, err := c.Responses.New(ctx, asking(text), key)
				if err != nil {
					return "", err
				}
				return r.ID, nil
			},
			"session": func(c openai.Client, text string, key option.RequestOption) (string, error) {
				s, err := c.Beta.Agents.Sessions.New(ctx, newSession(text), key)
				if err != nil {
					return "", err
				}
				return s.ID, nil
			},
			"events": func(c openai.Client, text string, key option.RequestOption) (string, error) {
				return "", c.Beta.Agents.Sessions.Events.New(ctx, s.ID, inputs(message(text)), key)
			},
			"agent": func(c openai.Client, text string, key option.RequestOption) (string, error) {
				a, err := c.Beta.Agents.New(ctx, openai.BetaAgentNewParams{Model: "codex", Instructions: openai.String(text)}, key)
				if err != nil {
					return "", err
				}
				return a.ID, nil
			},
			"file": func(c openai.Client, text string, key option.RequestOption) (string, error) {
				f, err := c.Files.New(ctx, upload(text, "x.txt"), key)
				if err != nil {
					return "", err
				}
				return f.ID, nil
			},
		} {
			key := option.WithHeader("Idempotency-Key", name+"-"+s.ID)
			first := must(create(client, "one", key))
			eq(must(create(client, "one", key)), first)
			refused(409, "idempotency.mismatch", "mismatch_"+name, func(c openai.Client) error { _, err := create(c, "two", key); return err })
		}
		idle(s.ID)
		eq(len(whole(sessions.Turns.List(ctx, s.ID, openai.BetaAgentSessionTurnListParams{})).Data), 2)
		refused(409, "runtime_not_installed", "ghost", func(c openai.Client) error {
			p := asking("x")
			p.Model = "ghost"
			_, err := c.Responses.New(ctx, p)
			return err
		})
	},
	"refused_413": func() {
		big := strings.Repeat("x", 3<<20)
		each(413, "request_too_large", map[string]func(openai.Client) error{
			"response": creating(big), "stream": streaming(big),
			"upload": func(c openai.Client) error { _, err := c.Files.New(ctx, upload(big, "big")); return err },
		})
		refused(413, "agents.file_too_large", "large_file", func(c openai.Client) error { _, err := c.Files.New(ctx, upload(big[:1<<20+1], "big")); return err })
	},
	"refused_429": func() {
		s := busy("[[wait: 30000]]")
		e := refused(429, "queue_full", "full", func(c openai.Client) error {
			return c.Beta.Agents.Sessions.Events.New(ctx, s, inputs(message("x")))
		}, option.WithMaxRetries(0))
		if after, _ := strconv.Atoi(e.Response.Header.Get("Retry-After")); after <= 0 || e.Response.Header.Get("X-Should-Retry") != "" {
			fail("%v", e.Response.Header)
		}
		whole(sessions.Delete(ctx, s))
	},
	"refused_429_is_asked_again": func() {
		s := busy("[[wait: 700]]")
		c := counted("busy", option.WithMaxRetries(9))
		ok(c.Beta.Agents.Sessions.Events.New(ctx, s, inputs(message("[[say: three]]")))) // the SDK waits as long as it was told
		if n, _ := strconv.Atoi(requestsOf("busy")); n < 2 || n > 4 {
			fail("%d requests", n)
		}
		idle(s)
	},
})

// busy is a session whose queue is full behind a running turn.
func busy(prompt string) string {
	s := sessionWith("hello")
	ok(sessions.Events.New(ctx, s.ID, inputs(message(prompt))))
	until(func() bool {
		for _, t := range whole(sessions.Turns.List(ctx, s.ID, openai.BetaAgentSessionTurnListParams{})).Data {
			if t.Status == "in_progress" {
				return true
			}
		}
		return false
	})
	ok(sessions.Events.New(ctx, s.ID, inputs(message("[[say: one]]"), message("[[say: two]]"))))
	return s.ID
}
