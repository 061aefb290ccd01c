package process

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// unheard takes the signals that were ignored. Nobody reads it.
var unheard = make(chan os.Signal, 1)

// inherited are the signals this program was started with as ignored, as far as
// the platform tells.
var inherited = sync.OnceValue(ignoredAtStart)

// usual are the signals whose being ignored would hurt a child.
var usual = []syscall.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGALRM,
	syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCHLD,
	syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU,
}

// ResetSignals makes sure that children get the default dispositions.
//
// exec keeps an ignored signal ignored: under nohup or a shell's `&` a CLI would
// never hear SIGINT. The runtime resets in a child what it handles itself, so each
// signal that is ignored here is handled from now on, by throwing it away. To this
// program that is the same, except for signal.Ignored. Start calls it each time: it
// costs some atomic loads.
//
// The signal mask is emptied by spawn, in the one thread that forks.
func ResetSignals() {
	for _, s := range inherited() {
		signal.Notify(unheard, s)
	}
	for _, s := range usual {
		if signal.Ignored(s) {
			signal.Notify(unheard, s)
		}
	}
}
