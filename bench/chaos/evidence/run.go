package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// RunsFile is the CLIs' own log below the run's directory.
const RunsFile = "runs"

// Run is what one CLI says that it did for one input.
type Run struct {
	Tag   string
	Pid   int
	Start int64 // Unix nanoseconds
	End   int64 // 0: it never said so
}

// Runs reads the CLIs' log, in the order of the starts.
func Runs(dir string) ([]Run, error) {
	text, err := os.ReadFile(filepath.Join(dir, RunsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	type who struct {
		tag string
		pid int
	}
	open := map[who]int{}
	var out []Run
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		if len(f) != 4 {
			return nil, fmt.Errorf("the CLIs' log has the line %q", line)
		}
		at, err := strconv.ParseInt(string(f[2]), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the CLIs' log: %w", err)
		}
		pid, err := strconv.Atoi(string(f[3]))
		if err != nil {
			return nil, fmt.Errorf("the CLIs' log: %w", err)
		}
		key := who{string(f[0]), pid}
		switch string(f[1]) {
		case "start":
			open[key] = len(out)
			out = append(out, Run{Tag: key.tag, Pid: pid, Start: at})
		case "end":
			if i, ok := open[key]; ok {
				out[i].End = at
			}
		}
	}
	return out, nil
}
