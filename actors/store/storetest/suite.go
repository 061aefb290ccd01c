package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// Run plays the suite. open gives an empty store that the test closes with its
// clean-up; reopen closes s and opens what it held again; crash opens what s holds
// as after an end of the machine, which took s without closing it.
func Run(t *testing.T, open func(t *testing.T) store.Store, reopen, crash func(t *testing.T, s store.Store) store.Store) {
	for _, c := range []struct {
		name string
		run  func(*suite)
	}{
		{"CommitIsReadBack", commitIsReadBack},
		{"CommitIsAllOrNothing", commitIsAllOrNothing},
		{"CommitsKeepTheirOrder", commitsKeepTheirOrder},
		{"BadCommitIsRefused", badCommitIsRefused},
		{"WrongHostOrEpochIsFenced", wrongHostOrEpochIsFenced},
		{"WrongHeadIsRefused", wrongHeadIsRefused},
		{"RepeatedCommitIsAnsweredAlike", repeatedCommitIsAnsweredAlike},
		{"ClaimRaisesTheEpoch", claimRaisesTheEpoch},
		{"ForeignIsUnknown", foreignIsUnknown},
		{"SessionPages", sessionPages},
		{"SessionFilter", sessionFilter},
		{"ActiveSessionsAreFound", activeSessionsAreFound},
		{"IdleSessionsByAge", idleSessionsByAge},
		{"UsedFollowsWhatIsKept", usedFollowsWhatIsKept},
		{"TurnPages", turnPages},
		{"TurnIsReplaced", turnIsReplaced},
		{"NumbersSurvive", numbersSurvive},
		{"KeysLiveADay", keysLiveADay},
		{"RecordsBringKeys", recordsBringKeys},
		{"ReadWindows", readWindows},
		{"ReadIsBounded", readIsBounded},
		{"Checkpoints", checkpoints},
		{"TrimIsWholeCommits", trimIsWholeCommits},
		{"ThinIsWholeCommits", thinIsWholeCommits},
		{"SkippedNumbersAreRead", skippedNumbersAreRead},
		{"SkippedNumbersAreTrimmed", skippedNumbersAreTrimmed},
		{"MarkStaysAhead", markStaysAhead},
		{"CrashMakesUncertain", crashMakesUncertain},
		{"RemoveIsComplete", removeIsComplete},
		{"ExportIsImported", exportIsImported},
		{"BrokenExportIsRefused", brokenExportIsRefused},
		{"SpendIsSummed", spendIsSummed},
		{"Records", records},
		{"RecordPages", recordPages},
		{"EverythingSurvivesReopen", everythingSurvivesReopen},
		{"ClosedRefuses", closedRefuses},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			c.run(&suite{T: t, Store: s, openFn: open, reopenFn: reopen, crashFn: crash, host: event.NewID()})
		})
	}
}

// suite is one test's store with short ways to use it.
type suite struct {
	*testing.T
	store.Store
	openFn            func(*testing.T) store.Store
	reopenFn, crashFn func(*testing.T, store.Store) store.Store
	host              event.ID
}

func (s *suite) reopen() {
	s.Helper()
	s.Store = s.reopenFn(s.T, s.Store)
}

func (s *suite) ctx() context.Context { return s.T.Context() }

// wait is longer than any answer takes, so that a lost one fails the test.
const wait = 20 * time.Second

// commit waits for the answer.
func (s *suite) commit(c *store.Commit) error {
	s.Helper()
	return s.await(s.send(c))
}

func (s *suite) send(c *store.Commit) <-chan error {
	got := make(chan error, 2)
	c.Done = func(err error) { got <- err }
	s.Store.Commit(c)
	return got
}

func (s *suite) await(got <-chan error) error {
	s.Helper()
	select {
	case err := <-got:
		return err
	case <-time.After(wait):
		s.T.Fatal("a commit was not answered")
		return nil
	}
}

func (s *suite) must(c *store.Commit) {
	s.Helper()
	if err := s.commit(c); err != nil {
		s.Fatalf("commit after %d: %v", c.Head, err)
	}
}

// want fails unless err is target.
func (s *suite) want(what string, err, target error) {
	s.Helper()
	if !errors.Is(err, target) {
		s.Fatalf("%s: got error %v, want %v", what, err, target)
	}
}

func (s *suite) ok(what string, err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("%s: %v", what, err)
	}
}

// create makes a session of the owner with n events.
func (s *suite) create(owner string, n int) event.ID {
	s.Helper()
	return s.createAt(owner, n, 1000)
}

func (s *suite) createAt(owner string, n int, created int64) event.ID {
	s.Helper()
	id := event.NewID()
	s.must(&store.Commit{
		Session: id, Host: s.host, Epoch: 1, Events: Events(id, 1, n), Durable: true,
		Create: &store.NewSession{Owner: owner, Created: created}, Body: []byte(`{"body":1}`), Spec: []byte(`{"spec":1}`),
	})
	return id
}

// after is a commit of n events behind head by the suite's host at epoch 1.
func (s *suite) after(id event.ID, head int64, n int) *store.Commit {
	return &store.Commit{Session: id, Host: s.host, Epoch: 1, Head: head, Events: Events(id, head+1, n)}
}

// Events makes n deltas numbered from first. An event's text is a function of
// the session and its number, so that any later reader can tell whether it is
// the one that was written.
func Events(session event.ID, first int64, n int) []event.Event {
	list := make([]event.Event, n)
	for i := range list {
		list[i] = sample(session, first+int64(i))
	}
	return list
}

func sample(session event.ID, seq int64) event.Event {
	return event.Event{
		Seq: seq, At: 1_700_000_000_000 + seq, Kind: event.TextDelta, Turn: session, Item: event.ItemID(session, 1),
		Step: int32(seq % 1000), Text: fmt.Sprintf("event %d of session %s, with some text to fill it", seq, session),
	}
}

// checkEvents fails unless list is the sample events from..to without a gap.
func (s *suite) checkEvents(id event.ID, list []event.Event, from, to int64) {
	s.Helper()
	if int64(len(list)) != max(to-from+1, 0) {
		s.Fatalf("got %d events, want %d to %d", len(list), from, to)
	}
	for i, ev := range list {
		if want := sample(id, from+int64(i)); ev != want {
			s.Fatalf("event %d is %+v, want %+v", want.Seq, ev, want)
		}
	}
}

// readAll reads from..to in as many calls as it takes.
func (s *suite) readAll(id event.ID, from, to int64) []event.Event {
	s.Helper()
	var all []event.Event
	for from <= to {
		list, err := s.Read(s.ctx(), id, from, to, 4096)
		s.ok("read", err)
		if len(list) == 0 {
			break
		}
		all = append(all, list...)
		from = list[len(list)-1].Seq + 1
	}
	return all
}

func (s *suite) session(id event.ID) *store.Session {
	s.Helper()
	rec, err := s.Session(s.ctx(), "", id)
	s.ok("session", err)
	return rec
}
