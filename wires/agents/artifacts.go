package agents

import (
	"path"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/files"
)

// artifactObject is a file that a completed turn published.
type artifactObject struct {
	ID            string `json:"id"`
	CreatedAt     int64  `json:"created_at"`
	EnvironmentID string `json:"environment_id"`
	Object        string `json:"object" enum:"agent.session.artifact"`
	Path          string `json:"path" doc:"where it was in the environment; the workspace is /workspace"`
	SessionID     string `json:"session_id"`
	SizeBytes     int64  `json:"size_bytes"`
	TurnID        string `json:"turn_id"`
}

// workspacePath is what a workspace is called in artifacts' paths, wherever it is:
// programs look a result up by such a path.
const workspacePath = "/workspace/"

func newArtifactObject(a *spec.Artifact) *artifactObject {
	return &artifactObject{
		ID: a.ID.With(event.PrefixArtifact), CreatedAt: a.Created, EnvironmentID: a.Environment.With(event.PrefixEnvironment),
		Object: "agent.session.artifact", Path: workspacePath + a.Path, SessionID: a.Session.With(event.PrefixSession),
		SizeBytes: a.Bytes, TurnID: a.Turn.With(event.PrefixTurn),
	}
}

// ListArtifacts is GET /agents/sessions/{session_id}/artifacts, with the filter
// environment_id.
func (w *Wire) ListArtifacts(c *call.Call) {
	s, err := w.session(c)
	if err != nil {
		c.Fail(err)
		return
	}
	p, err := page(c, event.PrefixArtifact)
	if err != nil {
		c.Fail(err)
		return
	}
	var env event.ID
	nobody := false
	if written, ok := c.Query("environment_id"); ok && written != "" { // SDKs write null as nothing
		env, ok = event.Parse(written, event.PrefixEnvironment)
		nobody = !ok || env.IsZero() // no artifact is of an environment that cannot be
	}
	var list []*spec.Artifact
	var more bool
	if !nobody {
		list, more, err = w.engine.Artifacts(c.Context(), c.Principal, s.ID, env, p)
	}
	answerList(c, list, more, err, func(a *spec.Artifact) (string, any) {
		return a.ID.With(event.PrefixArtifact), newArtifactObject(a)
	})
}

// GetArtifact is GET /agents/sessions/{session_id}/artifacts/{artifact_id}.
func (w *Wire) GetArtifact(c *call.Call) {
	session, id, err := w.artifactID(c)
	if err != nil {
		c.Fail(err)
		return
	}
	a, err := w.engine.Artifact(c.Context(), c.Principal, session, id)
	if err != nil {
		c.Fail(missingArtifact(c, err))
		return
	}
	c.JSON(200, newArtifactObject(a))
}

// DownloadArtifact is GET /agents/sessions/{session_id}/artifacts/{artifact_id}/content.
func (w *Wire) DownloadArtifact(c *call.Call) {
	session, id, err := w.artifactID(c)
	if err != nil {
		c.Fail(err)
		return
	}
	a, content, err := w.engine.OpenArtifact(c.Context(), c.Principal, session, id)
	if err != nil {
		c.Fail(missingArtifact(c, err))
		return
	}
	files.Send(c, path.Base(a.Path), a.SHA256, a.Bytes, content)
}

// DeleteArtifact is DELETE /agents/sessions/{session_id}/artifacts/{artifact_id}.
func (w *Wire) DeleteArtifact(c *call.Call) {
	session, id, err := w.artifactID(c)
	if err == nil {
		err = missingArtifact(c, w.engine.DeleteArtifact(c.Context(), c.Principal, session, id))
	}
	if err != nil {
		c.Fail(err)
		return
	}
	c.JSON(200, deletedObject{ID: id.With(event.PrefixArtifact), Deleted: true, Object: "agent.session.artifact.deleted"})
}

// artifactID reads the path's artifact of the path's session.
func (w *Wire) artifactID(c *call.Call) (session, id event.ID, err error) {
	s, err := w.session(c)
	if err != nil {
		return session, id, err
	}
	id, ok := c.ID("artifact_id", event.PrefixArtifact)
	if !ok {
		return session, id, notFound(event.ArtifactNotFound, "artifact", c.Param("artifact_id"))
	}
	return s.ID, id, nil
}

func missingArtifact(c *call.Call, err error) error {
	return missing(err, event.ArtifactNotFound, "artifact", c.Param("artifact_id"))
}
