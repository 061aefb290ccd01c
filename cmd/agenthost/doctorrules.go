package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/cmd/config"
	"github.com/agenthost/agenthost/server/audit"
)

// audit says where the book of who did what is kept, and whether it can be.
func (d *doctor) audit() {
	cfg := d.cfg.Audit
	if !cfg.Enabled {
		d.marked("audit", "--", "off (audit.enabled): nothing is noted of who does what")
		return
	}
	file := d.cfg.AuditFile()
	turns := fmt.Sprintf("a new file at %s, %d are kept", human(uint64(cfg.MaxBytes)), cfg.MaxFiles)
	parts, size, err := audit.Parts(file)
	switch dir := filepath.Dir(file); {
	case err != nil:
		d.line("audit", false, err.Error())
	case parts > 0 && !appendable(file), parts == 0 && !writable(nearest(dir)):
		d.line("audit", false, file+" cannot be written, so a server does not start")
	case parts == 0:
		d.line("audit", true, file, "will be made", turns)
		return
	default:
		d.line("audit", true, file, fmt.Sprintf("%d file(s), %s", parts, human(uint64(size))), turns)
		return
	}
	d.fix("give it to the user that the server runs as, or name another with audit.file")
}

// appendable opens the file as a server does, and leaves it as it is.
func appendable(file string) bool {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// maxTold bounds the principals that the doctor lists.
const maxTold = 50

// policy says which rules a server would hold to, and what they leave each principal.
func (d *doctor) policy(list []actors.Runtime) error {
	roster, err := rosterOf(d.cfg)
	if err != nil {
		return err
	}
	if doc := d.cfg.PolicyDocument(); doc != nil {
		d.line("policy", true, fmt.Sprintf("%d statement(s)", len(doc.Statements)), "what none of them allows is denied")
	} else {
		d.line("policy", true, "none: who has the role dev or admin may do everything, others nothing")
	}
	all := members(d.cfg)
	for i, m := range all {
		if i == maxTold {
			d.more(fmt.Sprintf("and %d more", len(all)-maxTold))
			break
		}
		d.principal(m, roster.Of(m.ID), list)
	}
	return nil
}

// principal says which adapters one may start, and which of them its bounds refuse all
// the same.
func (d *doctor) principal(m policy.Principal, s *policy.Subject, list []actors.Runtime) {
	var may, never []string
	for _, r := range list {
		g := s.Adapter(r.Name)
		if !g.Decide(policy.Start).Allowed {
			continue
		}
		may = append(may, r.Name)
		if b := g.Bounds; b != nil && b.MaxTurns > 0 && !r.Capabilities.MaxTurns {
			never = append(never, r.Name)
		}
	}
	d.more(fmt.Sprintf("%s (%s) may start %s", m.ID, cmp.Or(strings.Join(m.Roles, ", "), "no role"), cmp.Or(strings.Join(may, ", "), "no agent")))
	if len(never) > 0 {
		d.line("policy", false, fmt.Sprintf("%s may start %s, but scope.max_turns bounds what they do not count, so each turn is refused", m.ID, strings.Join(never, ", ")))
		d.fix("take max_turns out of the scope of the statement that allows them; timeout and limits.max_tokens bound them")
	}
}

// missingWorkspace says that sessions would be refused for the configured workspace, ""
// when it is there.
func missingWorkspace(cfg *config.Config) string {
	dir := cfg.Environments.Workspace
	if dir == "" {
		return ""
	}
	if st, err := os.Stat(dir); err == nil && st.IsDir() {
		return ""
	}
	return "environments.workspace " + dir + " is no directory: sessions that name no other are refused until it is one"
}
