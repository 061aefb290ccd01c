package actors

import (
	"bytes"
	"os"
	"strconv"
)

// availableMemory is MemAvailable of /proc/meminfo in bytes.
func availableMemory() (uint64, bool) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	_, rest, ok := bytes.Cut(b, []byte("MemAvailable:"))
	if !ok {
		return 0, false
	}
	f := bytes.Fields(rest)
	if len(f) == 0 {
		return 0, false
	}
	kib, err := strconv.ParseUint(string(f[0]), 10, 64)
	return kib << 10, err == nil
}
