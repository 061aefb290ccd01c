package files

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/agenthost/agenthost/actors/event"
)

// Types of the parts that an Attachment is read from.
const (
	InputImage = "input_image"
	InputFile  = "input_file"
)

// Bounds of attachments. MaxAttached is also about what a message may have, so
// that an event with it stays below the 8 MiB line that SDKs read.
const (
	MaxAttached = 7 << 20   // of one request: pictures as base64, and texts
	maxText     = 256 << 10 // of one text file
)

// RawPart is what a picture's or a file's part of a message has beside its type.
type RawPart struct {
	ImageURL string `json:"image_url" doc:"of an input_image: a data: URL; only for agents that take pictures"`
	FileID   string `json:"file_id" doc:"an upload, instead of image_url or file_data"`
	FileData string `json:"file_data" doc:"of an input_file: base64, or a data: URL, of UTF-8 text"`
	FileURL  string `json:"file_url" doc:"refused: this host fetches nothing"`
	Filename string `json:"filename" doc:"of file_data"`
}

// Attachment is a picture or a file in a message. What it stands for becomes part
// of the message when the request is accepted (Loader), so a turn needs nothing
// that can be gone when it runs or is read again.
type Attachment struct {
	// Param is where it stands in the request.
	Param   string
	Picture bool

	id   event.ID // of an upload, else
	url  string   // a picture's data: URL, or
	name string   // a file's name and
	text string   // its content, which is text
}

// Name is what the attachment is called where its content is left out.
func (a *Attachment) Name() string {
	switch {
	case a.Picture:
		return "picture"
	case a.name == "":
		return "file " + a.id.With(event.PrefixFile)
	}
	return "file " + a.name
}

// ReadAttachment judges a part of type kind as far as it can be without an
// upload's content.
func ReadAttachment(param, kind string, p *RawPart) (*Attachment, error) {
	a := &Attachment{Param: param, Picture: kind == InputImage}
	given := 0
	for _, s := range []string{p.ImageURL, p.FileID, p.FileData, p.FileURL} {
		if s != "" {
			given++
		}
	}
	switch {
	case a.Picture && (given != 1 || p.ImageURL == "" && p.FileID == ""):
		return nil, event.FailParam(event.InvalidRequest, param, "a picture needs either image_url or file_id")
	case !a.Picture && (given != 1 || p.ImageURL != ""):
		return nil, event.FailParam(event.InvalidRequest, param, "a file needs either file_id or file_data")
	case p.FileURL != "":
		return nil, event.FailParam(event.Unsupported, param, "this host fetches nothing; send the file as file_data, or upload it and send its file_id")
	case p.FileID != "":
		var ok bool
		if a.id, ok = event.Parse(p.FileID, event.PrefixFile); !ok || a.id.IsZero() {
			return nil, notFound(param, p.FileID)
		}
		return a, nil
	case a.Picture:
		a.url = p.ImageURL
		return a, checkPicture(param, a.url)
	}
	content, err := fileData(p.FileData)
	if err != nil {
		return nil, event.FailParam(event.InvalidRequest, param, "file_data is not valid base64, nor a data: URL of it")
	}
	a.name = plainName(p.Filename)
	a.text, err = textOf(param, a.name, content)
	return a, err
}

// Loader turns a request's attachments into parts of its messages. All of them
// together take at most MaxAttached, however often an upload is named.
type Loader struct {
	source Source
	owner  string
	left   int
}

// NewLoader reads uploads of owner from source.
func NewLoader(source Source, owner string) *Loader { return &Loader{source, owner, MaxAttached} }

// Load gives the part that a stands for.
func (l *Loader) Load(ctx context.Context, a *Attachment) (event.Part, error) {
	var part event.Part
	var err error
	switch {
	case !a.id.IsZero():
		part, err = l.upload(ctx, a)
	case a.Picture:
		part = event.Part{ImageURL: a.url}
	default:
		part = event.Part{Text: block(a.name, a.text)}
	}
	if err != nil {
		return event.Part{}, err
	}
	if l.left -= len(part.Text) + len(part.ImageURL); l.left < 0 {
		return event.Part{}, l.tooMuch(a)
	}
	return part, nil
}

func (l *Loader) upload(ctx context.Context, a *Attachment) (event.Part, error) {
	f, content, err := l.source.OpenFile(ctx, l.owner, a.id)
	if err != nil {
		return event.Part{}, missing(err, a.Param, a.id.With(event.PrefixFile))
	}
	defer func() { _ = content.Close() }()
	switch {
	case a.Picture && f.Bytes > int64(l.left)*3/4:
		return event.Part{}, l.tooMuch(a)
	case !a.Picture && f.Bytes > maxText:
		return event.Part{}, longText(a.Param)
	}
	b := make([]byte, f.Bytes)
	if _, err := io.ReadFull(content, b); err != nil {
		return event.Part{}, fmt.Errorf("read file %s: %w", f.ID, err)
	}
	if !a.Picture {
		text, err := textOf(a.Param, f.Name, b)
		return event.Part{Text: block(f.Name, text)}, err
	}
	kind := pictureKind(b)
	if kind == "" {
		return event.Part{}, event.FailParam(event.InvalidRequest, a.Param, "this file is not a picture; a picture must be PNG, JPEG, GIF or WebP")
	}
	return event.Part{ImageURL: "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(b)}, nil
}

func (l *Loader) tooMuch(a *Attachment) error {
	return event.FailParam(event.InvalidRequest, a.Param, fmt.Sprintf(
		"the pictures and files of this request are larger than %d MiB together, pictures counted as base64; put long material into files of the workspace", MaxAttached>>20))
}

// block is how a prompt shows a text file.
func block(name, text string) string {
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return "--- file: " + name + " ---\n" + text + "--- end of file: " + name + " ---"
}

// textOf is a file's content as text, without a byte order mark.
func textOf(param, name string, content []byte) (string, error) {
	if len(content) > maxText {
		return "", longText(param)
	}
	text := strings.TrimPrefix(string(content), "\ufeff")
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", event.FailParam(event.Unsupported, param, "the file "+name+" is not text; only UTF-8 text can be handed to the agent, and pictures as input_image")
	}
	return text, nil
}

func longText(param string) error {
	return event.FailParam(event.InvalidRequest, param, fmt.Sprintf(
		"a text file in the input may have %d KiB; put a longer one into the workspace and name its path", maxText>>10))
}

// fileData decodes base64, plain or as a data: URL.
func fileData(s string) ([]byte, error) {
	if _, ok := cutFold(s, "data:"); ok {
		_, b, err := dataURL(s)
		return b, err
	}
	return decode(s)
}

func decode(s string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		b, err = base64.RawStdEncoding.DecodeString(s)
	}
	return b, err
}

var errDataURL = errors.New("not a data: URL")

// dataURL reads a data: URL: its media type in lower case, and its content.
func dataURL(s string) (kind string, content []byte, err error) {
	rest, ok := cutFold(s, "data:")
	if !ok {
		return "", nil, errDataURL
	}
	head, body, ok := strings.Cut(rest, ",")
	if !ok {
		return "", nil, errDataURL
	}
	kind, params, _ := strings.Cut(strings.ToLower(head), ";")
	kind = strings.TrimSpace(kind)
	if params == "base64" || strings.HasSuffix(params, ";base64") {
		content, err = decode(body)
		return kind, content, err
	}
	text, err := url.PathUnescape(body)
	return kind, []byte(text), err
}

func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// checkPicture judges an image_url.
func checkPicture(param, s string) error {
	kind, content, err := dataURL(s)
	switch {
	case errors.Is(err, errDataURL):
		return event.FailParam(event.Unsupported, param, "this host fetches no picture; send it as a data: URL in image_url, or upload it and send its file_id")
	case err != nil || len(content) == 0:
		return event.FailParam(event.InvalidRequest, param, "the picture's data cannot be decoded")
	case kind != "image/png" && kind != "image/jpeg" && kind != "image/gif" && kind != "image/webp":
		return event.FailParam(event.InvalidRequest, param, "a picture must be image/png, image/jpeg, image/gif or image/webp")
	}
	return nil
}

// pictureKind is the media type of a picture's content, "" for others.
func pictureKind(b []byte) string {
	s := string(b[:min(len(b), 12)])
	switch {
	case strings.HasPrefix(s, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case strings.HasPrefix(s, "\xff\xd8\xff"):
		return "image/jpeg"
	case strings.HasPrefix(s, "GIF87a"), strings.HasPrefix(s, "GIF89a"):
		return "image/gif"
	case len(s) == 12 && s[:4] == "RIFF" && s[8:] == "WEBP":
		return "image/webp"
	}
	return ""
}
