package sqlite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
)

// SQLite ends its reading of the log at the first bad frame without a word, so
// one flipped bit can take thousands of commits back. A torn write has at most
// one such frame at the very end; good frames behind a bad one are damage.

// walDamage says where a log is damaged.
type walDamage struct {
	Frame  int // the first bad one, from 0
	Behind int // frames of the same log behind it
}

// inspectWAL looks at the log before SQLite opens it. Damage is reported and
// kept aside; the start goes on with what is left, because a loss of power can
// look the same.
func (s *Store) inspectWAL(path string) (damaged bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	damage, err := scanWAL(f)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil || damage == nil {
		return false, err
	}
	kept := fmt.Sprintf("%s.damaged-%d", path, s.opts.Now().Unix())
	s.opts.Logger.Error("the write-ahead log is damaged; commits behind the damage are lost and a copy of the log was kept",
		"log", path, "copy", kept, "frame", damage.Frame, "frames_behind", damage.Behind)
	return true, copyFile(path, kept)
}

const (
	walHeader   = 32
	frameHeader = 24
)

// scanWAL returns nil for a sound, an empty or a merely torn log.
func scanWAL(r io.Reader) (*walDamage, error) {
	in := bufio.NewReaderSize(r, 1<<20)
	head := make([]byte, walHeader)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, endOfLog(err)
	}
	magic := binary.BigEndian.Uint32(head)
	size := binary.BigEndian.Uint32(head[8:])
	if magic&^1 != 0x377f0682 || size < 512 || size > 65536 || size&(size-1) != 0 {
		return nil, nil // never written, or its header is: SQLite starts it anew
	}
	sum := walSum{big: magic&1 == 1}
	sum.add(head[:24])
	if !sum.is(head[24:]) {
		return nil, nil
	}
	salts := [8]byte(head[16:24])
	frame := make([]byte, frameHeader+size)
	var damage *walDamage
	for n := 0; ; n++ {
		if _, err := io.ReadFull(in, frame); err != nil {
			if damage != nil && damage.Behind < 2 {
				damage = nil
			}
			return damage, endOfLog(err)
		}
		sameLog := [8]byte(frame[8:16]) == salts
		if damage != nil {
			if sameLog {
				damage.Behind++
			}
			continue
		}
		sum.add(frame[:8])
		sum.add(frame[frameHeader:])
		if !sameLog || !sum.is(frame[16:]) {
			damage = &walDamage{Frame: n}
		}
	}
}

func endOfLog(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// walSum is the running checksum of SQLite's log format.
type walSum struct {
	big  bool // byte order of the machine that wrote it
	a, b uint32
}

func (s *walSum) add(p []byte) {
	a, b := s.a, s.b
	for ; len(p) >= 8; p = p[8:] {
		x, y := binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:])
		if s.big {
			x, y = bits.ReverseBytes32(x), bits.ReverseBytes32(y)
		}
		a += x + b
		b += y + a
	}
	s.a, s.b = a, b
}

func (s *walSum) is(p []byte) bool {
	return binary.BigEndian.Uint32(p) == s.a && binary.BigEndian.Uint32(p[4:]) == s.b
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // read only
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
