package server

import (
	"context"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/wires/call"
)

// TEMPORARY
type Stats struct {
	Running, Waiting, Active, Subscribers, Trees                  int64
	Completed, Failed, Cancelled, OrphansReaped, Crashes, Commits int64
	CommitTime                                                    time.Duration
	Room                                                          bool
}
type Runtime struct {
	Name, Binary, Path, Version, Confinement, Permissions string
	Aliases                                               []string
	Installed, Credential, Default                        bool
	Install                                               [][]string
	Capabilities                                          agent.Capabilities
}

// Host is what the server needs of the engine beyond what the wires need.
type Host interface {
	Stats() Stats
	StoreErr() error
	Runtimes(ctx context.Context) []Runtime
}

// handlers are the wires' methods that stand in the table.
type handlers struct {
	createAgent, listAgents, getAgent, updateAgent, deleteAgent                 call.Handler
	createSession, listSessions, getSession, updateSession, deleteSession       call.Handler
	sendEvent, streamEvents, listItems, listTurns, getTurn, listTurnItems       call.Handler
	createResponse, getResponse, deleteResponse, cancelResponse, listInputItems call.Handler
	listModels, getModel                                                        call.Handler
}

func wireHandlers(h Host, c *Config) *handlers {
	return &handlers{}
}
