package server

import (
	"context"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/agents"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/files"
	"github.com/agenthost/agenthost/wires/responses"
)

// Host is the engine: what both wires and the server itself need of it.
type Host interface {
	agents.Engine
	responses.Engine
	files.Engine
	Stats() actors.Stats
	StoreErr() error
	Runtimes(ctx context.Context) []actors.Runtime
	Install(ctx context.Context, name, version string) (*actors.Install, error)
	owners
}

// owners tell whose something is, "" when there is nothing of that id.
type owners interface {
	SessionOwner(ctx context.Context, id event.ID) (string, error)
	TurnOwner(ctx context.Context, id event.ID) (string, error)
	AgentOwner(ctx context.Context, id event.ID) (string, error)
	FileOwner(ctx context.Context, id event.ID) (string, error)
}

// Engine lets the wires use h.
func Engine(h *actors.Host) Host { return engine{h} }

type engine struct{ *actors.Host }

// Subscribe gives the Host's subscription as the interface that wires know.
func (e engine) Subscribe(ctx context.Context, owner string, session event.ID, after int64) (call.Stream, error) {
	s, err := e.Host.Subscribe(ctx, owner, session, after)
	if err != nil {
		return nil, err // not s: a nil pointer in an interface is not nil
	}
	return s, nil
}

// handlers are the wires' methods that stand in the table.
type handlers struct {
	createAgent, listAgents, getAgent, updateAgent, deleteAgent                 call.Handler
	createSession, listSessions, getSession, updateSession, deleteSession       call.Handler
	sendEvent, streamEvents, listItems, listTurns, getTurn, listTurnItems       call.Handler
	listSubagents, getSubagent, listSubagentItems                               call.Handler
	listSubagentTurns, getSubagentTurn, listSubagentTurnItems                   call.Handler
	listArtifacts, getArtifact, downloadArtifact, deleteArtifact                call.Handler
	createResponse, getResponse, deleteResponse, cancelResponse, listInputItems call.Handler
	createConversation, getConversation, updateConversation, deleteConversation call.Handler
	createConversationItems, listConversationItems                              call.Handler
	getConversationItem, deleteConversationItem                                 call.Handler
	listModels, getModel, listQueue                                             call.Handler
	createFile, listFiles, getFile, downloadFile, deleteFile                    call.Handler
}

func wireHandlers(h Host, c *Config) *handlers {
	h = &sight{h}
	a := agents.New(h, agents.Options{Hosted: c.Hosted})
	r := responses.New(h, responses.Options{Adapters: c.Adapters, Started: time.Now().Unix(), CancelWait: c.CancelWait})
	f := files.New(h)
	return &handlers{
		createAgent: a.CreateAgent, listAgents: a.ListAgents, getAgent: a.GetAgent, updateAgent: a.UpdateAgent, deleteAgent: a.DeleteAgent,
		createSession: a.CreateSession, listSessions: a.ListSessions, getSession: a.GetSession, updateSession: a.UpdateSession, deleteSession: a.DeleteSession,
		sendEvent: a.SendEvents, streamEvents: a.StreamEvents, listItems: a.ListItems, listTurns: a.ListTurns, getTurn: a.GetTurn, listTurnItems: a.ListTurnItems,
		listSubagents: a.ListSubagents, getSubagent: a.GetSubagent, listSubagentItems: a.ListSubagentItems,
		listSubagentTurns: a.ListSubagentTurns, getSubagentTurn: a.GetSubagentTurn, listSubagentTurnItems: a.ListSubagentTurnItems,
		listArtifacts: a.ListArtifacts, getArtifact: a.GetArtifact, downloadArtifact: a.DownloadArtifact, deleteArtifact: a.DeleteArtifact,
		createResponse: r.Create, getResponse: r.Retrieve, deleteResponse: r.Delete, cancelResponse: r.Cancel, listInputItems: r.InputItems,
		createConversation: r.CreateConversation, getConversation: r.GetConversation, updateConversation: r.UpdateConversation, deleteConversation: r.DeleteConversation,
		createConversationItems: r.CreateItems, listConversationItems: r.ListItems, getConversationItem: r.GetItem, deleteConversationItem: r.DeleteItem,
		listQueue: a.ListQueue, listModels: r.ModelsList, getModel: r.ModelsRetrieve,
		createFile: f.Create, listFiles: f.List, getFile: f.Retrieve, downloadFile: f.Content, deleteFile: f.Delete,
	}
}
