package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/store"
)

var _ store.Refold = Refold

// Refold tells what a session's records should be behind a checkpoint and events.
func Refold(checkpoint []byte, events []event.Event, whole bool) (*store.Rested, error) {
	state := fold.New()
	if checkpoint != nil {
		var err error
		if state, err = fold.Restore(checkpoint); err != nil {
			return nil, err
		}
	}
	rested := &store.Rested{}
	if checkpoint != nil {
		if err := tell(rested, state, nil); err != nil {
			return nil, err
		}
	}
	ended := &turns{at: map[event.ID]int{}}
	for i := range events {
		ev := events[i]
		view, err := state.Apply(&ev)
		if err != nil {
			if whole {
				return nil, err
			}
			break // what the fold does not take is as good as damaged
		}
		ended.follow(&ev, view)
		if last := i == len(events)-1; last && whole || !whole && state.AtRest() {
			if err := tell(rested, state, ended); err != nil {
				return nil, err
			}
		}
	}
	return rested, nil
}

// tell makes r of the state. A state at rest is told by a copy of the turns so far.
func tell(r *store.Rested, s *fold.State, ended *turns) error {
	ses := s.Session()
	if ses.Settings == nil {
		return errors.New("the journal does not begin with the session's settings")
	}
	var err error
	*r = store.Rested{Head: ses.Head, Owner: ses.Owner, Created: ses.Created, Active: ses.LastActive, State: store.Idle}
	if r.Body, err = json.Marshal(&ses); err != nil {
		return fmt.Errorf("record of session %s: %w", ses.ID, err)
	}
	if r.Spec, err = json.Marshal(ses.Settings); err != nil {
		return fmt.Errorf("settings of session %s: %w", ses.ID, err)
	}
	if s.AtRest() {
		r.Checkpoint, err = s.Checkpoint()
	} else {
		r.State = store.Active
	}
	if ended != nil {
		r.Turns = slices.Clone(ended.list)
	}
	for _, t := range s.OpenTurns() {
		r.Turns = append(r.Turns, Record(t, store.TurnOpen))
	}
	return err
}

// Record is a turn's record as the host stores it.
func Record(t *fold.Turn, state store.TurnState) store.Turn {
	row := store.Turn{ID: t.ID, Session: t.Session, Ordinal: t.Ordinal, State: state, First: t.First, Number: t.Input.Number, Body: t.Record()}
	if state != store.TurnOpen {
		row.Last = t.Last
	}
	return row
}

// turns are the records of turns that have ended, and of notes.
type turns struct {
	list []store.Turn
	ends []*fold.Turn
	at   map[event.ID]int
}

func (t *turns) follow(ev *event.Event, v *fold.View) {
	switch ev.Kind {
	case event.TurnEnded:
		t.put(v.Turn, store.TurnEnded)
	case event.ItemsPosted:
		t.put(v.Turn, store.TurnNote)
	case event.TurnForgotten:
		if i, ok := t.at[ev.Turn]; ok {
			gone := *t.ends[i]
			gone.Forgotten, gone.Items, gone.Subagents, gone.SubagentCount, gone.Last = true, nil, nil, 0, ev.Seq
			t.ends[i], t.list[i] = &gone, Record(&gone, store.TurnForgotten)
		}
	case event.ItemRemoved:
		if i, ok := t.at[ev.Turn]; ok {
			less := *t.ends[i]
			less.Removed = append(slices.Clone(less.Removed), ev.Item)
			t.ends[i], t.list[i] = &less, Record(&less, t.list[i].State)
		}
	}
}

func (t *turns) put(turn *fold.Turn, state store.TurnState) {
	t.at[turn.ID] = len(t.list)
	t.list, t.ends = append(t.list, Record(turn, state)), append(t.ends, turn)
}
