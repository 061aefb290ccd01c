package acp

import (
	"fmt"
	"strings"
	"time"

	"github.com/agenthost/agenthost/fakes/standin"
)

// events plays [[events: N SIZE RATE BATCH]] of a prompt as the stand-ins of other CLIs
// do, a chunk each; false without one. Batches are not honoured: the protocol's agents
// write each message as it is made.
func events(a *Agent, s *session, prompt string) bool {
	_, rest, ok := strings.Cut(prompt, "[[events:")
	if !ok {
		return false
	}
	var n, size, rate int
	if _, err := fmt.Sscan(rest, &n, &size, &rate); err != nil {
		return false
	}
	standin.Note(a.Log, prompt, "start")
	defer standin.Note(a.Log, prompt, "end")
	began, pad := time.Now(), strings.Repeat("x", size)
	for i := range n {
		if rate > 0 {
			time.Sleep(time.Duration(i)*time.Second/time.Duration(rate) - time.Since(began))
		}
		text := fmt.Sprintf("ts:%d seq:%d ", time.Now().UnixNano(), i)
		if more := size - len(text); more > 0 {
			text += pad[:more]
		}
		a.chunk(s, text)
	}
	if a.End != "" {
		a.chunk(s, a.End)
	}
	return true
}
