// Command runners measures long-lived CLIs: memory of the server and of the CLIs while
// many sessions run turns at once, and what a turn costs through the host over the same
// protocol spoken without one, to a CLI that was started with the same arguments and
// environment, and over a process a turn, all in one run on one machine with the scripted
// model provider. It judges nothing.
//
//	go run ./bench/runners [-adapter codex] [-sessions N] [-turns N] [-crowd=false]
package main
