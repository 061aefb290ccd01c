package files

import (
	"context"
	"io"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/apierr"
	"github.com/agenthost/agenthost/wires/call"
)

// Source reads stored files.
type Source interface {
	OpenFile(ctx context.Context, owner string, id event.ID) (*spec.File, io.ReadSeekCloser, error)
}

// Engine is what the wire needs of the host.
type Engine interface {
	Source
	PutFile(ctx context.Context, owner string, f spec.File, content io.Reader, key *spec.Key) (*spec.File, error)
	File(ctx context.Context, owner string, id event.ID) (*spec.File, error)
	Files(ctx context.Context, owner, purpose string, p spec.Page) ([]*spec.File, bool, error)
	DeleteFile(ctx context.Context, owner string, id event.ID) error
}

// Wire answers the operations of /v1/files. Its methods are call.Handlers.
type Wire struct{ engine Engine }

// New makes the wire over engine.
func New(engine Engine) *Wire { return &Wire{engine} }

// fileObject is a stored file. status and status_details are obsolete and still
// required by SDKs.
type fileObject struct {
	ID            string  `json:"id"`
	Object        string  `json:"object" enum:"file"`
	Bytes         int64   `json:"bytes"`
	CreatedAt     int64   `json:"created_at"`
	ExpiresAt     *int64  `json:"expires_at"`
	Filename      string  `json:"filename"`
	Purpose       string  `json:"purpose"`
	Status        string  `json:"status" enum:"processed"`
	StatusDetails *string `json:"status_details"`
}

func objectOf(f *spec.File) fileObject {
	return fileObject{
		ID: f.ID.With(event.PrefixFile), Object: "file", Bytes: f.Bytes, CreatedAt: f.Created,
		Filename: f.Name, Purpose: f.Purpose, Status: "processed",
	}
}

type deleted struct {
	ID      string `json:"id"`
	Object  string `json:"object" enum:"file"`
	Deleted bool   `json:"deleted"`
}

// Retrieve is GET /files/{file_id}.
func (w *Wire) Retrieve(c *call.Call) {
	id, err := fileID(c)
	if err != nil {
		c.Fail(err)
		return
	}
	f, err := w.engine.File(c.Context(), c.Principal, id)
	if err != nil {
		c.Fail(missing(err, "file_id", c.Param("file_id")))
		return
	}
	c.JSON(200, objectOf(f))
}

// Delete is DELETE /files/{file_id}.
func (w *Wire) Delete(c *call.Call) {
	id, err := fileID(c)
	if err == nil {
		err = missing(w.engine.DeleteFile(c.Context(), c.Principal, id), "file_id", c.Param("file_id"))
	}
	if err != nil {
		c.Fail(err)
		return
	}
	c.JSON(200, deleted{id.With(event.PrefixFile), "file", true})
}

// Content is GET /files/{file_id}/content.
func (w *Wire) Content(c *call.Call) {
	id, err := fileID(c)
	if err != nil {
		c.Fail(err)
		return
	}
	f, content, err := w.engine.OpenFile(c.Context(), c.Principal, id)
	if err != nil {
		c.Fail(missing(err, "file_id", c.Param("file_id")))
		return
	}
	Send(c, f.Name, f.ID.Hex(), f.Bytes, content)
}

// list is a page; SDKs turn it by the last element's id.
type list struct {
	Object  string       `json:"object" enum:"list"`
	Data    []fileObject `json:"data"`
	FirstID *string      `json:"first_id"`
	LastID  *string      `json:"last_id"`
	HasMore bool         `json:"has_more"`
}

// mostListed is the largest limit that callers know; a page has at most 100 all
// the same, and has_more says that there are further ones.
const mostListed = 10_000

// List is GET /files.
func (w *Wire) List(c *call.Call) {
	if n, err := c.Ctx.QueryArgs().GetUint("limit"); err == nil && n > 100 && n <= mostListed {
		c.Ctx.QueryArgs().SetUint("limit", 100)
	}
	p, after, err := c.Page()
	if err != nil {
		c.Fail(err)
		return
	}
	if after != "" {
		id, ok := event.Parse(after, event.PrefixFile)
		if !ok || id.IsZero() {
			c.Fail(noSuchPage())
			return
		}
		p.After = id
	}
	purpose, _ := c.Query("purpose")
	found, more, err := w.engine.Files(c.Context(), c.Principal, purpose, p)
	if event.CodeOf(err) == event.CursorNotFound {
		err = noSuchPage()
	}
	if err != nil {
		c.Fail(err)
		return
	}
	out := list{Object: "list", Data: make([]fileObject, len(found)), HasMore: more && len(found) > 0}
	for i, f := range found {
		out.Data[i] = objectOf(f)
	}
	if n := len(found); n > 0 {
		out.FirstID, out.LastID = &out.Data[0].ID, &out.Data[n-1].ID
	}
	c.JSON(200, out)
}

func noSuchPage() error {
	return event.FailParam(apierr.ListCursorNotFound, "after", "after names nothing in this list")
}

// fileID reads the path's file.
func fileID(c *call.Call) (event.ID, error) {
	id, ok := c.ID("file_id", event.PrefixFile)
	if !ok {
		return id, notFound("file_id", c.Param("file_id"))
	}
	return id, nil
}

// missing makes every way of naming nothing the same answer.
func missing(err error, param, id string) error {
	if code := event.CodeOf(err); code != event.FileNotFound && code != event.NotFound {
		return err
	}
	return notFound(param, id)
}

func notFound(param, id string) error {
	const most = 80
	if r := []rune(id); len(r) > most {
		id = string(r[:most]) + "..."
	}
	return event.FailParam(event.FileNotFound, param, "there is no file "+id)
}
