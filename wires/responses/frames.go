package responses

// The types below describe the frames that render.go appends by hand. Every frame
// that a test sees is held against them.

type frameHead struct {
	Type     string `json:"type"`
	Sequence int64  `json:"sequence_number"`
}

type objectFrame struct {
	frameHead
	Response Response `json:"response"`
}

type itemFrame struct {
	frameHead
	OutputIndex int64 `json:"output_index"`
	Item        any   `json:"item"`
}

// Variants implements openapi.Variants.
func (itemFrame) Variants() map[string][]any { return map[string][]any{"item": outputItems()} }

// placeFrame is a whole frame too: one that only names an item.
type placeFrame struct {
	frameHead
	ItemID      string `json:"item_id"`
	OutputIndex int64  `json:"output_index"`
}

type contentPartFrame struct {
	placeFrame
	ContentIndex int64      `json:"content_index"`
	Part         outputText `json:"part"`
}

type textDeltaFrame struct {
	placeFrame
	ContentIndex int64      `json:"content_index"`
	Delta        string     `json:"delta"`
	Logprobs     []struct{} `json:"logprobs" maxitems:"0"`
}

type textDoneFrame struct {
	placeFrame
	ContentIndex int64      `json:"content_index"`
	Text         string     `json:"text"`
	Logprobs     []struct{} `json:"logprobs" maxitems:"0"`
}

type summaryPartFrame struct {
	placeFrame
	SummaryIndex int64       `json:"summary_index"`
	Part         summaryText `json:"part"`
}

type summaryPartDoneFrame struct {
	summaryPartFrame
	Status string `json:"status,omitempty" enum:"incomplete"`
}

type summaryDeltaFrame struct {
	placeFrame
	SummaryIndex int64  `json:"summary_index"`
	Delta        string `json:"delta"`
}

type summaryDoneFrame struct {
	placeFrame
	SummaryIndex int64  `json:"summary_index"`
	Text         string `json:"text"`
}

type argumentsDeltaFrame struct {
	placeFrame
	Delta string `json:"delta"`
}

type argumentsDoneFrame struct {
	placeFrame
	Arguments string `json:"arguments"`
}

type functionDoneFrame struct {
	argumentsDoneFrame
	Name string `json:"name"`
}

// streamed are the frames of a response's stream by their type.
func streamed() map[string]any {
	return map[string]any{
		"response.created":                       objectFrame{},
		"response.queued":                        objectFrame{},
		"response.in_progress":                   objectFrame{},
		"response.completed":                     objectFrame{},
		"response.failed":                        objectFrame{},
		"response.incomplete":                    objectFrame{},
		"response.output_item.added":             itemFrame{},
		"response.output_item.done":              itemFrame{},
		"response.content_part.added":            contentPartFrame{},
		"response.content_part.done":             contentPartFrame{},
		"response.output_text.delta":             textDeltaFrame{},
		"response.output_text.done":              textDoneFrame{},
		"response.reasoning_summary_part.added":  summaryPartFrame{},
		"response.reasoning_summary_part.done":   summaryPartDoneFrame{},
		"response.reasoning_summary_text.delta":  summaryDeltaFrame{},
		"response.reasoning_summary_text.done":   summaryDoneFrame{},
		"response.mcp_call.in_progress":          placeFrame{},
		"response.mcp_call.completed":            placeFrame{},
		"response.mcp_call.failed":               placeFrame{},
		"response.mcp_call_arguments.delta":      argumentsDeltaFrame{},
		"response.mcp_call_arguments.done":       argumentsDoneFrame{},
		"response.function_call_arguments.delta": argumentsDeltaFrame{},
		"response.function_call_arguments.done":  functionDoneFrame{},
		"response.web_search_call.in_progress":   placeFrame{},
		"response.web_search_call.searching":     placeFrame{},
		"response.web_search_call.completed":     placeFrame{},
	}
}
