// Package secret keeps what callers entrust to a running host, such as the header
// values of their MCP servers: in memory, bounded, and gone with what they were
// brought for. What is stored elsewhere names a bundle by its id and a value by
// server and header; after a restart nothing is found.
//
// It imports actors/event and actors/spec, starts no goroutine, and may not do I/O.
// A Bag is safe for concurrent use; its lock is held for look-ups only, and no actor
// takes it in a Receive.
package secret
