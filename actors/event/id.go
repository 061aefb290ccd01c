package event

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strings"
)

// ID is the 128-bit identity behind every public id. The same ID carries
// different prefixes on different wires: a session is agsess_ and conv_, a turn
// is turn_ and resp_.
type ID [16]byte

// Prefixes of public ids. An id is a prefix and 32 lower-case hex digits.
const (
	PrefixAgent        = "agent_"
	PrefixSession      = "agsess_"
	PrefixConversation = "conv_"
	PrefixTurn         = "turn_"
	PrefixResponse     = "resp_"
	PrefixItem         = "item_"
	PrefixEnvironment  = "env_"
	PrefixRequest      = "req_"
	PrefixFile         = "file-"
	PrefixCall         = "call_"
	PrefixSubagent     = "subagent_"
	PrefixArtifact     = "art_"
	PrefixInstall      = "inst_"
)

// NewID returns a random ID from crypto/rand, which never fails on the
// supported platforms.
func NewID() ID {
	var id ID
	_, _ = rand.Read(id[:])
	return id
}

// IsZero reports whether id names nothing.
func (id ID) IsZero() bool { return id == ID{} }

// Hex returns the 32 hex digits of id.
func (id ID) Hex() string { return hex.EncodeToString(id[:]) }

// AppendHex appends the 32 hex digits of id to dst.
func (id ID) AppendHex(dst []byte) []byte { return hex.AppendEncode(dst, id[:]) }

// With returns the public form of id under prefix.
func (id ID) With(prefix string) string { return prefix + id.Hex() }

// String returns the hex digits; it satisfies fmt.Stringer for logs.
func (id ID) String() string { return id.Hex() }

// MarshalText writes the hex digits, "" for the zero ID.
func (id ID) MarshalText() ([]byte, error) {
	if id.IsZero() {
		return nil, nil
	}
	return id.AppendHex(nil), nil
}

// UnmarshalText reads 32 lower-case hex digits or "".
func (id *ID) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*id = ID{}
		return nil
	}
	got, ok := ParseHex(string(b))
	if !ok {
		return errBadID
	}
	*id = got
	return nil
}

type idError string

func (e idError) Error() string { return string(e) }

const errBadID = idError("id: want 32 lower-case hex digits")

// ParseHex reads exactly 32 lower-case hex digits.
func ParseHex(s string) (ID, bool) {
	var id ID
	if len(s) != 2*len(id) {
		return id, false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return ID{}, false
		}
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return ID{}, false
	}
	return id, true
}

// Parse reads a public id: one of prefixes followed by 32 hex digits; with the
// prefix "" bare digits pass as well. It is the only gate between a path segment
// and a look-up. Ids of 24 digits, which servers before this one gave out and which
// imported sessions and turns have, pass with a prefix: they stand for the id of 32
// digits that begins with them and ends as a turn's does.
func Parse(s string, prefixes ...string) (ID, bool) {
	for _, p := range prefixes {
		if digits, ok := strings.CutPrefix(s, p); ok {
			if id, ok := ParseHex(digits); ok {
				return id, true
			}
			if id, ok := parseShort(digits); ok && p != "" {
				return id, true
			}
		}
	}
	return ID{}, false
}

// parseShort reads an id of 24 digits.
func parseShort(s string) (ID, bool) {
	if len(s) != 24 {
		return ID{}, false
	}
	id, ok := ParseHex(s + "00000000")
	if !ok || id.IsZero() {
		return ID{}, false
	}
	return TurnOf(id), true
}

// NewTurnID returns a random turn ID: 96 random bits and a tail computed from
// them, so that the ids of the turn's items (ItemID) lead back to it (TurnOf).
func NewTurnID() ID {
	id := NewID()
	binary.BigEndian.PutUint32(id[12:], tail(id))
	return id
}

func tail(id ID) uint32 { return crc32.Checksum(id[:12], castagnoli) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ItemID derives the identity of a turn's n-th item, counted from 0 and below
// 1<<32-1; the caller's messages come first. A replayed turn names its items as the live one
// did.
func ItemID(turn ID, n uint32) ID {
	id := turn
	binary.BigEndian.PutUint32(id[12:], binary.BigEndian.Uint32(turn[12:])^(n+1))
	return id
}

// Ordinals that no item of a CLI has: a turn's items are far fewer.
const (
	firstAnswer = 0xC0000000
	firstLeg    = 0xFFFF0000
)

// AnswerID is the identity of what answers the asking item of turn.
func AnswerID(turn, asking ID) ID { return ItemID(turn, firstAnswer+ItemOrdinal(turn, asking)) }

// LegID is the identity of a turn's leg; leg 0 is the turn itself.
func LegID(turn ID, number int32) ID {
	if number == 0 {
		return turn
	}
	return ItemID(turn, firstLeg+uint32(number))
}

// LegOf is the turn and the number of the leg that id names; false when it is that
// of an item. Whether there is such a turn is for the caller to look up.
func LegOf(id ID) (turn ID, number int32, ok bool) {
	turn = TurnOf(id)
	if id == turn {
		return turn, 0, true
	}
	n := ItemOrdinal(turn, id)
	if n <= firstLeg {
		return turn, 0, false
	}
	return turn, int32(n - firstLeg), true
}

// MaxLegs is the most legs a turn has after its first.
const MaxLegs = 0xFFFE

// ItemOrdinal is the n that ItemID was given, for an item of turn.
func ItemOrdinal(turn, item ID) uint32 {
	return (binary.BigEndian.Uint32(item[12:]) ^ binary.BigEndian.Uint32(turn[12:])) - 1
}

// TurnOf is the turn an item's id leads to, if the turn's id came from
// NewTurnID. Whether such a turn exists is for the caller to look up.
func TurnOf(item ID) ID {
	binary.BigEndian.PutUint32(item[12:], tail(item))
	return item
}
