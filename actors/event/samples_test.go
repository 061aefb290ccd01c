package event

import (
	"reflect"
	"testing"
)

// sampleTurn and sampleItem are fixed, so that the goldens are.
var (
	sampleTurn = fixedTurn(0x10)
	sampleItem = ItemID(sampleTurn, 1)
)

func fixedTurn(first byte) ID {
	id := ID{0: first, 11: 0x0b}
	t := tail(id)
	id[12], id[13], id[14], id[15] = byte(t>>24), byte(t>>16), byte(t>>8), byte(t)
	return id
}

// samples holds one event of each kind, and more where one body cannot show all
// its fields.
func samples() []Event {
	three := 3
	user := &Item{
		ID: ItemID(sampleTurn, 0), Type: Message, Status: Done, User: true,
		Parts: []Part{{Text: "look"}, {ImageURL: "data:image/png;base64,AA=="}},
	}
	item := func(it Item) *Item { it.ID = sampleItem; return &it }
	events := []Event{
		{Kind: SessionCreated, Body: &Settings{JSON: []byte(`{"id":"5e55","owner":"alice"}`)}},
		{Kind: SessionUpdated, Body: &Settings{JSON: []byte(`{"id":"5e55","owner":"alice","metadata":{"a":"b"}}`)}},
		{Kind: InputAccepted, Turn: sampleTurn, Body: &Input{
			Number: 300, Items: []*Item{user}, Prompt: "look", Waiting: true, WasIdle: true,
			Overrides: []byte(`{"model":"m"}`), Wire: "responses", Echo: []byte(`{"model":"codex"}`),
			Background: true, Forget: true,
		}},
		{Kind: TurnStarted, Turn: sampleTurn, Step: 2},
		{Kind: NativeSession, Turn: sampleTurn, Step: 3, Text: "native-1"},
		{Kind: ItemStarted, Turn: sampleTurn, Item: sampleItem, Step: 3, Body: item(Item{Type: Message, Status: InProgress})},
		{Kind: TextDelta, Turn: sampleTurn, Item: sampleItem, Step: 5, Text: "héllo\n"},
		{Kind: ReasoningDelta, Turn: sampleTurn, Item: sampleItem, Index: 1, Step: 6, Text: "hm"},
		{Kind: OutputDelta, Turn: sampleTurn, Item: sampleItem, Index: 200, Step: 300, Text: "a\x00b"},
		{Kind: ItemDone, Turn: sampleTurn, Item: sampleItem, Step: 301, Body: item(Item{Type: Message, Status: Done, Phase: FinalAnswer, Text: "héllo\n"})},
		{Kind: ItemDone, Turn: sampleTurn, Item: sampleItem, Index: 1, Step: 304, Body: item(Item{
			Type: Command, Status: ItemFailed, Command: "false", Cwd: "/srv", Output: "a<b", ExitCode: &three, Millis: 12,
		})},
		{Kind: ItemDone, Turn: sampleTurn, Item: sampleItem, Index: 2, Step: 306, Body: item(Item{
			Type: FileChange, Status: Done, Changes: []Change{{Path: "a.go", Kind: "add"}},
		})},
		{Kind: ItemDone, Turn: sampleTurn, Item: sampleItem, Index: 3, Step: 308, Body: item(Item{
			Type: ToolCall, Status: ItemFailed, Server: "docs", Tool: "find", Arguments: `{"q":1}`, Error: "no such page",
		})},
		{Kind: ItemDone, Turn: sampleTurn, Item: sampleItem, Index: 4, Step: 310, Body: item(Item{
			Type: WebSearch, Status: Incomplete, Query: "go", URL: "https://go.dev",
		})},
		{Kind: Notice, Turn: sampleTurn, Step: 311, Text: "the provider was asked again"},
		{Kind: Unknown, Turn: sampleTurn, Step: 311, Text: `{"type":"new"}`},
		{Kind: TurnEnded, Turn: sampleTurn, Step: 311, Body: &End{
			Outcome: Failed,
			Failure: &Failure{Code: UsageLimited, Message: "used up", Param: "model", Oldest: "evt_1", RetryAfter: 5, ResetsAt: 1_796_000_000},
			Usage:   &Usage{Input: 10, Cached: 4, CacheWrite: 2, Output: 6, Reasoning: 1, MicroUSD: 42},
			Carry:   []byte(`{"total":16}`), Idle: true, FirstByte: 1_796_000_000_003, Exit: "exit status 1", Isolation: "group,cgroup",
		}},
		{Kind: TurnForgotten, Turn: sampleTurn},
		{Kind: SessionDeleted},
		{Kind: Skipped},
		{Kind: ItemStarted, Turn: sampleTurn, Item: sampleItem, Index: 5, Step: 311, Body: item(Item{
			Type: FunctionCall, Status: InProgress, Tool: "weather", Arguments: `{"city":"Oslo"}`,
		})},
		{Kind: TurnWaiting, Turn: sampleTurn, Step: 315},
		{Kind: CallAnswered, Turn: sampleTurn, Item: AnswerID(sampleTurn, sampleItem), Step: 316, Body: &Item{
			ID: AnswerID(sampleTurn, sampleItem), Type: FunctionOutput, Status: Done, Call: sampleItem, Output: "rain",
		}},
		{Kind: CallAnswered, Turn: sampleTurn, Item: AnswerID(sampleTurn, sampleItem), Step: 316, Body: &Item{
			ID: AnswerID(sampleTurn, sampleItem), Type: ApprovalAnswer, Status: Done, Call: sampleItem, Approved: true, Text: "go on",
		}},
		{Kind: TurnWaiting, Turn: sampleTurn, Body: &Pause{Usage: &Usage{Input: 5, Cached: 2, Output: 1}}},
		{Kind: LegStarted, Turn: sampleTurn, Body: &Leg{
			Number: 1, Wire: "responses", Echo: []byte(`{"model":"codex"}`), Background: true, Forget: true,
			Answers: []ID{AnswerID(sampleTurn, sampleItem)},
		}},
		{Kind: TurnResumed, Turn: sampleTurn, Step: 1},
		{Kind: SubagentStarted, Turn: sampleTurn, Item: ItemID(sampleTurn, 2), Step: 310, Body: &Item{
			ID: ItemID(sampleTurn, 2), Type: Subagent, Status: InProgress, Tool: "explorer", Prompt: "look around", Parent: sampleItem,
		}},
		{Kind: SubagentItem, Turn: sampleTurn, Item: ItemID(sampleTurn, 3), Step: 310, Body: &Item{
			ID: ItemID(sampleTurn, 3), Type: Message, Status: Done, Text: "nothing there", Parent: ItemID(sampleTurn, 2),
		}},
		{Kind: ItemsPosted, Turn: sampleTurn, Body: &Input{Before: []string{"user: hi"}, Items: []*Item{{
			ID: sampleItem, Type: Foreign, Status: Done, Text: "be brief", Instructs: true,
			Raw: []byte(`{"type":"message","role":"developer","content":"be brief"}`),
		}}}},
		{Kind: ItemRemoved, Turn: sampleTurn, Item: sampleItem},
		{Kind: BudgetHit, Body: &Budget{
			Name: "spend_control.limit", Scope: SessionScope, Money: true, Limit: 50_000, Used: 50_400, Lifted: true,
		}},
		{Kind: EnvironmentChanged, Turn: sampleTurn, Body: &Environment{
			ID: sampleItem, Type: "self_hosted", Status: EnvironmentFailed, Failure: &Failure{Code: RuntimeNotInstalled, Message: "not there"},
		}},
		{Kind: InputSteered, Turn: sampleTurn, Step: 310, Body: &Input{
			ID: fixedTurn(0x11), Number: 301, Items: []*Item{{ID: ItemID(fixedTurn(0x11), 0), Type: Message, Status: Done, User: true, Text: "and be quick"}},
			Prompt: "and be quick", Wire: "agents",
		}},
		{Kind: InputSteered, Turn: sampleTurn, Step: 310, Body: &Input{
			ID: fixedTurn(0x11), Items: []*Item{{ID: ItemID(sampleTurn, 7), Type: Message, Status: Done, User: true, Text: "and be quick"}}, Taken: true,
		}},
	}
	for i := range events {
		events[i].Seq, events[i].At = int64(i+1), 1_796_000_000_000+int64(i)
		switch events[i].Kind {
		case Skipped:
			events[i].Seq = 1 << 20
		case BudgetHit, EnvironmentChanged, InputSteered:
			events[i].Seq = 1<<20 + int64(i-29) // behind Skipped
		}
	}
	return events
}

// The goldens below are worth what the samples show, so a new kind or field must
// come with a sample.
func TestSamplesShowEveryKindAndField(t *testing.T) {
	t.Parallel()
	kinds := map[Kind]bool{}
	seen := map[string]bool{"Failure.Cause": true, "Event.Leg": true, "Event.Base": true} // never stored
	for _, ev := range samples() {
		kinds[ev.Kind] = true
		note(reflect.ValueOf(ev), seen)
	}
	for _, k := range Kinds() {
		if !kinds[k] {
			t.Errorf("no sample of %s", k)
		}
	}
	for _, v := range []any{Event{}, Settings{}, Input{}, Item{}, Part{}, Change{}, End{}, Leg{}, Pause{}, Usage{}, Failure{}, Budget{}, Environment{}} {
		typ := reflect.TypeOf(v)
		for f := range typ.NumField() {
			name := typ.Name() + "." + typ.Field(f).Name
			if !seen[name] {
				t.Errorf("no sample sets %s", name)
			}
		}
	}
}

// note walks v and writes down the struct fields that are set.
func note(v reflect.Value, seen map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			note(v.Elem(), seen)
		}
	case reflect.Slice:
		for i := range v.Len() {
			note(v.Index(i), seen)
		}
	case reflect.Struct:
		for f := range v.NumField() {
			if !v.Field(f).IsZero() {
				seen[v.Type().Name()+"."+v.Type().Field(f).Name] = true
				note(v.Field(f), seen)
			}
		}
	}
}
