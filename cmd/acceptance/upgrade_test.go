package acceptance

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/store/sqlite"
	"github.com/agenthost/agenthost/bench/hostproc"
)

// follower reads one session over the lives of servers, as a client does: from its
// last event on, again and again.
type follower struct {
	session string
	content []byte
	last    string // the last event_id that was read
	frames  []frame
}

// follow reads until a frame of a type was seen n times, or the stream is cut off.
func (f *follower) follow(r *rig, kind string, n int) {
	r.t.Helper()
	query := "?after=0"
	if f.last != "" {
		query = "?after=" + f.last
	}
	s := r.http.events(f.session, query)
	before := count(f.frames, kind)
	s.waitKind(60*time.Second, kind, n-before)
	s.cancel()
	f.take(s)
}

func (f *follower) take(s *stream) {
	frames := s.all()
	f.content = append(f.content, s.content()...)
	f.frames = append(f.frames, frames...)
	if len(frames) > 0 {
		f.last = frames[len(frames)-1].id()
	}
}

// A server is replaced by SIGTERM, several times, under turns that finish in the
// drain, turns that do not, queues, and readers on both wires. Each input runs once or
// is told as stopped, what waited runs with the next server, and the streams of both
// wires, joined at the cursors where they were cut off, are the replay.
func TestUpgradesCarryStreamsAndQueuesOver(t *testing.T) {
	t.Parallel()
	const sessions, upgrades, inputs = 4, 3, 5
	r := newRig(t, limit("max_concurrent_turns", sessions), limit("drain_timeout", "700ms"), grace("300ms", "300ms"))
	followers := make([]*follower, sessions)
	waiting := make([]*stream, sessions) // on the Responses wire, of the last input
	lastTurn := make([]string, sessions)
	said := 0
	for i := range followers {
		followers[i] = &follower{session: r.http.session([]string{"codex", "claude-code"}[i%2])}
	}
	for u := range upgrades {
		for i, f := range followers {
			for n := range inputs {
				// The first of a session is too long for the drain, or just short enough.
				prompt := "[[say: fine]]"
				if n == 0 {
					prompt = []string{"[[wait: 300]] [[say: in time]]", "[[say: begun]] [[wait: 600000]]"}[i%2]
				}
				if a := r.http.say(f.session, directives(fmt.Sprintf("u%d-s%d-%d", u, i, n), prompt)); a.status != 202 {
					t.Fatalf("%d %s", a.status, a.body)
				}
				said++
			}
			turns, _ := r.http.paged("/v1/agents/sessions/"+f.session+"/turns", "asc", 100)
			lastTurn[i] = turns[len(turns)-1]
			waiting[i] = r.http.response(responseID(lastTurn[i]), -1)
		}
		for i := 1; i < sessions; i += 2 {
			r.started(fmt.Sprintf("u%d-s%d-0", u, i)) // what is too long runs
		}
		var open []*stream
		for _, f := range followers {
			query := "?after=0"
			if f.last != "" {
				query = "?after=" + f.last
			}
			open = append(open, r.http.events(f.session, query))
		}
		for i := range followers {
			open[i].waitKind(20*time.Second, turnEvent+"created", inputs)
		}
		begin := time.Now()
		r.Signal(syscall.SIGTERM)
		r.Ended(hostproc.StopTimeout)
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("the stop took %s", took)
		}
		for i, f := range followers {
			open[i].end(10 * time.Second)
			f.take(open[i])
			if f.last == "" {
				t.Fatalf("session %d: the stream has no event to go on from", i)
			}
			waiting[i].end(10 * time.Second)
		}
		r.Restart()
		for i, f := range followers {
			f.follow(r, turnEvent+"created", (u+1)*inputs) // there already, read from the cursor or before
			r.http.idle(f.session, 60*time.Second)
			// The other wire: from the number behind the last that was read.
			rest := r.http.response(responseID(lastTurn[i]), len(blocks(waiting[i].content()))-1)
			rest.end(30 * time.Second)
			whole := r.http.response(responseID(lastTurn[i]), -1)
			whole.end(30 * time.Second)
			checkResponse(t, whole)
			if got := append(bytes.Clone(waiting[i].content()), rest.content()...); !bytes.Equal(got, whole.content()) {
				t.Errorf("upgrade %d, session %d: the response, joined where it was cut off, has %d bytes, not %d", u, i, len(got), len(whole.content()))
			}
		}
	}
	ran := r.times()
	for tag, n := range ran {
		if n != 1 {
			t.Errorf("%s ran %d times", tag, n)
		}
	}
	if len(ran) != said {
		t.Errorf("%d of %d inputs ran", len(ran), said)
	}
	for i, f := range followers {
		last := r.http.events(f.session, "?close_on_idle=true&after="+f.last)
		last.end(30 * time.Second)
		f.take(last)
		whole := r.http.replay(f.session)
		if !bytes.Equal(f.content, whole.content()) {
			samePrefix(t, fmt.Sprintf("session %d", i), f.content, whole.content())
			t.Errorf("session %d: %d bytes were read in pieces, the replay has %d", i, len(f.content), len(whole.content()))
		}
		var want []string
		for range upgrades {
			first := []string{"completed", "failed"}[i%2]
			want = append(want, first)
			for range inputs - 1 {
				want = append(want, "completed")
			}
		}
		if got := strings.Join(checkSession(t, whole.all()).ends(), " "); got != strings.Join(want, " ") {
			t.Errorf("session %d: the turns are %s", i, got)
		}
	}
	r.Clean(time.Minute)
	r.Stop()
}

// A state directory that a newer program wrote is refused by name and left as it is.
func TestNewerStoresAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	session := r.http.session("codex")
	r.http.say(session, "[[say: kept]]")
	r.http.idle(session, 20*time.Second)
	before := r.http.replay(session).content()
	r.Stop()
	path := filepath.Join(r.StateDir, "store.db")
	version := func(v uint32) { // where SQLite keeps the number
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteAt(binary.BigEndian.AppendUint32(nil, v), 60)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	version(sqlite.Format + 1)
	code, said := hostproc.Refused(t, hostproc.Options{StateDir: r.StateDir})
	if code == 0 || !strings.Contains(said, "newer") || !strings.Contains(said, r.StateDir) || !strings.Contains(said, fmt.Sprint(sqlite.Format+1)) {
		t.Errorf("exit code %d: %s", code, said)
	}
	version(sqlite.Format)
	r.Restart()
	if !bytes.Equal(r.http.replay(session).content(), before) {
		t.Error("the session is not as it was")
	}
	r.Stop()
}
