package actors

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Certificate says that an installed program passed the conformance conversation by
// the persistent driver, so that "auto" takes it. It is of one file: another build
// that tells the same version needs its own.
type Certificate struct {
	Version string `json:"version"`
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	Changed int64  `json:"changed"` // Unix nanoseconds
}

// certificatesFile is in the state directory: a JSON object of lists by adapter.
const certificatesFile = "certified.json"

// CertificateOf names the program at path as it is now.
func CertificateOf(path, version string) (Certificate, error) {
	st, err := os.Stat(path)
	if err != nil {
		return Certificate{}, err
	}
	return Certificate{Version: version, Path: path, Bytes: st.Size(), Changed: st.ModTime().UnixNano()}, nil
}

// Certify keeps a certificate of an adapter's program in a state directory. Hosts that
// start on it later know it.
func Certify(stateDir, adapter string, c Certificate) error {
	known, err := readCertificates(stateDir)
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(known[adapter], func(old Certificate) bool { return old.Path == c.Path })
	known[adapter] = append(list, c)
	text, err := json.MarshalIndent(known, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return err
	}
	name := filepath.Join(stateDir, certificatesFile)
	if err := os.WriteFile(name+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

func readCertificates(stateDir string) (map[string][]Certificate, error) {
	known := map[string][]Certificate{}
	name := filepath.Join(stateDir, certificatesFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &known)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read; remove it and certify again: %w", name, err)
	}
	return known, nil
}

// certified reports whether the adapter's program as it is now has a certificate.
func (r *runtimes) certified(adapter, path, version string) bool {
	list := r.certificates[adapter]
	if len(list) == 0 {
		return false
	}
	now, err := CertificateOf(path, version)
	return err == nil && slices.Contains(list, now)
}
