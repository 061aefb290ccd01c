// Command figures measures what the closing note of an order shows: memory of an
// idle server, alone and with many idle sessions, and what a turn costs over a bare
// spawn of the same stand-in CLI and over one write that is synced, all in one run
// on one machine. With many sessions stored it also replaces the server and takes the
// time until the next one answers. It judges nothing.
//
//	go run ./bench/figures [-sessions N] [-stored N] [-turns N]
package main
