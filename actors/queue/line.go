package queue

import (
	"bytes"
	"cmp"
)

// line is a heap of those who wait, lowest number first.
type line []*place

type place struct {
	Entry
	at int // index in the heap
}

// byNumber orders entries by acceptance. Numbers are unique on a host; the turn
// decides between equal ones so that the order is always the same.
func byNumber(x, y Entry) int {
	return cmp.Or(cmp.Compare(x.Number, y.Number), bytes.Compare(x.Turn[:], y.Turn[:]))
}

func (l line) Len() int           { return len(l) }
func (l line) Less(i, j int) bool { return byNumber(l[i].Entry, l[j].Entry) < 0 }

func (l line) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].at, l[j].at = i, j
}

// Push is heap.Interface's.
func (l *line) Push(x any) {
	p := x.(*place)
	p.at = len(*l)
	*l = append(*l, p)
}

// Pop is heap.Interface's.
func (l *line) Pop() any {
	old := *l
	p := old[len(old)-1]
	old[len(old)-1] = nil
	*l = old[:len(old)-1]
	return p
}
