package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Source is what a load reads.
type Source struct {
	// File is --config, "" when it was not given.
	File string
	// Environ is the environment, "NAME=value".
	Environ []string
	// Flags are the settings given as flags, by key, as they were written.
	Flags map[string]string
	// Home is the user's directory, Root says that the process runs as uid 0.
	Home string
	Root bool
	// Aliases are other names of the built-in adapters, by alias.
	Aliases map[string]string
	// Operations are those of the server's routes, for the policy. Without any it is not
	// looked whether a policy names what there is.
	Operations []Operation
}

// Operation is one that a policy decides on; Old is its id in documents of
// ABX_SERVER_POLICY.
type Operation struct{ ID, Old string }

// Here is the Source of this process with the given file and flags.
func Here(file string, flags map[string]string) Source {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/" // a daemon without HOME: only defaults below ~ need one
	}
	return Source{File: file, Environ: os.Environ(), Flags: flags, Home: home, Root: os.Geteuid() == 0}
}

// loader collects what one load finds.
type loader struct {
	src      Source
	env      map[string]string
	cfg      *Config
	origins  map[string]origin
	problems Problems
	warnings []string
}

// Load reads the settings. The error is Problems; the warnings are for a log.
// The Config is returned with both, as far as it could be read.
func Load(src Source) (*Config, []string, error) {
	l := &loader{src: src, env: map[string]string{}, cfg: Default(src.Home, src.Root), origins: map[string]origin{}}
	for _, kv := range src.Environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			l.env[name] = value
		}
	}
	l.file()
	l.variables()
	l.flags()
	l.check()
	if len(l.problems) == 0 {
		return l.cfg, l.warnings, nil
	}
	return l.cfg, l.warnings, l.problems.sorted()
}

func (l *loader) lookup(name string) (string, bool) {
	v, ok := l.env[name]
	return v, ok
}

const localFile = "agenthost.yaml"

func (l *loader) file() {
	path, given := l.src.File, "flag --config"
	if path == "" {
		path, given = l.env["AGENTHOST_CONFIG"], "variable AGENTHOST_CONFIG"
	}
	if path == "" {
		path, given = localFile, ""
	}
	data, err := os.ReadFile(path)
	if given == "" && errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		l.problems.add(unreadable(given, path, err))
		return
	}
	l.cfg.File = path
	l.decode(path, data, reflect.ValueOf(l.cfg).Elem())
}

func unreadable(source, path string, err error) Problem {
	if source == "" {
		source = path
	}
	var pe *fs.PathError
	why := err.Error()
	if errors.As(err, &pe) {
		why = pe.Err.Error()
	}
	return Problem{Source: source, Value: path, What: "cannot be read: " + why, Remedy: "name a readable file"}
}

// decode fills v from a file and keeps its problems and origins.
func (l *loader) decode(path string, data []byte, v reflect.Value) {
	d := &decoder{file: path, env: l.lookup, origins: l.origins}
	d.decode(data, v)
	l.problems = append(l.problems, d.problems...)
}

// variables applies AGENTHOST_* after ABX_*: our own name wins over the old one.
func (l *loader) variables() {
	l.abx()
	known := []string{"AGENTHOST_CONFIG"}
	for _, s := range l.cfg.Scalars() {
		name := s.Variable()
		known = append(known, name)
		if raw, ok := l.env[name]; ok && raw != "" {
			l.set(s, raw, "variable "+name)
		}
	}
	for name := range l.env {
		if strings.HasPrefix(name, "AGENTHOST_") && !slices.Contains(known, name) && !slices.Contains(ours, name) {
			l.warn("variable " + name + ": sets nothing; " + suggestShort(name, known))
		}
	}
	slices.Sort(l.warnings)
}

// ours are variables of the client side and of our children.
var ours = []string{"AGENTHOST_DUMPABLE", "AGENTHOST_PROFILE", "AGENTHOST_OWNER", "AGENTHOST_URL", "AGENTHOST_TOKEN"}

func suggestShort(name string, known []string) string {
	if n := nearest(name, known); n != "" {
		return "did you mean " + n + "?"
	}
	return "there is no such setting"
}

func (l *loader) flags() {
	for _, s := range l.cfg.Scalars() {
		if raw, ok := l.src.Flags[s.Key]; ok {
			l.set(s, raw, "flag --"+s.Flag())
		}
	}
}

func (l *loader) warn(text string) { l.warnings = append(l.warnings, text) }

func (l *loader) set(s Scalar, raw, source string) {
	l.origins[s.Key] = origin{source: source}
	if what, remedy := set(s.field, raw); what != "" {
		p := Problem{Source: source, What: what, Remedy: remedy}
		if !s.field.secret {
			p.Value = raw
		}
		l.problems.add(p)
	}
}

// fault notes a problem with the value of key, at the place it came from.
func (l *loader) fault(key, value, what, remedy string) {
	o := l.origin(key)
	l.problems.add(Problem{Source: o.source, Line: o.line, Key: key, Value: value, What: what, Remedy: remedy})
}

// doubt warns of the value of key, as fault says that it is wrong.
func (l *loader) doubt(key, value, what, remedy string) {
	o := l.origin(key)
	l.warn(Problem{Source: o.source, Line: o.line, Key: key, Value: value, What: what, Remedy: remedy}.String())
}

// origin is where key, or what it is part of, came from.
func (l *loader) origin(key string) origin {
	o, ok := l.origins[key]
	for at := key; !ok && at != ""; {
		at = at[:max(strings.LastIndexAny(at, ".["), 0)]
		o, ok = l.origins[at]
	}
	if !ok {
		o.source = "default"
	}
	return o
}

// directory is the absolute form of a path given as key: one that a file gives
// counts from the directory of that file, so that the file means the same
// wherever the program is started.
func (l *loader) directory(key, path string) string {
	if o, ok := l.origins[key]; ok && o.line > 0 && path != "" && path != "~" && !strings.HasPrefix(path, "~/") && !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(o.source), path)
	}
	return l.home(path)
}

// home replaces a leading ~ and makes the path absolute.
func (l *loader) home(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = l.src.Home + path[1:]
	}
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
