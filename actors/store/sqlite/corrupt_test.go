package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// written fills a store with sessions of commits, some of them compressed, and
// closes it.
func written(t *testing.T, dir string, sessions, commits int) []*session {
	t.Helper()
	s := mustOpen(t, dir, Options{})
	list := make([]*session, sessions)
	for i := range list {
		w := newSession(t)
		list[i] = w
		for n := range commits {
			c := w.next(1 + n%12)
			c.Turns = []store.Turn{{ID: event.ItemID(w.id, uint32(n)), Ordinal: int64(n + 1), State: store.TurnEnded, Body: []byte("turn")}}
			c.Checkpoint = []byte("checkpoint")
			w.must(s, c)
		}
	}
	mustClose(t, s)
	return list
}

//cases:116
func TestFlippedBitInAChunkIsFoundAndConfined(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sessions := written(t, dir, 3, 20)
	hurt := sessions[1]
	path := filepath.Join(dir, fileName)
	file := readFile(t, path)
	// A chunk of one event is too small to be compressed: its text is in the file.
	// Pages that were split keep old copies, so every one is hit.
	text := fmt.Appendf(nil, "event 79 of session %s", hurt.id)
	if !bytes.Contains(file, text) {
		t.Fatal("the event is not in the file")
	}
	file = bytes.ReplaceAll(file, text, fmt.Appendf(nil, "evunt 79 of session %s", hurt.id))
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, dir, Options{})
	n, err := hurt.read(s)
	wantErr(t, "read", err, store.ErrCorrupt)
	if n != 78 {
		t.Fatalf("read %d events before the damage, want 78", n)
	}
	if got, err := s.Read(t.Context(), hurt.id, 80, hurt.head, 1<<20); err != nil || len(got) == 0 || got[0].Seq != 80 {
		t.Fatalf("behind the damage: %d events, %v", len(got), err)
	}
	sessions[0].mustRead(s)
	sessions[2].mustRead(s)
	sessions[2].must(s, sessions[2].next(3))
	var out strings.Builder
	wantErr(t, "dump", store.Dump(t.Context(), s, hurt.id, &out), store.ErrCorrupt)
	if lines := strings.Count(out.String(), "\n"); lines != 78 {
		t.Fatalf("the dump has %d lines, want the 78 events before the damage", lines)
	}
}

//cases:116
func TestDamageOfARowIsFound(t *testing.T) {
	t.Parallel()
	read := func(s *Store, w *session) error { _, err := w.read(s); return err }
	lookUp := func(s *Store, w *session) error { _, err := s.Session(w.t.Context(), "", w.id); return err }
	turns := func(s *Store, w *session) error {
		_, _, err := s.Turns(w.t.Context(), w.id, spec.Page{Limit: 100})
		return err
	}
	for name, c := range map[string]struct {
		sql   string
		touch func(*Store, *session) error
	}{
		"compressed body":      {"UPDATE chunk SET body=zeroblob(length(body)) WHERE flags&1 AND s=1", read},
		"row of another":       {"UPDATE chunk SET s=1 WHERE s=2 AND first=1 AND (SELECT count(*) FROM chunk WHERE s=1 AND first=1)=0", read},
		"missing chunk":        {"DELETE FROM chunk WHERE s=1 AND first=(SELECT first FROM chunk WHERE s=1 ORDER BY first LIMIT 1 OFFSET 3)", read},
		"missing first chunk":  {"DELETE FROM chunk WHERE s=1 AND first=1", read},
		"missing last chunk":   {"DELETE FROM chunk WHERE s=1 AND first=(SELECT max(first) FROM chunk WHERE s=1)", read},
		"chunk numbers":        {"UPDATE chunk SET last=last+1 WHERE s=1 AND first=(SELECT max(first) FROM chunk WHERE s=1)", read},
		"session body":         {"UPDATE session SET body='x' WHERE n=1", lookUp},
		"session spec":         {"UPDATE session SET spec='x' WHERE n=1", lookUp},
		"session owner":        {"UPDATE session SET owner='bob' WHERE n=1", lookUp},
		"session head":         {"UPDATE session SET head=head-1 WHERE n=1", lookUp},
		"session epoch":        {"UPDATE session SET epoch=9 WHERE n=1", lookUp},
		"session mark":         {"UPDATE session SET reserved=reserved-1 WHERE n=1", lookUp},
		"session era":          {"UPDATE session SET era=era-1 WHERE n=1", lookUp},
		"session epoch, write": {"UPDATE session SET epoch=9 WHERE n=1", func(s *Store, w *session) error { return w.commit(s, w.next(1)) }},
		"turn":                 {"UPDATE turn SET last=7 WHERE s=1 AND ordinal=2", turns},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			sessions := written(t, dir, 2, 20)
			if strings.HasPrefix(name, "row of another") {
				edit(t, dir, "DELETE FROM chunk WHERE s=1 AND first=1")
			}
			edit(t, dir, c.sql)
			s := mustOpen(t, dir, Options{})
			wantErr(t, name, c.touch(s, sessions[0]), store.ErrCorrupt)
			if name != "row of another" {
				sessions[1].mustRead(s)
			}
		})
	}
}

func TestDamagedCheckpointIsPassedOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := written(t, dir, 1, 3)[0]
	edit(t, dir, "UPDATE checkpoint SET body='x' WHERE seq=(SELECT max(seq) FROM checkpoint)")
	s := mustOpen(t, dir, Options{})
	k, err := s.CheckpointBefore(t.Context(), w.id, w.head)
	if err != nil || k.Seq != 3 || string(k.Body) != "checkpoint" {
		t.Fatalf("got %+v, %v", k, err)
	}
}

// Whatever bit of the file flips: the store opens or says why not, and a session
// gives what was written or ErrCorrupt.
//
//cases:116
func TestRandomFlipsAreNeverSilent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sessions := written(t, dir, 8, 25)
	sound := readFile(t, filepath.Join(dir, fileName))
	rng := rand.New(rand.NewPCG(7, 7))
	noticed, refused := 0, 0
	for range 60 {
		file := bytes.Clone(sound)
		for range 1 + rng.IntN(3) {
			file[rng.IntN(len(file))] ^= 1 << rng.IntN(8)
		}
		hurt := t.TempDir()
		if err := os.WriteFile(filepath.Join(hurt, fileName), file, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(hurt, Options{})
		if err != nil {
			refused++
			continue
		}
		bad := 0
		for _, w := range sessions {
			switch _, err := w.read(s); {
			case err == nil:
			case errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrNotFound):
				bad++
			default:
				t.Errorf("an untyped error: %v", err)
			}
		}
		if bad > 0 {
			noticed++
		}
		_ = s.Close() // damage may show again
	}
	if noticed == 0 {
		t.Fatal("no flip was noticed: the test does not reach the rows")
	}
	t.Logf("60 flips: %d noticed in sessions, %d refused at the start", noticed, refused)
}

// A damaged row is not in a list, and the others are; it says what it is when it is
// asked for, by its owner and, as nothing of it can be believed, by anybody.
func TestListsGoOnPastDamage(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"body":    "UPDATE session SET body='x' WHERE n=2; UPDATE record SET body='x' WHERE n=2",
		"owner":   "UPDATE session SET owner='bob' WHERE n=2; UPDATE record SET owner='bob' WHERE n=2",
		"state":   "UPDATE session SET state=3 WHERE n=2; UPDATE record SET name='x' WHERE n=2",
		"created": "UPDATE session SET created=created+1 WHERE n=2; UPDATE record SET created=created+1 WHERE n=2",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			sessions := written(t, dir, 3, 2)
			s := mustOpen(t, dir, Options{})
			for _, w := range sessions {
				if err := s.PutRecord(t.Context(), &store.Record{Kind: "agent", ID: w.id, Owner: "ann", Name: "a", Created: 1}); err != nil {
					t.Fatal(err)
				}
			}
			mustClose(t, s)
			edit(t, dir, sql)
			s = mustOpen(t, dir, Options{})
			for _, limit := range []int{1, 2, 10} {
				for _, desc := range []bool{false, true} {
					var got, records int
					p := spec.Page{Limit: limit, Desc: desc}
					for more := true; more; {
						list, m, err := s.Sessions(t.Context(), store.SessionFilter{Owner: "ann"}, p)
						if err != nil || m && len(list) != limit {
							t.Fatalf("%d sessions, more %v, %v", len(list), m, err)
						}
						if got, more = got+len(list), m; more {
							p.After = list[len(list)-1].ID
						}
					}
					p.After = event.ID{}
					for more := true; more; {
						list, m, err := s.Records(t.Context(), "agent", "ann", p)
						if err != nil || m && len(list) != limit {
							t.Fatalf("%d records, more %v, %v", len(list), m, err)
						}
						if records, more = records+len(list), m; more {
							p.After = list[len(list)-1].ID
						}
					}
					if got != 2 || records != 2 {
						t.Errorf("lists of %d show %d sessions and %d records, want the 2 that are sound", limit, got, records)
					}
				}
			}
			for _, owner := range []string{"ann", "bob", ""} {
				_, err := s.Session(t.Context(), owner, sessions[1].id)
				wantErr(t, "the damaged session for "+owner, err, store.ErrCorrupt)
			}
			if _, err := s.Session(t.Context(), "bob", sessions[0].id); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("a foreign session: %v", err)
			}
		})
	}
}
