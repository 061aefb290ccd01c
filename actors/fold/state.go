package fold

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// View is what a lifecycle event's frames show: the objects as of that event.
type View struct {
	Session Session
	// Turn is the event's turn; nil for session events, and where there is a
	// Subagent.
	Turn *Turn
	// Subagent is the one that the event began or ended; nil for other events.
	Subagent *Subagent
}

// State is the running fold of one session. It is not safe for concurrent use.
type State struct {
	session Session
	open    []*openTurn // in order of acceptance
	steers  []steer     // in order of acceptance
	posted  posted
}

type openTurn struct {
	announced bool   // the CLI told its session id in this turn
	told      []line // of what was posted before it, handed to its CLI
	turn      Turn
	items     []*openItem // one per output item
	at        map[event.ID]int32
	newest    event.ID // the item asked for last, and its place
	newestAt  int32
	number    int32 // of the leg that events belong to now
	base      int32 // the index of its first output item
	subs      []*Subagent
	subAt     map[event.ID]int
}

type openItem struct {
	item *event.Item // started or done
	text event.Rope
	done bool
}

// New is the state before the first event.
func New() *State { return &State{} }

// Session is the session as of the last event.
func (s *State) Session() Session { return s.session }

// Settings are the session's current settings, nil before the first event. Nobody
// may change them.
func (s *State) Settings() *spec.Session { return s.session.Settings }

// Turn gives a queued or running turn as of the last event, with its open items
// as far as they have come. A turn that has ended is not found.
func (s *State) Turn(id event.ID) (*Turn, bool) {
	if o := s.find(id); o != nil {
		return o.snapshot(), true
	}
	return nil, false
}

// IsOpen reports whether the turn is queued or running.
func (s *State) IsOpen(id event.ID) bool { return s.find(id) != nil }

// OpenTurns lists the queued and running turns, oldest first.
func (s *State) OpenTurns() []*Turn {
	out := make([]*Turn, len(s.open))
	for i, o := range s.open {
		out[i] = o.snapshot()
	}
	return out
}

// Stamp gives ev its number in the session (Seq) and its place in its turn (Step,
// Index); a second stamp of the same event gives the same. The event's other
// fields are set; Apply must follow. A Skipped event has the number that its maker
// gave it and is not stamped.
func (s *State) Stamp(ev *event.Event) {
	if ev.Kind == event.Skipped {
		return
	}
	ev.Seq = s.session.Head + 1
	o := s.find(ev.Turn)
	if o == nil {
		return
	}
	ev.Step = o.turn.Steps
	if ev.Kind == event.LegStarted {
		ev.Step = 0 // steps count within a leg
	}
	switch {
	case ev.Item.IsZero(), ev.Kind == event.CallAnswered, ev.Kind == event.SubagentItem, ev.Kind == event.SubagentStarted:
		return // an answer and a subagent's items have no place among the turn's output
	}
	if i, ok := o.place(ev.Item); ok {
		ev.Index = i
	} else {
		ev.Index = int32(len(o.items))
	}
}

// Apply takes the next event in and keeps its body. It returns the view of a
// lifecycle event (SessionCreated, the SessionUpdated that brings the agent,
// InputAccepted, ItemsPosted, TurnStarted, TurnWaiting, LegStarted, TurnResumed,
// TurnEnded, BudgetHit, and those that begin or end a subagent), nil for others. A
// kind that this version does not know only counts. An event out of order is an
// error, and the state is then unusable.
func (s *State) Apply(ev *event.Event) (*View, error) {
	if ev.Seq != s.session.Head+1 && (ev.Kind != event.Skipped || ev.Seq <= s.session.Head) {
		return nil, fmt.Errorf("fold: event %d after %d", ev.Seq, s.session.Head)
	}
	if (ev.Kind == event.SessionCreated) != (s.session.Head == 0) {
		return nil, fmt.Errorf("fold: event %d is %s; a session is created once, by its first event", ev.Seq, ev.Kind)
	}
	lost := ev.Seq - s.session.Head // of a Skipped event
	s.session.Head = ev.Seq
	switch ev.Kind {
	case event.Skipped:
		if ev.Turn.IsZero() {
			s.skipped(lost)
		}
		return nil, nil
	case event.SessionCreated, event.SessionUpdated:
		return s.settings(ev)
	case event.SessionDeleted:
		s.session.Deleted = true
		return nil, nil
	case event.InputAccepted:
		return s.accepted(ev)
	case event.ItemsPosted:
		return s.noted(ev)
	case event.ItemRemoved:
		s.removed(ev)
		return nil, nil
	case event.BudgetHit:
		return s.budget(ev)
	}
	if ev.Turn.IsZero() {
		return nil, nil
	}
	o := s.find(ev.Turn)
	if o == nil {
		if ev.Kind >= event.TurnForgotten && ev.Kind != event.InputSteered { // or a newer writer's
			return nil, nil
		}
		return nil, fmt.Errorf("fold: event %d (%s) of turn %s, which is not open", ev.Seq, ev.Kind, ev.Turn)
	}
	o.turn.Last = ev.Seq
	if ev.Kind == event.LegStarted {
		o.turn.Steps = 0
	}
	// The stored step counts what a reader of a forgotten turn no longer sees.
	o.turn.Steps = max(o.turn.Steps, ev.Step) + Steps(ev)
	if ev.Kind == event.LegStarted {
		o.leg(ev)
	}
	ev.Leg, ev.Base = o.number, o.base
	switch ev.Kind {
	case event.TurnStarted:
		o.turn.Status, o.turn.Started, o.turn.Settings = Running, ev.At, s.session.Settings
		o.told = s.posted.hand(o.turn.Ordinal)
		return s.view(o), nil
	case event.NativeSession:
		s.session.Native = strings.Clone(ev.Text) // it outlives the texts around it
		o.announced = true
	case event.ItemStarted, event.ItemDone:
		o.item(ev)
		if o.turn.Status == Waiting {
			s.session.Required = o.required()
		}
		if itemType(ev) == event.Subagent {
			return s.subagent(o, ev), nil
		}
	case event.SubagentStarted, event.SubagentItem:
		return s.subagent(o, ev), nil
	case event.TurnWaiting:
		o.waits(ev)
		o.number++
		s.session.Required = o.required()
		return s.view(o), nil
	case event.CallAnswered:
		o.answer(ev)
	case event.InputSteered:
		return nil, s.steered(o, ev)
	case event.LegStarted:
		s.session.LastActive = ev.At
		return s.view(o), nil
	case event.TurnResumed:
		o.resumes(ev)
		return s.view(o), nil
	case event.TextDelta, event.ReasoningDelta, event.OutputDelta:
		if i, ok := o.place(ev.Item); ok {
			o.items[i].text.WriteString(ev.Text)
		}
	case event.TurnEnded:
		return s.ended(ev, o), nil
	}
	return nil, nil
}

// skipped passes over the steps that lost events of the running turn may have
// had: a reader who knows one of their numbers still gets all that follows.
func (s *State) skipped(events int64) {
	for _, o := range s.open {
		if o.turn.Status == Running {
			steps := int64(o.turn.Steps) + min(events, math.MaxInt32)*maxSteps
			o.turn.Steps = int32(max(int64(o.turn.Steps), min(steps, math.MaxInt32/2)))
		}
	}
}

func (s *State) settings(ev *event.Event) (*View, error) {
	b, ok := ev.Body.(*event.Settings)
	if !ok {
		return nil, fmt.Errorf("fold: event %d has no settings", ev.Seq)
	}
	set := new(spec.Session)
	if err := json.Unmarshal(b.JSON, set); err != nil {
		return nil, fmt.Errorf("fold: settings of event %d: %w", ev.Seq, err)
	}
	was := s.session.Settings
	s.session.Settings = set
	s.session.LastActive = ev.At
	if ev.Kind == event.SessionUpdated {
		if set.Settled() && !was.Settled() { // what shows sessions by their agent shows it from here
			return &View{Session: s.session}, nil
		}
		return nil, nil
	}
	s.session.ID, s.session.Owner, s.session.Created = set.ID, set.Owner, set.Created
	return &View{Session: s.session}, nil
}

func (s *State) budget(ev *event.Event) (*View, error) {
	b, ok := ev.Body.(*event.Budget)
	if !ok {
		return nil, fmt.Errorf("fold: event %d has no budget", ev.Seq)
	}
	if s.session.Held = b; b.Lifted {
		s.session.Held = nil
	}
	return &View{Session: s.session}, nil
}

func (s *State) accepted(ev *event.Event) (*View, error) {
	in, ok := ev.Body.(*event.Input)
	if !ok {
		return nil, fmt.Errorf("fold: event %d has no input", ev.Seq)
	}
	if ev.Turn.IsZero() || s.find(ev.Turn) != nil {
		return nil, fmt.Errorf("fold: event %d accepts turn %s, which is none or open already", ev.Seq, ev.Turn)
	}
	s.session.LastActive = ev.At
	place, waited := s.unsteered(ev.Turn)
	s.session.Open++
	if !waited {
		s.session.Turns++
		place = steer{ordinal: s.session.Turns, latest: s.session.Latest}
	}
	o := &openTurn{at: map[event.ID]int32{}, turn: Turn{
		ID: ev.Turn, Session: s.session.ID, Ordinal: place.ordinal, Status: Queued, Created: ev.At,
		Input: in, Settings: s.session.Settings, Steps: Steps(ev), First: ev.Seq, Last: ev.Seq,
		Previous: place.latest,
	}}
	if place.latest == s.session.Latest { // else a turn was accepted behind this one
		s.session.Latest = ev.Turn
	}
	s.session.Failing = false
	at := len(s.open)
	for at > 0 && s.open[at-1].turn.Ordinal > place.ordinal {
		at--
	}
	s.open = slices.Insert(s.open, at, o)
	return s.view(o), nil
}

func (s *State) ended(ev *event.Event, o *openTurn) *View {
	end, ok := ev.Body.(*event.End)
	if !ok {
		end = &event.End{Outcome: event.Failed, Failure: event.Fail(event.StorageFailed, "the end of this turn was not readable")}
	}
	o.turn.End, o.turn.Ended = end, ev.At
	if o.turn.Status == Waiting { // not a queued one, while another waits
		s.session.Required = nil
	}
	if !o.announced && end.FirstByte == 0 {
		s.posted.back(o.told) // its CLI never said a word
	}
	s.session.Open--
	s.session.LastActive = ev.At
	switch end.Outcome {
	case event.Completed:
		o.turn.Status = Completed
		s.session.Completed = ev.Turn
	case event.Cancelled:
		o.turn.Status = Cancelled
	default:
		o.turn.Status = Failed
	}
	if end.Isolation != "" {
		s.session.Isolation = end.Isolation
	}
	if end.Usage != nil {
		sum := event.Usage{}
		if s.session.Usage != nil {
			sum = *s.session.Usage
		}
		sum.Add(end.Usage)
		s.session.Usage = &sum
	}
	if end.Failure != nil && end.Failure.Code == event.ResumeLost && !o.announced {
		// The CLI no longer knows its session. The caller was told; the next turn
		// begins a new one instead of failing the same way for ever.
		s.session.Native, s.session.Carry = "", nil
	}
	if len(end.Carry) > 0 { // as it is stored: empty is none
		s.session.Carry = end.Carry
	}
	for i, p := range s.open {
		if p == o {
			s.open = append(s.open[:i:i], s.open[i+1:]...)
			break
		}
	}
	s.session.Failing = s.session.Open == 0 && s.session.Latest != s.session.Completed
	return s.view(o)
}

func (s *State) subagent(o *openTurn, ev *event.Event) *View {
	if sub := o.subagent(ev); sub != nil {
		return &View{Session: s.session, Subagent: sub}
	}
	return nil
}

func (s *State) view(o *openTurn) *View {
	return &View{Session: s.session, Turn: o.snapshot()}
}

func (s *State) find(id event.ID) *openTurn {
	for _, o := range s.open {
		if o.turn.ID == id {
			return o
		}
	}
	return nil
}

// place is the item's index. Most events are about the item of the one before.
func (o *openTurn) place(item event.ID) (int32, bool) {
	if item == o.newest && !item.IsZero() {
		return o.newestAt, true
	}
	i, ok := o.at[item]
	if ok {
		o.newest, o.newestAt = item, i
	}
	return i, ok
}

func (o *openTurn) item(ev *event.Event) {
	it, ok := ev.Body.(*event.Item)
	if !ok {
		return
	}
	i, known := o.at[ev.Item]
	if !known {
		i = int32(len(o.items))
		o.at[ev.Item] = i
		o.items = append(o.items, &openItem{})
	}
	o.items[i].item = it
	if o.items[i].done = ev.Kind == event.ItemDone; o.items[i].done {
		o.items[i].text.Reset() // the item says it all; its pieces are not held as well
	}
}

func (o *openTurn) snapshot() *Turn {
	t := o.turn
	if len(o.items) > 0 {
		t.Items = make([]*event.Item, len(o.items))
	}
	for i, oi := range o.items {
		t.Items[i] = oi.view()
	}
	t.Subagents = slices.Clone(o.subs)
	return &t
}

// view is the item as it stands: the done one as it is, an open one with its
// text so far.
func (oi *openItem) view() *event.Item {
	if oi.done || oi.text.Len() == 0 {
		return oi.item
	}
	it := *oi.item
	switch it.Type {
	case event.Message, event.Reasoning:
		it.Text = oi.text.String()
	default:
		it.Output = oi.text.String()
	}
	return &it
}

func (t *Turn) overrides() *spec.Overrides {
	if len(t.Input.Overrides) == 0 {
		return nil
	}
	o := new(spec.Overrides)
	if json.Unmarshal(t.Input.Overrides, o) != nil {
		return nil
	}
	return o
}

// Overrides is what the turn changes for itself; never nil.
func (t *Turn) Overrides() spec.Overrides {
	if o := t.overrides(); o != nil {
		return *o
	}
	return spec.Overrides{}
}
