// Command provider serves a scripted model on the OpenAI Responses, Anthropic
// Messages and Chat Completions wires until it is interrupted.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/agenthost/agenthost/fakes/mcp"
	"github.com/agenthost/agenthost/fakes/provider"
)

const usage = `usage: provider [--listen ADDR] [--port-file FILE] [--key KEY] [--slow DURATION] [--log FILE]
       provider mcp

Serves a scripted model: POST /v1/responses, /v1/messages and
/v1/chat/completions, GET /v1/models. Its words are decided by the prompt, see
"go doc ./fakes/mind". The URL is printed on one line, and the port written to
FILE, when it can be used. Ends on SIGINT or SIGTERM.
"provider mcp" is an MCP server on standard input and output with the tools echo,
env, fail and wait.

`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process.
func run(args []string, out, errs io.Writer) int {
	if len(args) > 0 && args[0] == "mcp" {
		return told(errs, mcp.Serve(os.Stdin, out))
	}
	fs := flag.NewFlagSet("provider", flag.ContinueOnError)
	fs.SetOutput(errs)
	listen := fs.String("listen", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	portFile := fs.String("port-file", "", "file that gets the port, written whole")
	key := fs.String("key", "", "the only key accepted; without one any is")
	slow := fs.Duration("slow", 0, "pause before each piece of each answer")
	logFile := fs.String("log", "", "file that gets one line a request when the provider ends")
	fs.Usage = func() {
		_, _ = io.WriteString(errs, usage)
		fs.PrintDefaults()
	}
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	return told(errs, serve(out, *listen, *portFile, *logFile, provider.Script{Key: *key, Slow: *slow}))
}

// told prints an error and returns the exit status.
func told(errs io.Writer, err error) int {
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintln(errs, "provider:", err)
	return 1
}

// serve runs a provider until the process is interrupted.
func serve(out io.Writer, listen, portFile, logFile string, script provider.Script) error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	s := provider.New(script)
	url, err := s.Listen(listen)
	if err != nil {
		return err
	}
	if portFile != "" {
		err = writePort(portFile, url)
	}
	if err == nil {
		if _, err = fmt.Fprintln(out, url); err == nil {
			<-stop
		}
	}
	if logFile != "" {
		err = errors.Join(err, writeLog(logFile, s.Requests()))
	}
	return errors.Join(err, s.Close())
}

// writePort puts the port in place in one step, so that a reader that sees the
// file sees all of it.
func writePort(file, url string) error {
	port := url
	for i := len(url) - 1; i >= 0; i-- {
		if url[i] == ':' {
			port = url[i+1:]
			break
		}
	}
	temp := file + ".new"
	if err := os.WriteFile(temp, []byte(port+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the port: %w", err)
	}
	if err := os.Rename(temp, file); err != nil {
		return fmt.Errorf("write the port: %w", err)
	}
	return nil
}

// writeLog tells what was asked, without bodies and keys.
func writeLog(file string, list []provider.Request) error {
	var b []byte
	for _, r := range list {
		b = fmt.Appendf(b, "%s %s %s auth=%s key=%s bytes=%d\n", r.At.UTC().Format(time.RFC3339Nano), r.Method, r.Path, r.Auth, r.KeySHA256, len(r.Body))
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		return fmt.Errorf("write the log: %w", err)
	}
	return nil
}
