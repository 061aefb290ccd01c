package server

import (
	"bytes"

	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/actors/event"
)

var errFraming = event.Fail(event.InvalidRequest, "the request's header has a folded line, or a Transfer-Encoding other than chunked; servers on the way could read it as another request")

// ambiguous says whether a server on the way could have taken the request for
// another one: by a header line that goes on in the next, which some join and some
// skip, or by a coding that some know and some do not. What else differs is refused
// by the library, which lets these pass.
func ambiguous(h *fasthttp.RequestHeader) bool {
	for line := range bytes.Lines(h.RawHeaders()) {
		if line[0] == ' ' || line[0] == '\t' {
			return true
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(bytes.TrimSpace(name), []byte("transfer-encoding")) && !bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked")) {
			return true
		}
	}
	return false
}
