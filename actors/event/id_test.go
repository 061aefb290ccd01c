package event

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseHexTakesOneForm(t *testing.T) {
	t.Parallel()
	const good = "0123456789abcdef0123456789abcdef"
	id, ok := ParseHex(good)
	if !ok || id.Hex() != good || id.String() != good || string(id.AppendHex([]byte("x"))) != "x"+good {
		t.Fatalf("%v %v", id, ok)
	}
	for _, bad := range []string{
		"", good[:31], good + "0", strings.ToUpper(good), good[:31] + "g", " " + good[:31], good[:31] + " ", good[:31] + "\x00",
		"0x" + good[:30], good[:8] + "-" + good[9:], good[:30] + "é", strings.Repeat("/", 32), strings.Repeat(":", 32), strings.Repeat("`", 32),
	} {
		if got, ok := ParseHex(bad); ok || !got.IsZero() {
			t.Errorf("%q was read as %v", bad, got)
		}
	}
}

func TestParseWantsAPrefixOfTheList(t *testing.T) {
	t.Parallel()
	id := NewID()
	for _, c := range []struct {
		s        string
		prefixes []string
		ok       bool
	}{
		{id.With(PrefixTurn), []string{PrefixTurn}, true},
		{id.With(PrefixResponse), []string{PrefixTurn, PrefixResponse}, true},
		{id.With(PrefixSession), []string{PrefixConversation}, false},
		{id.With(PrefixTurn), nil, false},
		{id.Hex(), []string{PrefixTurn}, false},
		{id.Hex(), []string{"", PrefixTurn}, true},
		{id.With(PrefixTurn), []string{"", PrefixTurn}, true}, // an earlier prefix does not hide a later one
		{id.With("a_b_"), []string{"a_", "a_b_"}, true},
		{PrefixTurn, []string{PrefixTurn}, false},
		{id.With("TURN_"), []string{PrefixTurn}, false},
		{id.With(PrefixTurn) + "/", []string{PrefixTurn}, false},
		{id.With(PrefixTurn + PrefixTurn), []string{PrefixTurn}, false},
	} {
		if got, ok := Parse(c.s, c.prefixes...); ok != c.ok || ok && got != id || !ok && !got.IsZero() {
			t.Errorf("Parse(%q, %q) = %v, %v", c.s, c.prefixes, got, ok)
		}
	}
}

func TestIDInJSON(t *testing.T) {
	t.Parallel()
	type doc struct {
		ID    ID        `json:"id"`
		Maybe ID        `json:"maybe,omitzero"`
		Map   map[ID]ID `json:"map,omitempty"`
	}
	id := sampleTurn
	for _, want := range []string{`{"id":""}`, `{"id":"` + id.Hex() + `","maybe":"` + id.Hex() + `","map":{"` + id.Hex() + `":""}}`} {
		var d doc
		if err := json.Unmarshal([]byte(want), &d); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(d); err != nil || string(got) != want {
			t.Errorf("%s became %s %v", want, got, err)
		}
	}
	d := doc{ID: id}
	if err := json.Unmarshal([]byte(`{"id":""}`), &d); err != nil || !d.ID.IsZero() {
		t.Errorf("an empty id left %v, %v", d.ID, err)
	}
	if err := json.Unmarshal([]byte(`{"id":"turn_1"}`), &d); err == nil || !strings.Contains(err.Error(), "32 lower-case hex digits") {
		t.Errorf("a bad id: %v", err)
	}
}

// An item's id leads to its turn and its place.
func TestItemIDLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		turn := NewTurnID()
		n := rapid.Uint32Range(0, math.MaxUint32-1).Draw(t, "n")
		m := rapid.Uint32Range(0, math.MaxUint32-1).Draw(t, "m")
		item := ItemID(turn, n)
		switch {
		case TurnOf(item) != turn:
			t.Fatalf("item %d of %v leads to %v", n, turn, TurnOf(item))
		case ItemOrdinal(turn, item) != n:
			t.Fatalf("item %d counts as %d", n, ItemOrdinal(turn, item))
		case item == turn || (ItemID(turn, m) == item) != (m == n):
			t.Fatalf("item %d of %v is not its own", n, turn)
		case TurnOf(turn) != turn:
			t.Fatalf("turn %v leads to %v", turn, TurnOf(turn))
		}
	})
}

// Stored items keep their ids, so the derivation may not change.
func TestItemIDIsKept(t *testing.T) {
	t.Parallel()
	turn, _ := ParseHex("00112233445566778899aabbccddeeff")
	if got := ItemID(turn, 0).Hex() + " " + ItemID(turn, 258).Hex(); got != "00112233445566778899aabbccddeefe 00112233445566778899aabbccddeffc" {
		t.Error(got)
	}
	if got := TurnOf(turn).Hex(); got != "00112233445566778899aabbc437141d" {
		t.Error(got)
	}
}

func TestNewIDsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[ID]bool{}
	for range 20_000 {
		for _, id := range []ID{NewID(), NewTurnID()} {
			if id.IsZero() || seen[id] {
				t.Fatalf("%v again", id)
			}
			seen[id] = true
		}
	}
}

// Ids of 24 digits, as another server gave them out, lead to one identity under every
// prefix, which items' ids lead back to; bare ones do not pass.
func TestShortIDsAreRead(t *testing.T) {
	t.Parallel()
	const digits = "0123456789abcdef01234567"
	id, ok := Parse("turn_"+digits, PrefixTurn)
	if !ok || !strings.HasPrefix(id.Hex(), digits) || TurnOf(ItemID(id, 7)) != id {
		t.Fatalf("%s, %v", id, ok)
	}
	if same, ok := Parse("resp_"+digits, PrefixResponse); !ok || same != id {
		t.Errorf("as a response: %s, %v", same, ok)
	}
	if long, ok := Parse("turn_"+id.Hex(), PrefixTurn); !ok || long != id {
		t.Errorf("written whole: %s, %v", long, ok)
	}
	for _, bad := range []string{digits, "turn_" + digits[1:], "turn_" + digits + "0", "turn_" + strings.ToUpper(digits), "turn_" + strings.Repeat("0", 24), "conv_" + digits} {
		if got, ok := Parse(bad, PrefixTurn, ""); ok {
			t.Errorf("%q was read as %s", bad, got)
		}
	}
}

// FuzzParse: what is read as an id is written as it was read, and no other text is.
func FuzzParse(f *testing.F) {
	for _, s := range []string{sampleTurn.With(PrefixTurn), sampleTurn.Hex(), sampleTurn.With(PrefixTurn)[:len(PrefixTurn)+24], "turn_", "turn_..%2f", "resp_\x00", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, ok := Parse(s, PrefixTurn, PrefixResponse)
		digits := strings.TrimPrefix(strings.TrimPrefix(s, PrefixTurn), PrefixResponse)
		switch {
		case !ok && !id.IsZero():
			t.Errorf("%q is no id and gave %s", s, id)
		case ok && len(digits) == 24 && (id.Hex()[:24] != digits || TurnOf(id) != id):
			t.Errorf("the short %q was read as %s", s, id)
		case ok && len(digits) != 24 && s != id.With(PrefixTurn) && s != id.With(PrefixResponse):
			t.Errorf("%q was read as %s", s, id)
		}
		if again, ok := Parse(id.With(PrefixTurn), PrefixTurn); !ok || again != id {
			t.Errorf("%s is not read back", id)
		}
	})
}
