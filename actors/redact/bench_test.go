package redact

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

var plainLine = []byte(`{"type":"item.completed","text":"The quick brown fox \u003c jumps over the lazy dog"},`)

func benchValues(n, length int) (values []string) {
	for i := range n {
		values = append(values, fmt.Sprintf("sk-%0*d", length, 7919*(i+1)*104729)[:length])
	}
	return values
}

func BenchmarkBytes(b *testing.B) {
	text := bytes.Repeat(plainLine, 1000)
	b.Run("bytes.Index", func(b *testing.B) { // what one value costs the standard library
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			bytes.Index(text, []byte("sk-0123456789"))
		}
	})
	for _, c := range []struct{ values, length int }{{0, 0}, {1, 40}, {5, 40}, {50, 40}, {5, 6}} {
		b.Run(fmt.Sprintf("%dx%d", c.values, c.length), func(b *testing.B) {
			s := New(benchValues(c.values, c.length)...)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				s.Bytes(text)
			}
		})
	}
}

// BenchmarkStream is a flood of deltas, none of which has to do with a secret.
func BenchmarkStream(b *testing.B) {
	s := New(benchValues(5, 40)...)
	pieces := strings.SplitAfter(string(bytes.Repeat(plainLine, 10)), " ")
	n := 0
	for _, p := range pieces {
		n += len(p)
	}
	b.SetBytes(int64(n))
	b.ReportAllocs()
	st := s.Stream()
	for b.Loop() {
		for _, p := range pieces {
			st.Write(p)
		}
	}
}
