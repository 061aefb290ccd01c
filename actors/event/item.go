package event

import "encoding/json"

// ItemType says what an item is. The set is closed.
type ItemType uint8

// Types of items. Each wire has its own name for them (see spec/mapping in
// docs/architecture.md).
const (
	Message ItemType = iota + 1
	Reasoning
	Command
	FileChange
	ToolCall // a call of an MCP server's or the CLI's own tool
	WebSearch
	Subagent
	// FunctionCall is a call of a function that the caller runs, Approval a
	// permission that the caller gives. Both are open until answered.
	FunctionCall
	// FunctionOutput and ApprovalAnswer are what the caller said.
	FunctionOutput
	Approval
	ApprovalAnswer
)

// Foreign is an item that a caller posted in its own wire's shape (Raw); Text is
// what an agent is told of it, "" for nothing.
const Foreign ItemType = 12

// Asks reports whether an item of this type asks something of the caller.
func (t ItemType) Asks() bool { return t == FunctionCall || t == Approval }

// String is the type's name in dumps.
func (t ItemType) String() string {
	names := [...]string{"", "message", "reasoning", "command", "file_change", "tool_call", "web_search", "subagent",
		"function_call", "function_call_output", "approval", "approval_answer", Foreign: "foreign"}
	if int(t) < len(names) {
		return names[t]
	}
	return "unknown"
}

// Status of an item.
type Status uint8

// Statuses of an item.
const (
	InProgress Status = iota + 1
	Done
	ItemFailed
	Incomplete
)

// String is the word both wires use.
func (s Status) String() string {
	switch s {
	case InProgress:
		return "in_progress"
	case Done:
		return "completed"
	case ItemFailed:
		return "failed"
	default:
		return "incomplete"
	}
}

// Phase tells interim chatter from the answer.
type Phase uint8

// Phases of an assistant message.
const (
	NoPhase Phase = iota
	Commentary
	FinalAnswer
)

// String is the word both wires use, "" for none.
func (p Phase) String() string {
	switch p {
	case Commentary:
		return "commentary"
	case FinalAnswer:
		return "final_answer"
	default:
		return ""
	}
}

// Item is one thing a turn took in or gave out. Which fields are used depends
// on Type; unused ones are zero.
type Item struct {
	ID     ID       `json:"id"`
	Type   ItemType `json:"type"`
	Status Status   `json:"status"`

	// User marks a message of the caller; else it is the agent's.
	User  bool  `json:"user,omitempty"`
	Phase Phase `json:"phase,omitempty"`
	// Text is a message's or a reasoning summary's text.
	Text string `json:"text,omitempty"`
	// Parts are a user message's content, or a function's output, when it is more
	// than one text.
	Parts []Part `json:"parts,omitempty"`

	// Command, Cwd, Output, ExitCode and Millis belong to a command. Output is
	// also a tool call's result text.
	Command  string `json:"command,omitempty"`
	Cwd      string `json:"cwd,omitempty"`
	Output   string `json:"output,omitempty"`
	ExitCode *int   `json:"exit_code,omitempty"`
	Millis   int64  `json:"millis,omitempty"`

	// Changes belong to a file change.
	Changes []Change `json:"changes,omitempty"`

	// Server, Tool and Arguments belong to a tool call. Arguments is the CLI's
	// JSON text as it came, always valid JSON.
	Server    string `json:"server,omitempty"`
	Tool      string `json:"tool,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	// Error is a failed call's reason.
	Error string `json:"error,omitempty"`

	// Call is what a FunctionOutput or an ApprovalAnswer answers. A failed
	// function says why in Error. A FunctionCall has Tool and Arguments, an Approval
	// Server, Tool, Arguments and, for people, Text.
	Call ID `json:"call,omitzero"`
	// Approved is an ApprovalAnswer's decision, Text its reason.
	Approved bool `json:"approved,omitempty"`

	// Query and URL belong to a web search.
	Query string `json:"query,omitempty"`
	URL   string `json:"url,omitempty"`

	// Prompt is what a subagent is asked; its Tool is the CLI's name of it.
	Prompt string `json:"prompt,omitempty"`
	// Parent is the Subagent item that this one is the work of; zero for the turn's
	// own items.
	Parent ID `json:"parent,omitzero"`
	// Raw is a foreign item as it was posted, a JSON object without an id.
	// Instructs says that it tells the agent how to work, in every turn behind it.
	Raw       json.RawMessage `json:"raw,omitempty"`
	Instructs bool            `json:"instructs,omitempty"`
}

// Part is one piece of a user message or of a function's output: a text or an
// image.
type Part struct {
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
}

// Change is one file a CLI reports as written.
type Change struct {
	Path string `json:"path"`
	// Kind is add, update or delete.
	Kind string `json:"kind"`
}
