package agents

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// fakeArtifact is one artifact of the fake engine.
type fakeArtifact struct {
	spec.Artifact
	owner   string
	content []byte
	open    int
}

// publish lets a session's turn publish a file.
func (e *fakeEngine) publish(owner string, session event.ID, n byte, path, sum string, content []byte) *fakeArtifact {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := &fakeArtifact{owner: owner, content: content, Artifact: spec.Artifact{
		ID: fixedID(0xa7, n), Session: session, Turn: fixedID(0x70, n), Environment: fixedID(0xe5, 1), Path: path,
		Bytes: int64(len(content)), SHA256: sum, Media: "text/plain", Created: storyStart / 1000,
	}}
	e.files = append(e.files, f)
	return f
}

func (e *fakeEngine) Artifacts(_ context.Context, owner string, session, environment event.ID, p spec.Page) ([]*spec.Artifact, bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []*spec.Artifact
	for _, f := range e.files {
		if f.owner == owner && f.Session == session && (environment.IsZero() || environment == f.Environment) {
			list = append(list, &f.Artifact)
		}
	}
	return cutPage(list, p, func(a *spec.Artifact) event.ID { return a.ID })
}

func (e *fakeEngine) artifact(owner string, session, id event.ID) (*fakeArtifact, error) {
	for _, f := range e.files {
		if f.owner == owner && f.Session == session && f.ID == id {
			return f, nil
		}
	}
	return nil, event.Fail(event.ArtifactNotFound, "the engine's own words")
}

func (e *fakeEngine) Artifact(_ context.Context, owner string, session, id event.ID) (*spec.Artifact, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f, err := e.artifact(owner, session, id)
	if err != nil {
		return nil, err
	}
	return &f.Artifact, nil
}

func (e *fakeEngine) OpenArtifact(_ context.Context, owner string, session, id event.ID) (*spec.Artifact, io.ReadSeekCloser, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f, err := e.artifact(owner, session, id)
	if err != nil {
		return nil, nil, err
	}
	f.open++
	return &f.Artifact, &fakeContent{bytes.NewReader(f.content), e, f}, nil
}

func (e *fakeEngine) DeleteArtifact(_ context.Context, owner string, session, id event.ID) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	f, err := e.artifact(owner, session, id)
	if err != nil {
		return err
	}
	e.files = slices.DeleteFunc(e.files, func(g *fakeArtifact) bool { return f == g })
	return nil
}

type fakeContent struct {
	*bytes.Reader
	engine *fakeEngine
	file   *fakeArtifact
}

func (c *fakeContent) Close() error {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	c.file.open--
	return nil
}
