// Package standin holds stand-in CLIs: programs that read a prompt, print the
// output dialect of a real coding CLI and exit like it, with no model, no network
// and no state but a few lines under the CLI's own home. Main is the whole
// program; cmd/fake and the tests' own binaries call it.
//
// The words and tool calls are decided by the mind package; what a real CLI does
// with a shell, a signal, an unknown session or a bad flag is imitated here, and
// every failure mode can be asked for by flag, environment or prompt (modes.go).
//
// One process runs one turn on its main goroutine. The only other goroutine
// waits for signals; it ends the process.
//
// The package stays away from net and encoding/json, because its start is
// measured as the floor of a turn.
package standin
