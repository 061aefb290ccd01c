package process

import (
	"sync"
	"syscall"
)

// longLines are buffers for lines that outgrow a read, by size. They lie outside
// the heap: such a buffer costs only the pages that its line touches, needs no
// copying to grow, and gives its pages back at once, where the heap would keep the
// buffer, its smaller predecessors and as much again until the collector ran. The
// addresses are never given back: who kept a line beyond its call reads zeros.
var longLines struct {
	sync.Mutex
	free map[int][][]byte
}

// takeLong gives a buffer of size bytes, nil when the machine has no addresses left.
func takeLong(size int) []byte {
	longLines.Lock()
	defer longLines.Unlock()
	if list := longLines.free[size]; len(list) > 0 {
		b := list[len(list)-1]
		longLines.free[size] = list[:len(list)-1]
		return b
	}
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	return b
}

// giveLong takes back what takeLong gave.
func giveLong(b []byte) {
	if syscall.Madvise(b, syscall.MADV_DONTNEED) != nil {
		return // its pages stay; the next long line gets another buffer
	}
	longLines.Lock()
	defer longLines.Unlock()
	if longLines.free == nil {
		longLines.free = map[int][][]byte{}
	}
	longLines.free[len(b)] = append(longLines.free[len(b)], b)
}
