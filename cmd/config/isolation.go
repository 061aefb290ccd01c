package config

import (
	"fmt"
	"path/filepath"
)

// checkIsolation judges agents.NAME.isolation.
func (l *loader) checkIsolation(key string, r *Runtime) {
	i := &r.Isolation
	if i.OwnHome() && r.Home == "inherit" {
		l.fault(key+".home", r.Home, fmt.Sprintf("is not what isolation.level %s and isolation.required %s leave the CLI: a home of its own", i.Level, i.Required), "use private or auto, or level group")
	}
	for _, list := range []struct {
		at    string
		paths []string
	}{{".isolation.read", i.Read}, {".isolation.write", i.Write}} {
		for n, p := range list.paths {
			at := fmt.Sprintf("%s%s[%d]", key, list.at, n)
			p = l.home(p)
			switch {
			case p == "" || !filepath.IsAbs(list.paths[n]) && list.paths[n] != "~" && !homed(list.paths[n]):
				l.fault(at, list.paths[n], "is not an absolute path", "write a path from / or ~/ on")
			case l.cfg.StateDir != "" && (contained(p, l.cfg.StateDir) || contained(l.cfg.StateDir, p)):
				l.fault(at, list.paths[n], "would show the CLI the server's state directory", "name a path that is neither around nor below state_dir")
			}
			list.paths[n] = p
		}
	}
	for n, port := range i.Ports {
		if port < 1 || port > 65535 {
			l.fault(fmt.Sprintf("%s.isolation.ports[%d]", key, n), fmt.Sprint(port), "is no port", "write a number from 1 to 65535")
		}
	}
	if level, required := i.Levels(); level != 0 && level < required {
		l.doubt(key+".isolation.level", i.Level, "is below isolation.required", "remove it: "+i.Required+" is used")
	}
}

func homed(p string) bool { return len(p) > 1 && p[:2] == "~/" }

// contained says whether path is dir or below it.
func contained(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
