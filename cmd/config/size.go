package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Size is a number of bytes, written plain or with KiB, MiB, GiB or TiB.
type Size int64

var sizeUnits = []struct {
	name  string
	shift uint
}{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}

// String writes the largest unit that divides the size.
func (s Size) String() string {
	for i := len(sizeUnits) - 1; i >= 0; i-- {
		u := sizeUnits[i]
		if s != 0 && s%(1<<u.shift) == 0 {
			return fmt.Sprintf("%d%s", s>>u.shift, u.name)
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// ParseSize reads a size.
func ParseSize(text string) (Size, bool) {
	digits, shift := text, uint(0)
	for _, u := range sizeUnits {
		if strings.HasSuffix(text, u.name) {
			digits, shift = strings.TrimSpace(strings.TrimSuffix(text, u.name)), u.shift
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 62)
	if err != nil || n > 1<<62>>shift {
		return 0, false
	}
	return Size(n << shift), true
}
