package argv

import (
	"strconv"
	"strings"
)

// Since says that what a program tells of its version begins with a release of least or
// later: three numbers, and nothing behind them.
func Since(told, least string) bool {
	word, _, _ := strings.Cut(told, " ")
	have, ok := release(word)
	want, _ := release(least)
	if !ok {
		return false
	}
	for i := range have {
		if have[i] != want[i] {
			return have[i] > want[i]
		}
	}
	return true
}

func release(word string) (parts [3]int, ok bool) {
	words := strings.Split(word, ".")
	if len(words) != len(parts) {
		return parts, false
	}
	for i, w := range words {
		n, err := strconv.Atoi(w)
		if err != nil || n < 0 {
			return parts, false
		}
		parts[i] = n
	}
	return parts, true
}
