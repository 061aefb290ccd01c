// Package endpoint is the MCP server (streamable HTTP, on loopback) through which a
// CLI reaches what its turn's caller offers. A Server listens once there is a first
// door; a Door is one turn's address on it, with a path and a token of its own and
// its own tools, and ends with the turn.
//
// A call may wait for minutes. Its context is done when its door or the server closes,
// and when the client leaves: a request that was given up cannot be resumed. While it
// waits, a comment goes out every 15 seconds, the headers with the first one, because
// HTTP clients give up on a response of which nothing comes.
//
// It owns the listener and the requests on it, knows no turn, session or adapter,
// and imports nothing of ours. The protocol is the official Go SDK's.
package endpoint
