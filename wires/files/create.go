package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
)

// usualPurpose is that of an upload which names none.
const usualPurpose = "user_data"

// Create is POST /files: a form with file and purpose, or, as existing deployments
// send it, JSON with filename, purpose and the base64 of the content as data.
func (w *Wire) Create(c *call.Call) {
	kind, params, _ := mime.ParseMediaType(c.Header("Content-Type"))
	var f *spec.File
	var err error
	switch kind {
	case "multipart/form-data":
		f, err = w.form(c, params["boundary"])
	case "application/json":
		f, err = w.plain(c)
	default:
		err = event.Fail(event.InvalidRequest, "send the file as multipart/form-data with the fields file and purpose")
	}
	if err != nil {
		c.Fail(err)
		return
	}
	c.JSON(200, objectOf(f))
}

// form keeps the file of a form. Fields may stand behind the file, so they are
// read in a pass of their own.
func (w *Wire) form(c *call.Call, boundary string) (*spec.File, error) {
	if boundary == "" {
		return nil, event.Fail(event.InvalidRequest, "the Content-Type of the form has no boundary")
	}
	purpose, files := usualPurpose, 0
	sum := sha256.New()
	err := eachPart(c.Body, boundary, func(p *multipart.Part) error {
		switch name := p.FormName(); {
		case name == "file":
			files++
			if files > 1 {
				return event.FailParam(event.InvalidRequest, "file", "the form has more than one file; send one request for each")
			}
			// To its end, so that a form cut short keeps nothing.
			return sumPart(sum, p, p.FileName(), p)
		case name == "purpose":
			v, err := io.ReadAll(io.LimitReader(p, 64))
			purpose = string(v)
			return errors.Join(err, sumPart(sum, p, "", strings.NewReader(purpose)))
		case strings.HasPrefix(name, "expires_after"):
			return noExpiry()
		case name == "":
			return event.Fail(event.InvalidRequest, "a part of the form has no readable name")
		}
		return nil
	})
	if _, ours := event.AsFailure(err); err != nil && !ours {
		err = &event.Failure{Code: event.InvalidRequest, Message: "the form is cut short or malformed", Cause: err}
	}
	if err != nil {
		return nil, err
	}
	if files == 0 {
		return nil, event.FailParam(event.InvalidRequest, "file", "the form has no part named file")
	}
	if err := checkPurpose(purpose); err != nil {
		return nil, err
	}
	var f *spec.File
	err = eachPart(c.Body, boundary, func(p *multipart.Part) (err error) {
		if p.FormName() == "file" {
			f, err = w.engine.PutFile(c.Context(), c.Principal, spec.File{Name: plainName(p.FileName()), Purpose: purpose}, p, c.KeyOf(sum.Sum(nil)))
		}
		return err
	})
	return f, err
}

// sumPart adds what a part says to the sum of a form, whose boundary is another one
// each time that it is sent.
func sumPart(sum hash.Hash, p *multipart.Part, file string, content io.Reader) error {
	own := sha256.New()
	_, err := io.Copy(own, content)
	_, _ = fmt.Fprintf(sum, "%q %q %x\n", p.FormName(), file, own.Sum(nil))
	return err
}

// maxParts bounds the parts of a form.
const maxParts = 32

func eachPart(body []byte, boundary string, do func(*multipart.Part) error) error {
	form := multipart.NewReader(bytes.NewReader(body), boundary)
	for n := 0; ; n++ {
		p, err := form.NextPart()
		if err == io.EOF { //nolint:errorlint // a form cut short gives an error that wraps it
			return nil
		}
		if err != nil {
			return err
		}
		if n == maxParts {
			return event.Fail(event.InvalidRequest, "the form has too many parts")
		}
		if err := do(p); err != nil {
			return err
		}
	}
}

// plain keeps the file of a JSON body.
func (w *Wire) plain(c *call.Call) (*spec.File, error) {
	var in jsonBody
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	if in.ExpiresAfter != nil {
		return nil, noExpiry()
	}
	purpose := usualPurpose
	if in.Purpose != nil {
		purpose = *in.Purpose
	}
	if err := checkPurpose(purpose); err != nil {
		return nil, err
	}
	if in.Data == nil {
		return nil, event.FailParam(event.InvalidRequest, "data", "data is required: the base64 of the file's content")
	}
	content, err := base64.StdEncoding.DecodeString(*in.Data)
	if err != nil {
		return nil, event.FailParam(event.InvalidRequest, "data", "data is not valid base64")
	}
	return w.engine.PutFile(c.Context(), c.Principal, spec.File{Name: plainName(in.Filename), Purpose: purpose}, bytes.NewReader(content), c.Key())
}

func checkPurpose(purpose string) error {
	if slices.Contains(purposes, purpose) {
		return nil
	}
	return event.FailParam(event.InvalidRequest, "purpose", "purpose must be one of "+strings.Join(purposes, ", "))
}

// noExpiry refuses a promise that nothing here would keep.
func noExpiry() error {
	return event.FailParam(event.Unsupported, "expires_after", "files of this host do not expire; delete them when they are no longer needed")
}
