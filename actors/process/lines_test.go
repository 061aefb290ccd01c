package process

import (
	"bytes"
	"fmt"
	"testing"
)

// FuzzSplitter compares with splitting everything at once, however it arrives.
func FuzzSplitter(f *testing.F) {
	f.Add([]byte("a\nbb\r\n\nccccccccccccc\nd"), byte(3), byte(8), uint16(0))
	f.Add([]byte("\r\r\n\r\n\n\r"), byte(1), byte(1), uint16(0))
	f.Add(bytes.Repeat([]byte("0123456789\n"), 20), byte(7), byte(10), uint16(100))
	f.Add(bytes.Repeat([]byte("x"), 300), byte(100), byte(20), uint16(299))
	f.Fuzz(func(t *testing.T, data []byte, chunk, maxLine byte, limit uint16) {
		var got []string
		spec := &Spec{MaxLine: int(maxLine) + 1, MaxOutput: int64(limit)}
		spec.OnLines = func(lines [][]byte) {
			for _, l := range lines {
				got = append(got, string(l))
			}
		}
		spec.OnDropped = func(int64) { got = append(got, "<dropped>") }
		spec.OnLimit = func() { got = append(got, "<limit>") }
		s := newSplitter(spec)
		for rest := data; len(rest) > 0; {
			n := copy(s.space()[:1+int(chunk)], rest)
			rest = rest[n:]
			s.feed(n)
		}
		s.end()
		s.release()

		var want []string
		full := data
		limited := limit > 0 && len(data) > int(limit)
		if limited {
			full = data[:limit]
		}
		lines := bytes.Split(full, []byte{'\n'})
		for i, l := range lines {
			last := i == len(lines)-1
			if last && (limited || len(l) == 0) {
				continue
			}
			l = bytes.TrimSuffix(l, []byte{'\r'})
			if len(l) > spec.MaxLine {
				want = append(want, "<dropped>")
				continue
			}
			want = append(want, string(l))
		}
		if limited {
			want = append(want, "<limit>")
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

func TestBufferShrinksAfterALongLine(t *testing.T) {
	t.Parallel()
	spec := &Spec{MaxLine: 1 << 20}
	s := newSplitter(spec)
	defer s.release()
	long := append(bytes.Repeat([]byte("x"), 900<<10), '\n')
	peak := 0
	for len(long) > 0 {
		n := copy(s.space(), long)
		long = long[n:]
		peak = max(peak, len(s.buf))
		s.feed(n)
	}
	if peak < 900<<10 || len(s.buf) != readSize {
		t.Errorf("peak %d, then %d", peak, len(s.buf))
	}
}

func BenchmarkSplitter(b *testing.B) {
	for _, size := range []int{200, 8 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			block := bytes.Repeat(append(bytes.Repeat([]byte("x"), size-1), '\n'), readSize/size+1)[:readSize]
			s := newSplitter(&Spec{MaxLine: DefaultMaxLine, OnLines: func([][]byte) {}})
			b.SetBytes(readSize)
			b.ReportAllocs()
			for b.Loop() {
				n := copy(s.space(), block)
				s.feed(n)
			}
		})
	}
}
