package load

import (
	"errors"
	"fmt"
	"net/url"
	"time"
)

// Options say who the users are and what they do.
type Options struct {
	Target string // URL of the host
	Wire   string // "responses" or "agents"
	Token  string
	Model  string
	Prompt string
	// Sessions are the users: conversations that exist at once.
	Sessions int
	// Rate is how many turns are due a second; 0 lets each session ask when it was
	// answered and Think is over.
	Rate     float64
	Duration time.Duration
	Think    time.Duration
	// New, Cancel and Poll are shares of all turns, 0 to 1: those in a new session
	// instead of one that was used before, those cancelled after CancelAfter, and those
	// that are asked for again and again instead of streamed.
	New, Cancel, Poll float64
	CancelAfter       time.Duration
	// Timeout bounds one turn.
	Timeout time.Duration
	// Retry waits as long as Retry-After says, and asks again; the user's wait goes on.
	Retry bool
	// Seed makes the mix the same again.
	Seed uint64
	// Show is told how it goes, once every Every; nil is not.
	Show  func(Progress)
	Every time.Duration
}

// Validate says everything that is wrong.
func (o *Options) Validate() error {
	var errs []error
	bad := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	u, err := url.Parse(o.Target)
	bad(err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https", "the target %q is no http URL, such as http://127.0.0.1:9000", o.Target)
	bad(o.Wire != "responses" && o.Wire != "agents", "the wire %q is neither responses nor agents", o.Wire)
	bad(o.Model == "", "no model: name the one that turns ask for")
	bad(o.Sessions < 1, "%d sessions: at least 1", o.Sessions)
	bad(o.Rate < 0 || o.Rate > 100_000, "a rate of %v turns a second: 0 to 100000", o.Rate)
	bad(o.Duration <= 0, "a duration of %s: more than 0", o.Duration)
	bad(o.Think < 0 || o.Think > 0 && o.Rate > 0, "a think time of %s: it is for a run without a rate, and 0 or more", o.Think)
	bad(o.Timeout <= 0, "a timeout of %s: more than 0", o.Timeout)
	for name, share := range map[string]float64{"new": o.New, "cancel": o.Cancel, "poll": o.Poll} {
		bad(share < 0 || share > 1, "a share of %v for %s: 0 to 1", share, name)
	}
	return errors.Join(errs...)
}
