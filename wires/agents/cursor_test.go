package agents

import (
	"testing"

	"pgregory.net/rapid"
)

func TestCursorIsReadBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seq := rapid.Int64Range(1, 999_999_999_999_999_999).Draw(t, "seq")
		k := rapid.IntRange(0, 1000).Draw(t, "k")
		s := string(appendCursor(nil, seq, k))
		c, err := ParseCursor(s)
		if err != nil || c.Seq != seq || c.K != k {
			t.Fatalf("%s read as %+v, %v", s, c, err)
		}
	})
}

func FuzzParseCursor(f *testing.F) {
	for _, s := range []string{"evt_0000000000000001", "evt_0000000000000001_2", "7", "evt__1", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCursor(s)
		if err == nil && (c.Seq < 0 || c.K < WholeEvent) {
			t.Errorf("%q is %+v", s, c)
		}
	})
}
