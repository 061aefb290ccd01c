package fold

// Posted is what the host accepted: the session as it was then, and one turn for
// each input, in order.
type Posted struct {
	Session Session
	Turns   []*Turn
	// Before is the last event before what was accepted: a subscription after it
	// sees all of it.
	Before int64
	// Replayed says that an earlier call with the same idempotency key was
	// answered again.
	Replayed bool
}
