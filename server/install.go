package server

import (
	"fmt"
	"maps"
	"slices"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/wires/apierr"
	"github.com/agenthost/agenthost/wires/call"
)

// allowInstall is the variable that lets callers install CLIs.
const allowInstall = "ABX_AGENTS_ALLOW_INSTALL"

type installBody struct {
	Version string `json:"version,omitempty" doc:"the newest that the host has a manifest of when missing"`
}

// install is the job of an installation.
type install struct {
	ID      string `json:"id"`
	Object  string `json:"object" enum:"agent.runtime.install"`
	Runtime string `json:"runtime"`
	Package string `json:"package"`
	Version string `json:"version"`
	Status  string `json:"status" enum:"running,completed,failed"`
	// CreatedAt and CompletedAt are in Unix seconds.
	CreatedAt   int64         `json:"created_at"`
	CompletedAt *int64        `json:"completed_at"`
	Progress    []installStep `json:"progress"`
	Path        *string       `json:"path"`
	Error       *installError `json:"error"`
}

type installStep struct {
	At   int64  `json:"at"`
	Text string `json:"text"`
}

type installError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Type    string `json:"type"`
}

func installObject(i *actors.Install) *install {
	if i == nil {
		return nil
	}
	out := &install{
		ID: i.ID.With(event.PrefixInstall), Object: "agent.runtime.install", Runtime: i.Adapter, Package: i.Package, Version: i.Version,
		Status: string(i.State), CreatedAt: i.Created / 1000, Progress: make([]installStep, len(i.Progress)), Path: orNull(i.Path),
	}
	for n, p := range i.Progress {
		out.Progress[n] = installStep{At: p.At / 1000, Text: p.Text}
	}
	if i.Ended > 0 {
		at := i.Ended / 1000
		out.CompletedAt = &at
	}
	if f := i.Failure; f != nil {
		out.Error = &installError{Code: string(f.Code), Message: f.Message, Type: apierr.Of(f.Code).Type}
	}
	return out
}

// installVersion reads the body, which may be missing.
func installVersion(c *call.Call) (string, error) {
	var body installBody
	if there, err := c.DecodeOptional(&body); err != nil || !there {
		return "", err
	}
	fields, err := c.Object()
	if err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name != "version" {
			return "", event.FailParam(event.InvalidRequest, name, "an installation has no such field; version is the only one")
		}
	}
	return body.Version, nil
}

// adapter is the name of the adapter that name is an alias of, else name.
func (s *Server) adapter(name string) string {
	for _, a := range s.cfg.Adapters {
		if slices.Contains(a.Aliases, name) {
			return a.Name
		}
	}
	return name
}

// installRuntime begins to install an adapter's CLI and answers with the job, which
// the list of runtimes shows from then on. While one runs, it is the answer.
func (s *Server) installRuntime(c *call.Call) {
	name := s.adapter(c.Param("runtime"))
	if err := c.Subject.Adapter(name).Decide(policy.Install).Err(); err != nil {
		c.Fail(err)
		return
	}
	if !s.cfg.AllowInstall {
		c.Fail(event.FailParam(event.InstallNotAllowed, policy.Install.Operation(name), fmt.Sprintf(
			"this host does not let callers install CLIs; its operator sets %s=1, or runs: agenthost install %s", allowInstall, name)))
		return
	}
	version, err := installVersion(c)
	if err != nil {
		c.Fail(err)
		return
	}
	i, err := s.host.Install(c.Context(), name, version)
	if err != nil {
		c.Fail(err)
		return
	}
	s.log.Info("installation asked for", "operation", policy.Install.Operation(i.Adapter), "principal", c.Principal, "version", i.Version)
	c.JSON(202, installObject(i))
}
