package adapters

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/agenthost/agenthost/actors/agent"
)

// ErrDuplicate is wrapped by what NewSet returns when two adapters want one name.
var ErrDuplicate = errors.New("duplicate adapter name")

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// Set is the adapters of a host. It is immutable and safe for concurrent use.
type Set struct {
	list   []agent.Adapter
	byName map[string]agent.Adapter
}

// NewSet makes a Set of list, in that order. A name or alias that appears twice
// is an error, as is a name that callers could not write.
func NewSet(list ...agent.Adapter) (*Set, error) {
	s := &Set{byName: make(map[string]agent.Adapter, 2*len(list))}
	for i, a := range list {
		if a == nil {
			return nil, fmt.Errorf("adapter %d is nil", i)
		}
		if !validName.MatchString(a.Name()) {
			return nil, fmt.Errorf("adapter name %q does not match %s", a.Name(), validName)
		}
		s.list = append(s.list, a)
		for _, name := range append([]string{a.Name()}, a.Aliases()...) {
			if other, taken := s.byName[name]; taken {
				return nil, fmt.Errorf("%w: %q is wanted by %s and %s", ErrDuplicate, name, other.Name(), a.Name())
			}
			s.byName[name] = a
		}
	}
	return s, nil
}

// Get finds an adapter by its name or an alias.
func (s *Set) Get(name string) (agent.Adapter, bool) {
	a, ok := s.byName[name]
	return a, ok
}

// List gives the adapters in the order of NewSet.
func (s *Set) List() []agent.Adapter { return slices.Clone(s.list) }

// Names gives the adapters' names, without aliases, in the order of NewSet.
func (s *Set) Names() []string {
	names := make([]string, len(s.list))
	for i, a := range s.list {
		names[i] = a.Name()
	}
	return names
}
