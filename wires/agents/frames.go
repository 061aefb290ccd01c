package agents

// The types below describe the frames that render.go appends by hand. Every frame
// that a test sees is held against them.

type frameHead struct {
	Type    string `json:"type"`
	EventID string `json:"event_id"`
}

type turnPlace struct {
	SessionID string `json:"session_id"`
	TurnID    string `json:"turn_id"`
}

type itemPlace struct {
	turnPlace
	ItemID      string `json:"item_id"`
	OutputIndex int64  `json:"output_index"`
}

type sessionFrame struct {
	frameHead
	Session sessionWire `json:"session"`
}

type turnFrame struct {
	frameHead
	turnPlace
	Turn turnWire `json:"turn"`
}

type turnEndFrame struct {
	turnFrame
	Usage *usageObject `json:"usage"`
}

// itemFrame has no output_index for callers' messages.
type itemFrame struct {
	frameHead
	turnPlace
	OutputIndex *int64 `json:"output_index"`
	Item        any    `json:"item"`
}

type itemDoneFrame struct {
	frameHead
	turnPlace
	OutputIndex int64 `json:"output_index"`
	Item        any   `json:"item"`
}

// Variants implements openapi.Variants.
func (itemDoneFrame) Variants() map[string][]any { return map[string][]any{"item": outputs()} }

// Variants implements openapi.Variants.
func (itemFrame) Variants() map[string][]any { return map[string][]any{"item": items()} }

type contentPartFrame struct {
	frameHead
	itemPlace
	ContentIndex int64    `json:"content_index"`
	Part         textPart `json:"part"`
}

type textDeltaFrame struct {
	frameHead
	itemPlace
	ContentIndex int64  `json:"content_index"`
	Delta        string `json:"delta"`
}

type textDoneFrame struct {
	frameHead
	itemPlace
	ContentIndex int64  `json:"content_index"`
	Text         string `json:"text"`
}

type summaryPartFrame struct {
	frameHead
	itemPlace
	SummaryIndex int64    `json:"summary_index"`
	Part         textPart `json:"part"`
}

type summaryPartDoneFrame struct {
	summaryPartFrame
	Status *string `json:"status" enum:"incomplete"`
}

type summaryDeltaFrame struct {
	frameHead
	itemPlace
	SummaryIndex int64  `json:"summary_index"`
	Delta        string `json:"delta"`
}

type summaryDoneFrame struct {
	frameHead
	itemPlace
	SummaryIndex int64  `json:"summary_index"`
	Text         string `json:"text"`
}

type commandDeltaFrame struct {
	frameHead
	itemPlace
	Delta string `json:"delta"`
}

type subagentFrame struct {
	frameHead
	Subagent subagentWire `json:"subagent"`
}

type environmentFrame struct {
	frameHead
	turnPlace
	Environment environmentWire `json:"environment"`
}

// streamed are the frames of a session's stream by their type.
func streamed() map[string]any {
	return map[string]any{
		"agent.session.created":                           sessionFrame{},
		"agent.session.in_progress":                       sessionFrame{},
		"agent.session.idle":                              sessionFrame{},
		"agent.session.requires_action":                   sessionFrame{},
		"agent.session.budget_reached":                    sessionFrame{},
		"agent.session.turn.created":                      turnFrame{},
		"agent.session.turn.in_progress":                  turnFrame{},
		"agent.session.turn.completed":                    turnEndFrame{},
		"agent.session.turn.failed":                       turnEndFrame{},
		"agent.session.turn.cancelled":                    turnEndFrame{},
		"agent.session.turn.item.added":                   itemFrame{},
		"agent.session.turn.item.done":                    itemDoneFrame{},
		"agent.session.turn.content_part.added":           contentPartFrame{},
		"agent.session.turn.content_part.done":            contentPartFrame{},
		"agent.session.turn.output_text.delta":            textDeltaFrame{},
		"agent.session.turn.output_text.done":             textDoneFrame{},
		"agent.session.turn.reasoning_summary_part.added": summaryPartFrame{},
		"agent.session.turn.reasoning_summary_part.done":  summaryPartDoneFrame{},
		"agent.session.turn.reasoning_summary_text.delta": summaryDeltaFrame{},
		"agent.session.turn.reasoning_summary_text.done":  summaryDoneFrame{},
		"agent.output.command_execution_output.delta":     commandDeltaFrame{},
		"agent.session.subagent.created":                  subagentFrame{},
		"agent.session.subagent.closed":                   subagentFrame{},
		"agent.session.environment.pending":               environmentFrame{},
		"agent.session.environment.ready":                 environmentFrame{},
		"agent.session.environment.failed":                environmentFrame{},
	}
}
