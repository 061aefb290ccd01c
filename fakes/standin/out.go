package standin

import (
	"bytes"
	"os"
	"sync"
)

// printer writes stdout line by line, each in one write unless a mode says
// otherwise. The lock keeps a signal's last lines from tearing one.
type printer struct {
	sync.Mutex
	out, err *os.File
	modes    modes
	buf      []byte
	written  bool
	// batch is how many lines are written at once, held those in buf.
	batch, held int
}

// line prints one line made of parts as put takes them.
func (p *printer) line(parts ...any) {
	p.Lock()
	defer p.Unlock()
	p.print(parts...)
}

// print is line for a caller that holds the lock.
func (p *printer) print(parts ...any) {
	if p.modes.has("stderr-flood") {
		_, _ = p.err.Write(bytes.Repeat([]byte("e"), 1<<20))
	}
	b := p.buf
	open := p.modes.has("no-final-newline")
	if open && p.written {
		b = append(b, '\n')
	}
	b = put(b, parts...)
	if !open {
		b = append(b, '\n')
	}
	p.buf, p.written = b, true
	if p.held++; p.held < p.batch {
		return
	}
	p.write()
}

// flush writes what is held.
func (p *printer) flush() {
	p.Lock()
	defer p.Unlock()
	p.write()
}

func (p *printer) write() {
	b := p.buf
	p.buf, p.held = b[:0], 0
	if len(b) == 0 {
		return
	}
	if p.modes.has("bytes") {
		for i := range b {
			_, _ = p.out.Write(b[i : i+1])
		}
		return
	}
	// Nobody reads any more: a SIGPIPE ends us, as it ends a real CLI.
	_, _ = p.out.Write(b)
}
