package standin

import (
	"strconv"
	"strings"
	"time"
)

const eventsUsage = `usage: fake [OPTIONS] events [--n N] [--size BYTES] [--rate PER_SECOND] [--batch N]
            [--format codex|claude] [-- CLI ARGUMENTS...]

One turn of N events (default 1000), each a text of BYTES (default 200) that
begins with "ts:UNIXNANOS seq:I", written at once or at a rate: codex messages, or
claude text deltas in messages of 1000. --batch writes so many lines at once.
Behind -- the arguments of the real CLI are looked through for a session id. In a
prompt of the codex and claude stand-ins: [[events: N SIZE RATE BATCH]].
`

// burst is a run of numbered events.
type burst struct{ n, size, rate, batch int }

// flow reads N SIZE RATE BATCH; what is missing is usual.
func flow(f []string) burst {
	b := burst{n: 1000, size: 200, batch: 1}
	for i, p := range []*int{&b.n, &b.size, &b.rate, &b.batch} {
		if i < len(f) {
			if n, err := strconv.Atoi(f[i]); err == nil && n >= 0 {
				*p = n
			}
		}
	}
	return b
}

func (p *program) events(args []string) int {
	b, format := burst{n: 1000, size: 200, batch: 1}, "codex"
	for len(args) > 0 && args[0] != "--" {
		if args[0] == "--help" || len(args) == 1 {
			return p.help([]string{"events"})
		}
		var err error
		switch args[0] {
		case "--n":
			b.n, err = strconv.Atoi(args[1])
		case "--size":
			b.size, err = strconv.Atoi(args[1])
		case "--rate":
			b.rate, err = strconv.Atoi(args[1])
		case "--batch":
			b.batch, err = strconv.Atoi(args[1])
		case "--format":
			format = args[1]
		default:
			return p.complain(2, "fake events: unknown option "+args[0])
		}
		if err != nil {
			return p.complain(2, "fake events: "+err.Error())
		}
		args = args[2:]
	}
	if status, ended := p.early(); ended {
		return status
	}
	t := &turn{program: p, memory: &memory{faults: map[string]int{}}, printer: &printer{out: p.Out, err: p.Err, modes: p.modes}}
	id := ""
	for _, a := range args {
		if isUUID(a) {
			id = a
		}
	}
	switch format {
	case "codex":
		if id == "" {
			id = uuid(7)
		}
		t.dialect = &codex{turn: t, thread: id, call: codexCall{json: true, model: "gpt-5.5"}}
	case "claude":
		if id == "" {
			id = uuid(4)
		}
		t.dialect = &claude{turn: t, session: id, started: time.Now(), call: claudeCall{values: map[string]string{"--include-partial-messages": ""}}}
	default:
		return p.complain(2, "fake events: unknown format "+format)
	}
	prompt := p.prompt()
	t.log = runLog{file: p.logFile, tag: tagOf(prompt)}
	t.log.note("start")
	defer t.log.note("end")
	t.begin()
	return t.stream(b)
}

// stream plays a burst and ends the turn.
func (t *turn) stream(b burst) int {
	t.note("response", "")
	t.printer.batch = b.batch
	start := time.Now()
	pad := strings.Repeat("x", b.size)
	for i := range b.n {
		if b.rate > 0 {
			due := time.Duration(i) * time.Second / time.Duration(b.rate)
			if ahead := due - time.Since(start); ahead > 0 {
				t.printer.flush()
				time.Sleep(ahead)
			}
		}
		text := make([]byte, 0, max(b.size, 48))
		text = strconv.AppendInt(append(text, "ts:"...), time.Now().UnixNano(), 10)
		text = strconv.AppendInt(append(text, " seq:"...), int64(i), 10)
		text = append(text, ' ')
		if n := b.size - len(text); n > 0 {
			text = append(text, pad[:n]...)
		}
		t.event(string(text), i == b.n-1)
	}
	t.printer.flush()
	t.printer.batch = 0
	return t.finish(string(put(nil, "events:", b.n)))
}

// event is one message.
func (c *codex) event(text string, _ bool) {
	c.print(`{"type":"item.completed","item":{"id":"`, c.item(), `","type":"agent_message","text":`, str(text), `}}`)
}

// perMessage keeps the whole text of a message, which is printed again at its
// end, far below any line limit.
const perMessage = 1000

// event is one delta of a message of up to perMessage.
func (c *claude) event(text string, last bool) {
	if len(c.flowing) == 0 {
		c.start(`{"type":"text","text":""}`)
		c.inBlock = 0
	}
	if c.deltaTail == "" {
		c.deltaTail = c.tail()
	}
	c.flowing = append(c.flowing, text...)
	c.printer.line(`{"type":"stream_event","event":{"type":"content_block_delta","index":`, c.block, `,"delta":{"type":"text_delta","text":`, str(text), `}}`, c.deltaTail)
	if c.inBlock++; c.inBlock < perMessage && !last {
		return
	}
	c.stop(string(put(nil, `{"type":"text","text":`, str(c.flowing), `}`)))
	c.close("end_turn")
	c.flowing = c.flowing[:0]
}
