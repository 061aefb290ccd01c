package store

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/agenthost/agenthost/actors/event"
)

// dumpBytes bounds what one read of a dump holds in memory.
const dumpBytes = 1 << 20

// Dump writes the events kept of a session, one JSON object a line, up to the
// head it had when the dump began. On damage it writes what comes before.
func Dump(ctx context.Context, s Store, session event.ID, w io.Writer) error {
	rec, err := s.Session(ctx, "", session)
	if err != nil {
		return fmt.Errorf("dump session %s: %w", session, err)
	}
	out := bufio.NewWriterSize(w, 64<<10)
	for next := rec.Trimmed + 1; next <= rec.Head; {
		events, err := s.Read(ctx, session, next, rec.Head, dumpBytes)
		if err != nil {
			_ = out.Flush() // the damage is the news, not the pipe
			return fmt.Errorf("dump session %s from event %d: %w", session, next, err)
		}
		if len(events) == 0 {
			break
		}
		for i := range events {
			line, err := events[i].MarshalJSON()
			if err != nil {
				return fmt.Errorf("dump event %d of session %s: %w", events[i].Seq, session, err)
			}
			_, _ = out.Write(append(line, '\n')) // kept by Flush
		}
		next = events[len(events)-1].Seq + 1
	}
	return out.Flush()
}
