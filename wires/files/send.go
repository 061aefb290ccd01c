package files

import (
	"io"
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/apierr"
	"github.com/agenthost/agenthost/wires/call"
)

// ContentType is that of every content: what it is, is for its reader to judge.
const ContentType = "application/octet-stream"

// Send answers with content to be saved under the last element of name: all of it,
// the one range that the request asks for, or nothing if the caller has it. tag is
// the content's identity; it stands for bytes that never change. Content is closed
// when the answer is written.
func Send(c *call.Call, name, tag string, size int64, content io.ReadSeekCloser) {
	from, to, code := int64(0), size, 200
	h := &c.Ctx.Response.Header
	tag = `"` + tag + `"`
	h.Set("ETag", tag)
	h.Set("Accept-Ranges", "bytes")
	if named(c.Header("If-None-Match"), tag) {
		_ = content.Close()
		h.Set(apierr.HeaderRequestID, c.RequestID)
		c.Ctx.Response.SetStatusCode(304)
		return
	}
	if asked := c.Header("Range"); asked != "" && (c.Header("If-Range") == "" || c.Header("If-Range") == tag) {
		first, last, ok := byteRange(asked, size)
		switch {
		case ok && first >= size:
			_ = content.Close()
			h.Set("Content-Range", "bytes */"+strconv.FormatInt(size, 10))
			c.Fail(event.FailParam(apierr.RangeNotSatisfiable, "Range", "the range begins behind the end of the content"))
			return
		case ok:
			from, to, code = first, last+1, 206
			h.Set("Content-Range", "bytes "+strconv.FormatInt(first, 10)+"-"+strconv.FormatInt(last, 10)+"/"+strconv.FormatInt(size, 10))
		}
	}
	if _, err := content.Seek(from, io.SeekStart); err != nil {
		_ = content.Close()
		c.Fail(err)
		return
	}
	h.Set(apierr.HeaderRequestID, c.RequestID)
	h.Set("Content-Disposition", disposition(plainName(name)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.SetContentType(ContentType)
	c.Ctx.Response.SetStatusCode(code)
	c.Ctx.Response.SetBodyStream(&window{io.LimitReader(content, to-from), content}, int(to-from))
}

// window is a part of a content; closing it closes the content.
type window struct {
	io.Reader
	io.Closer
}

// named says that a list of ETags has tag, or all tags. A tag is a hash or an id and
// holds no comma.
func named(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
			return true
		}
	}
	return false
}

// byteRange reads a Range of one range, whose last byte is cut to the content. A
// first byte at size or behind it cannot be satisfied. Everything else (other
// units, several ranges, nonsense) is no range: it is answered with all there is,
// as RFC 9110 allows.
func byteRange(asked string, size int64) (first, last int64, ok bool) {
	spec, ok := strings.CutPrefix(asked, "bytes=")
	if !ok {
		return 0, 0, false
	}
	from, to, ok := strings.Cut(strings.TrimSpace(spec), "-")
	if !ok {
		return 0, 0, false
	}
	if from == "" {
		n, ok := digits(to)
		if !ok {
			return 0, 0, false
		}
		if n == 0 {
			return size, size, true
		}
		return max(0, size-n), size - 1, true
	}
	first, ok = digits(from)
	if !ok {
		return 0, 0, false
	}
	last = size - 1
	if to != "" {
		n, ok := digits(to)
		if !ok || n < first {
			return 0, 0, false
		}
		last = min(last, n)
	}
	return first, last, true
}

// digits reads a number without sign; one that is too large is the largest.
func digits(s string) (int64, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 1<<63 - 1, true
	}
	return n, true
}
