package agents

import (
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/files"
	"github.com/agenthost/agenthost/wires/openapi"
)

type sessionsQuery struct {
	call.PageQuery
	AgentID  string            `json:"agent_id"`
	Metadata map[string]string `json:"metadata" doc:"metadata[name]=value"`
}

type artifactsQuery struct {
	call.PageQuery
	EnvironmentID string `json:"environment_id" doc:"only what was made there"`
}

type streamQuery struct {
	After              string `json:"after" doc:"the event_id to read on behind; without it the stream begins now"`
	CloseOnIdle        bool   `json:"close_on_idle" doc:"end once everything is read and nothing runs"`
	IncludeObfuscation bool   `json:"include_obfuscation" doc:"taken, without effect"`
}

type streamHeaders struct {
	LastEventID string `json:"Last-Event-ID" doc:"the same as after"`
}

// creating are the headers of calls that create something that runs.
type creating struct {
	call.KeyHeader
	Adapter string `json:"X-ABX-Adapter" doc:"pins the coding agent"`
}

// pageOf is the answer of a list.
func pageOf(name string, elements ...any) openapi.With {
	return openapi.With{V: listObject{}, Name: name + "List", Field: "data", Variants: elements}
}

// deletionOf is the answer of a deletion.
func deletionOf(name string, object openapi.Word) openapi.With {
	return openapi.With{V: deletedObject{}, Name: name + "Deleted", Field: "object", Variants: []any{object}}
}

// Operations describes this wire's handlers by the ids of their operations.
func Operations() map[string]openapi.Operation {
	return map[string]openapi.Operation{
		"agents.definitions.create": {Summary: "Save an agent.", Headers: creating{}, Body: newAgentBody{}, Answer: agentObject{}},
		"agents.definitions.list":   {Summary: "List saved agents.", Query: call.PageQuery{}, Answer: pageOf("Agent", agentObject{})},
		"agents.definitions.get":    {Summary: "Read a saved agent.", Answer: agentObject{}},
		"agents.definitions.update": {Summary: "Change a saved agent. Sessions keep the copy they were made with.", Body: agentBody{}, MayBeEmpty: true, Answer: agentObject{}},
		"agents.definitions.delete": {Summary: "Delete a saved agent.", Answer: deletionOf("Agent", "agent.deleted")},

		"agents.sessions.create": {
			Summary: "Create a session, with input a first turn.", Headers: creating{}, Body: sessionBody{}, Answer: sessionWire{},
			Events: streamed(), When: "with stream: true; from the creation to the first idle",
		},
		"agents.sessions.list":   {Summary: "List sessions.", Query: sessionsQuery{}, Answer: pageOf("Session", sessionWire{})},
		"agents.sessions.get":    {Summary: "Read a session.", Answer: sessionWire{}},
		"agents.sessions.update": {Summary: "Change what the next turn of a session runs with.", Body: updateBody{}, MayBeEmpty: true, Answer: sessionWire{}},
		"agents.sessions.delete": {Summary: "Delete a session; running work is cancelled first.", Answer: deletionOf("Session", "agent.session.deleted")},
		"agents.sessions.send_event": {
			Summary: "Send input to a session, or cancel its turns: all of it or nothing.", Headers: call.KeyHeader{}, Body: eventsBody{}, Status: 202,
		},
		"agents.sessions.stream_events": {
			Summary: "Read a session's events as they come.", Query: streamQuery{}, Headers: streamHeaders{},
			Events: streamed(), When: "until the caller leaves, the session is deleted or close_on_idle ends it",
		},
		"agents.sessions.list_items":      {Summary: "List the items of all turns.", Query: call.PageQuery{}, Answer: pageOf("Item", items()...)},
		"agents.sessions.list_turns":      {Summary: "List a session's turns.", Query: call.PageQuery{}, Answer: pageOf("Turn", turnWire{})},
		"agents.sessions.get_turn":        {Summary: "Read a turn.", Answer: turnWire{}},
		"agents.sessions.list_turn_items": {Summary: "List a turn's items.", Query: call.PageQuery{}, Answer: pageOf("Item", items()...)},

		"agents.queue.list": {
			Summary: "List the turns that wait for a slot of the host, the next one first; an admin sees everybody's.",
			Query:   call.PageQuery{}, Answer: pageOf("QueueEntry", waitingObject{}),
		},

		"agents.sessions.list_subagents":           {Summary: "List the subagents that worked in a session.", Query: call.PageQuery{}, Answer: pageOf("Subagent", subagentWire{})},
		"agents.sessions.get_subagent":             {Summary: "Read a subagent.", Answer: subagentWire{}},
		"agents.sessions.list_subagent_items":      {Summary: "List what a subagent was asked and did.", Query: call.PageQuery{}, Answer: pageOf("Item", items()...)},
		"agents.sessions.list_subagent_turns":      {Summary: "List a subagent's turns: it has one.", Query: call.PageQuery{}, Answer: pageOf("Turn", turnWire{})},
		"agents.sessions.get_subagent_turn":        {Summary: "Read a subagent's turn.", Answer: turnWire{}},
		"agents.sessions.list_subagent_turn_items": {Summary: "List the items of a subagent's turn.", Query: call.PageQuery{}, Answer: pageOf("Item", items()...)},
		"agents.sessions.list_artifacts":           {Summary: "List the files that a session's completed turns published.", Query: artifactsQuery{}, Answer: pageOf("Artifact", artifactObject{})},
		"agents.sessions.get_artifact":             {Summary: "Read what is known of an artifact.", Answer: artifactObject{}},
		"agents.sessions.delete_artifact":          {Summary: "Delete an artifact; the file in the workspace stays.", Answer: deletionOf("Artifact", "agent.session.artifact.deleted")},
		"agents.sessions.download_artifact": {
			Summary: "Read an artifact's content, or a range of it.", Headers: files.ContentHeaders{}, Text: files.ContentType,
		},
	}
}
