package responses

import (
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/openapi"
)

type createHeaders struct {
	call.KeyHeader
	Adapter string `json:"X-ABX-Adapter" doc:"pins the coding agent"`
}

type retrieveQuery struct {
	Stream        bool  `json:"stream"`
	StartingAfter int64 `json:"starting_after" min:"0" doc:"the sequence number of the last event that the caller has"`
	extrasQuery
	IncludeObfuscation bool `json:"include_obfuscation" doc:"taken, without effect: no event is padded"`
}

// extrasQuery is taken and has no effect: what this host has is always there, and
// what it could add to it none of its agents tells.
type extrasQuery struct {
	Include []string `json:"include" doc:"taken; pictures of the input are always there, and nothing else has more to show"`
}

type inputItemsQuery struct {
	call.PageQuery
	extrasQuery
}

// Operations describes this wire's handlers by the ids of their operations.
func Operations() map[string]openapi.Operation {
	return map[string]openapi.Operation{
		"responses.create": {
			Summary: "Ask for a response: one turn of a new or a going conversation.", Headers: createHeaders{}, Body: createBody{}, Answer: Response{},
			Events: streamed(), When: "with stream: true",
		},
		"responses.get": {
			Summary: "Read a response, or its events again.", Query: retrieveQuery{}, Answer: Response{},
			Events: streamed(), When: "with stream=true",
		},
		"responses.delete":           {Summary: "Delete a response; the conversation goes on.", Answer: deleted{}},
		"responses.cancel":           {Summary: "Cancel a response.", Answer: Response{}},
		"responses.list_input_items": {Summary: "List the messages that a response answers.", Query: inputItemsQuery{}, Answer: page{}},
		"conversations.create":       {Summary: "Make a conversation, with items if there are any.", Headers: call.KeyHeader{}, Body: newConversationBody{}, Answer: conversationView{}},
		"conversations.get":          {Summary: "Read a conversation.", Answer: conversationView{}},
		"conversations.update":       {Summary: "Replace a conversation's metadata.", Body: changedConversationBody{}, Answer: conversationView{}},
		"conversations.delete":       {Summary: "Delete a conversation with its items and responses. What runs in it is cancelled first.", Answer: deletedConversation{}},
		"conversations.create_items": {Summary: "Post items into a conversation. Nothing runs; the agent of the next response is told of them.", Headers: call.KeyHeader{}, Query: includeQuery{}, Body: postBody{}, Answer: postedPage{}},
		"conversations.list_items":   {Summary: "List the items of a conversation, posted ones and those of its responses.", Query: itemsQuery{}, Answer: itemsPage{}},
		"conversations.get_item":     {Summary: "Read an item.", Query: includeQuery{}, Answer: openapi.OneOf(conversationItems())},
		"conversations.delete_item":  {Summary: "Take an item out of a conversation.", Answer: conversationView{}},
		"agents.models.list":         {Summary: "List the coding agents and the caller's saved agents, which are the models.", Answer: models{}},
		"agents.models.get":          {Summary: "Read a model.", Answer: model{}},
	}
}
