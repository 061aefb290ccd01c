package drive

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// ending says how a turn ended by an event's name; "" when it did not.
type ending func(event, data []byte) string

// follow reads server-sent events until ended says so or the stream ends.
func follow(body io.Reader, s *Sight, ended ending) error {
	in := &clocked{Reader: body}
	r := bufio.NewReaderSize(in, 256<<10)
	var event, id []byte
	defer func() { s.LastID = string(id) }()
	for {
		line, err := readLine(r)
		if err != nil { // what came of the line is none
			return fmt.Errorf("the stream ended after %d events: %w", s.Events, err)
		}
		s.Bytes += int64(len(line))
		switch {
		case bytes.HasPrefix(line, []byte("event: ")):
			event = append(event[:0], bytes.TrimSpace(line[7:])...)
			if s.Frames == 0 {
				s.FirstFrame = in.at
			}
			s.Frames++
		case bytes.HasPrefix(line, []byte("id: ")):
			id = append(id[:0], bytes.TrimSpace(line[4:])...)
		case bytes.HasPrefix(line, []byte("data: ")):
			s.see(in.at, line[6:])
			if end := ended(event, line[6:]); end != "" {
				s.Ended = end
				return nil
			}
		}
	}
}

// clocked knows when it was read last: what a line waits in a buffer is no delay of
// the host.
type clocked struct {
	io.Reader
	at time.Time
}

func (c *clocked) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.at = time.Now()
	return n, err
}

// slow reads a tenth of its bytes ten times a second, and all of them once full is closed.
type slow struct {
	io.Reader
	bytes int // a second
	full  <-chan struct{}
}

func (s *slow) Read(b []byte) (int, error) {
	select {
	case <-s.full:
		return s.Reader.Read(b)
	case <-time.After(time.Second / 10):
	}
	return s.Reader.Read(b[:min(len(b), max(s.bytes/10, 1))])
}

// readLine is a line of any length, valid until the next call.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	long := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = r.ReadSlice('\n')
		long = append(long, line...)
	}
	return long, err
}

// open asks for a stream and returns it when its headers are there.
func open(c *http.Client, req *http.Request) (*http.Response, error) {
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, refused(resp)
	}
	return resp, nil
}

// Refused is an answer that is no success.
type Refused struct {
	Status int
	Code   string // of the error, "" without one
	Body   string
	// RetryAfter is what the host said; 0 when it did not.
	RetryAfter time.Duration
}

func (r *Refused) Error() string { return fmt.Sprintf("answered %d: %s", r.Status, r.Body) }

func refused(resp *http.Response) error {
	defer func() { _ = resp.Body.Close() }()
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	r := &Refused{Status: resp.StatusCode, Body: string(bytes.TrimSpace(b))}
	var out struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(b, &out) == nil {
		r.Code = out.Error.Code
	}
	if s, err := strconv.ParseFloat(resp.Header.Get("Retry-After"), 64); err == nil && s > 0 {
		r.RetryAfter = time.Duration(s * float64(time.Second))
	}
	return r
}
