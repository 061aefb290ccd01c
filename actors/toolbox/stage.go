package toolbox

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
)

// Stage is a version that is being installed. It belongs to its Lock.
type Stage struct {
	lock     *Lock
	manifest *agent.Manifest
	dir      string
}

// Step is one command of an installation.
type Step struct {
	// Does says in words what it does.
	Does string
	// Tool is the program: a name to look up, or an absolute path.
	Tool string
	Args []string
}

// Installed is the program of the manifest's version if the link leads to it, ""
// else.
func (b *Box) Installed(m *agent.Manifest) string {
	path, version, ok := b.Program(b.link(m.Program))
	if !ok || filepath.Dir(version) != b.adapter(m.Adapter) || !strings.HasPrefix(filepath.Base(version), m.Version+"-") {
		return ""
	}
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return ""
	}
	return path
}

// ErrForeign is wrapped by what Begin returns when something that the box did not
// make has the program's name.
var ErrForeign = errors.New("was not put there by an installation")

// Begin removes what is left of others and makes the directory of a version with
// what its package manager needs in it.
func (l *Lock) Begin(m *agent.Manifest) (*Stage, error) {
	link := l.box.link(m.Program)
	if _, err := os.Lstat(link); err == nil {
		if _, _, ours := l.box.Program(link); !ours {
			return nil, fmt.Errorf("%s %w; remove it first", link, ErrForeign)
		}
	}
	l.sweep()
	nonce := make([]byte, 4)
	_, _ = rand.Read(nonce) // never fails
	s := &Stage{lock: l, manifest: m, dir: filepath.Join(l.box.adapter(l.adapter), m.Version+"-"+hex.EncodeToString(nonce))}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("directory of the version: %w", err)
	}
	if err := s.fill(); err != nil {
		s.Discard()
		return nil, fmt.Errorf("directory of the version: %w", err)
	}
	return s, nil
}

func (s *Stage) fill() error {
	files := map[string][]byte{useName: nil}
	if p := s.manifest.NPM; p != nil {
		root := map[string]any{"name": "agenthost-" + s.manifest.Adapter, "private": true, "dependencies": map[string]string{p.Package: s.manifest.Version}}
		packages := map[string]any{"": root}
		for at, locked := range p.Lock {
			packages[at] = locked
		}
		var err error
		if files["package.json"], err = json.Marshal(root); err != nil {
			return err
		}
		lock := map[string]any{"name": root["name"], "lockfileVersion": 3, "requires": true, "packages": packages}
		if files["package-lock.json"], err = json.Marshal(lock); err != nil {
			return err
		}
	}
	if p := s.manifest.Pip; p != nil {
		files["requirements.txt"] = []byte(strings.Join(p.Requirements, "\n") + "\n")
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(s.dir, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Dir is the version's directory, in which the steps run.
func (s *Stage) Dir() string { return s.dir }

// Steps are what fills the directory. Both package managers compare what they
// fetched with the manifest's checksums and fail where it differs. No install
// script of a package is run: what is fetched is not executed before it was
// compared.
func (s *Stage) Steps() []Step {
	if s.manifest.NPM != nil {
		return []Step{{
			Does: "npm fetches and compares " + s.manifest.Package() + "@" + s.manifest.Version, Tool: "npm",
			Args: []string{"ci", "--ignore-scripts", "--engine-strict=false", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error"},
		}}
	}
	env := filepath.Join(s.dir, "env")
	return []Step{
		{Does: "python3 makes an environment", Tool: "python3", Args: []string{"-m", "venv", env}},
		{
			Does: "pip fetches and compares " + s.manifest.Package() + "==" + s.manifest.Version, Tool: filepath.Join(env, "bin", "python"),
			Args: []string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--require-hashes", "--only-binary", ":all:", "-r", "requirements.txt"},
		},
	}
}

// ErrMismatch is wrapped by what Program returns when something else was installed
// than the manifest names.
var ErrMismatch = errors.New("is not what the manifest names")

// Program compares what was installed with the manifest and finds the program.
func (s *Stage) Program() (string, error) {
	if err := s.compare(); err != nil {
		return "", err
	}
	for _, pattern := range s.manifest.Bin {
		found, err := filepath.Glob(filepath.Join(s.dir, filepath.FromSlash(pattern)))
		if err != nil {
			return "", fmt.Errorf("bin %q: %w", pattern, err)
		}
		for _, file := range found {
			real, err := filepath.EvalSymlinks(file)
			if err != nil {
				continue
			}
			home, err := filepath.EvalSymlinks(s.dir)
			if err != nil || !strings.HasPrefix(real, home+string(filepath.Separator)) {
				continue // a package does not lead out of its directory
			}
			if st, err := os.Stat(real); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
				return file, nil
			}
		}
	}
	return "", fmt.Errorf("the package has no program for this machine: none of %s", strings.Join(s.manifest.Bin, ", "))
}

// compare reads npm's own note of what it put there, whatever npm was configured
// to do: each package must be one of the manifest with its checksum.
func (s *Stage) compare() error {
	p := s.manifest.NPM
	if p == nil {
		return nil // pip has no way around --require-hashes
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "node_modules", ".package-lock.json"))
	if err != nil {
		return fmt.Errorf("npm left no note of what it installed: %w", err)
	}
	var note struct {
		Packages map[string]agent.Locked `json:"packages"`
	}
	if err := json.Unmarshal(text, &note); err != nil {
		return fmt.Errorf("npm's note of what it installed: %w", err)
	}
	if _, ok := note.Packages["node_modules/"+p.Package]; !ok {
		return fmt.Errorf("%s is missing: what npm installed %w", p.Package, ErrMismatch)
	}
	for at, have := range note.Packages {
		var want agent.Locked
		if raw, ok := p.Lock[at]; ok {
			if err := json.Unmarshal(raw, &want); err != nil {
				return fmt.Errorf("manifest: %w", err)
			}
		}
		if have.Integrity != want.Integrity || have.Version != want.Version {
			return fmt.Errorf("%s %s %w", at, have.Version, ErrMismatch)
		}
	}
	return nil
}

// Switch makes the link lead to program. Whoever looks the program up finds the
// old version or the new one, nothing between.
func (s *Stage) Switch(program string) error {
	box := s.lock.box
	if err := os.MkdirAll(filepath.Join(box.dir, binDir), 0o700); err != nil {
		return fmt.Errorf("tools directory: %w", err)
	}
	to, err := filepath.Rel(filepath.Join(box.dir, binDir), program)
	if err != nil {
		return fmt.Errorf("link of %s: %w", s.manifest.Program, err)
	}
	temp := box.link(tempLink + s.lock.adapter + "-" + filepath.Base(s.dir))
	if err := os.Symlink(to, temp); err != nil {
		return fmt.Errorf("link of %s: %w", s.manifest.Program, err)
	}
	if err := os.Rename(temp, box.link(s.manifest.Program)); err != nil {
		_ = os.Remove(temp)
		return fmt.Errorf("link of %s: %w", s.manifest.Program, err)
	}
	s.lock.sweep()
	return nil
}

// Discard removes a version that is not to be.
func (s *Stage) Discard() { _ = os.RemoveAll(s.dir) }
