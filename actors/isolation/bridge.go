package isolation

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/agenthost/agenthost/actors/crash"
)

// Bridge lets a CLI that has a network of its own reach loopback ports of this host: a
// socket of the file system for each, in a directory that the CLI sees.
type Bridge struct {
	listeners []net.Listener
	work      sync.WaitGroup

	mu     sync.Mutex
	closed bool
	open   map[net.Conn]bool
}

// maxBridged bounds the connections of one bridge.
const maxBridged = 512

// OpenBridge serves the ports in dir, which it makes. Close ends it.
func OpenBridge(dir string, ports []uint16) (*Bridge, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("bridge: %w", err)
	}
	// A socket's path may have 108 bytes, and a state directory's may have more.
	d, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("bridge: %w", err)
	}
	defer func() { _ = d.Close() }()
	short := fmt.Sprintf("/proc/self/fd/%d", d.Fd())
	b := &Bridge{open: map[net.Conn]bool{}}
	for _, port := range ports {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(short, socket(port))})
		if err != nil {
			b.Close()
			return nil, fmt.Errorf("bridge of port %d: %w", port, err)
		}
		l.SetUnlinkOnClose(false) // the directory goes as a whole; the short name is gone by then
		b.listeners = append(b.listeners, l)
		b.work.Go(func() {
			defer crash.Guard()
			_ = serve(l, b, func() (net.Conn, error) {
				return net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", socket(port)), 10*time.Second)
			})
		})
	}
	return b, nil
}

// Close ends it and all its connections. A nil bridge is closed.
func (b *Bridge) Close() {
	if b == nil {
		return
	}
	for _, l := range b.listeners {
		_ = l.Close()
	}
	b.mu.Lock()
	b.closed = true
	for c := range b.open {
		_ = c.Close()
	}
	b.mu.Unlock()
	b.work.Wait()
}

// hold keeps a connection to be closed with the bridge; false when it is, or full.
func (b *Bridge) hold(conns ...net.Conn) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || len(b.open) >= 2*maxBridged {
		return false
	}
	for _, c := range conns {
		b.open[c] = true
	}
	return true
}

func (b *Bridge) drop(conns ...net.Conn) {
	for _, c := range conns {
		_ = c.Close()
	}
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range conns {
		delete(b.open, c)
	}
}

// serve connects each connection of l with what dial gives, until l is closed. Of a
// bridge, what it starts is waited for by it.
func serve(l net.Listener, b *Bridge, dial func() (net.Conn, error)) error {
	for {
		near, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // a lack of descriptors passes
			continue
		}
		one := func() {
			defer crash.Guard()
			far, err := dial()
			if err != nil {
				_ = near.Close()
				return
			}
			defer b.drop(near, far)
			if b.hold(near, far) {
				join(near, far)
			}
		}
		if b == nil {
			go one()
			continue
		}
		b.work.Go(one)
	}
}

// join copies both ways until both have ended.
func join(near, far net.Conn) {
	done := make(chan struct{})
	go func() {
		defer crash.Guard()
		copyTo(far, near)
		close(done)
	}()
	copyTo(near, far)
	<-done
}

// copyTo copies what src says and then says that no more comes. An error of one way
// ends the other too: there is nobody left to talk to.
func copyTo(dst, src net.Conn) {
	_, err := io.Copy(dst, src)
	if half, ok := dst.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite()
		return
	}
	_, _ = dst.Close(), src.Close()
}
