package actors_test

import (
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"sync"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store/sqlite"
)

type digest struct {
	bytes int64
	sum   uint32
}

func (d *digest) Write(p []byte) (int, error) {
	d.bytes += int64(len(p))
	d.sum = crc32.Update(d.sum, crc32.IEEETable, p)
	return len(p), nil
}

// Thirty-two subscribers of one turn of a hundred thousand deltas see the same
// bytes; one of them reads nothing until the end, falls out of memory and misses
// nothing. Memory does not grow with the turn.
func TestThirtyTwoReadersOfOneFlood(t *testing.T) { // not parallel: it measures the heap
	const deltas, readers = floodSize, 32
	dir := t.TempDir()
	st, err := sqlite.Open(dir, sqlite.Options{})
	must(t, err)
	l := quick()
	l.MaxSubscribers = readers + 1
	h := startedIn(t, dir, l, st)
	ses := create(t, h, "").Session.ID
	subs := make([]*actors.Subscription, readers)
	for i := range subs {
		subs[i], err = h.Subscribe(ctx(t), "alice", ses, 0)
		must(t, err)
		defer subs[i].Close()
	}
	turn := send(t, h, ses, fmt.Sprintf("seq %d; echo '#final'", deltas)).ID
	read := func(sub *actors.Subscription) (d digest, err error) {
		r := &reader{sub: sub, w: &d}
		c := ctx(t)
		for {
			wake, last, err := r.next()
			switch {
			case err != nil:
				return d, err
			case wake != nil:
				select {
				case <-wake:
				case <-c.Done():
					return d, io.ErrUnexpectedEOF
				}
			case last.Kind == event.TurnEnded && last.Turn == turn:
				return d, nil
			}
		}
	}
	got := make([]digest, readers)
	errs := make([]error, readers)
	var wg sync.WaitGroup
	for i := 1; i < readers; i++ {
		wg.Go(func() { got[i], errs[i] = read(subs[i]) })
	}
	wg.Wait()
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	if mem.HeapAlloc > 256<<20 {
		t.Errorf("%d MiB of heap after the flood", mem.HeapAlloc>>20)
	}
	got[0], errs[0] = read(subs[0])
	for i := range got {
		if errs[i] != nil || got[i] != got[0] {
			t.Errorf("reader %d: %+v, %v; reader 0: %+v", i, got[i], errs[i], got[0])
		}
	}
	if head := headOf(t, h, ses); head < deltas {
		t.Errorf("only %d events", head)
	}
	if _, err := h.Subscribe(ctx(t), "alice", ses, 0); err != nil {
		t.Errorf("one more reader: %v", err)
	}
	if _, err := h.Subscribe(ctx(t), "alice", ses, 0); event.CodeOf(err) != event.TooManySubscribers {
		t.Errorf("one too many: %v", err)
	}
}
