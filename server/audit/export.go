package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxLine is the longest line that is taken for a record.
const maxLine = 1 << 20

// Export writes the lines of a book that keep says yes to, the oldest first, as they
// stand in it. It works beside the server that writes the book. Lines that are no
// record, such as one that a crash cut off, are counted and left out.
func Export(to io.Writer, file string, keep func(*Record) bool) (written, broken int64, err error) {
	parts, err := openParts(file)
	if err != nil {
		return 0, 0, err
	}
	out := bufio.NewWriterSize(to, 64<<10)
	for _, f := range parts {
		w, b, one := exportPart(out, f, keep)
		written, broken = written+w, broken+b
		err = errors.Join(err, one, f.Close())
	}
	return written, broken, errors.Join(err, out.Flush())
}

// Parts counts the files of a book, and their bytes. It works beside the server.
func Parts(file string) (n int, bytes int64, err error) {
	for ; ; n++ {
		st, err := os.Stat(part(file, n))
		if errors.Is(err, fs.ErrNotExist) {
			return n, bytes, nil
		}
		if err != nil {
			return n, bytes, err
		}
		bytes += st.Size()
	}
}

// openParts opens the parts, the oldest first. They are opened before any is read, so
// that one that is turned meanwhile is neither read twice nor missed: the newest is
// opened first, and turning only ever moves what is opened already.
func openParts(file string) (parts []*os.File, err error) {
	for n := 0; ; n++ {
		f, err := os.Open(part(file, n))
		if errors.Is(err, fs.ErrNotExist) && n > 0 {
			break
		}
		if err != nil {
			for _, p := range parts {
				_ = p.Close()
			}
			return nil, err
		}
		if same(parts, f) { // turned since the one before was opened
			_ = f.Close()
			continue
		}
		parts = append([]*os.File{f}, parts...)
	}
	return parts, nil
}

func same(parts []*os.File, f *os.File) bool {
	info, err := f.Stat()
	for _, p := range parts {
		other, oerr := p.Stat()
		if err == nil && oerr == nil && os.SameFile(info, other) {
			return true
		}
	}
	return false
}

func exportPart(out *bufio.Writer, f *os.File, keep func(*Record) bool) (written, broken int64, err error) {
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var r Record
		if json.Unmarshal(line, &r) != nil || r.Operation == "" {
			broken++
			continue
		}
		if !keep(&r) {
			continue
		}
		_, _ = out.Write(line)
		if err := out.WriteByte('\n'); err != nil { // it keeps the first error
			return written, broken, err
		}
		written++
	}
	if err := lines.Err(); err != nil {
		return written, broken, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return written, broken, nil
}
