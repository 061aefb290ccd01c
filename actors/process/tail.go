package process

import "unicode/utf8"

// tail keeps the last bytes written to it.
type tail struct {
	size int
	data []byte // at most twice size, so that bytes are moved once per size
	cut  bool   // something was forgotten
}

func newTail(size int) *tail { return &tail{size: size} }

func (t *tail) write(p []byte) {
	if len(p) > t.size {
		p, t.data, t.cut = p[len(p)-t.size:], t.data[:0], true
	}
	if len(t.data)+len(p) > 2*t.size {
		n := copy(t.data, t.data[len(t.data)-t.size:])
		t.data, t.cut = t.data[:n], true
	}
	t.data = append(t.data, p...)
}

// bytes is the tail, begun on a character boundary if its front was cut off.
func (t *tail) bytes() []byte {
	p := t.data
	if len(p) > t.size {
		p, t.cut = p[len(p)-t.size:], true
	}
	for i := 0; t.cut && i < utf8.UTFMax-1 && len(p) > 0 && !utf8.RuneStart(p[0]); i++ {
		p = p[1:]
	}
	return p
}
