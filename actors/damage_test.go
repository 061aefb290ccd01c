package actors_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/archive"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/sqlite"
)

// stored opens the embedded store of dir.
func stored(t *testing.T, dir string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(dir, sqlite.Options{})
	must(t, err)
	return s
}

// spoil changes every copy of a text in a closed store's file.
func spoil(t *testing.T, dir, text, to string) {
	t.Helper()
	path := filepath.Join(dir, "store.db")
	b, err := os.ReadFile(path)
	must(t, err)
	if len(text) != len(to) || !bytes.Contains(b, []byte(text)) {
		t.Fatalf("%q is not in the file", text)
	}
	must(t, os.WriteFile(path, bytes.ReplaceAll(b, []byte(text), []byte(to)), 0o600))
}

// damaged is a host's directory with a session of three turns, one of them forgotten,
// and another session; the host is stopped.
type damaged struct {
	dir         string
	ses, other  event.ID
	turns       [3]event.ID
	head, early int64 // the last event, and that of the first turn
}

func makeDamaged(t *testing.T) *damaged {
	t.Helper()
	d := &damaged{dir: t.TempDir()}
	h := dropped(t, d.dir, quick(), stored(t, d.dir))
	p := create(t, h, "echo first-answer")
	d.ses, d.turns[0] = p.Session.ID, p.Turns[0].ID
	list := follow(t, h, d.ses, 0, ended(d.turns[0]))
	d.early = list[len(list)-1].Seq
	for i := 1; i < 3; i++ {
		d.turns[i] = send(t, h, d.ses, fmt.Sprintf("echo answer-number-%d", i+1)).ID
		list = follow(t, h, d.ses, 0, ended(d.turns[i]))
	}
	d.head = list[len(list)-1].Seq
	o := create(t, h, "echo other-answer")
	d.other = o.Session.ID
	follow(t, h, d.other, 0, ended(o.Turns[0].ID))
	idle(t, h, d.ses)
	idle(t, h, d.other)
	stop(t, h)
	return d
}

// kinds of damage that reach one session.
var damages = map[string]func(*testing.T, *damaged){
	"journal at its beginning": func(t *testing.T, d *damaged) { spoil(t, d.dir, "first-answer", "first-bnswer") },
	"journal in its middle":    func(t *testing.T, d *damaged) { spoil(t, d.dir, "answer-number-2", "bnswer-number-2") },
	"journal at its end":       func(t *testing.T, d *damaged) { spoil(t, d.dir, "answer-number-3", "bnswer-number-3") },
	"record of the session": func(t *testing.T, d *damaged) {
		spoil(t, d.dir, `"latest":"`+d.turns[2].Hex(), `"latesu":"`+d.turns[2].Hex())
	},
	"record of a turn": func(t *testing.T, d *damaged) {
		spoil(t, d.dir, `{"id":"`+d.turns[1].Hex()+`","session"`, `{"ie":"`+d.turns[1].Hex()+`","session"`)
	},
}

// Whatever is damaged: the host starts, no route of the session gives anything but
// what was stored or session_quarantined, and the other session serves.
//
//cases:116
func TestDamageIsMetByItsSessionAlone(t *testing.T) {
	t.Parallel()
	for name, harm := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := makeDamaged(t)
			harm(t, d)
			h := startedIn(t, d.dir, quick(), stored(t, d.dir))
			met := 0
			judge := func(what string, err error) {
				t.Helper()
				if err == nil {
					return
				}
				met++
				if event.CodeOf(err) != event.SessionQuarantined {
					t.Errorf("%s: %v, want %s", what, err, event.SessionQuarantined)
				}
			}
			judge("session", second(h.Session(ctx(t), "alice", d.ses)))
			_, _, err := h.Turns(ctx(t), "alice", d.ses, spec.Page{Limit: 10})
			judge("turns", err)
			_, _, err = h.Items(ctx(t), "alice", d.ses, spec.Page{})
			judge("items", err)
			_, _, err = h.Artifacts(ctx(t), "alice", d.ses, event.ID{}, spec.Page{})
			judge("artifacts", err)
			for i, id := range d.turns {
				turn, err := h.Turn(ctx(t), "alice", id)
				judge("turn", err)
				if err == nil && len(turn.Items) > 0 && !strings.HasSuffix(turn.Items[0].Text, [...]string{"first-answer\n", "answer-number-2\n", "answer-number-3\n"}[i]) {
					t.Errorf("turn %d says %q", i+1, turn.Items[0].Text)
				}
				_, _, err = h.TurnItems(ctx(t), "alice", d.ses, id, spec.Page{})
				judge("turn items", err)
				judge("cancel", second(h.CancelTurn(ctx(t), "alice", id)))
			}
			sub, err := h.Subscribe(ctx(t), "alice", d.ses, 0)
			judge("subscribe", err)
			if err == nil {
				seen := int64(0)
				for seen < d.head && err == nil {
					var b *fold.Batch
					var wake <-chan struct{}
					if b, wake, err = sub.Next(); err == nil && b == nil {
						select {
						case <-wake:
						case <-ctx(t).Done():
							t.Fatal("the stream stands still")
						}
					} else if err == nil {
						seen = b.Last()
					}
				}
				judge("stream", err)
				sub.Close()
			}
			if met == 0 {
				t.Error("nothing noticed the damage")
			}
			list, _, err := h.Sessions(ctx(t), "alice", spec.SessionQuery{}, spec.Page{})
			if err != nil || len(list) == 0 || list[len(list)-1].ID != d.other {
				t.Errorf("the list: %v, %v", list, err)
			}
			next := send(t, h, d.other, "echo goes on")
			follow(t, h, d.other, 0, ended(next.ID))
		})
	}
}

// What damage keeps from being served it keeps over restarts, under the same name:
// nothing takes it for empty, missing or whole the next time.
func TestQuarantineStaysOverRestarts(t *testing.T) {
	t.Parallel()
	for name, harm := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := makeDamaged(t)
			harm(t, d)
			var before string
			for start := range 3 {
				h := dropped(t, d.dir, quick(), stored(t, d.dir))
				var codes []string
				note := func(err error) { codes = append(codes, string(event.CodeOf(err))) }
				note(second(h.Session(ctx(t), "alice", d.ses)))
				_, _, err := h.Turns(ctx(t), "alice", d.ses, spec.Page{Limit: 10})
				note(err)
				_, _, err = h.Items(ctx(t), "alice", d.ses, spec.Page{})
				note(err)
				for _, id := range d.turns {
					note(second(h.Turn(ctx(t), "alice", id)))
					_, _, err = h.TurnItems(ctx(t), "alice", d.ses, id, spec.Page{})
					note(err)
				}
				note(second(h.UpdateSession(ctx(t), "alice", d.ses, &spec.Update{})))
				stop(t, h)
				now := strings.Join(codes, " ")
				if !strings.Contains(now, string(event.SessionQuarantined)) || start > 0 && now != before {
					t.Errorf("start %d: %s\nbefore: %s", start+1, now, before)
				}
				before = now
			}
		})
	}
}

// Repair keeps what can stand alone, says what is lost, and the session goes on; no
// number that a reader may have seen is used again.
func TestRepairedSessionsGoOn(t *testing.T) {
	t.Parallel()
	for name, harm := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := makeDamaged(t)
			harm(t, d)
			done, err := sqlite.Repair(context.Background(), d.dir, sqlite.Options{}, archive.Refold)
			must(t, err)
			if !done.After.Sound() || done.Salvaged || len(done.Lost)+len(done.Mended) == 0 {
				t.Fatalf("%+v, after it %+v", done, done.After)
			}
			if _, err := os.Stat(done.Copy); err != nil {
				t.Error(err)
			}
			h := startedIn(t, d.dir, quick(), stored(t, d.dir))
			if _, err := h.Session(ctx(t), "alice", d.other); err != nil {
				t.Error(err)
			}
			// The first damage is before a checkpoint, so what follows stands alone; the
			// others cut the end off.
			kept := map[string]int{"journal in its middle": 1, "journal at its end": 2}
			n, cut := kept[name]
			if !cut {
				n = 3
			}
			trimmed := name == "journal at its beginning"
			if (cut || trimmed) != (len(done.Lost) > 0) {
				t.Errorf("lost %+v", done.Lost)
			}
			turns, _, err := h.Turns(ctx(t), "alice", d.ses, spec.Page{})
			if err != nil || len(turns) != n {
				t.Fatalf("%d turns, want %d: %v", len(turns), n, err)
			}
			for i, turn := range turns {
				back, err := h.Turn(ctx(t), "alice", d.turns[i])
				if err != nil || turn.ID != d.turns[i] || back.Status != fold.Completed || (len(back.Items) == 1) == (trimmed && i == 0) || turn.Ordinal != int64(i+1) {
					t.Errorf("turn %d: %+v, %v", i+1, back, err)
				}
			}
			ses, err := h.Session(ctx(t), "alice", d.ses)
			if err != nil || ses.Turns != int64(n) || n > 0 && ses.Latest != d.turns[n-1] || ses.Open != 0 {
				t.Errorf("session %+v, %v", ses, err)
			}
			if trimmed {
				_, err := h.Subscribe(ctx(t), "alice", d.ses, 0)
				if f, ok := event.AsFailure(err); !ok || f.Code != event.CursorEvicted || f.Oldest != fmt.Sprintf("evt_%016d", d.early) {
					t.Errorf("the lost beginning: %v", err)
				}
			}
			next := send(t, h, d.ses, "echo goes on")
			got := follow(t, h, d.ses, next.First-1, ended(next.ID))
			if cut && next.First <= d.head {
				t.Errorf("the next turn begins with number %d, and readers have seen %d", next.First, d.head)
			}
			if end := outcome(t, got); end.Outcome != event.Completed {
				t.Errorf("end %+v", end)
			}
		})
	}
}

// What a repair tells of a sound session is what the host stored.
func TestRefoldTellsWhatTheHostStored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := stored(t, dir)
	h := startedIn(t, dir, quick(), s)
	p := create(t, h, "echo '#session n-1'; echo one; echo '#final'")
	ses := p.Session.ID
	follow(t, h, ses, 0, ended(p.Turns[0].ID))
	gone := send(t, h, ses, "echo two")
	follow(t, h, ses, 0, ended(gone.ID))
	must(t, h.ForgetTurn(ctx(t), "alice", gone.ID))
	_, err := h.PostItems(ctx(t), "alice", ses, input("a note").Items, nil)
	must(t, err)
	items, _, err := h.Items(ctx(t), "alice", ses, spec.Page{})
	must(t, err)
	must(t, h.RemoveItem(ctx(t), "alice", ses, items[1].Item.ID))
	last := send(t, h, ses, "false")
	follow(t, h, ses, 0, ended(last.ID))
	idle(t, h, ses)

	rec, err := s.Session(ctx(t), "alice", ses)
	must(t, err)
	events, err := s.Read(ctx(t), ses, 1, rec.Head, 1<<20)
	must(t, err)
	told, err := archive.Refold(nil, events, true)
	must(t, err)
	if string(told.Body) != string(rec.Body) || string(told.Spec) != string(rec.Spec) || told.Head != rec.Head || told.Owner != "alice" || told.State != store.Idle || told.Active != rec.Active {
		t.Errorf("told\n%s\n%s\nstored\n%s\n%s", told.Body, told.Spec, rec.Body, rec.Spec)
	}
	turns, _, err := s.Turns(ctx(t), ses, spec.Page{})
	must(t, err)
	if len(turns) != len(told.Turns) {
		t.Fatalf("told %d turns, %d are stored", len(told.Turns), len(turns))
	}
	for i, want := range turns {
		got := told.Turns[i]
		if got.ID != want.ID || got.Ordinal != want.Ordinal || got.State != want.State || got.First != want.First || got.Last != want.Last || got.Number != want.Number || string(got.Body) != string(want.Body) {
			t.Errorf("turn %d is told as\n%+v %s\nstored\n%+v %s", i+1, got, got.Body, want, want.Body)
		}
	}
	// Cut anywhere, it is told at a moment of rest.
	for n := range events {
		told, err := archive.Refold(nil, events[:n], false)
		if err != nil || told.Head > int64(n) || told.Head > 0 && (told.State != store.Idle || told.Checkpoint == nil) {
			t.Errorf("the first %d events are told as %+v, %v", n, told, err)
		}
	}
}
