package event

// Kind says what an Event is about. The set is closed: a new kind needs a case
// in actors/fold and in both wires, which their tests enforce.
type Kind uint8

// Kinds of events. "Body" names the type of Event.Body.
const (
	// SessionCreated is the first event of every session. Body: *Settings.
	SessionCreated Kind = iota + 1
	// SessionUpdated replaces the settings from the next turn on. Body: *Settings.
	SessionUpdated
	// SessionDeleted is the last event of a session; streams end after it.
	SessionDeleted
	// InputAccepted says that a turn exists and waits. Body: *Input.
	InputAccepted
	// TurnStarted says that the turn was granted a slot and is being run.
	TurnStarted
	// NativeSession tells the CLI's own session id (Text), the handle of a
	// later resume.
	NativeSession
	// ItemStarted opens an output item. Body: *Item, status in_progress.
	ItemStarted
	// TextDelta is a piece (Text) of an assistant message.
	TextDelta
	// ReasoningDelta is a piece (Text) of a reasoning summary.
	ReasoningDelta
	// OutputDelta is a piece (Text) of a running command's output.
	OutputDelta
	// ItemDone closes an item. Body: *Item, complete: readers that skipped the
	// deltas lose nothing.
	ItemDone
	// Notice is something worth keeping that neither wire shows (Text), such as
	// a provider retry or a dropped line.
	Notice
	// Unknown keeps a CLI line that no parser rule matched (Text), so nothing is
	// lost silently.
	Unknown
	// TurnEnded is the last event of every turn, exactly once. Body: *End.
	TurnEnded
	// TurnForgotten removes an ended turn's items from both wires (store:false
	// and DELETE of a response). Its id, status and usage stay.
	TurnForgotten
	// Skipped uses up every number after the event before it, its own included: a
	// crash of the machine may have lost events that had them. With a Turn, they were
	// deltas of that turn's done items, dropped to keep the journal small.
	Skipped
	// TurnWaiting says that the turn waits for its caller: the open items of the
	// types FunctionCall and Approval are what is asked of it. It ends the turn's
	// leg. Body: *Pause, or none where nothing is to be said.
	TurnWaiting
	// CallAnswered tells what an asked caller said. Item is the answer's, Body:
	// *Item, of type FunctionOutput or ApprovalAnswer. The ItemDone of what was
	// asked precedes it.
	CallAnswered
	// LegStarted says that everything asked is answered and what asked for it.
	// Body: *Leg.
	LegStarted
	// TurnResumed says that the turn has a slot again and goes on.
	TurnResumed

	// BudgetHit says that a budget is used up: nothing of the session is started
	// until it is raised, which a further event with Budget.Lifted says. No turn.
	// Body: *Budget.
	BudgetHit Kind = 24
	// EnvironmentChanged says how it stands with the environment that a turn runs in,
	// while the turn waits for it. Body: *Environment.
	EnvironmentChanged Kind = 27
)

// Kinds about the work of subagents: agents that a Subagent item, a call of the
// turn's own agent, set to work. Neither wire shows them among the turn's items.
const (
	// SubagentItem is a finished item of a subagent. Body: *Item, complete, with its
	// Parent. One of type Subagent is a call that SubagentStarted opened.
	SubagentItem Kind = 21
	// SubagentStarted opens a subagent's own call of a further one. Body: *Item of
	// type Subagent, with its Parent, status in_progress.
	SubagentStarted Kind = 25
)

// Kinds about what was put into a session without asking for a turn.
const (
	// ItemsPosted adds items without running anything. Its Turn is a note: an id of
	// its own for the items' ids to lead to, which is no turn on either wire. Body:
	// *Input with its items only.
	ItemsPosted Kind = 22
	// ItemRemoved takes an item of an ended turn or of a note out of every list.
	// Turn and Item name it.
	ItemRemoved Kind = 23
)

// InputSteered is about a message for a turn that runs. Body: *Input, with its ID.
// First it says that the message is accepted and on its way to the turn's CLI. Then,
// with Input.Taken, that the CLI has it: its items are of the turn from there on. One
// that was not taken becomes a turn of its own: an InputAccepted with the same
// Input.ID, of the turn of that id.
const InputSteered Kind = 26

// Event is one fact about a session. Events of a session are numbered from 1
// without gaps; only a Skipped event stands for more numbers than one. An Event
// handed on is immutable.
type Event struct {
	// Seq is the event's number in its session.
	Seq int64
	// At is when the session took the event in, in Unix milliseconds.
	At   int64
	Kind Kind
	// Turn and Item say what the event belongs to; zero for session events.
	Turn ID
	Item ID
	// Index is the item's place among the turn's output items, counted from 0.
	// Set on item and delta events.
	Index int32
	// Step is the number of steps (see fold.Steps) before this event in its turn.
	// A wire that numbers its frames inside a turn adds the place inside the event.
	Step int32
	// Leg and Base belong to the fold and are not stored: the number of the turn's
	// leg that the event belongs to, and the Index of that leg's first output item.
	Leg, Base int32
	// Text is the payload of the kinds that say so.
	Text string
	// Body is the payload of the kinds that say so, else nil.
	Body Body
}

// Body is the structured payload of an Event. The set is closed: *Settings,
// *Input, *Item, *End, *Leg, *Budget, *Environment, *Pause.
//
//sumtype:decl
type Body interface{ isBody() }

func (*Settings) isBody() {}
func (*Input) isBody()    {}
func (*Item) isBody()     {}
func (*End) isBody()      {}
func (*Leg) isBody()      {}
func (*Pause) isBody()    {}
func (*Budget) isBody()   {}

func (*Environment) isBody() {}

// Settings is the JSON of a spec.Session as it holds from this event on.
type Settings struct {
	JSON []byte
}

// Input is one accepted request for a turn.
type Input struct {
	// Number orders acceptance over the whole host; admission follows it.
	Number int64 `json:"number"`
	// Items are the user messages, in order, with their ids set.
	Items []*Item `json:"items"`
	// Prompt is the text handed to the CLI: preface, then the messages joined by
	// a blank line.
	Prompt string `json:"prompt"`
	// Waiting says that something was ahead of it when it was accepted.
	Waiting bool `json:"waiting,omitempty"`
	// WasIdle says that the session had nothing queued or running before.
	WasIdle bool `json:"was_idle,omitempty"`
	// Overrides is the JSON of spec.Overrides, nil when the turn changes nothing.
	Overrides []byte `json:"overrides,omitempty"`
	// Before is what was said before the messages, a line an entry; Prompt contains
	// it as its preface.
	Before []string `json:"before,omitempty"`
	// Wire is "responses" or "agents".
	Wire string `json:"wire,omitempty"`
	// Echo is a JSON object that the Responses wire gives back in its objects
	// (model, metadata, temperature, tools, ...). nil for other turns.
	Echo []byte `json:"echo,omitempty"`
	// Background says that the caller asked not to wait.
	Background bool `json:"background,omitempty"`
	// Forget asks for TurnForgotten after the end (store:false).
	Forget bool `json:"forget,omitempty"`
	// ID names an input that was to become part of a running turn, and the turn that
	// it becomes when it does not; Taken says that it has become part. See InputSteered.
	ID    ID   `json:"id,omitzero"`
	Taken bool `json:"taken,omitempty"`
}

// Leg is a further request that goes on with a waiting turn. The turn's own Input
// is its leg 0.
type Leg struct {
	// Number counts from 1.
	Number int32 `json:"number"`
	// Wire, Echo, Background and Forget are those of Input.
	Wire       string `json:"wire,omitempty"`
	Echo       []byte `json:"echo,omitempty"`
	Background bool   `json:"background,omitempty"`
	Forget     bool   `json:"forget,omitempty"`
	// Answers are the items of what its callers said.
	Answers []ID `json:"answers,omitempty"`
}

// Outcome is how a turn ended.
type Outcome uint8

// Outcomes of a turn.
const (
	Completed Outcome = iota + 1
	Failed
	Cancelled
)

// String is the word both wires use.
func (o Outcome) String() string {
	switch o {
	case Completed:
		return "completed"
	case Failed:
		return "failed"
	case Cancelled:
		return "cancelled"
	default:
		return "unknown"
	}
}

// End is how and why a turn ended.
type End struct {
	Outcome Outcome  `json:"outcome"`
	Failure *Failure `json:"failure,omitempty"`
	// Usage is this turn's own; nil when the CLI did not tell.
	Usage *Usage `json:"usage,omitempty"`
	// Carry is what the adapter wants back at the session's next turn, such as a
	// cumulative usage total. Opaque to everyone else.
	Carry []byte `json:"carry,omitempty"`
	// Idle says that the session is idle after this turn: nothing is queued, and
	// no BudgetHit follows.
	Idle bool `json:"idle,omitempty"`
	// FirstByte is when the CLI first wrote, in Unix milliseconds; 0 when never.
	FirstByte int64 `json:"first_byte,omitempty"`
	// Exit describes how the process ended, for people; empty without one.
	Exit string `json:"exit,omitempty"`
	// Isolation lists the levels of isolation that the turn's CLI ran with, where its
	// agent asks for any.
	Isolation string `json:"isolation,omitempty"`
}

// Pause is how a turn stands when it waits for its caller.
type Pause struct {
	// Usage is the turn's own so far; nil when the CLI has told none by then.
	Usage *Usage `json:"usage,omitempty"`
}

// Usage counts tokens of one turn. Input includes Cached and CacheWrite, Output
// includes Reasoning.
type Usage struct {
	Input      int64 `json:"input"`
	Cached     int64 `json:"cached,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	Output     int64 `json:"output"`
	Reasoning  int64 `json:"reasoning,omitempty"`
	// MicroUSD is the cost in millionths of a dollar as the CLI told it; 0 when
	// unknown.
	MicroUSD int64 `json:"micro_usd,omitempty"`
}

// Total is what both wires call total_tokens.
func (u *Usage) Total() int64 { return u.Input + u.Output }

// Less is u without v, nil where u is: what was used since v was all. What a later
// count of a CLI takes back is no use below zero.
func (u *Usage) Less(v *Usage) *Usage {
	if u == nil || v == nil {
		return u
	}
	return &Usage{
		Input: max(u.Input-v.Input, 0), Cached: max(u.Cached-v.Cached, 0), CacheWrite: max(u.CacheWrite-v.CacheWrite, 0),
		Output: max(u.Output-v.Output, 0), Reasoning: max(u.Reasoning-v.Reasoning, 0), MicroUSD: max(u.MicroUSD-v.MicroUSD, 0),
	}
}

// Add sums v into u.
func (u *Usage) Add(v *Usage) {
	u.Input += v.Input
	u.Cached += v.Cached
	u.CacheWrite += v.CacheWrite
	u.Output += v.Output
	u.Reasoning += v.Reasoning
	u.MicroUSD += v.MicroUSD
}
