package sqlite

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// Flags of a chunk row.
const (
	chunkS2      = 1 << iota // the body is compressed
	chunkDurable             // it was synced before it was answered
)

// compressFrom is the size from which a body is compressed: below it the s2
// header and the CPU cost more than the bytes.
const compressFrom = 512

// maxChunk bounds what a damaged length can make a reader allocate.
const maxChunk = 1 << 30

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// chunk is a row of the journal: the events of one commit, and the numbers that
// they cover.
type chunk struct {
	first, last int64
	flags       int64
	crc         uint32
	body        []byte
}

// buffers lends byte slices to encoders and decoders.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

func borrow() *[]byte { return buffers.Get().(*[]byte) }

func giveBack(b *[]byte) {
	if cap(*b) > 1<<20 { // a rare giant is not worth keeping
		return
	}
	*b = (*b)[:0]
	buffers.Put(b)
}

// encodeChunk makes the row of the events after head. Its body is in *buf.
func encodeChunk(session event.ID, head int64, events []event.Event, durable bool, buf *[]byte) (chunk, error) {
	raw := borrow()
	defer giveBack(raw)
	enc := event.Encoder{Buf: (*raw)[:0]}
	for i := range events {
		if err := enc.Append(&events[i]); err != nil {
			return chunk{}, err
		}
	}
	*raw = enc.Buf
	k := chunk{first: head + 1, last: events[len(events)-1].Seq}
	if durable {
		k.flags |= chunkDurable
	}
	if len(enc.Buf) > maxChunk {
		return chunk{}, fmt.Errorf("store: %d bytes of events in one commit", len(enc.Buf))
	}
	if len(enc.Buf) >= compressFrom {
		if need := s2.MaxEncodedLen(len(enc.Buf)); cap(*buf) < need {
			*buf = make([]byte, need)
		}
		*buf = s2.Encode((*buf)[:cap(*buf)], enc.Buf)
		k.flags |= chunkS2
	}
	if k.flags&chunkS2 == 0 || len(*buf) >= len(enc.Buf) {
		k.flags &^= chunkS2
		*buf = append((*buf)[:0], enc.Buf...)
	}
	k.body = *buf
	k.crc = k.sum(session)
	return k, nil
}

// sum covers the session and the numbers, so that a damaged index cannot hand
// the row to the wrong reader.
func (k *chunk) sum(session event.ID) uint32 {
	var head [40]byte
	copy(head[:], session[:])
	binary.LittleEndian.PutUint64(head[16:], uint64(k.first))
	binary.LittleEndian.PutUint64(head[24:], uint64(k.last))
	binary.LittleEndian.PutUint64(head[32:], uint64(k.flags))
	return crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, k.body)
}

// check verifies the checksum.
func (k *chunk) check(session event.ID) error {
	if k.sum(session) != k.crc {
		return fmt.Errorf("%w: events %d to %d of session %s fail their checksum", store.ErrCorrupt, k.first, k.last, session)
	}
	return nil
}

// decodedLen is the length of the encoding, as the body says: not verified.
func (k *chunk) decodedLen() int {
	if k.flags&chunkS2 != 0 {
		if n, err := s2.DecodedLen(k.body); err == nil {
			return min(n, maxChunk)
		}
	}
	return len(k.body)
}

// raw returns the encoding of a checked chunk; buf is room for it.
func (k *chunk) raw(buf *[]byte) ([]byte, error) {
	if k.flags&chunkS2 == 0 {
		return k.body, nil
	}
	n, err := s2.DecodedLen(k.body)
	if err == nil && n > maxChunk {
		err = s2.ErrTooLarge
	}
	if err == nil {
		if cap(*buf) < n {
			*buf = make([]byte, n)
		}
		*buf, err = s2.Decode((*buf)[:cap(*buf)], k.body)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: events %d to %d: %w", store.ErrCorrupt, k.first, k.last, err)
	}
	return *buf, nil
}

// decode appends the chunk's events to dst.
func (k *chunk) decode(dst []event.Event, session event.ID) ([]event.Event, error) {
	if err := k.check(session); err != nil {
		return dst, err
	}
	buf := borrow()
	defer giveBack(buf)
	raw, err := k.raw(buf)
	if err != nil {
		return dst, err
	}
	at := len(dst)
	dst, err = event.Decode(dst, raw)
	if err != nil {
		return dst[:at], fmt.Errorf("%w: events %d to %d of session %s: %w", store.ErrCorrupt, k.first, k.last, session, err)
	}
	next := k.first
	for i := at; i < len(dst) && store.Follows(&dst[i], next); i++ {
		next = dst[i].Seq + 1
	}
	if n := len(dst); n == at || next != k.last+1 || dst[n-1].Seq != k.last {
		return dst[:at], fmt.Errorf("%w: chunk %d to %d of session %s holds other events", store.ErrCorrupt, k.first, k.last, session)
	}
	return dst, nil
}

// sumOf is the checksum of a record's fields: numbers, then byte strings with
// their lengths.
func sumOf(numbers []int64, parts ...[]byte) int64 {
	var b [8]byte
	var sum uint32
	for _, n := range numbers {
		binary.LittleEndian.PutUint64(b[:], uint64(n))
		sum = crc32.Update(sum, castagnoli, b[:])
	}
	for _, p := range parts {
		binary.LittleEndian.PutUint64(b[:], uint64(len(p)))
		sum = crc32.Update(crc32.Update(sum, castagnoli, b[:]), castagnoli, p)
	}
	return int64(sum)
}
