package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/server/audit"
	"github.com/agenthost/agenthost/wires/responses"
	"github.com/agenthost/agenthost/wires/sse"
)

// Config is what a Server is made of. Zero fields get the values that they name.
type Config struct {
	// Host is the engine. Required.
	Host Host
	// Principals are who may come in; with none everyone is admin, and only
	// loopback addresses are served unless AllowAnonymous.
	Principals     []Principal
	AllowAnonymous bool
	// Audit is the book of security-relevant acts; nil keeps none.
	Audit *audit.Log
	// Adapters are the mounted ones, which are models of the Responses wire.
	Adapters []responses.Adapter
	// Hosted accepts environments of type openai_hosted.
	Hosted bool
	// CancelWait is how long responses.cancel waits for the turn's end: a little
	// more than the kill ladder takes.
	CancelWait time.Duration
	// Install is how an adapter's CLI is installed, argument lists by name.
	Install map[string][][]string
	// AllowInstall lets callers install CLIs.
	AllowInstall bool
	// Policy is what each principal may do. Nil lets the roles admin and dev do
	// everything, and others nothing.
	Policy *policy.Roster
	// Groups that are served; the others answer 404 endpoint_disabled.
	Groups []string
	// RequestsPerMinute bounds the requests of each principal that has no bound of its
	// own. No bound
	RequestsPerMinute int
	// MaxConnections bounds the open connections, streams among them. 50,000
	MaxConnections int
	// MaxAddressConnections and AddressRequestsPerMinute bound what one address, or one
	// /64 of IPv6, may take. No bound
	MaxAddressConnections, AddressRequestsPerMinute int
	// Hosts are names of this server, "*.suffix" for many; with any, other public names
	// are refused. Origins are pages of other sites that may use it from a browser.
	Hosts, Origins []string
	// Certificate makes it HTTPS. nil: HTTP
	Certificate *Certificate
	// MaxBody is the largest request body in bytes. 10 MiB
	MaxBody int
	// Heartbeat and WriteTimeout are those of event streams. 15 s, 30 s
	Heartbeat, WriteTimeout time.Duration
	// HeaderTimeout bounds the arrival of a request's header, BodyTimeout that of
	// the whole request. 10 s, 2 min
	HeaderTimeout, BodyTimeout time.Duration
	// Version is shown to probes.
	Version string
	Logger  *slog.Logger // slog.DiscardHandler
}

// Server answers requests. Start it with Serve; end it with Refuse, EndStreams
// and Close, in this order.
type Server struct {
	cfg     Config
	host    Host
	keys    atomic.Pointer[keyring]
	log     *slog.Logger
	hub     *sse.Hub
	http    *fasthttp.Server
	table   []route
	metrics *metrics
	groups  map[group]bool
	openAPI openAPI
	// arrivals are the bodies that are being read.
	arrivals *arrivals

	rates    rates
	guesses  guesses // of tokens
	unnamed  guesses // requests without one, as far as they are audited
	visitors addresses
	crowd    crowd
	loopback atomic.Bool // of the listener
	stopping atomic.Bool
	base     context.Context // of calls of the host; ends with Close
	cancel   context.CancelFunc

	mu       sync.Mutex
	ln       net.Listener
	closed   bool
	closing  sync.Once
	closeErr error
}

// Bounds without a setting.
const (
	maxHeader     = 16 << 10
	answerTimeout = 5 * time.Minute // a whole answer other than a stream
	idleTimeout   = 2 * time.Minute // of a kept connection
)

// New makes a server for the host.
func New(cfg Config) (*Server, error) {
	if cfg.Host == nil {
		return nil, errors.New("server: Host is not set")
	}
	return build(cfg, wireHandlers)
}

// build makes a server whose wires are made by wires.
func build(cfg Config, wires func(Host, *Config) *handlers) (*Server, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, host: cfg.Host, log: cfg.Logger, groups: map[group]bool{groupOpen: true, groupCore: true}}
	if err := s.Rekey(cfg.Principals, nil); err != nil {
		return nil, err
	}
	s.cfg.Principals = nil // the tokens themselves are not kept
	for _, g := range cfg.Groups {
		s.groups[group(g)] = true
	}
	s.base, s.cancel = context.WithCancel(context.Background())
	s.hub = sse.NewHub(sse.Options{Heartbeat: cfg.Heartbeat, WriteTimeout: cfg.WriteTimeout, Log: cfg.Logger})
	s.crowd.most = int64(cfg.MaxConnections)
	s.visitors.conns, s.visitors.perMinute = cfg.MaxAddressConnections, cfg.AddressRequestsPerMinute
	s.metrics = newMetrics(s)
	s.arrivals = newArrivals(cfg.MaxBody)
	s.table = s.routes(wires(cfg.Host, &s.cfg))
	s.http = &fasthttp.Server{
		Handler:                      s.serve(s.router()),
		ErrorHandler:                 s.malformed,
		ExpectHandler:                s.expect,
		HeaderReceived:               s.announced,
		ReadTimeout:                  cfg.HeaderTimeout,
		WriteTimeout:                 answerTimeout, // a hijacked stream sets its own
		IdleTimeout:                  idleTimeout,
		ReadBufferSize:               maxHeader,
		MaxRequestBodySize:           cfg.MaxBody,
		Concurrency:                  cfg.MaxConnections + 1, // the listener refuses first
		ReduceMemoryUsage:            true,
		DisablePreParseMultipartForm: true,
		NoDefaultServerHeader:        true,
		CloseOnShutdown:              true,
		SecureErrorLogMessage:        true,
		Logger:                       quietLogger{cfg.Logger},
	}
	return s, nil
}

func (c *Config) fill() error {
	def(&c.MaxBody, 10<<20)
	def(&c.MaxConnections, 50_000)
	def(&c.Heartbeat, 15*time.Second)
	def(&c.WriteTimeout, 30*time.Second)
	def(&c.HeaderTimeout, 10*time.Second)
	def(&c.BodyTimeout, 2*time.Minute)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Policy == nil {
		return c.withoutPolicy()
	}
	return nil
}

func def[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// router makes the table a fasthttp handler. Redirects are off: they would send a
// client, and its token, to whatever the Host header says.
func (s *Server) router() *router.Router {
	r := router.New()
	r.RedirectTrailingSlash, r.RedirectFixedPath = false, false
	r.NotFound, r.MethodNotAllowed, r.GlobalOPTIONS = s.notFound, s.methodNotAllowed, s.options
	r.PanicHandler = s.panicked
	for i := range s.table {
		row := &s.table[i]
		handler := s.answer(row)
		for _, path := range []string{row.path, row.pinnedPath()} {
			if path == "" {
				continue
			}
			r.Handle(row.method, path, handler)
			if row.method == fasthttp.MethodGet && !row.stream {
				r.Handle(fasthttp.MethodHead, path, handler)
			}
		}
	}
	return r
}

// Serve answers requests that arrive at ln until Close. It refuses a listener
// that other machines reach when there is no token.
func (s *Server) Serve(ln net.Listener) error {
	addr, ok := ln.Addr().(*net.TCPAddr)
	local := !ok || addr.IP.IsLoopback() // a Unix socket is local too
	if !local && s.keys.Load().open() && !s.cfg.AllowAnonymous {
		return fmt.Errorf("server: %s is reachable from other machines and no token is set", ln.Addr())
	}
	s.loopback.Store(local)
	s.mu.Lock()
	s.ln = ln
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return ln.Close()
	}
	if err := s.http.Serve(s.listener(ln)); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("serve %s: %w", ln.Addr(), err)
	}
	return nil
}

// Refuse makes every new request but probes answer 503 shutting_down. What runs
// goes on.
func (s *Server) Refuse() { s.stopping.Store(true) }

// EndStreams lets open streams write what is pending and ends them. Call it when
// the last events are published.
func (s *Server) EndStreams(ctx context.Context) error { return s.hub.Close(ctx) }

// Close stops listening, waits for open requests and ends what is left when ctx
// ends. Further calls return the first one's result.
func (s *Server) Close(ctx context.Context) error {
	s.closing.Do(func() {
		s.Refuse()
		defer s.cancel()
		s.mu.Lock()
		s.closed = true
		ln := s.ln
		s.mu.Unlock()
		err := s.hub.Close(ctx)
		s.closeErr = errors.Join(err, s.http.ShutdownWithContext(ctx))
		if ln != nil { // the library does not know a listener that it is just being given
			_ = ln.Close()
		}
	})
	return s.closeErr
}

// Drain is Refuse, EndStreams and Close for a host that needs nothing in between.
func (s *Server) Drain(ctx context.Context) error {
	s.Refuse()
	return errors.Join(s.EndStreams(ctx), s.Close(ctx))
}

// quietLogger takes the library's own messages about broken connections. Their
// arguments quote what the client sent, so only the format is kept.
type quietLogger struct{ log *slog.Logger }

// Printf logs one message.
func (q quietLogger) Printf(format string, _ ...any) { q.log.Debug("connection", "what", format) }
