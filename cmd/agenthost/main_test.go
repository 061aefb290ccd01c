package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agenthost/agenthost/fakes/standin"
)

// The stories run this test binary under the names of the programs they need.
func TestMain(m *testing.M) {
	fake := func() { os.Exit(standin.Main(os.Args, standin.World{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})) }
	testscript.Main(m, map[string]func(){"agenthost": main, "codex": fake, "fake": fake})
}

func TestStories(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			port, err := freePort()
			if err != nil {
				return err
			}
			home := filepath.Join(e.WorkDir, "home")
			if err := os.MkdirAll(home, 0o700); err != nil {
				return err
			}
			for _, kv := range [][2]string{{"PORT", port}, {"URL", "http://127.0.0.1:" + port}, {"HOME", home},
				{"AGENTHOST_STATE_DIR", filepath.Join(e.WorkDir, "state")}, {"AGENTHOST_TOOLS_DIR", filepath.Join(e.WorkDir, "tools")}} {
				e.Setenv(kv[0], kv[1])
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"await":  await,
			"http":   request,
			"until":  until,
			"booked": booked,
			"signal": sendSignal,
		},
	})
}

func freePort() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(ln.Addr().String())
	return port, errors.Join(err, ln.Close())
}

const patience = 30 * time.Second

// await waits for a file, or for a URL to answer 200: "await file" or "await URL".
func await(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] await FILE|URL")
	}
	deadline := time.Now().Add(patience)
	for tick := time.NewTicker(20 * time.Millisecond); ; <-tick.C {
		there := false
		if strings.HasPrefix(args[0], "http") {
			res, err := http.Get(args[0])
			if err == nil {
				_ = res.Body.Close()
				there = res.StatusCode == http.StatusOK
			}
		} else {
			_, err := os.Stat(ts.MkAbs(args[0]))
			there = err == nil
		}
		if there != neg {
			tick.Stop()
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s: waited %s in vain", args[0], patience)
		}
	}
}

// request asks the server and compares the status: "http 200 GET PATH [BODY]". The
// answer goes to the file "answer".
func request(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: http STATUS METHOD PATH [BODY]")
	}
	if status, body := ask(ts, args); status != args[0] {
		ts.Fatalf("%s %s: %s %s", args[1], args[2], status, body)
	}
}

// until asks until the status is the one that is waited for: "until 200 GET PATH".
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: until STATUS METHOD PATH [BODY]")
	}
	deadline := time.Now().Add(patience)
	for tick := time.NewTicker(100 * time.Millisecond); ; <-tick.C {
		status, body := ask(ts, args)
		if status == args[0] {
			tick.Stop()
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s %s: still %s %s", args[1], args[2], status, body)
		}
	}
}

// booked waits until the audit's book has a text so many times: "booked 2 TEXT".
func booked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: booked TIMES TEXT")
	}
	deadline := time.Now().Add(patience)
	for tick := time.NewTicker(100 * time.Millisecond); ; <-tick.C {
		book := ts.ReadFile("state/audit/audit.jsonl")
		if n := strings.Count(book, args[1]); strconv.Itoa(n) == args[0] {
			tick.Stop()
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("the book has\n%s", book)
		}
	}
}

func ask(ts *testscript.TestScript, args []string) (status string, body []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, args[1], ts.Getenv("URL")+args[2], bytes.NewReader([]byte(strings.Join(args[3:], " "))))
	ts.Check(err)
	req.Header.Set("Content-Type", "application/json")
	if token := ts.Getenv("TOKEN"); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	ts.Check(err)
	body, err = io.ReadAll(res.Body)
	ts.Check(errors.Join(err, res.Body.Close()))
	ts.Check(os.WriteFile(ts.MkAbs("answer"), body, 0o600))
	return fmt.Sprint(res.StatusCode), body
}

// sendSignal signals the newest background program: "signal TERM".
func sendSignal(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": os.Interrupt, "KILL": os.Kill, "HUP": syscall.SIGHUP}
	running := ts.BackgroundCmds()
	if neg || len(args) != 1 || signals[args[0]] == nil || len(running) == 0 {
		ts.Fatalf("usage: signal TERM|INT|KILL|HUP, with a program in the background")
	}
	ts.Check(running[len(running)-1].Process.Signal(signals[args[0]]))
}
