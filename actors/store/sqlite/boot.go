package sqlite

import (
	"bytes"
	"errors"
	"hash/fnv"
	"os"

	"github.com/agenthost/agenthost/actors/store"
)

// A commit without a sync is in the kernel and outlives the process, but not the
// machine. So the file notes which run of the machine has it open and whether it
// was closed. An opening that finds it open under another run begins a new era;
// sessions of an older era are uncertain until their mark is passed.

// kernelBoot names this run of the machine; "" where the kernel does not tell.
func kernelBoot() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(b))
}

// bootNumber is the stored form of a run's name; 0 when it has none.
func bootNumber(name string) int64 {
	if name == "" {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return max(int64(h.Sum64()>>1), 1)
}

// opening is what the file says about how it was last used.
type opening struct {
	boot  int64
	clean bool
	era   int64
}

// lossy reports whether commits without a sync may be gone when the file is
// opened in the run boot.
func (o *opening) lossy(boot int64) bool {
	return !o.clean && (boot == 0 || boot != o.boot)
}

// begin notes that the file is open. It is synced: were the note lost together
// with commits, nobody would look for them. damaged says that the log was.
func (s *Store) begin(damaged bool) error {
	now := opening{boot: bootNumber(s.opts.BootID), era: s.writer.opening.era}
	if s.uncertain = damaged || s.writer.opening.lossy(now.boot); s.uncertain {
		now.era++
	}
	s.era = now.era
	err := s.writer.note(now)
	if errors.Is(err, store.ErrFull) {
		// A full disk keeps nobody from reading; the note comes before any commit.
		s.writer.owed = &now
		return nil
	}
	return err
}

// end notes that nothing is left to be lost. Without the note the next opening in
// another run of the machine only skips numbers that nobody has seen.
func (s *Store) end() {
	if s.Err() != nil || s.writer.owed != nil {
		return
	}
	now := s.writer.opening
	now.clean = true
	if err := s.writer.note(now); err != nil {
		s.opts.Logger.Warn("the store could not be marked as closed", "dir", s.dir, "error", err)
	}
}

func (w *writer) note(now opening) error {
	clean := int64(0)
	if now.clean {
		clean = 1
	}
	err := w.transact(true, func() error {
		for _, v := range []struct {
			name  string
			value int64
		}{{"boot", now.boot}, {"clean", clean}, {"era", now.era}} {
			if err := w.db.on("UPDATE meta SET value=?1 WHERE name=?2").int(v.value).text(v.name).exec(); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		w.opening, w.owed = now, nil
	}
	return classify(err)
}

// Uncertain says that this opening followed an end of the machine that may have
// dropped commits without a sync.
func (s *Store) Uncertain() bool { return s.uncertain }

// reserve moves e's mark when its head has come to it; moved asks for the row to
// be written. The new mark must be on the disk before a reader sees the events.
func (w *writer) reserve(e *entry) (moved bool, err error) {
	if e.head < e.reserved {
		return false, nil
	}
	if !w.full {
		return false, errUnsynced
	}
	e.reserved, e.era = e.head+store.Ahead, w.store.era
	return true, nil
}
