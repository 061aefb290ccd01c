package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/crash"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/redact"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/cmd/config"
	"github.com/agenthost/agenthost/cmd/recording"
)

type runVerb struct {
	Prompt  []string `arg:"" optional:"" help:"What to ask. Without it, or with -, it is read from standard input; a last - puts standard input behind the words before it."`
	Agent   string   `short:"a" placeholder:"NAME" help:"Adapter (codex, claude-code, ...) or saved agent, of the configuration or the server. Default: agents.default."`
	Model   string   `short:"m" placeholder:"NAME" help:"Model to name to the agent. Default: the agent's own choice."`
	Workdir string   `short:"C" placeholder:"DIR" help:"Directory the agent works in. Default: the current one."`
	JSON    bool     `help:"Print events as JSON lines instead of the answer."`
	Record  string   `placeholder:"DIR" help:"Keep what passed through the program's pipes, with times, and the events it became, in a new directory."`
	URL     string   `env:"AGENTHOST_URL" placeholder:"URL" help:"Ask a running server instead, such as http://127.0.0.1:9000; without a scheme it is http."`
	Token   string   `env:"AGENTHOST_TOKEN" placeholder:"TOKEN" help:"Token for that server; better set as AGENTHOST_TOKEN."`
	settings

	unread bool // standard input holds something that is not read
	tape   *recording.Recorder
}

// Help says what --help adds.
func (*runVerb) Help() string {
	return "Without --url the agent runs as a child of this command, with your own sign-in (home: auto) and the configuration's permissions; " +
		"nothing is stored by this host. The first line, on standard error, says which agent works where. Ctrl-C cancels the turn and leaves nothing running; " +
		"a second Ctrl-C ends at once.\n\n" +
		"--record DIR keeps 1.stream, byte for byte what the program read and wrote, recording.json, with its arguments and the names (never the values) " +
		"of its variables, and events.jsonl. Configured keys and secrets are taken out; look through it before you give it away.\n\nExit codes: 0 answered, 1 refused, 2 wrong use, 3 the turn failed, 130 cancelled.\n\n" +
		"Every setting of serve --help works here too."
}

// owner of what `run` asks.
const terminalOwner = "terminal"

// Run asks one thing.
func (v *runVerb) Run(c *console) error {
	prompt, unread, err := v.prompt(c.in)
	if err != nil {
		return exit(exitUsage, err)
	}
	v.unread = unread
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	interrupted := make(chan os.Signal, 2)
	signal.Notify(interrupted, os.Interrupt)
	defer signal.Stop(interrupted)
	if v.URL != "" {
		if v.Workdir != "" {
			return exit(exitUsage, errors.New("--workdir belongs to a local run; a server's agents work where the server says"))
		}
		if v.Record != "" {
			return exit(exitUsage, errors.New("--record belongs to a local run; the programs of a server are not seen from here"))
		}
		return v.remote(ctx, c, prompt, interrupted)
	}
	return v.local(ctx, c, prompt, interrupted)
}

// maxPrompt bounds what is read from standard input.
const maxPrompt = 16 << 20

// prompt is what is asked: the words of the command line, standard input where
// there are none, and both with a last "-". unread says that standard input was
// left alone although something is connected to it.
func (v *runVerb) prompt(in io.Reader) (text string, unread bool, err error) {
	words := v.Prompt
	read := len(words) == 0
	if n := len(words); n > 0 && words[n-1] == "-" {
		words, read = words[:n-1], true
	}
	text = strings.Join(words, " ")
	if read {
		if !piped(in) {
			return "", false, errors.New("there is nothing to ask; write it on the command line, or pipe it in")
		}
		b, err := io.ReadAll(io.LimitReader(in, maxPrompt))
		if err != nil {
			return "", false, fmt.Errorf("read the prompt: %w", err)
		}
		if text != "" {
			text += "\n\n"
		}
		text += string(b)
	}
	if strings.TrimSpace(text) == "" {
		return "", false, errors.New("the prompt is empty")
	}
	return text, !read && piped(in), nil
}

// piped says that standard input is neither a terminal nor /dev/null.
func piped(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return in != nil
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice == 0
}

// notRead is what the first line adds then.
func (v *runVerb) notRead() string {
	if !v.unread {
		return ""
	}
	return " · standard input is not read (use - to read it)"
}

// local runs the turn in a host of its own, which leaves nothing behind: the
// session is in memory, the state directory is temporary, and the CLI keeps its
// state in the person's home.
func (v *runVerb) local(ctx context.Context, c *console, prompt string, interrupted <-chan os.Signal) (err error) {
	cfg, warnings, err := v.load(nil)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		say(c.err, "warning: %s", w)
	}
	workdir, err := directory(v.Workdir)
	if err != nil {
		return exit(exitUsage, err)
	}
	for _, r := range cfg.Agents.Runtimes {
		if r.Home == "auto" && !r.Isolation.OwnHome() {
			r.Home = "inherit" // a temporary home would lose the sign-in
		}
	}
	runtimes, err := mount(cfg, true)
	if err != nil {
		return exit(exitFailed, err)
	}
	hidden := redact.NewLive(secretsOf(cfg, runtimes)...)
	defer crash.Install(func(text string) string { return hidden.Set().String(text) }, c.err)()
	defer crash.Guard()
	log := slog.New(slog.DiscardHandler)
	if v.given()["log.level"] != "" {
		log = logger(c, cfg.Log)
	}
	more := []actors.Option{actors.WithHidden(hidden)}
	if v.Record != "" {
		if v.tape, err = recording.New(v.Record, secretsOf(cfg, runtimes)...); err != nil {
			return exit(exitUsage, err)
		}
		more = append(more, actors.WithTapes(v.tape.Start))
	}
	host, stop, err := throwaway(ctx, cfg, log, runtimes, more...)
	if err != nil {
		if v.tape != nil {
			err = errors.Join(err, v.tape.Close(version, ""))
		}
		return exit(exitFailed, err)
	}
	cli := "" // version of the program that runs
	defer func() {
		stopErr := stop()
		if v.tape != nil {
			stopErr = errors.Join(stopErr, v.tape.Close(version, cli))
		}
		if err == nil && stopErr != nil {
			err = exit(exitFailed, stopErr)
		}
	}()
	posted, err := v.post(ctx, host, workdir, prompt)
	if err != nil {
		return exit(exitFailed, refusal(err))
	}
	if v.tape != nil {
		cli = cliVersion(ctx, host, posted.Session.Settings.Agent.Adapter)
	}
	say(c.err, "%s%s", firstLine(ctx, host, posted, cfg), v.notRead())
	end, err := v.follow(ctx, c, host, posted, interrupted)
	if err != nil {
		return exit(exitFailed, err)
	}
	return verdict(end.Outcome, end.Failure)
}

// secretsOf are the values that a recording may not have.
func secretsOf(cfg *config.Config, runtimes []actors.RuntimeConfig) (values []string) {
	for _, r := range runtimes {
		values = append(values, r.LLM.APIKey)
	}
	for _, t := range cfg.Auth.Tokens {
		values = append(values, t.Value)
	}
	for _, a := range cfg.SavedAgents() {
		for _, variable := range a.SecretEnv {
			values = append(values, env(variable))
		}
	}
	return values
}

// cliVersion is what the program of an adapter tells of its version.
func cliVersion(ctx context.Context, host *actors.Host, adapter string) string {
	for _, r := range host.Runtimes(ctx) {
		if r.Name == adapter {
			return r.Version
		}
	}
	return ""
}

// throwaway starts a host that leaves nothing behind. stop ends it with everything
// that it runs.
func throwaway(ctx context.Context, cfg *config.Config, log *slog.Logger, runtimes []actors.RuntimeConfig, more ...actors.Option) (host *actors.Host, stop func() error, err error) {
	state, err := runDir(cfg.StateDir, runtimes)
	if err != nil {
		return nil, nil, err
	}
	guards, guarded := guard(log, false)
	gone := func() {
		guards.end()
		_ = os.RemoveAll(state)
	}
	if host, err = actors.New(slices.Concat(options(cfg, log, state, runtimes), guarded, more)...); err != nil {
		gone()
		return nil, nil, err
	}
	stop = func() error {
		defer gone()
		now, cancel := context.WithCancel(context.Background())
		cancel()
		return host.Stop(now)
	}
	if err := host.Start(ctx); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return host, stop, nil
}

// runDir makes the state directory of one run. Private homes are those of the
// server, so a sign-in made there holds here; everything else is thrown away.
func runDir(stateDir string, runtimes []actors.RuntimeConfig) (string, error) {
	var base string // the system's temporary directory
	private := false
	for _, r := range runtimes {
		private = private || r.Home == actors.HomePrivate
	}
	homes := filepath.Join(stateDir, "homes")
	if private { // Codex does not like a home below the temporary directory
		base = stateDir
		if err := os.MkdirAll(homes, 0o700); err != nil {
			return "", fmt.Errorf("make the private homes: %w", err)
		}
	}
	dir, err := os.MkdirTemp(base, "agenthost-run-")
	if err != nil {
		return "", fmt.Errorf("make a temporary directory: %w", err)
	}
	if private {
		if err := os.Symlink(homes, filepath.Join(dir, "homes")); err != nil {
			return "", errors.Join(fmt.Errorf("link the private homes: %w", err), os.RemoveAll(dir))
		}
	}
	return dir, nil
}

// directory is the absolute form of an existing directory.
func directory(dir string) (string, error) {
	abs, err := filepath.Abs(or(dir, "."))
	if err != nil {
		return "", fmt.Errorf("work in %s: %w", dir, err)
	}
	if st, err := os.Stat(abs); err != nil || !st.IsDir() {
		return "", fmt.Errorf("%s is not a directory", abs)
	}
	return abs, nil
}

// post makes the session with its one input.
func (v *runVerb) post(ctx context.Context, host *actors.Host, workdir, prompt string) (*actors.Posted, error) {
	a, err := host.ResolveModel(ctx, terminalOwner, v.Agent, "")
	if err != nil {
		return nil, err
	}
	if v.Agent != "" && a.Model == v.Agent && a.Adapter != v.Agent && aliases()[v.Agent] == "" {
		// It would be taken for a model of the default adapter.
		return nil, event.FailParam(event.ModelNotFound, "agent", fmt.Sprintf("there is no agent or adapter %q; use --model for a model", v.Agent))
	}
	if v.Model != "" {
		a.Model = v.Model
	} else if aliases()[a.Model] == a.Adapter {
		a.Model = a.Adapter
	}
	return host.CreateSession(ctx, terminalOwner, &spec.NewSession{
		Agent:       *a,
		Environment: spec.Environment{Type: spec.EnvSelfHosted, Workspace: workdir},
		Input: &spec.NewInput{
			Items: []*event.Item{{Type: event.Message, Status: event.Done, User: true, Text: prompt}},
			Wire:  "agents",
		},
	})
}

// firstLine says which agent works where, with whose state and which rights.
func firstLine(ctx context.Context, host *actors.Host, p *actors.Posted, cfg *config.Config) string {
	set := p.Session.Settings
	permissions, home, confined, credential := string(set.Agent.Permissions), "private", "", ""
	for _, r := range host.Runtimes(ctx) {
		if r.Name != set.Agent.Adapter {
			continue
		}
		permissions = or(permissions, string(r.Permissions))
		if r.Home == actors.HomeInherit {
			home = "your own"
		}
		if !r.Confined && permissions == string(spec.WorkspaceWrite) {
			confined = " (not confined by the CLI)"
		}
		if credentialOf(cfg, r) == "" {
			credential = " · no provider key and no sign-in found (export " + keyVariable(cfg, r.Name) + "=...)"
		}
	}
	name := set.Agent.Adapter
	if set.Agent.Name != "" {
		name = set.Agent.Name + " (" + name + ")"
	}
	if m := set.Agent.CLIModel(); m != "" {
		name += " " + m
	}
	return fmt.Sprintf("agent %s · workdir %s · home %s · permissions %s%s%s", name, set.Environment.Workspace, home, permissions, confined, credential)
}

// follow prints the turn's events until its end.
func (v *runVerb) follow(ctx context.Context, c *console, host *actors.Host, p *actors.Posted, interrupted <-chan os.Signal) (*event.End, error) {
	sub, err := host.Subscribe(ctx, terminalOwner, p.Session.ID, p.Before)
	if err != nil {
		return nil, refusal(err)
	}
	defer sub.Close()
	out := &printer{out: c.out, err: c.err, json: v.JSON, tape: v.tape}
	cancelled := false
	for seen := p.Before; ; {
		b, wake, err := sub.Next()
		if err != nil {
			return nil, refusal(err)
		}
		if b == nil {
			select {
			case <-wake:
			case <-interrupted:
				if cancelled {
					return &event.End{Outcome: event.Cancelled}, nil
				}
				cancelled = true
				say(c.err, "cancelling; once more to end at once")
				if _, err := host.CancelTurn(ctx, terminalOwner, p.Turns[0].ID); err != nil {
					return nil, refusal(err)
				}
			}
			continue
		}
		if end := out.batch(b, &seen); end != nil {
			return end, out.failed
		}
	}
}

// printer writes a turn for a person, or as JSON lines.
type printer struct {
	out, err io.Writer
	json     bool
	tape     *recording.Recorder // nil for none
	open     bool                // the last message has not ended its line
	failed   error               // of the first write that failed
}

func (p *printer) write(text string) {
	if _, err := io.WriteString(p.out, text); err != nil && p.failed == nil {
		p.failed = fmt.Errorf("print the answer: %w", err)
	}
}

// batch prints the events after seen and gives the turn's end, if it is there.
func (p *printer) batch(b *fold.Batch, seen *int64) *event.End {
	var end *event.End
	for i := range b.Events {
		e := &b.Events[i]
		if e.Seq <= *seen {
			continue
		}
		*seen = e.Seq
		if p.json || p.tape != nil {
			p.line(e)
		}
		if !p.json {
			p.event(e)
		}
		if e.Kind == event.TurnEnded {
			end, _ = e.Body.(*event.End)
		}
	}
	return end
}

// line prints an event as JSON, or records it, or both.
func (p *printer) line(e *event.Event) {
	line, err := e.MarshalJSON()
	if err != nil && p.failed == nil {
		p.failed = err
	}
	if p.tape != nil {
		p.tape.Event(line)
	}
	if p.json {
		p.write(string(line) + "\n")
	}
}

func (p *printer) event(e *event.Event) {
	item, _ := e.Body.(*event.Item)
	switch e.Kind {
	case event.TextDelta:
		p.write(e.Text)
		p.open = p.open || e.Text != ""
		if strings.HasSuffix(e.Text, "\n") {
			p.open = false
		}
	case event.ItemDone:
		if item != nil && item.Type == event.Message {
			p.endLine()
			return
		}
		p.tool(item)
	case event.TurnEnded:
		p.endLine()
	}
}

func (p *printer) endLine() {
	if p.open {
		p.write("\n")
		p.open = false
	}
}

// tool says on standard error what the agent did besides talking.
func (p *printer) tool(item *event.Item) {
	if item == nil {
		return
	}
	switch item.Type {
	case event.Command:
		code := ""
		if item.ExitCode != nil && *item.ExitCode != 0 {
			code = fmt.Sprintf(" (exit %d)", *item.ExitCode)
		}
		p.note("$ %s%s", item.Command, code)
	case event.FileChange:
		for _, change := range item.Changes {
			p.note("%s %s", change.Kind, change.Path)
		}
	case event.ToolCall:
		p.note("tool %s.%s", item.Server, item.Tool)
	case event.Subagent:
		p.note("subagent %s", or(item.Tool, item.Prompt))
	case event.WebSearch:
		p.note("search %s", or(item.Query, item.URL))
	}
}

func (p *printer) note(format string, args ...any) {
	p.endLine()
	say(p.err, "%s", oneLine(fmt.Sprintf(format, args...)))
}

// oneLine shortens what a CLI told and takes control characters out of it.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 200 {
		return string(r[:199]) + "…"
	}
	return s
}

// verdict is the exit of a turn's end.
func verdict(o event.Outcome, f *event.Failure) error {
	switch {
	case o == event.Completed:
		return nil
	case o == event.Cancelled:
		return exit(exitCancelled, errors.New("cancelled"))
	case f != nil:
		return exit(exitTurn, fmt.Errorf("the turn failed: %s (%s)", f.Message, f.Code))
	}
	return exit(exitTurn, errors.New("the turn failed"))
}

// refusal is a failure's message without its code in front.
func refusal(err error) error {
	if f, ok := event.AsFailure(err); ok {
		return fmt.Errorf("%s (%s)", f.Message, f.Code)
	}
	return err
}
