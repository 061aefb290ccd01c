package actors_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// asker is a script whose CLI may call functions and ask for permission. The calls are
// the test's: it dials the door that the CLI was given.
type asker struct{ script }

func (asker) PromptTool() spec.Function { return spec.Function{Name: "may_i"} }

func (asker) Prompt(arguments []byte) (agent.Prompt, error) {
	if strings.Contains(string(arguments), "panic") {
		panic("prompt")
	}
	var p agent.Prompt
	err := json.Unmarshal(arguments, &p)
	return p, err
}

func (asker) Permit(_ agent.Prompt, approved bool, reason string) string {
	if approved {
		return "yes"
	}
	return "no: " + reason
}

// desk is a host with an asker, and the doors of its turns in the order they opened.
type desk struct {
	*actors.Host
	t     *testing.T
	dir   string
	doors chan agent.HostServer
}

func newDesk(t *testing.T, l actors.Limits, st store.Store, more ...actors.Option) *desk {
	t.Helper()
	d := droppedDesk(t, t.TempDir(), l, st, more...)
	t.Cleanup(func() { stop(t, d.Host) })
	return d
}

func droppedDesk(t *testing.T, dir string, l actors.Limits, st store.Store, more ...actors.Option) *desk {
	t.Helper()
	if st == nil {
		st = memory.New()
	}
	d := &desk{t: t, dir: dir, doors: make(chan agent.HostServer, 16)}
	a := asker{script{functions: true, invocation: func(r *agent.Request, inv *agent.Invocation) {
		if r.Host != nil {
			inv.Env = append(inv.Env, r.Host.TokenEnv+"="+r.Host.Token)
			d.doors <- *r.Host
		}
	}}}
	d.Host = dropped(t, dir, l, st, append(more, with(a))...)
	return d
}

// visit is a running turn at whose door the test stands.
type visit struct {
	d             *desk
	session, turn event.ID
	gate          string // the CLI goes on when it opens
	door          agent.HostServer
	cli           *mcp.ClientSession
}

// visit begins a session whose CLI waits at a gate, and connects to its door.
func (d *desk) visit(perm spec.Permissions) *visit {
	d.t.Helper()
	v := &visit{d: d, gate: gateIn(d.t)}
	p, err := d.CreateSession(ctx(d.t), "alice", &spec.NewSession{
		Agent: spec.Agent{
			Adapter: "script", Model: "script", Permissions: perm,
			Functions: []spec.Function{{Name: "weather", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "time"}},
		},
		Input: input(blocker(v.gate) + "; [ ! -e " + v.gate + ".kill ] || kill -9 $$; echo '#final'"),
	})
	must(d.t, err)
	v.session, v.turn = p.Session.ID, p.Turns[0].ID
	v.enter()
	return v
}

// enter dials the next door, once the CLI runs: nobody else knows of it earlier.
func (v *visit) enter() {
	t := v.d.t
	t.Helper()
	select {
	case v.door = <-v.d.doors:
	case <-ctx(t).Done():
		t.Fatal("no door")
	}
	follow(t, v.d.Host, v.session, 0, spoke(v.turn))
	tr := &http.Transport{}
	c := mcp.NewClient(&mcp.Implementation{Name: "cli", Version: "1"}, nil)
	s, err := c.Connect(ctx(t), &mcp.StreamableClientTransport{
		Endpoint: v.door.URL, HTTPClient: &http.Client{Transport: token{v.door.Token, tr}}, DisableStandaloneSSE: true, MaxRetries: -1,
	}, nil)
	must(t, err)
	v.cli = s
	t.Cleanup(func() {
		_ = s.Close()
		tr.CloseIdleConnections()
	})
}

type token struct {
	token string
	next  http.RoundTripper
}

func (b token) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// told is what the CLI was told: the texts of a result, "failed: " before those of a
// failed one, or the error of the protocol.
type told chan string

func (v *visit) call(tool, args string) told { return v.callWithin(ctx(v.d.t), tool, args) }

func (v *visit) callWithin(c context.Context, tool, args string) told {
	out := make(told, 1)
	go func() {
		r, err := v.cli.CallTool(c, &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
		if err != nil {
			out <- "error: " + err.Error()
			return
		}
		var b strings.Builder
		if r.IsError {
			b.WriteString("failed: ")
		}
		for _, c := range r.Content {
			if text, ok := c.(*mcp.TextContent); ok {
				b.WriteString(text.Text)
			}
		}
		out <- b.String()
	}()
	return out
}

func (out told) is(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-out:
		if want != got && (!strings.HasSuffix(want, "…") || !strings.HasPrefix(got, strings.TrimSuffix(want, "…"))) {
			t.Errorf("the CLI was told %q, want %q", got, want)
		}
	case <-ctx(t).Done():
		t.Fatalf("the CLI was told nothing, want %q", want)
	}
}

// asked waits until the turn asks n things and gives them.
func (v *visit) asked(n int) []*event.Item {
	t := v.d.t
	t.Helper()
	var items []*event.Item
	eventually(t, "the turn asks", func() bool {
		s, err := v.d.Session(ctx(t), "alice", v.session)
		must(t, err)
		items = s.Required
		return len(items) == n
	})
	return items
}

// waiting waits until the turn asks something and its slot is given back.
func (v *visit) waiting(n int) []*event.Item {
	items := v.asked(n)
	eventually(v.d.t, "the slot is given back", func() bool { return v.d.Stats().Parked > 0 })
	return items
}

func (v *visit) post(actions ...spec.Action) error {
	_, err := v.d.Post(ctx(v.d.t), "alice", v.session, actions, nil)
	return err
}

func output(it *event.Item, text string) spec.Action {
	return spec.Action{Answer: &spec.Answer{Item: it.ID, Output: text}}
}

// end opens the gate and reads the turn's end.
func (v *visit) end() *event.End {
	openGate(v.d.t, v.gate)
	return v.ended()
}

func (v *visit) ended() *event.End {
	v.d.t.Helper()
	return outcome(v.d.t, follow(v.d.t, v.d.Host, v.session, 0, ended(v.turn)))
}

func refusedWith(t *testing.T, err error, code event.Code) {
	t.Helper()
	if event.CodeOf(err) != code {
		t.Errorf("%v, want %s", err, code)
	}
}
