package storetest

import (
	"bytes"
	"errors"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// exported fills the store with sessions of every kind and exports it.
func (s *suite) exported() (ids []event.ID, export []byte, done *store.Exported) {
	s.Helper()
	idle, active := store.Idle, store.Active
	for i := range 3 {
		id := s.create("ann", 3)
		for n := int64(1); n <= 4; n++ {
			c := s.after(id, 3*n, 3)
			c.State, c.Active, c.Body, c.Checkpoint = &idle, 1000*n, []byte("body"), []byte("checkpoint")
			c.Turns = []store.Turn{{ID: event.ItemID(id, uint32(n)), Ordinal: n, State: store.TurnEnded, First: 3*n + 1, Last: 3*n + 3, Number: n, Body: []byte("turn")}}
			s.must(c)
		}
		if i == 1 { // its beginning is gone
			_, err := s.Trim(s.ctx(), id, 9)
			s.ok("trim", err)
		}
		ids = append(ids, id)
	}
	busy := s.create("ann", 1)
	c := s.after(busy, 1, 1)
	c.State = &active
	s.must(c)
	s.ok("put", s.PutRecord(s.ctx(), &store.Record{Kind: "agent", ID: ids[0], Owner: "ann", Name: "helper", Created: 1, Body: []byte("b")}))
	s.ok("put", s.PutRecord(s.ctx(), &store.Record{Kind: "file", ID: ids[0], Owner: "ann", Created: 1}))
	var out bytes.Buffer
	done, err := store.Export(s.ctx(), s.Store, []string{"agent"}, &out)
	s.ok("export", err)
	if len(done.LeftOut) != 1 || done.LeftOut[0].Session != busy.With(event.PrefixSession) {
		s.Fatalf("left out %+v", done.LeftOut)
	}
	return ids, out.Bytes(), done
}

// fresh is another empty store of the same kind.
func (s *suite) fresh() *suite {
	return &suite{T: s.T, Store: s.openFn(s.T), openFn: s.openFn, reopenFn: s.reopenFn, crashFn: s.crashFn, host: event.NewID()}
}

func exportIsImported(s *suite) {
	ids, export, done := s.exported()
	if done.Sessions != 3 || done.Turns != 12 || done.Records != 1 {
		s.Fatalf("%+v", done)
	}
	to := s.fresh()
	// One that was interrupted in the second session is repeated.
	lines := bytes.SplitAfter(export, []byte("\n"))
	_, err := store.Import(s.ctx(), to.Store, bytes.NewReader(bytes.Join(lines[:len(lines)/2], nil)))
	s.want("half an export", err, store.ErrExport)
	got, err := store.Import(s.ctx(), to.Store, bytes.NewReader(export))
	s.ok("import", err)
	if sum := got.Sessions + got.There.Sessions; sum != 3 || got.There.Sessions == 3 {
		s.Fatalf("%+v", got)
	}
	check := func() {
		s.Helper()
		for _, id := range ids {
			was, is := s.session(id), to.session(id)
			if is.Owner != was.Owner || is.Created != was.Created || is.Active != was.Active || is.Head != was.Head || is.Trimmed != was.Trimmed ||
				is.State != store.Idle || string(is.Body) != string(was.Body) || string(is.Spec) != string(was.Spec) || is.Uncertain {
				s.Fatalf("imported %+v of %+v", is, was)
			}
			to.checkEvents(id, to.readAll(id, was.Trimmed+1, was.Head), was.Trimmed+1, was.Head)
			for seq := was.Trimmed; seq <= was.Head; seq++ {
				a, err := s.CheckpointBefore(s.ctx(), id, seq)
				s.ok("checkpoint", err)
				b, err := to.CheckpointBefore(s.ctx(), id, seq)
				s.ok("checkpoint", err)
				if a.Seq != b.Seq || string(a.Body) != string(b.Body) {
					s.Fatalf("checkpoint before %d is %+v, was %+v", seq, b, a)
				}
			}
			turns, _, err := to.Turns(s.ctx(), id, spec.Page{})
			s.ok("turns", err)
			if len(turns) != 4 || turns[3].Number != 4 || string(turns[3].Body) != "turn" || turns[3].Last != 15 {
				s.Fatalf("%d turns", len(turns))
			}
		}
		if n, err := to.NextNumber(s.ctx()); err != nil || n != 5 {
			s.Fatalf("number %d, %v", n, err)
		}
		if n, err := to.SessionCount(s.ctx()); err != nil || n != 3 {
			s.Fatalf("%d sessions, %v", n, err)
		}
	}
	check()
	again, err := store.Import(s.ctx(), to.Store, bytes.NewReader(export))
	s.ok("import again", err)
	if again.Sessions != 0 || again.Events != 0 || again.Records != 0 || again.There != done.ExportCounts {
		s.Fatalf("the second import: %+v", again)
	}
	to.reopen()
	check()
	var back bytes.Buffer
	_, err = store.Export(s.ctx(), to.Store, []string{"agent"}, &back)
	s.ok("export", err)
	if !bytes.Equal(back.Bytes(), export) {
		s.Error("the export of an import is another one")
	}
	// It goes on as a session that was always here.
	rec, err := to.Claim(s.ctx(), ids[1], to.host)
	s.ok("claim", err)
	s.ok("commit", to.commit(&store.Commit{Session: ids[1], Host: to.host, Epoch: rec.Epoch, Head: rec.Head, Events: Events(ids[1], rec.Head+1, 1)}))
}

func brokenExportIsRefused(s *suite) {
	_, export, _ := s.exported()
	text := string(export)
	for what, broken := range map[string]string{
		"nothing":         "",
		"no header":       text[strings.Index(text, "\n")+1:],
		"two headers":     text[:strings.Index(text, "\n")+1] + text,
		"no JSON":         "{\n" + text,
		"no end":          text[:strings.LastIndex(text[:len(text)-1], "\n")+1],
		"a flipped digit": strings.Replace(text, `"created":1000`, `"created":1001`, 1),
		"lines left out":  text[:strings.Index(text, "\n")+1] + text[strings.Index(text, `{"type":"turn"`):],
		"deep":            strings.Repeat("[", 100000),
	} {
		if _, err := store.Import(s.ctx(), s.fresh().Store, strings.NewReader(broken)); !errors.Is(err, store.ErrExport) {
			s.Errorf("%s: %v", what, err)
		}
	}
}
