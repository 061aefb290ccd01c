package outputs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// Bounds of what is looked at, whatever is in a workspace.
const (
	usualEntries = 10_000
	maxDepth     = 64
)

// Collect copies what o asks for into the directory into, which it makes when there
// is something to copy; the n-th file of the answer is there as Name(n). notes say
// what was left out and why. After an error what was copied so far is good. The
// copies are durable when the call returns, their names in into are not yet.
func Collect(ctx context.Context, o *Order, into string) (files []File, notes []string, err error) {
	c := &collector{ctx: ctx, order: o, into: into, seen: map[string]bool{}, most: cmp.Or(o.MaxEntries, usualEntries)}
	top, err := openTop(o.Workspace, !o.Private)
	if missing(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open the workspace: %w", err)
	}
	defer top.close()
	for _, path := range o.Reported {
		if names, ok := o.inside(path); ok && err == nil {
			err = c.reported(top, names)
		}
	}
	if err == nil {
		err = c.below(top, nil, Dir)
	}
	switch {
	case errors.Is(err, errEnough):
		err = nil
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		c.notes.add("the turn's files were not all published: it took too long")
		err = nil
	}
	return c.files, c.notes.all(), err
}

// errEnough ends a collection; the notes say why.
var errEnough = errors.New("enough")

// collector is one collection on its way.
type collector struct {
	ctx     context.Context //nolint:containedctx // lives as long as one call of Collect
	order   *Order
	into    string
	seen    map[string]bool
	files   []File
	bytes   int64
	entries int // looked at
	most    int // of them
	notes   notes
}

// reported collects one reported file. One that is gone again is no matter.
func (c *collector) reported(top *dir, names []string) error {
	d, last := top, len(names)-1
	if last >= maxDepth {
		return nil
	}
	for i, name := range names[:last] {
		next, err := d.sub(name)
		if d != top {
			d.close()
		}
		if noDirectory(err) {
			c.leave(names, "%s is no directory, and links are not followed", strings.Join(names[:i+1], "/"))
		}
		if err != nil {
			return nil
		}
		d = next
	}
	if d != top {
		defer d.close()
	}
	return c.take(d, names, true)
}

// below collects the files in the directory name of d, which stands at way.
func (c *collector) below(d *dir, way []string, name string) error {
	way = append(way[:len(way):len(way)], name)
	in, err := d.sub(name)
	switch {
	case missing(err):
		return nil
	case noDirectory(err):
		c.leave(way, "it is no directory, and links are not followed")
		return nil
	case err != nil:
		c.leave(way, "%s", reason(err))
		return nil
	}
	defer in.close()
	names, more, err := in.names(c.most - c.entries)
	if err != nil && len(names) == 0 {
		return nil // empty, or removed meanwhile
	}
	c.entries += len(names)
	for _, name := range names {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		at := append(way[:len(way):len(way)], name)
		about, err := in.state(name)
		switch {
		case err != nil: // removed meanwhile
		case about.directory() && len(at) >= maxDepth:
			c.leave(at, "it lies too deep")
		case about.directory():
			err = c.below(in, way, name)
			if err != nil {
				return err
			}
		default:
			if err := c.take(in, at, false); err != nil {
				return err
			}
		}
	}
	if more {
		c.leave(way, "there are more than %d files and directories in %s", c.most, Dir)
		return errEnough
	}
	return nil
}

// take copies the file whose way is at, the last name in d. An error ends the
// collection.
func (c *collector) take(d *dir, at []string, reported bool) error {
	path, name := strings.Join(at, "/"), at[len(at)-1]
	if c.seen[path] {
		return nil
	}
	c.seen[path] = true
	about, err := d.state(name)
	if err != nil {
		return nil // removed meanwhile
	}
	if !reported && c.old(path, about) {
		return nil
	}
	if why := about.unfit(); why != "" {
		c.leave(at, "%s", why)
		return nil
	}
	switch {
	case len(c.files) >= c.order.MaxFiles:
		c.leave(at, "the session has as many artifacts as this host keeps for one; delete some")
		return nil
	case about.size > c.order.MaxFile:
		c.leave(at, "%s", c.tooLarge())
		return nil
	case c.bytes+about.size > c.order.MaxBytes:
		c.leave(at, "the session's artifacts take as much as this host keeps for one; delete some")
		return nil
	}
	f, err := c.copy(d, name)
	var unfit unfitError
	switch {
	case errors.As(err, &unfit):
		c.leave(at, "%s", string(unfit))
		return nil
	case err != nil:
		return err
	}
	f.Path = strings.ToValidUTF8(path, "\uFFFD")
	c.files = append(c.files, *f)
	c.bytes += f.Bytes
	return nil
}

// old says that a file of Dir is not this turn's work.
func (c *collector) old(path string, s *state) bool {
	if s.changed.Before(c.order.Since.Add(-slack)) {
		return true
	}
	return c.order.Published != nil && c.order.Published(strings.ToValidUTF8(path, "\uFFFD"), s.stamp())
}

// unfit says why a file is not for anybody, "" for one that is.
func (s *state) unfit() string {
	switch {
	case s.link():
		return "it is a symbolic link"
	case !s.regular():
		return "it is no regular file"
	case s.links != 1:
		return "it has further names (hard links)"
	}
	return ""
}

func (c *collector) tooLarge() string {
	return fmt.Sprintf("it is larger than %d bytes, the most that this host publishes of one file", c.order.MaxFile)
}

func (c *collector) leave(at []string, format string, args ...any) {
	c.notes.add(fmt.Sprintf("%q was not published: %s", strings.Join(at, "/"), fmt.Sprintf(format, args...)))
}

func reason(err error) string {
	if errors.Is(err, os.ErrPermission) {
		return "the host may not read it"
	}
	return err.Error()
}

// maxNotes bounds what one turn says of files that were left out.
const maxNotes = 20

type notes struct {
	list []string
	more int
}

func (n *notes) add(s string) {
	if len(n.list) == maxNotes {
		n.more++
		return
	}
	n.list = append(n.list, s)
}

func (n *notes) all() []string {
	if n.more == 0 {
		return n.list
	}
	return append(n.list, fmt.Sprintf("%d more of the turn's files were not published", n.more))
}

// tick is a moment to wait before a file that changed is read again.
const tick = 20 * time.Millisecond
