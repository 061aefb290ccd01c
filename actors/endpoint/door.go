package endpoint

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agenthost/agenthost/actors/crash"
)

// Tool is what a door offers.
type Tool struct {
	Name, Description string
	// Schema is the JSON schema of the arguments; of anything but an object, or none,
	// a schema that takes every object.
	Schema json.RawMessage
}

// Call is one call of a tool. It is over when Context is done.
type Call struct {
	Context   context.Context
	Tool      string
	Arguments json.RawMessage // "{}" for none
}

// Content is a piece of a result: a text, or an image by its bytes.
type Content struct {
	Text  string
	Image []byte
	MIME  string
}

// Result is what a call gives. Failed says that the tool failed, which the contents
// explain.
type Result struct {
	Content []Content
	Failed  bool
}

// Door is one turn's address.
type Door struct {
	// URL is where it is; Token what a request must bear.
	URL, Token string

	server *Server
	path   string
	hash   [sha256.Size]byte
	mcp    http.Handler
	quit   chan struct{}
	once   sync.Once
}

// Open makes a door with tools; handle answers their calls, each on a goroutine of
// its own, and returns when the call's context is done. It may listen, so it is not
// for a Receive.
func (s *Server) Open(tools []Tool, handle func(Call) Result) (*Door, error) {
	base, err := s.address()
	if err != nil {
		return nil, err
	}
	d := &Door{server: s, path: "/" + random(16), Token: random(32), quit: make(chan struct{})}
	d.URL, d.hash = base+d.path, sha256.Sum256([]byte(d.Token))
	own := mcp.NewServer(&mcp.Implementation{Name: "agenthost", Version: "1"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	for _, t := range tools {
		// A read-only tool may be called beside others, which is how CLIs let two calls
		// of one breath come together; what it does is the caller's own affair.
		offered := &mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: schema(t.Schema), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}
		err := add(own, offered, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return d.call(ctx, req, handle), nil
		})
		if err != nil {
			return nil, err
		}
	}
	d.mcp = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return own }, &mcp.StreamableHTTPOptions{Stateless: true})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, http.ErrServerClosed
	}
	s.doors[d.path] = d
	return d, nil
}

// RefusedError says that a tool cannot be offered.
type RefusedError struct {
	Tool   string
	Reason any
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the tool %s cannot be offered: %v", e.Tool, e.Reason)
}

// add offers a tool. The SDK panics at one that it does not take, and schemas are
// written by callers.
func add(s *mcp.Server, t *mcp.Tool, h mcp.ToolHandler) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &RefusedError{Tool: t.Name, Reason: p}
		}
	}()
	s.AddTool(t, h)
	return nil
}

// Close ends the door and the calls at it. A nil door has nothing to end.
func (d *Door) Close() {
	if d == nil {
		return
	}
	d.once.Do(func() {
		close(d.quit)
		d.server.mu.Lock()
		delete(d.server.doors, d.path)
		d.server.mu.Unlock()
	})
}

func (d *Door) call(ctx context.Context, req *mcp.CallToolRequest, handle func(Call) Result) *mcp.CallToolResult {
	defer crash.Guard() // the SDK calls it in a goroutine of its own
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if r, ok := ctx.Value(requestKey{}).(request); ok {
		r.begin()
		defer r.end()
		// Nobody gets the result of a request that was given up.
		defer context.AfterFunc(r.Context, cancel)()
	}
	done := make(chan struct{})
	defer close(done)
	go func() { // ends with the call
		defer crash.Guard()
		select {
		case <-d.quit:
			cancel()
		case <-done:
		}
	}()
	args := req.Params.Arguments
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	r := handle(Call{Context: ctx, Tool: req.Params.Name, Arguments: args})
	out := &mcp.CallToolResult{IsError: r.Failed, Content: []mcp.Content{}}
	for _, c := range r.Content {
		if c.MIME != "" {
			out.Content = append(out.Content, &mcp.ImageContent{Data: c.Image, MIMEType: c.MIME})
			continue
		}
		out.Content = append(out.Content, &mcp.TextContent{Text: c.Text})
	}
	return out
}

// allowed compares the request's token in constant time.
func (d *Door) allowed(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	sum := sha256.Sum256([]byte(token))
	return ok && subtle.ConstantTimeCompare(sum[:], d.hash[:]) == 1
}

// schema is s if it describes an object.
func schema(s json.RawMessage) json.RawMessage {
	var m map[string]any // a struct would take "Type" for "type", which no schema means
	if json.Unmarshal(s, &m) == nil && m["type"] == "object" {
		return s
	}
	return json.RawMessage(`{"type":"object"}`)
}

func random(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails on the supported platforms
	return hex.EncodeToString(b)
}
