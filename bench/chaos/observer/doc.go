// Package observer is the caller in a chaos run: a process of its own that asks the
// server what the schedule says, reads its streams, and writes down all it sent and was
// told. It judges nothing and knows of no fault: a request without an answer is sent
// again with its Idempotency-Key, a stream that breaks off is read on from its last
// cursor, as a good client does.
//
// It takes a cycle as one JSON line and answers one line when all of it has come to
// rest. The server's address is in a file, because it changes with each start.
package observer
