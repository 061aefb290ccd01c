package standin

import (
	"encoding/hex"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/agenthost/agenthost/fakes/mind"
)

// dialect is what one CLI prints.
type dialect interface {
	// begin opens the turn, think and say print what the model says; more says
	// that something follows.
	begin()
	// refused says why the turn cannot run, "" if it can: real CLIs look for
	// the provider's key only when the turn has begun.
	refused() string
	think(text string, slow time.Duration)
	say(text string, slow time.Duration, more bool)
	// shell, write and tool carry out a call and return its result.
	shell(command string) string
	write(path, text string) string
	tool(c *mind.Call) string
	// fault ends the turn with a failure, end with a success: the exit status.
	fault(kind string) int
	fail(message string) int
	end(text string) int
	// event prints one event of a burst.
	event(text string, last bool)
	// filler prints one line that means nothing, made of text.
	filler(text string)
	// interrupt ends the turn for a signal; the printer is locked.
	interrupt(s os.Signal) int
}

// turn is one prompt run to its end.
type turn struct {
	*program
	dialect
	printer *printer
	memory  *memory
	shells  shells
	log     runLog
	// maxResponses ends the turn early, 0 never.
	maxResponses int
}

// early carries out the modes that come before the prompt is read. It says
// whether the run ends there.
func (p *program) early() (status int, ended bool) {
	if names := p.modes.unknown(); len(names) > 0 {
		return p.complain(2, "fake: unknown mode "+strings.Join(names, ", ")+" (fake help modes)"), true
	}
	p.ignore()
	if text := p.modes["stderr"]; text != "" {
		p.complain(0, text)
	}
	switch {
	case p.modes.has("exit-unread"):
		return p.complain(p.modes.number("exit-unread", 3), "bad flag"), true
	case p.modes.has("mute"):
		time.Sleep(forever)
	case p.modes.has("close-stdin"):
		_ = p.In.Close()
	}
	time.Sleep(time.Duration(p.modes.number("slow-start", 0)) * time.Millisecond)
	return 0, false
}

func (p *program) ignore() {
	if p.modes.has("ignore-int") {
		signal.Ignore(syscall.SIGINT)
	}
	if p.modes.has("ignore-term") {
		signal.Ignore(syscall.SIGTERM)
	}
}

// watch lets signals end the turn. The goroutine ends with the process.
func (t *turn) watch(signals ...os.Signal) {
	var kept []os.Signal
	for _, s := range signals {
		if s == syscall.SIGINT && t.modes.has("ignore-int") || s == syscall.SIGTERM && t.modes.has("ignore-term") {
			continue
		}
		kept = append(kept, s)
	}
	if len(kept) == 0 {
		return
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, kept...)
	go func() {
		s := <-c
		t.shells.kill()
		t.printer.Lock() // for good: nothing is printed behind the end
		status := t.interrupt(s)
		t.log.note("end")
		os.Exit(status)
	}()
}

// run plays the turn.
func (t *turn) run(prompt string) int {
	t.log = runLog{file: t.logFile, tag: tagOf(prompt)}
	t.log.note("start")
	defer t.log.note("end")
	_, directives := mind.Directives(prompt)
	for _, d := range directives {
		if d.Name == "mode" {
			t.modes.add(d.Arg)
		}
	}
	if names := t.modes.unknown(); len(names) > 0 {
		return t.complain(2, "fake: unknown mode "+strings.Join(names, ", "))
	}
	t.ignore()
	t.note("user", prompt)
	t.begin()
	if t.modes.has("silent") {
		time.Sleep(forever)
	}
	t.middle()
	if why := t.refused(); why != "" {
		return t.fail(why)
	}
	for _, d := range directives {
		if d.Name == "events" {
			return t.stream(flow(strings.Fields(d.Arg)))
		}
	}
	if t.modes.has("echo") {
		t.note("response", "")
		t.say(echo(prompt), 0, false)
		return t.finish("")
	}
	return t.play()
}

// note keeps something in the session's memory. A signal's last line reads it,
// so it is changed under the printer's lock.
func (t *turn) note(word, text string) {
	t.printer.Lock()
	defer t.printer.Unlock()
	t.memory.note(word, text)
}

// play lets the mind decide until it has nothing more to do.
func (t *turn) play() int {
	for responses := 1; ; responses++ {
		m := mind.Next(t.memory.talk, nil)
		time.Sleep(m.Wait)
		t.note("response", "")
		if m.Think != "" {
			t.think(m.Think, m.Slow)
		}
		if f := m.Fault; f != nil {
			if key := f.Kind + t.lastPrompt(); f.Times == 0 || t.memory.faults[key] < f.Times {
				t.note("fault", key)
				if m.Say != "" && f.Kind != "stall" {
					t.say(m.Say, m.Slow, false)
				}
				if f.Kind == "stall" {
					time.Sleep(forever)
				}
				return t.fault(f.Kind)
			}
			if m.Say == "" {
				m.Say = "It worked after " + strconv.Itoa(f.Times) + " failures."
			}
		}
		if len(m.Calls) == 0 {
			t.crash()
			t.say(m.Say, m.Slow, false)
			t.note("model", m.Say)
			return t.finish(m.Say)
		}
		if m.Say != "" {
			t.say(m.Say, m.Slow, true)
			t.note("model", m.Say)
		}
		if t.maxResponses > 0 && responses >= t.maxResponses {
			return t.fault("max-turns")
		}
		for _, c := range m.Calls {
			t.note("tool", t.call(c))
		}
	}
}

func (t *turn) lastPrompt() string {
	for i := len(t.memory.talk) - 1; i >= 0; i-- {
		if t.memory.talk[i].From == mind.User {
			return t.memory.talk[i].Text
		}
	}
	return ""
}

func (t *turn) call(c *mind.Call) string {
	switch c.Kind {
	case mind.Shell:
		return t.shell(c.Args)
	case mind.Write:
		return t.write(c.Name, c.Args)
	case mind.MCP, mind.Function:
		return t.tool(c)
	default:
		return ""
	}
}

// middle carries out the modes of a turn's middle.
func (t *turn) middle() {
	if t.modes.has("escape") {
		t.leave(forever, false)
	}
	if t.modes.has("hold-stdout") {
		t.leave(forever, true)
	}
	if t.modes.has("orphans") {
		for range 5 {
			t.shells.run("(sleep 0.2 >/dev/null 2>&1 &)", nil)
		}
	}
	if t.modes.has("huge-line") {
		t.filler(strings.Repeat("h", t.modes.number("huge-line", 12<<20)))
	}
	if t.modes.has("many-lines") {
		pad := strings.Repeat("p", 10_000)
		for range t.modes.number("many-lines", 3000) {
			t.filler(pad)
		}
	}
}

// crash carries out the modes that end the process before its answer.
func (t *turn) crash() {
	switch {
	case t.modes.has("crash"):
		t.log.note("end")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(forever)
	case t.modes.has("crash-exit"):
		t.complain(0, "fatal: the stand-in was asked to crash")
		t.log.note("end")
		os.Exit(t.modes.number("crash-exit", 1))
	}
}

// finish ends a turn that went well.
func (t *turn) finish(text string) int {
	status := 0
	if !t.modes.has("no-result") {
		status = t.end(text)
	}
	if t.modes.has("after-terminal") {
		t.say("This comes too late.", 0, false)
		status = t.fault("500")
	}
	if t.modes.has("linger") {
		time.Sleep(forever)
	}
	return t.modes.number("exit", status)
}

// pieces gives a text to f piece by piece.
func pieces(text string, slow time.Duration, f func(string)) {
	for _, p := range mind.Pieces(text) {
		time.Sleep(slow)
		f(p)
	}
}

// echo says how we were called, each value in hex.
func echo(prompt string) string {
	x := func(s string) string { return hex.EncodeToString([]byte(s)) }
	var b strings.Builder
	for i, a := range os.Args[1:] {
		b.WriteString("ARG" + strconv.Itoa(i+1) + "=" + x(a) + " ")
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = ""
	}
	return b.String() + "STDIN=" + x(prompt) + " CWD=" + x(dir) + " ENV=" + x(strings.Join(os.Environ(), "\n"))
}

// writeFile is the file tool of both CLIs; made says that the file is new.
func writeFile(path, text string) (absolute string, made bool, err error) {
	if absolute, err = filepath.Abs(path); err != nil {
		return path, false, err
	}
	_, err = os.Stat(absolute)
	made = err != nil
	if err = os.MkdirAll(filepath.Dir(absolute), 0o755); err == nil {
		err = os.WriteFile(absolute, []byte(text), 0o644)
	}
	return absolute, made, err
}
