package responses

import (
	"net/url"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
)

type model struct {
	ID      string `json:"id"`
	Object  string `json:"object" enum:"model"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
	// Shutdown is null: nothing here announces its end.
	Shutdown *string `json:"shutdown_date"`
}

type models struct {
	Object string  `json:"object" enum:"list"`
	Data   []model `json:"data"`
}

// Names of who owns a model.
const (
	ownedByHost   = "agenthost"
	ownedByCaller = "agents"
)

// maxListed bounds the saved agents of a list, which has no pages.
const maxListed = 1000

// ModelsList answers GET /models: the adapters and the caller's saved agents, as far
// as the caller may use them. A
// real model name works as a model too; which ones exist only the provider knows.
func (w *Wire) ModelsList(c *call.Call) {
	list := models{Object: "list", Data: []model{}}
	for _, a := range w.opts.Adapters {
		if !c.Subject.Uses(a.Name) {
			continue
		}
		list.Data = append(list.Data, w.adapterModel(a.Name))
	}
	names := map[string]bool{}
	p := spec.Page{Limit: 100}
	for more := true; more && len(names) < maxListed; {
		agents, again, err := w.engine.Agents(c.Context(), c.Principal, p)
		if err != nil {
			c.Fail(err)
			return
		}
		for _, a := range agents {
			p.After = a.ID
			m := agentModel(a)
			if !names[m.ID] && c.Subject.Uses(a.Adapter) {
				names[m.ID] = true
				list.Data = append(list.Data, m)
			}
		}
		more = again && len(agents) > 0
	}
	c.JSON(200, list)
}

// ModelsRetrieve answers GET /models/{model}.
func (w *Wire) ModelsRetrieve(c *call.Call) {
	name, err := url.PathUnescape(c.Param("model"))
	if err != nil {
		name = ""
	}
	if a, ok := w.adapter(name); ok && c.Subject.Uses(a.Name) {
		c.JSON(200, w.adapterModel(name))
		return
	}
	if id, ok := event.Parse(name, event.PrefixAgent); ok {
		a, err := w.engine.Agent(c.Context(), c.Principal, id)
		if err == nil && c.Subject.Uses(a.Adapter) {
			c.JSON(200, newModel(name, a.Created, ownedByCaller))
			return
		}
		if err != nil && !noAgent(err) {
			c.Fail(err)
			return
		}
	} else if spec.ValidAgentName(name) == nil && name != "" {
		agents, err := w.engine.AgentsNamed(c.Context(), c.Principal, name)
		if err != nil && !noAgent(err) {
			c.Fail(err)
			return
		}
		agents = slices.DeleteFunc(agents, func(a *spec.Agent) bool { return !c.Subject.Uses(a.Adapter) })
		if len(agents) > 0 {
			c.JSON(200, newModel(name, agents[0].Created, ownedByCaller))
			return
		}
	}
	if !plainWord.MatchString(name) {
		name = "of this name"
	}
	c.Fail(event.FailParam(event.ModelNotFound, "model", "there is no adapter and no saved agent "+name))
}

func noAgent(err error) bool {
	code := event.CodeOf(err)
	return code == event.AgentNotFound || code == event.NotFound
}

func (w *Wire) adapterModel(name string) model {
	return newModel(name, w.opts.Started, ownedByHost)
}

func agentModel(a *spec.Agent) model {
	id := a.Name
	if id == "" {
		id = a.ID.With(event.PrefixAgent)
	}
	return newModel(id, a.Created, ownedByCaller)
}

func newModel(name string, created int64, owner string) model {
	return model{ID: name, Object: "model", Created: created, OwnedBy: owner}
}
