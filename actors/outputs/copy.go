package outputs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"time"
)

// unfitError says why a file cannot be copied; the collection goes on.
type unfitError string

func (e unfitError) Error() string { return string(e) }

const errChanged = unfitError("it kept changing while it was read")

// attempts is how often a file is read that changes under the reader's eyes.
const attempts = 3

// copy makes the next copy: of name in d. An unfitError is about that file alone,
// any other one about the place of the copies.
func (c *collector) copy(d *dir, name string) (*File, error) {
	if len(c.files) == 0 {
		if err := os.Mkdir(c.into, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
	}
	to := filepath.Join(c.into, Name(len(c.files)))
	for n := 1; ; n++ {
		f, err := c.copyOnce(d, name, to)
		if err == nil {
			return f, nil
		}
		if rerr := os.Remove(to); rerr != nil && !errors.Is(rerr, os.ErrNotExist) {
			return nil, rerr
		}
		if !errors.Is(err, errChanged) || n == attempts {
			return nil, err
		}
		if err := pause(c.ctx, tick); err != nil {
			return nil, err
		}
	}
}

func (c *collector) copyOnce(d *dir, name, to string) (f *File, err error) {
	from, err := d.open(name)
	if err != nil {
		return nil, unfitError(reason(err))
	}
	defer func() { _ = from.Close() }()
	before, err := opened(from)
	if err != nil {
		return nil, unfitError(reason(err))
	}
	if why := before.unfit(); why != "" {
		return nil, unfitError(why)
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := out.Close(); err == nil {
			err = cerr
		}
	}()
	most := min(c.order.MaxFile, c.order.MaxBytes-c.bytes)
	sum, head := sha256.New(), &head{}
	in := &source{ctx: c.ctx, from: from}
	size, err := io.Copy(io.MultiWriter(out, sum, head), io.LimitReader(in, most+1))
	switch {
	case in.failed != nil:
		return nil, in.failed
	case err != nil:
		return nil, fmt.Errorf("keep a copy: %w", err)
	case size > c.order.MaxFile:
		return nil, unfitError(c.tooLarge())
	case size > most:
		return nil, errChanged // it was smaller a moment ago
	}
	after, err := opened(from)
	if err != nil {
		return nil, unfitError(reason(err))
	}
	if after.stamp() != before.stamp() || after.size != size {
		return nil, errChanged
	}
	if err := out.Sync(); err != nil {
		return nil, fmt.Errorf("keep a copy: %w", err)
	}
	return &File{Bytes: size, SHA256: hex.EncodeToString(sum.Sum(nil)), Media: media(name, head.bytes), Stamp: before.stamp()}, nil
}

// source reads a file of the workspace and tells its faults from those of the copy.
type source struct {
	ctx    context.Context //nolint:containedctx // lives as long as one copy
	from   io.Reader
	failed error
}

func (s *source) Read(p []byte) (int, error) {
	if s.failed = s.ctx.Err(); s.failed != nil {
		return 0, s.failed
	}
	n, err := s.from.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // as io.Reader says it
		s.failed = unfitError(reason(err))
	}
	return n, err
}

// head keeps what a media type is guessed from.
type head struct{ bytes []byte }

func (h *head) Write(p []byte) (int, error) {
	const most = 512
	h.bytes = append(h.bytes, p[:min(len(p), most-len(h.bytes))]...)
	return len(p), nil
}

// media is the media type of a file, by its name or else by its first bytes.
func media(name string, first []byte) string {
	if m := mime.TypeByExtension(path.Ext(name)); m != "" {
		return m
	}
	return http.DetectContentType(first)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
