// Package errand does what the tools of long-lived stand-in CLIs do: commands and tool
// servers are children in sessions of their own, as those of the real ones are, and a
// stop kills them. Each is waited for by the call that started it, but for what is left
// behind on purpose.
package errand
