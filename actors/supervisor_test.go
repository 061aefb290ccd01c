package actors

import (
	"fmt"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/asynkron/protoactor-go/actor"
)

// The maps of sessions are made anew when most of what was in them is gone, with all
// that is left, and not each time.
func TestSupervisorGivesRoomBack(t *testing.T) {
	t.Parallel()
	s := &supervisor{sessions: map[event.ID]*registration{}, byPID: map[string]event.ID{}}
	var ids []event.ID
	for i := range 4 * roomy {
		id := event.NewID()
		ids = append(ids, id)
		s.sessions[id], s.byPID[fmt.Sprint(i)] = &registration{pid: actor.NewPID("", fmt.Sprint(i))}, id
		s.most = len(s.sessions)
	}
	anew := 0
	for i, id := range ids[:len(ids)-3] {
		delete(s.sessions, id)
		delete(s.byPID, fmt.Sprint(i))
		most := s.most
		if s.compact(); s.most < most {
			anew++
		}
	}
	if s.most > roomy || anew > 3 {
		t.Errorf("maps for %d sessions, made %d times", s.most, anew)
	}
	for i, id := range ids[len(ids)-3:] {
		if r := s.sessions[id]; r == nil || s.byPID[r.pid.GetId()] != id {
			t.Errorf("session %d is lost", i)
		}
	}
}
