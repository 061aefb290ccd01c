package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
)

// Manifest is one version of a CLI that the host may install: a package of npm or
// of pip with the checksums of everything that comes with it.
type Manifest struct {
	// Adapter is the one whose CLI it is.
	Adapter string `json:"adapter"`
	// Program is the command that it becomes, Version what that says of itself.
	Program string `json:"program"`
	Version string `json:"version"`
	// Bin are where the program lies in the installed package, as patterns of
	// path.Match; the first that matches an executable file is taken.
	Bin []string `json:"bin"`
	// Exactly one of the two is set.
	NPM *NPMPackage `json:"npm,omitempty"`
	Pip *PipPackage `json:"pip,omitempty"`
}

// NPMPackage is a package of npm.
type NPMPackage struct {
	Package string `json:"package"`
	// Lock are the packages of a package-lock.json without the root and without
	// addresses, by their place; each with version and integrity (sha512).
	Lock map[string]json.RawMessage `json:"lock"`
}

// PipPackage is a package of pip.
type PipPackage struct {
	Package string `json:"package"`
	// Requirements are the lines of a requirements file, each one package with its
	// version and at least one --hash.
	Requirements []string `json:"requirements"`
}

// Locked is what a lock file says of a package.
type Locked struct {
	Version   string `json:"version"`
	Integrity string `json:"integrity"`
	Resolved  string `json:"resolved"`
}

// Package is the name that the package manager knows.
func (m *Manifest) Package() string {
	switch {
	case m.NPM != nil:
		return m.NPM.Package
	case m.Pip != nil:
		return m.Pip.Package
	}
	return ""
}

// Valid says what is wrong with a manifest. A path in it that leads out of the
// package, and a package without a checksum, are refused.
func (m *Manifest) Valid() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("manifest %s %s: "+format, append([]any{m.Adapter, m.Version}, args...)...))
	}
	for name, value := range map[string]string{"adapter": m.Adapter, "program": m.Program, "version": m.Version} {
		if value == "" || value == "." || value == ".." || strings.ContainsAny(value, "/\\ \t\n") {
			bad("%s is %q, which is no plain word", name, value)
		}
	}
	if len(m.Bin) == 0 {
		bad("bin is empty")
	}
	for _, b := range m.Bin {
		if _, err := path.Match(b, ""); err != nil || path.IsAbs(b) || path.Clean(b) != b || strings.HasPrefix(b, "..") {
			bad("bin %q is no path below the package", b)
		}
	}
	switch {
	case (m.NPM == nil) == (m.Pip == nil):
		bad("it needs one of npm and pip")
	case m.NPM != nil:
		for _, err := range m.NPM.check(m.Version) {
			bad("%w", err)
		}
	default:
		for _, err := range m.Pip.check() {
			bad("%w", err)
		}
	}
	return errors.Join(errs...)
}

func (p *NPMPackage) check(version string) (errs []error) {
	own := "node_modules/" + p.Package
	if _, ok := p.Lock[own]; !ok || p.Package == "" {
		errs = append(errs, fmt.Errorf("npm.lock has no %s", own))
	}
	for at, raw := range p.Lock {
		var l Locked
		err := json.Unmarshal(raw, &l)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("npm.lock %s: %w", at, err))
		case !strings.HasPrefix(at, "node_modules/") || path.Clean(at) != at:
			errs = append(errs, fmt.Errorf("npm.lock %s: no place of a package", at))
		case !strings.HasPrefix(l.Integrity, "sha512-"):
			errs = append(errs, fmt.Errorf("npm.lock %s: no sha512 integrity", at))
		case l.Resolved != "":
			errs = append(errs, fmt.Errorf("npm.lock %s: resolved names a registry; npm finds its own", at))
		case at == own && l.Version != version:
			errs = append(errs, fmt.Errorf("npm.lock %s: is version %s", at, l.Version))
		}
	}
	return errs
}

func (p *PipPackage) check() (errs []error) {
	own := false
	for _, line := range p.Requirements {
		name, rest, ok := strings.Cut(line, "==")
		if !ok || strings.HasPrefix(name, "-") || strings.ContainsAny(line, "\n\\") || !strings.Contains(rest, " --hash=sha256:") {
			errs = append(errs, fmt.Errorf("pip.requirements: %q does not read NAME==VERSION --hash=sha256:HASH", line))
		}
		own = own || name == p.Package
	}
	if !own || p.Package == "" {
		errs = append(errs, fmt.Errorf("pip.requirements lack the package %q", p.Package))
	}
	return errs
}
