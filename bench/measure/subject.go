package measure

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agenthost/agenthost/bench/drive"
	"github.com/agenthost/agenthost/bench/floor"
	"github.com/agenthost/agenthost/bench/hostproc"
	"github.com/agenthost/agenthost/bench/report"
)

// Names of subjects.
const (
	spawnName, copyName, plainName = "spawn", "copy", "plain"
	responsesName, agentsName      = "responses", "agents"
	// embeddedName is the engine without a wire: a program that drives the actors from Go
	// and copies the texts of events to a socket.
	embeddedName = "embedded"
)

var (
	hosts  = []string{plainName, report.Control, responsesName, agentsName}
	before = []string{responsesName + report.Before, agentsName + report.Before}
	floors = []string{spawnName, copyName}
	all    = append(append(append([]string{}, floors...), hosts...), embeddedName)
)

// PartVerb is the verb by which this program becomes a subject.
const PartVerb = "bench-part"

// subject is one that is measured.
type subject struct {
	name string
	wire drive.Wire
	// second is the same as another principal; nil without one.
	second drive.Wire
	pid    int // 0 for a bare spawn
	log    string
	host   *hostproc.Host
	peer   bool // another host that was given
}

// tokens of the two principals.
const (
	oneToken = "bench-token-of-the-first-principal"
	twoToken = "bench-token-of-the-other-principal"
)

// model selects the stand-in of a dialect.
func (s scenario) model() string {
	if s.dialect == "claude" {
		return "claude-code"
	}
	return "codex"
}

func (s scenario) program() string {
	if s.dialect == "claude" {
		return "claude"
	}
	return "codex"
}

// start starts a subject for a scenario; it ends with what is being cleaned.
func (l *lab) start(name string, s scenario) (*subject, error) {
	dir := l.TempDir()
	cli := filepath.Join(dir, s.program())
	if err := os.Symlink(l.Fake, cli); err != nil {
		return nil, err
	}
	home := filepath.Join(dir, "home")
	for _, sub := range []string{"codex", "claude"} { // the CLIs do not make their homes
		if err := os.MkdirAll(filepath.Join(home, sub), 0o755); err != nil {
			return nil, err
		}
	}
	sub := &subject{name: name, log: filepath.Join(dir, "runs")}
	bare := floor.CLI{Path: cli, Args: arguments(s.program(), sub.log), Dir: home, Env: floor.Environ(home)}
	switch name {
	case "fsync":
		return sub, nil
	case spawnName:
		sub.wire = drive.Spawn(bare)
		return sub, nil
	case copyName:
		addr, pid, err := l.part(s, append([]string{"copy", "--cli", cli, "--home", home, "--"}, bare.Args...)...)
		sub.wire, sub.pid = drive.Copy(addr), pid
		return sub, err
	case embeddedName:
		addr, pid, err := l.part(s, "embedded", "--cli", cli, "--adapter", s.model(), "--dir", filepath.Join(dir, "state"), "--slots", fmt.Sprint(s.slots()), "--log", sub.log)
		sub.wire, sub.pid = drive.Copy(addr), pid
		return sub, err
	case plainName, report.Control:
		url, pid, err := l.part(s, "plain", "--cli", cli, "--dialect", s.program(), "--dir", home, "--slots", fmt.Sprint(s.slots()), "--log", sub.log)
		sub.wire, sub.pid = drive.Plain(url), pid
		return sub, err
	default:
		for _, p := range l.Peers {
			if p.Name == name {
				return sub, l.peer(sub, p)
			}
		}
		return sub, l.product(sub, s, cli)
	}
}

// slots are how many turns run at once.
func (s scenario) slots() int {
	if n, ok := s.config["max_concurrent_turns"].(int); ok {
		return n
	}
	return 64
}

// limits are those of the product that a measurement would meet at their defaults.
var limits = map[string]any{"max_queue": 2000, "max_waiting_turns": 20000, "max_subscribers": 512, "min_free_disk": "1MiB"}

// driver of the product: a process a turn, but where a scenario brings its own CLI.
func (s scenario) driver() string {
	if s.begin != nil {
		return "persistent"
	}
	return "exec"
}

func arguments(program, log string) []string {
	if program == "claude" {
		return []string{"--log", log, "-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"}
	}
	return []string{"--log", log, "exec", "--json", "--skip-git-repo-check", "-"}
}

// product starts the server.
func (l *lab) product(sub *subject, s scenario, cli string) error {
	program := l.Self
	if strings.HasSuffix(sub.name, report.Before) {
		program = l.Before
	}
	limits := maps.Clone(limits)
	limits["max_concurrent_turns"] = s.slots()
	maps.Copy(limits, s.config)
	o := hostproc.Options{
		Bin: &hostproc.Binaries{Server: program, Fake: l.Fake, Root: l.dir},
		Config: map[string]any{
			"limits": limits,
			"auth": map[string]any{"tokens": []any{
				map[string]any{"id": "one", "roles": []any{"dev"}, "token_env": "BENCH_TOKEN_ONE"},
				map[string]any{"id": "two", "roles": []any{"dev"}, "token_env": "BENCH_TOKEN_TWO"},
			}},
		},
		Adapters:    map[string]any{s.model(): map[string]any{"binary": cli, "home": "private", "driver": s.driver(), "passthrough_env": []any{"FAKE_LOG"}}},
		Env:         append(append([]string{"BENCH_TOKEN_ONE=" + oneToken, "BENCH_TOKEN_TWO=" + twoToken, "FAKE_LOG=" + sub.log}, s.env...), l.ServerEnv...),
		OutsideTemp: true,
	}
	sub.host = hostproc.Start(l, o)
	l.Cleanup(func() { // a profile is written by a server that ends by itself
		if sub.host.Running() {
			sub.host.Stop()
		}
	})
	sub.pid = sub.host.Pid
	sub.wire, sub.second = drive.Agents(sub.host.URL, oneToken, s.model()), drive.Agents(sub.host.URL, twoToken, s.model())
	if strings.HasPrefix(sub.name, responsesName) {
		sub.wire, sub.second = drive.Responses(sub.host.URL, oneToken, s.model()), drive.Responses(sub.host.URL, twoToken, s.model())
	}
	return nil
}

// part runs this program as another and returns the address that it tells.
func (l *lab) part(s scenario, args ...string) (address string, pid int, err error) {
	cmd := exec.Command(l.Self, append([]string{PartVerb}, args...)...)
	cmd.Env = append(os.Environ(), s.env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", 0, err
	}
	if err := cmd.Start(); err != nil {
		return "", 0, err
	}
	l.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "listening ")
	if err != nil {
		return "", 0, fmt.Errorf("%s said no address: %w", args[0], err)
	}
	if !ok {
		return "", 0, fmt.Errorf("%s says %q, which is no address", args[0], line)
	}
	return address, cmd.Process.Pid, nil
}
