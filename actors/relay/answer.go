package relay

import (
	"errors"
	"io"
	"net/http"
	"strings"
)

// serve passes one request on and its answer back.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	p, shown, f := s.admit(r)
	if f != nil {
		f.write(w)
		return
	}
	ctx, fl, f := p.take(r.Context())
	if f != nil {
		f.write(w)
		return
	}
	defer p.landed(fl)
	out, f := p.outgoing(w, r, shown)
	if f != nil {
		f.write(w)
		return
	}
	resp, err := s.transport.RoundTrip(out.WithContext(ctx)) // it follows no redirect
	if err != nil {
		f = unreachable(err)
		f.text = p.hide.String(f.text)
		f.write(w)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode >= 300 && resp.StatusCode < 400 && resp.StatusCode != http.StatusNotModified {
		(&refusal{http.StatusBadGateway, "the provider answered with a redirect, which is not followed; set the base URL to where it leads"}).write(w)
		return
	}
	p.answer(w, resp)
}

// answer passes an answer on as it comes, without the key, and reads what it says was
// used.
func (p *Pass) answer(w http.ResponseWriter, resp *http.Response) {
	header := w.Header()
	for name, values := range passable(resp.Header) {
		for _, v := range values {
			header.Add(name, p.hide.String(v))
		}
	}
	header.Del("Content-Length") // without a key in it, it may be shorter
	w.WriteHeader(resp.StatusCode)
	control := http.NewResponseController(w)
	_ = control.Flush()
	var m *meter
	hide := p.hide.Stream()
	if resp.Header.Get("Content-Encoding") == "" {
		kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
		m = newMeter(strings.TrimSpace(kind))
	}
	defer func() {
		if u, told := m.usage(); told {
			p.tell(u)
		}
	}()
	buf := make([]byte, 16<<10)
	for {
		n, err := resp.Body.Read(buf)
		if n > 0 {
			m.read(buf[:n])
			if said := hide.Write(string(buf[:n])); said != "" {
				if _, err := w.Write([]byte(said)); err != nil {
					return // the CLI left
				}
				_ = control.Flush()
			}
		}
		if err == nil {
			continue
		}
		if said := hide.Flush(); said != "" {
			_, _ = w.Write([]byte(said))
		}
		if !errors.Is(err, io.EOF) {
			panic(http.ErrAbortHandler) // the CLI must not take it for whole
		}
		return
	}
}
