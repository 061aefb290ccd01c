// Command record runs every installed CLI against the scripted provider, records what
// passes through its pipes and compares that with the recordings of its pinned version
// (testdata/ADAPTER-DRIVER/CASE.shape): how a new version of a CLI is taken in.
//
//	go run ./cmd/record [--only codex-exec] [--keep DIR] [--update]
//
// What differs is printed, and the exit status is 1. --update takes the new shapes;
// read what git shows of them before they are committed. --keep keeps the recordings
// as they are, for transcripts of parsers and for fake play.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/cmd/recording"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process.
func run(args []string, out, errs io.Writer) int {
	fs := flag.NewFlagSet("record", flag.ContinueOnError)
	fs.SetOutput(errs)
	only := fs.String("only", "", "the ADAPTER or ADAPTER-DRIVER to record; without it all that are installed")
	keep := fs.String("keep", "", "directory that keeps the recordings; without it they are removed")
	update := fs.Bool("update", false, "take what is found as the shapes to compare with")
	shapes := fs.String("shapes", filepath.Join("cmd", "record", "testdata"), "directory of the shapes")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	differ, err := record(ctx, out, *only, *keep, *shapes, *update)
	switch {
	case err != nil:
		_, _ = fmt.Fprintln(errs, "record:", err)
		return 1
	case differ:
		return 1
	}
	return 0
}

// record plays all cases of all subjects and says whether one differs.
func record(ctx context.Context, out io.Writer, only, keep, shapes string, update bool) (differ bool, err error) {
	dir := keep
	if dir == "" {
		// Not in the temporary directory: Codex does not like a home below it.
		if err := os.MkdirAll("build", 0o755); err != nil {
			return false, err
		}
		if dir, err = os.MkdirTemp("build", "record-"); err != nil {
			return false, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return false, err
	}
	list := subjects(only)
	if len(list) == 0 {
		return false, fmt.Errorf("nothing to record: %q is not installed; run fakes/tools/install.sh all", only)
	}
	for _, s := range list {
		found, err := s.play(ctx, filepath.Join(dir, s.name()))
		if err != nil {
			return differ, fmt.Errorf("%s: %w", s.name(), err)
		}
		for _, one := range cases {
			file := filepath.Join(shapes, s.name(), one.name+".shape")
			if update {
				if err := write(file, found[one.name]); err != nil {
					return differ, err
				}
				continue
			}
			known, err := os.ReadFile(file)
			if err != nil {
				return differ, fmt.Errorf("%s has no shape to compare with: %w; --update makes it", s.name(), err)
			}
			was := strings.Split(strings.TrimSuffix(string(known), "\n"), "\n")
			if slices.Equal(was, found[one.name]) {
				continue
			}
			differ = true
			_, _ = fmt.Fprintf(out, "%s, %s:\n%s", s.name(), one.name, recording.Differ(was, found[one.name]))
		}
		_, _ = fmt.Fprintf(out, "%s: %d cases recorded\n", s.name(), len(cases))
	}
	return differ, nil
}

func write(file string, lines []string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}
