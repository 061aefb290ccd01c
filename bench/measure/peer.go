package measure

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/agenthost/agenthost/bench/drive"
	"github.com/agenthost/agenthost/fakes/tools"
)

// Peer is another host that is measured beside this one.
type Peer struct {
	Name string
	// Driver is how it is spoken to: "sandbox-agent" starts that program with a stand-in
	// as its agent, "responses" and "agents" speak with a host that runs already.
	Driver string
	Target string // a program, or a URL
	// Model is what turns ask for, and Pid the process whose time and memory are taken,
	// of one that runs already.
	Model string
	Pid   int
}

// PeerToken names the variable that has the token of hosts that run already.
const PeerToken = "BENCH_PEER_TOKEN"

// AgentPart is the part of this program that is an agent for hosts that speak the Agent
// Client Protocol.
const AgentPart = "acp"

// ParsePeer reads NAME=DRIVER:TARGET[,model=NAME][,pid=N].
func ParsePeer(text string) (Peer, error) {
	bad := func(why string) (Peer, error) {
		return Peer{}, fmt.Errorf("a peer is NAME=DRIVER:TARGET[,model=NAME][,pid=N] with driver sandbox-agent, responses or agents: %q %s", text, why)
	}
	name, rest, ok := strings.Cut(text, "=")
	driver, target, ok2 := strings.Cut(rest, ":")
	if !ok || !ok2 || name == "" {
		return bad("has no name, driver or target")
	}
	for _, known := range all {
		if name == known {
			return bad("has the name of a subject")
		}
	}
	f := strings.Split(target, ",")
	p := Peer{Name: name, Driver: driver, Target: f[0], Model: "codex"}
	for _, o := range f[1:] {
		switch k, v, _ := strings.Cut(o, "="); k {
		case "model":
			p.Model = v
		case "pid":
			n, err := strconv.Atoi(v)
			if err != nil || n < 1 {
				return bad("has a pid that is none")
			}
			p.Pid = n
		default:
			return bad("has the unknown option " + strconv.Quote(o))
		}
	}
	switch driver {
	case "sandbox-agent", "responses", "agents":
		return p, nil
	}
	return bad("has the unknown driver " + strconv.Quote(driver))
}

// InstalledPeers are those that lie among the tools.
func InstalledPeers() []Peer {
	if path, ok := tools.Path("bin/sandbox-agent"); ok {
		return []Peer{{Name: "sandbox-agent", Driver: "sandbox-agent", Target: path}}
	}
	return nil
}

// peer starts one, or finds it.
func (l *lab) peer(sub *subject, p Peer) (err error) {
	sub.pid, sub.peer = p.Pid, true
	switch p.Driver {
	case "responses":
		sub.wire = drive.Responses(p.Target, os.Getenv(PeerToken), p.Model)
	case "agents":
		sub.wire = drive.Agents(p.Target, os.Getenv(PeerToken), p.Model)
	default:
		var url string
		if url, sub.pid, err = l.sandboxAgent(sub, p); err == nil {
			sub.wire = drive.ACP(url, "mock")
		}
	}
	return err
}

// sandboxAgent starts sandbox-agent with this program in the place of the agent that it
// calls mock.
func (l *lab) sandboxAgent(sub *subject, p Peer) (url string, pid int, err error) {
	dir := l.TempDir()
	data := filepath.Join(dir, "data")
	agent := filepath.Join(data, "sandbox-agent", "bin", "agent_processes", "mock-acp")
	if err := os.MkdirAll(filepath.Dir(agent), 0o700); err != nil {
		return "", 0, err
	}
	text := fmt.Sprintf("#!/bin/sh\nexec '%s' %s %s\n", strings.ReplaceAll(l.Self, "'", `'\''`), PartVerb, AgentPart)
	if err := os.WriteFile(agent, []byte(text), 0o700); err != nil {
		return "", 0, err
	}
	port, err := freePort()
	if err != nil {
		return "", 0, err
	}
	cmd := exec.Command(p.Target, "server", "--no-token", "--no-telemetry", "--host", "127.0.0.1", "--port", strconv.Itoa(port))
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+data, "HOME="+dir, "SANDBOX_AGENT_REQUIRE_PREINSTALL=1", "FAKE_LOG="+sub.log)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return "", 0, err
	}
	l.Cleanup(func() { // its agents are of its group
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	url = "http://127.0.0.1:" + strconv.Itoa(port)
	err = l.within(20*time.Second, func() bool { return answers(l.ctx, url+"/v1/health") })
	if err != nil {
		err = fmt.Errorf("%s does not answer: %w", p.Target, err)
	}
	return url, cmd.Process.Pid, err
}

func answers(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// freePort is one that was free just now, for a program that cannot tell its own.
func freePort() (int, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = ln.Close() }()
	return ln.Addr().(*net.TCPAddr).Port, nil
}
