package floor

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
)

// Copier runs the CLI for whoever connects, and copies its output to the
// connection. A request is one line: how many readers the run has, a name that they
// share, and the prompt; the run starts with the last of them.
type Copier struct{ CLI CLI }

// Main is the program: it prints its address as "listening HOST:PORT" and serves
// until its standard input ends.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	f := flag.NewFlagSet("copy", flag.ContinueOnError)
	f.SetOutput(errs)
	c := &Copier{}
	home := ""
	f.StringVar(&c.CLI.Path, "cli", "", "program to run")
	f.StringVar(&home, "home", "", "its home and directory")
	if f.Parse(args) != nil {
		return 2
	}
	c.CLI.Args, c.CLI.Dir, c.CLI.Env = f.Args(), home, Environ(home)
	return Serve(c.copy, in, out, errs)
}

// Serve prints its address and gives each request to run, which closes the readers'
// connections, until in ends.
func Serve(run func(prompt string, to []net.Conn), in io.Reader, out, errs io.Writer) int {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		_, _ = fmt.Fprintln(errs, err)
		return 1
	}
	_, _ = fmt.Fprintf(out, "listening %s\n", ln.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, in)
		_ = ln.Close()
	}()
	s := &server{run: run, runs: map[string][]net.Conn{}}
	for {
		conn, err := ln.Accept()
		if err != nil {
			return 0
		}
		go s.serve(conn)
	}
}

// server collects the readers of runs.
type server struct {
	run func(prompt string, to []net.Conn)

	mu   sync.Mutex
	runs map[string][]net.Conn
}

func (c *server) serve(conn net.Conn) {
	line, err := bufio.NewReader(conn).ReadString('\n')
	f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
	if err != nil || len(f) < 3 {
		_, _ = fmt.Fprintln(conn, errShort)
		_ = conn.Close()
		return
	}
	readers, err := strconv.Atoi(f[0])
	if err != nil {
		_, _ = fmt.Fprintln(conn, errShort)
		_ = conn.Close()
		return
	}
	c.mu.Lock()
	all := append(c.runs[f[1]], conn)
	c.runs[f[1]] = all
	if len(all) == readers {
		delete(c.runs, f[1])
	}
	c.mu.Unlock()
	if len(all) == readers {
		c.run(f[2], all)
	}
}

// copy gives every reader every byte, one write a read.
func (c *Copier) copy(prompt string, to []net.Conn) {
	defer func() {
		for _, conn := range to {
			_ = conn.Close()
		}
	}()
	cmd, out, err := c.CLI.command(prompt)
	if err != nil || cmd.Start() != nil {
		return
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := out.Read(buf)
		for _, conn := range to {
			_, _ = conn.Write(buf[:n])
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait()
}
