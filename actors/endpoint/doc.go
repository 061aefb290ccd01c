// Package endpoint is the MCP server (streamable HTTP, on loopback) through which a
// CLI reaches what its turn's caller offers. A Server listens once there is a first
// door; a Door is one turn's address on it, with a path and a token of its own and
// its own tools, and ends with the turn.
//
// It owns the listener and the requests on it, knows no turn, session or adapter,
// and imports nothing of ours. The protocol is the official Go SDK's.
package endpoint
