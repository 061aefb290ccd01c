package actors_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/agenthost/agenthost/actors/store/sqlite"
)

// Past its limit a journal loses the deltas of finished turns, the oldest first; every
// item and every cursor stays as long as that is enough.
func TestDeltasGoBeforeTurns(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T, string) store.Store{
		"memory": func(*testing.T, string) store.Store { return memory.New() },
		"sqlite": func(t *testing.T, dir string) store.Store {
			s, err := sqlite.Open(dir, sqlite.Options{})
			must(t, err)
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			st := open(t, dir)
			l := restless()
			l.JournalMaxBytes, l.RingBytes = 256<<10, 4<<10
			if name == "memory" { // it counts the texts of events, not their items
				l.JournalMaxBytes = 100 << 10
			}
			h := startedIn(t, dir, l, st)
			ses := create(t, h, "").Session.ID
			// Each says 20 KiB twice: in deltas, and in the item.
			const turns = 10
			slack := int64(160 << 10) // it is looked at after a checkpoint, which stands every 64 KiB or more
			var ids []event.ID
			var cursor int64 // in the middle of the first turn's deltas
			for i := range turns {
				turn := send(t, h, ses, fmt.Sprintf("for i in 1 2 3 4 5 6 7 8; do head -c 1900 /dev/urandom | base64 -w 0; echo; sleep 0.01; done; echo turn %d", i))
				list := follow(t, h, ses, turn.First-1, ended(turn.ID))
				ids = append(ids, turn.ID)
				if i == 0 {
					for _, ev := range list {
						if ev.Kind == event.TextDelta && cursor == 0 {
							cursor = ev.Seq
						}
					}
				}
			}
			passivated(t, h)
			var rec *store.Session
			eventually(t, "the journal fits", func() (fits bool) {
				var err error
				rec, err = st.Session(ctx(t), "", ses)
				return err == nil && rec.Bytes <= l.JournalMaxBytes+slack
			})
			if rec.Trimmed != 0 {
				t.Fatalf("trimmed to %d", rec.Trimmed)
			}
			kinds := map[event.ID]map[event.Kind]int{}
			for at := int64(0); at < rec.Head; {
				list, err := st.Read(ctx(t), ses, at+1, rec.Head, 1<<20)
				must(t, err)
				for _, ev := range list {
					if kinds[ev.Turn] == nil {
						kinds[ev.Turn] = map[event.Kind]int{}
					}
					kinds[ev.Turn][ev.Kind]++
				}
				at = list[len(list)-1].Seq
			}
			if k := kinds[ids[0]]; k[event.TextDelta] != 0 || k[event.Skipped] == 0 || k[event.ItemDone] != 1 {
				t.Errorf("the oldest turn has %v", k)
			}
			if k := kinds[ids[turns-1]]; k[event.TextDelta] == 0 {
				t.Errorf("the newest turn has %v", k)
			}
			for i, id := range ids {
				turn, err := h.Turn(ctx(t), "alice", id)
				if err != nil || len(turn.Items) != 1 || !strings.HasSuffix(turn.Items[0].Text, fmt.Sprintf("turn %d\n", i)) || len(turn.Items[0].Text) < 20000 {
					t.Errorf("turn %d: %+v, %v", i, turn, err)
				}
			}
			items, _, err := h.Items(ctx(t), "alice", ses, spec.Page{})
			if err != nil || len(items) != 2*turns {
				t.Errorf("%d items, %v", len(items), err)
			}
			sub, err := h.Subscribe(ctx(t), "alice", ses, cursor)
			must(t, err)
			defer sub.Close()
			b, _, err := sub.Next()
			must(t, err)
			if b == nil || b.Events[0].Kind != event.Skipped || b.Events[1].Kind != event.ItemDone || b.Events[1].Turn != ids[0] {
				t.Errorf("behind a cursor among dropped deltas came %+v", b)
			}

			// Once there is nothing more to drop, whole turns go.
			if name == "memory" {
				return
			}
			for i := range 2 * turns {
				turn := send(t, h, ses, fmt.Sprintf("for i in 1 2 3 4 5 6 7 8; do head -c 1900 /dev/urandom | base64 -w 0; echo; done; echo more %d", i))
				follow(t, h, ses, turn.First-1, ended(turn.ID))
			}
			eventually(t, "the journal fits again", func() bool {
				rec, err := st.Session(ctx(t), "", ses)
				return err == nil && rec.Bytes <= l.JournalMaxBytes+slack && rec.Trimmed > 0
			})
			if _, err := h.Subscribe(ctx(t), "alice", ses, cursor); event.CodeOf(err) != event.CursorEvicted {
				t.Errorf("a cursor in a turn that is gone: %v", err)
			}
		})
	}
}
