package sqlite

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// crashed is a copy of a live store's files, as a kill leaves them.
func crashed(t *testing.T, commits int) (dir string, w *session) {
	t.Helper()
	from := t.TempDir()
	s := mustOpen(t, from, Options{})
	w = newSession(t)
	for range commits {
		w.must(s, w.next(3))
	}
	return copied(t, from), w
}

// openLogged opens dir and returns what was logged and the copies kept.
func openLogged(t *testing.T, dir string) (s *Store, log string, kept []string) {
	t.Helper()
	var out bytes.Buffer
	s = mustOpen(t, dir, Options{Logger: slog.New(slog.NewTextHandler(&out, nil))})
	kept, err := filepath.Glob(filepath.Join(dir, "*.damaged-*"))
	if err != nil {
		t.Fatal(err)
	}
	return s, out.String(), kept
}

//cases:116
func TestSoundAndTornLogsAreNoDamage(t *testing.T) {
	t.Parallel()
	for name, tear := range map[string]func([]byte) []byte{
		"sound":         func(b []byte) []byte { return b },
		"torn":          func(b []byte) []byte { return b[:len(b)-5000] },
		"last page bad": func(b []byte) []byte { b[len(b)-100] ^= 1; return b },
		"only header":   func(b []byte) []byte { return b[:20] },
		"empty":         func(b []byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, _ := crashed(t, 20)
			path := filepath.Join(dir, fileName+"-wal")
			if err := os.WriteFile(path, tear(readFile(t, path)), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, log, kept := openLogged(t, dir); log != "" || len(kept) != 0 {
				t.Fatalf("kept %v, log %s", kept, log)
			}
		})
	}
}

//cases:116
func TestDamageInTheLogIsReportedAndKept(t *testing.T) {
	t.Parallel()
	dir, w := crashed(t, 20)
	path := filepath.Join(dir, fileName+"-wal")
	log := readFile(t, path)
	log[len(log)/2] ^= 4
	if err := os.WriteFile(path, log, 0o600); err != nil {
		t.Fatal(err)
	}
	s, said, kept := openLogged(t, dir)
	if !strings.Contains(said, "log is damaged") || len(kept) != 1 {
		t.Fatalf("kept %v, log %s", kept, said)
	}
	if !bytes.Equal(readFile(t, kept[0]), log) {
		t.Fatal("the copy is not the damaged log")
	}
	rec, err := s.Session(t.Context(), "", w.id)
	if err != nil || rec.Head == 0 || rec.Head >= w.head {
		t.Fatalf("what is left: %+v, %v", rec, err)
	}
	w.head = rec.Head
	w.mustRead(s)
}
