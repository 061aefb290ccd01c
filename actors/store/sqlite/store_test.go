package sqlite_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/sqlite"
	"github.com/agenthost/agenthost/actors/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.CrashChild(openDir)
	goleak.VerifyTestMain(m)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, dir, boot string) store.Store {
		t.Helper()
		s, err := sqlite.Open(dir, sqlite.Options{BootID: boot})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return opened{s, dir, boot}
	}
	storetest.Run(t,
		func(t *testing.T) store.Store { return open(t, t.TempDir(), "boot") },
		func(t *testing.T, s store.Store) store.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, s.(opened).dir, s.(opened).boot)
		},
		func(t *testing.T, s store.Store) store.Store {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(s.(opened).dir)); err != nil {
				t.Fatal(err)
			}
			return open(t, dir, s.(opened).boot+" again")
		})
}

// opened remembers where a store lives, and in which run of the machine.
type opened struct {
	*sqlite.Store
	dir, boot string
}

func openDir(dir string) (store.Store, error) { return sqlite.Open(dir, sqlite.Options{}) }

func TestKilledWriterLosesNothingAnnounced(t *testing.T) {
	t.Parallel()
	storetest.Crash(t, 12, 3, openDir)
}
