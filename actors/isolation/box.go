package isolation

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Verb is the hidden one by which the host's program is executed again.
const Verb = "confine"

// inside marks the second run, which bwrap makes.
const inside = "--inside"

// Box is what a confined CLI may reach. Everything else on the file system, and every
// other TCP port, is refused; paths that are not there are left out.
type Box struct {
	Level Level `json:"level"` // Landlock or Bubblewrap
	// Read are files, and directories with all below them, to read and to execute;
	// Write those to change too.
	Read  []string `json:"read,omitempty"`
	Write []string `json:"write,omitempty"`
	// Hide are paths that are not to be seen, although they lie below one of Read; one of
	// Read or Write that lies below a hidden one is seen all the same.
	Hide []string `json:"hide,omitempty"`
	// Ports are the TCP ports that may be connected to: of any address behind Landlock,
	// of loopback only behind Bubblewrap.
	Ports []uint16 `json:"ports,omitempty"`

	// Program is bwrap; Bridge the directory of the host's sockets, a socket a port; Dir
	// where the CLI starts. Of Bubblewrap only.
	Program string `json:"program,omitempty"`
	Bridge  string `json:"bridge,omitempty"`
	Dir     string `json:"dir,omitempty"`
}

// Wrap is what a command line begins with so that the rest of it runs in the box.
// helper is how the program that has Main is executed again.
func (b *Box) Wrap(helper []string) []string {
	text, err := json.Marshal(b)
	if err != nil {
		panic(err) // it has strings and numbers only
	}
	return append(slices.Clone(helper), Verb, string(text), "--")
}

// Key is the same for boxes that let through the same.
func (b *Box) Key() string {
	text, _ := json.Marshal(b)
	return string(text)
}

// tidy sorts and cleans the paths, so that boxes that let through the same are equal.
func (b *Box) tidy() {
	for _, list := range []*[]string{&b.Read, &b.Write, &b.Hide} {
		out := make([]string, 0, len(*list))
		for _, p := range *list {
			if filepath.IsAbs(p) && !strings.ContainsRune(p, 0) {
				out = append(out, filepath.Clean(p))
			}
		}
		slices.Sort(out)
		*list = slices.Compact(out)
	}
	slices.Sort(b.Ports)
	b.Ports = slices.Compact(b.Ports)
}

// Tidy puts the box in order and refuses one that would give away what it hides.
func (b *Box) Tidy() error {
	b.tidy()
	for _, dir := range b.Write {
		for _, hidden := range b.Hide {
			if dir != hidden && Within(dir, hidden) {
				return fmt.Errorf("%s contains %s, which is to be hidden: name a directory beside it", dir, hidden)
			}
		}
	}
	return nil
}

// Within says whether path is dir or below it. Both are clean and absolute.
func Within(dir, path string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}
