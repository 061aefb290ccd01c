package sqlite

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// pipeline commits n times to a session of its own with at most depth in flight.
func pipeline(b *testing.B, s *Store, n, events, depth int, durable bool) {
	w := newSession(b)
	free := make(chan error, depth)
	for range depth {
		free <- nil
	}
	for range n {
		if err := <-free; err != nil {
			b.Error(err)
			return
		}
		c := w.next(events)
		c.Durable = durable
		c.Done = func(err error) { free <- err }
		s.Commit(c)
		w.head = c.Last()
	}
	for range depth {
		if err := <-free; err != nil {
			b.Error(err)
		}
	}
}

// BenchmarkFlood is one session that appends 300 events a commit.
func BenchmarkFlood(b *testing.B) {
	for _, durable := range []bool{false, true} {
		b.Run(fmt.Sprintf("durable=%v", durable), func(b *testing.B) {
			s := mustOpen(b, b.TempDir(), Options{})
			b.ReportAllocs()
			b.ResetTimer()
			pipeline(b, s, b.N, 300, 16, durable)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/300, "ns/event")
		})
	}
}

// BenchmarkSessions is many sessions that each wait for their last commit of one
// event.
func BenchmarkSessions(b *testing.B) {
	for _, sessions := range []int{1, 64, 1000} {
		for _, durable := range []bool{false, true} {
			b.Run(fmt.Sprintf("sessions=%d/durable=%v", sessions, durable), func(b *testing.B) {
				s := mustOpen(b, b.TempDir(), Options{})
				b.ReportAllocs()
				b.ResetTimer()
				before := s.Stats()
				var wg sync.WaitGroup
				for i := range sessions {
					n := b.N / sessions
					if i < b.N%sessions {
						n++
					}
					wg.Go(func() { pipeline(b, s, n, 1, 1, durable) })
				}
				wg.Wait()
				after := s.Stats()
				b.ReportMetric(float64(after.Syncs-before.Syncs)/float64(b.N), "syncs/op")
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
			})
		}
	}
}

// BenchmarkReplay reads a journal of 10,000 events.
func BenchmarkReplay(b *testing.B) {
	for _, chunk := range []int{1, 300} {
		b.Run(fmt.Sprintf("events_a_commit=%d", chunk), func(b *testing.B) {
			s := mustOpen(b, b.TempDir(), Options{})
			w := newSession(b)
			for w.head < 10_000 {
				c := w.next(chunk)
				c.Durable = false
				w.must(s, c)
			}
			b.ReportAllocs()
			for b.Loop() {
				for next := int64(1); next <= w.head; {
					list, err := s.Read(b.Context(), w.id, next, w.head, 1<<20)
					if err != nil {
						b.Fatal(err)
					}
					next = list[len(list)-1].Seq + 1
				}
			}
		})
	}
}

// benchSessions is how many sessions there are in a benchmark of many.
func benchSessions() int {
	if v, err := strconv.Atoi(os.Getenv("AGENTHOST_BENCH_SESSIONS")); err == nil {
		return v
	}
	return 10_000
}

// stocked fills a store with sessions of a few events each.
func stocked(b *testing.B, s *Store, n int) []event.ID {
	b.Helper()
	ids := make([]event.ID, n)
	var filled sync.WaitGroup
	for i := range ids {
		w := newSession(b)
		ids[i] = w.id
		c := w.next(10)
		c.Durable = false
		c.Create = &store.NewSession{Owner: fmt.Sprintf("owner %d", i%10), Created: int64(i)}
		c.Spec, c.Body = make([]byte, 300), make([]byte, 200)
		filled.Add(1)
		c.Done = func(err error) {
			if err != nil {
				b.Error(err)
			}
			filled.Done()
		}
		s.Commit(c)
		if i%2000 == 0 {
			filled.Wait()
		}
	}
	filled.Wait()
	return ids
}

// BenchmarkCaches is what page caches of other sizes would make of a store of many
// sessions: sessions that nobody asked for lately are read, by as many at once as there
// are readers, and get a commit, all of it in an order that no cache foresees.
func BenchmarkCaches(b *testing.B) {
	n := benchSessions()
	s := mustOpen(b, b.TempDir(), Options{})
	ids := stocked(b, s, n)
	heads := make([]int64, n)
	for i := range heads {
		heads[i] = 10
	}
	cache := func(d *db, kib int) {
		if err := d.Exec(fmt.Sprintf("PRAGMA cache_size=-%d; PRAGMA shrink_memory", kib)); err != nil {
			b.Fatal(err)
		}
	}
	for _, kib := range []int{readerCache, 2048, 4096, readerCache} {
		b.Run(fmt.Sprintf("read/readers=%dKiB", kib), func(b *testing.B) {
			for _, d := range s.pool.all {
				cache(d, kib)
			}
			var next atomic.Int64
			b.SetParallelism(readers / 2)
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					id := ids[next.Add(7919)%int64(n)]
					if _, err := s.Session(b.Context(), "", id); err != nil {
						b.Error(err)
						return
					}
					if _, err := s.Read(b.Context(), id, 1, 10, 1<<20); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
	i := 0
	for _, kib := range []int{writerCache, 1024, 16384, writerCache} {
		b.Run(fmt.Sprintf("commit/writer=%dKiB", kib), func(b *testing.B) {
			cache(s.writer.db, kib) // nothing is committed now
			free := make(chan error, 64)
			for range cap(free) {
				free <- nil
			}
			for range b.N {
				if err := <-free; err != nil {
					b.Fatal(err)
				}
				i = (i + 7919) % n
				w := &session{t: b, id: ids[i], head: heads[i]}
				c := w.next(1)
				heads[i] = c.Last()
				c.Durable, c.Done = false, func(err error) { free <- err }
				s.Commit(c)
			}
			for range cap(free) {
				if err := <-free; err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLookUp finds records among many sessions; AGENTHOST_BENCH_SESSIONS
// says how many (1,000,000 takes two minutes to fill).
func BenchmarkLookUp(b *testing.B) {
	n := benchSessions()
	dir := b.TempDir()
	s := mustOpen(b, dir, Options{})
	ids := stocked(b, s, n)
	i := 0
	next := func() event.ID { i += 7919; return ids[i%n] }
	b.Run("session", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Session(b.Context(), "", next()); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, owner := range []string{"", "owner 3"} {
		b.Run("page/owner="+owner, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p := spec.Page{Limit: 20, Desc: true}
				if owner == "" {
					p.After = next()
				}
				list, _, err := s.Sessions(b.Context(), store.SessionFilter{Owner: owner}, p)
				if err != nil || owner != "" && len(list) != 20 {
					b.Fatal(len(list), err)
				}
			}
		})
	}
	b.Run("count", func(b *testing.B) {
		for b.Loop() {
			if got, err := s.SessionCount(b.Context()); err != nil || got != int64(n) {
				b.Fatal(got, err)
			}
		}
	})
	mustClose(b, s)
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			s, err := Open(dir, Options{})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.ActiveSessions(b.Context()); err != nil {
				b.Fatal(err)
			}
			mustClose(b, s)
		}
	})
}
