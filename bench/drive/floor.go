package drive

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/agenthost/agenthost/bench/floor"
)

// Spawn runs the CLI itself: no host at all.
func Spawn(cli floor.CLI) Wire { return spawnWire{cli} }

type spawnWire struct{ cli floor.CLI }

func (w spawnWire) Session(context.Context) (Session, error) { return w, nil }

func (w spawnWire) Turn(_ context.Context, prompt string, s *Sight) error {
	// Texts are looked for in whole lines, so that none is cut in two.
	var held []byte
	err := w.cli.Spawn(prompt, func(at time.Time, b []byte) { held = s.lines(at, held, b) })
	if err == nil {
		s.Ended = "completed"
	}
	return err
}

func (spawnWire) Send(context.Context, string) error { return Unsupported("queue") }
func (spawnWire) Fan(context.Context, string, []*Sight) error {
	return Unsupported("streams")
}
func (spawnWire) Ended(context.Context) (string, error) {
	return "", Unsupported("queue")
}
func (spawnWire) Cancel(context.Context) error            { return Unsupported("cancel") }
func (spawnWire) Delete(context.Context) error            { return nil }
func (spawnWire) Idle(context.Context) (io.Closer, error) { return nil, Unsupported("streams") }

// Copy drives bench/floor's Copier.
func Copy(addr string) Wire { return &copyWire{addr: addr} }

type copyWire struct {
	addr string
	runs atomic.Int64
}

func (w *copyWire) Session(context.Context) (Session, error) { return w, nil }

func (w *copyWire) Turn(ctx context.Context, prompt string, s *Sight) error {
	return w.Fan(ctx, prompt, []*Sight{s})
}

func (w *copyWire) Fan(ctx context.Context, prompt string, sights []*Sight) error {
	run := strconv.FormatInt(w.runs.Add(1), 10)
	conns := make([]net.Conn, len(sights))
	for i := range conns {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", w.addr)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		conns[i] = conn
	}
	for _, conn := range conns { // the run starts with the last of them
		if _, err := fmt.Fprintf(conn, "%d %s %s\n", len(sights), run, prompt); err != nil {
			return err
		}
	}
	done := make(chan struct{}, len(sights))
	for i, s := range sights {
		go func() {
			defer func() { done <- struct{}{} }()
			var held []byte
			buf := make([]byte, 256<<10)
			for {
				n, err := conns[i].Read(buf)
				held = s.lines(time.Now(), held, buf[:n])
				if err != nil {
					return
				}
			}
		}()
	}
	for range sights {
		<-done
	}
	for _, s := range sights {
		s.Ended = "completed"
	}
	return nil
}

func (*copyWire) Send(context.Context, string) error { return Unsupported("queue") }
func (*copyWire) Ended(context.Context) (string, error) {
	return "", Unsupported("queue")
}
func (*copyWire) Cancel(context.Context) error            { return Unsupported("cancel") }
func (*copyWire) Delete(context.Context) error            { return nil }
func (*copyWire) Idle(context.Context) (io.Closer, error) { return nil, Unsupported("streams") }
