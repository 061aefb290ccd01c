package sqlite

import (
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// The records kept for readers are bounded by their number and by their bytes.
func TestRecallIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ size, records int }{{100, 2*recalled + 1}, {1 << 20, 40}, {recalledBytes + 1, 2}} {
		var r recall
		most := 0
		for range c.records {
			r.keep(&store.Session{ID: event.NewID(), Spec: make([]byte, c.size)})
			most = max(most, len(r.recs))
			if len(r.recs) > recalled || r.bytes > recalledBytes || r.bytes != c.size*len(r.recs) {
				t.Fatalf("%d records of %d bytes in all, of %d each", len(r.recs), r.bytes, c.size)
			}
		}
		if want := min(recalled, recalledBytes/c.size); most != want {
			t.Errorf("at most %d records of %d bytes were kept, not %d", most, c.size, want)
		}
	}
}

// A record that is kept again counts once, and one that is dropped no more.
func TestRecallCountsARecordOnce(t *testing.T) {
	t.Parallel()
	var r recall
	id := event.NewID()
	for n := range 3 {
		r.keep(&store.Session{ID: id, Spec: make([]byte, 10*n), Body: make([]byte, 5)})
	}
	if r.bytes != 25 || len(r.recs) != 1 {
		t.Errorf("%d records of %d bytes", len(r.recs), r.bytes)
	}
	r.drop(id)
	r.drop(id)
	if r.bytes != 0 || len(r.recs) != 0 {
		t.Errorf("after it was dropped, %d records of %d bytes", len(r.recs), r.bytes)
	}
}
