package agents

import (
	"path"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

const maxPath = 4096

// readEnvironment reads where a new session works. Missing means self_hosted in
// the host's own place. Whether a directory may be used is up to the host.
func (w *Wire) readEnvironment(f *fields) spec.Environment {
	e := spec.Environment{Type: spec.EnvSelfHosted}
	o := f.object("environment")
	if o == nil {
		return e
	}
	kind := o.word("type", spec.EnvNone, spec.EnvSelfHosted, envOpenAIHosted)
	if kind == nil || *kind == "" {
		o.invalid("type", "must be one of none, self_hosted, openai_hosted")
		return e
	}
	switch e.Type = *kind; e.Type {
	case spec.EnvNone:
		o.only(noneFields...)
	case spec.EnvSelfHosted:
		o.only(selfHostedFields...)
		if dir := read[string](o, "workspace_directory"); dir != nil && o.given("workspace_directory") {
			e.Workspace = *dir
			if !absolute(e.Workspace) {
				o.invalid("workspace_directory", "must be an absolute path without .. and at most %d bytes long", maxPath)
			}
		}
		if dirs := o.list("capability_directories"); len(dirs) > 0 {
			o.fail(event.EnvironmentRefused, "capability_directories", "this host does not hand capability directories to its agents; leave the list empty")
		}
	case envOpenAIHosted:
		if !w.hosted {
			o.fail(event.EnvironmentRefused, "type", "this host does not offer openai_hosted environments; use self_hosted or none")
			return e
		}
		for _, name := range o.unknown(hostedFields...) {
			if o.given(name) {
				o.fail(event.EnvironmentRefused, clip(name), "an openai_hosted environment of this host is a plain private directory; only its type can be given")
			}
		}
	}
	return e
}

func absolute(dir string) bool {
	if len(dir) > maxPath || !path.IsAbs(dir) || strings.ContainsRune(dir, 0) {
		return false
	}
	for _, part := range strings.Split(dir, "/") {
		if part == ".." {
			return false
		}
	}
	return true
}
