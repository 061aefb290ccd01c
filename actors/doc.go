// Package actors is the engine: a library that hosts coding-agent CLIs as
// supervised subprocesses, keeps their sessions and streams what they do as one
// neutral event model. It needs no HTTP, prints nothing, installs no signal
// handler and has no globals.
//
// A Host is built with New, runs between Start and Stop, and is used through its
// methods; they turn a call into a message and a bounded wait. The example below
// embeds one; docs/examples/adapter is a module of its own that does so with an adapter
// for a CLI of its own. Inside, each
// session, turn and subprocess is an actor:
//
//	supervisor            admission (actors/queue), registry of sessions, what
//	│                     principals and the day have used (actors/budget)
//	├─ session            FIFO (actors/queue), fold, journal, subscriptions
//	│   └─ turn           actors/turn.Step and its effects
//	│       └─ process    pid, pipes, kill ladder; or a visitor at a runner
//	├─ runners            the pool of long-lived CLIs
//	│   └─ runner         one of them: its process and its protocol (actors/agent)
//	└─ reaper             every tree we started; sweeps after each turn and at boot
//
// A CLI is run as a process a turn (exec) or as one that serves the turns of many
// sessions (persistent). A runner serves one principal with one set of credentials,
// home and permissions; whatever goes wrong with it fails the turns that it serves
// and no others. To a turn both look alike: it is told of output and of its end.
//
// Nothing blocks inside a Receive: file and store work runs in goroutines that
// send their result back, and the store answers through callbacks. Events are
// published to readers only after the store has them, in order, to every reader
// the same; a reader that is slow falls back to reading the store and never holds
// the session up.
//
// What is process-wide (subreaper, signals, exit codes, a warden that ends the trees
// of a killed program) belongs to the program that embeds the Host; it says what it
// has with options, and Guarantees says what comes of it. This package is the only one that names protoactor; it
// may import every actors/* package and no adapter, wire or server.
package actors
