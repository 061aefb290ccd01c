package files_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/call/calltest"
	"github.com/agenthost/agenthost/wires/files"
	"github.com/agenthost/agenthost/wires/files/filestest"
)

// judging is an engine that looks at a file to its end and keeps nothing.
type judging struct {
	*filestest.Engine
	t *testing.T
}

func (e judging) PutFile(_ context.Context, _ string, f spec.File, content io.Reader, _ *spec.Key) (*spec.File, error) {
	calltest.Sound(e.t, f)
	if f.Name == "" || strings.ContainsAny(f.Name, "/\\") || strings.ContainsFunc(f.Name, unicode.IsControl) || !utf8.ValidString(f.Name) {
		e.t.Errorf("the name %q", f.Name)
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		e.t.Errorf("a form that was whole is not: %v", err)
	}
	return nil, event.Fail(event.FilesFull, "the body was read to its end")
}

// FuzzBodies: any upload, as a form or as JSON, is answered with a refusal that is the
// caller's fault, and what it is read as is sound.
func FuzzBodies(f *testing.F) {
	const form = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\nContent-Type: text/plain\r\n\r\ncontent\r\n--b\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nuser_data\r\n--b--\r\n"
	for _, name := range []string{"a.txt", "../../etc/passwd", "a\r\nX-Evil: 1", "\x00", "é\xff", ""} {
		f.Add(`multipart/form-data; boundary=b`, []byte(strings.ReplaceAll(form, "%s", name)))
	}
	f.Add(`multipart/form-data; boundary=b`, []byte(strings.Repeat("--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n\r\n", 100)))
	f.Add(`multipart/form-data; boundary=b`, []byte("--b\r\nContent-Disposition: form-data; name=\"file\""))
	f.Add(`multipart/form-data; boundary=`, []byte("--\r\n"))
	f.Add(`application/json`, []byte(`{"filename":"a\u0000/b","purpose":"user_data","data":"eA=="}`))
	f.Add(`application/json`, []byte(`{"filename":"..","data":"!"}`))
	f.Add(`text/plain; charset="`, []byte("x"))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		w := files.New(judging{&filestest.Engine{}, t})
		c := calltest.Post(func(c *call.Call) {
			c.Ctx.Request.Header.SetContentType(kind)
			w.Create(c)
		}, "ann", body)
		calltest.Refused(t, "files.create", c)
	})
}
