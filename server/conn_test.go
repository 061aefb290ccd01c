package server

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"syscall"
	"testing"
)

// scarce is a listener that lacks descriptors for a while.
type scarce struct {
	net.Listener
	errs []error
}

func (s *scarce) Accept() (net.Conn, error) {
	err := s.errs[0]
	s.errs = s.errs[1:]
	if err == nil {
		a, b := net.Pipe()
		return a, b.Close()
	}
	return nil, err
}

func TestAcceptWaitsOutALackOfDescriptors(t *testing.T) {
	t.Parallel()
	lack := &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	l := listener{Listener: &scarce{errs: []error{lack, lack, nil, net.ErrClosed}}, log: slog.New(slog.DiscardHandler), crowd: &crowd{most: 1}, visitors: &addresses{}}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a closed listener: %v", err)
	}
}
