package crash

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Code is the exit code of a crash: that of the Go runtime.
const Code = 2

// unsaid stands in the place of a value that cannot be shown.
const unsaid = "[not shown]"

// last is how this process tells of its crash.
type last struct {
	hide func(string) string
	out  io.Writer
	once sync.Mutex // never given back: one crash is told, and then there is nobody left
}

var installed atomic.Pointer[last]

// Install makes every Guard print to out what hide leaves of a panic, until the result
// is called.
func Install(hide func(string) string, out io.Writer) (uninstall func()) {
	l := &last{hide: hide, out: out}
	installed.Store(l)
	return func() { installed.CompareAndSwap(l, nil) }
}

// Guard ends the process if the function that defers it panics. It has to be deferred
// itself, not called by what is.
func Guard() {
	l := installed.Load()
	if l == nil {
		return // before recover: the runtime tells then
	}
	if p := recover(); p != nil {
		l.once.Lock()
		_, _ = io.WriteString(l.out, l.text(p, debug.Stack()))
		os.Exit(Code)
	}
}

// text is what is printed. It looks like the runtime's, which tools know.
func (l *last) text(p any, stack []byte) (text string) {
	defer func() {
		if recover() != nil { // of hide, or of the value: the stack has no text of anybody's
			text = "panic: " + unsaid + "\n\n" + string(stack)
		}
	}()
	return l.hide("panic: " + value(p) + "\n\n" + string(stack))
}

// value is p as the runtime shows it: of what is neither an error nor text nor a number
// it is the type alone, for nobody knows what is in it.
func value(p any) string {
	switch v := p.(type) {
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	case string, bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, uintptr, float32, float64, complex64, complex128:
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("(%T)", p)
}
