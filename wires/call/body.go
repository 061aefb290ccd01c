package call

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/apierr"
)

// Load reads the request's body into Body: copied, decoded, at most limit bytes.
// The server calls it before the handler.
func (c *Call) Load(limit int) error {
	raw := c.Ctx.Request.Body()
	encoding := strings.ToLower(strings.TrimSpace(c.Header("Content-Encoding")))
	if len(raw) == 0 {
		c.Body = nil
		return nil
	}
	switch encoding {
	case "", "identity":
		if len(raw) > limit {
			return tooLarge(limit)
		}
		c.Body = bytes.Clone(raw)
		return nil
	case "gzip", "x-gzip":
		r, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return undecodable("gzip")
		}
		defer func() { _ = r.Close() }()
		c.Body, err = readUpTo(r, "gzip", limit)
		return err
	case "zstd":
		d, err := newZstd(bytes.NewReader(raw))
		if err != nil {
			return undecodable("zstd")
		}
		defer d.Close()
		c.Body, err = readUpTo(d, "zstd", limit)
		return err
	default:
		return event.FailParam(apierr.UnsupportedEncoding, "", "this Content-Encoding is not supported; send the body plain, gzip or zstd")
	}
}

// decoders bounds how many zstd windows are held at once.
var decoders = sync.Pool{}

// pooledZstd returns its decoder at Close.
type pooledZstd struct{ *zstd.Decoder }

// Close gives the decoder back.
func (p pooledZstd) Close() {
	_ = p.Reset(nil)
	decoders.Put(p.Decoder)
}

// newZstd decodes in the caller's goroutine, with a window of at most 8 MiB, the
// largest that RFC 8878 asks for.
func newZstd(r io.Reader) (pooledZstd, error) {
	if d, ok := decoders.Get().(*zstd.Decoder); ok {
		return pooledZstd{d}, d.Reset(r)
	}
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20), zstd.WithDecoderLowmem(true))
	return pooledZstd{d}, err
}

func readUpTo(r io.Reader, encoding string, limit int) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, undecodable(encoding)
	}
	if len(body) > limit {
		return nil, tooLarge(limit)
	}
	return body, nil
}

func tooLarge(limit int) error {
	return event.Fail(apierr.BodyTooLarge, fmt.Sprintf("the request body is larger than the limit of %d bytes", limit))
}

func undecodable(encoding string) error {
	return event.Fail(event.InvalidRequest, "the request body is not valid "+encoding+", which its Content-Encoding names")
}
