package acceptance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// acpRig is a server with the stand-in for an agent that speaks ACP: declared as
// someagent, and in the place of the Cursor CLI.
func acpRig(t *testing.T, settings ...setting) *cliRig {
	t.Helper()
	dir := t.TempDir()
	script := func(name, modes string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+asACP+"="+modes+" exec "+os.Args[0]+" \"$@\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	modes := map[string]any{"read_only": map[string]any{"mode": "plan"}, "ask": map[string]any{"mode": "default", "answer": "ask"}, "full_access": map[string]any{"mode": "yolo"}}
	r := &cliRig{workspace: t.TempDir()}
	r.rig = newRig(t, append([]setting{
		key("environments", map[string]any{"workspace": r.workspace}),
		cli("someagent", map[string]any{"adapter": "acp", "command": []string{script("someagent", "default,plan,yolo"), "acp"}, "modes": modes}),
		cli("cursor", map[string]any{"binary": script("cursor-agent", "agent,plan,ask"), "driver": "persistent"}),
		limit("runner_idle", "1s"),
	}, settings...)...)
	return r
}

// A declared agent that speaks ACP, and the Cursor CLI by its documented format, serve a
// conversation from one process: text in pieces, a command, its end by a cancel, and the
// conversation after the process was killed.
func TestStandInACP(t *testing.T) {
	t.Parallel()
	r := acpRig(t)
	for _, adapter := range []string{"someagent", "cursor"} {
		t.Run(adapter, func(t *testing.T) {
			if !r.persistent(adapter) {
				t.Fatal("the driver is another")
			}
			first := askAgentsStreamed(t, r, adapter, nil, "Please remember the word heron.")
			completed(t, first, "heron")
			ran := askResponsesStreamed(t, r, adapter, first, "[[shell: echo from a shell; exit 3]] [[say: and on]]")
			completed(t, ran, "and on")
			oneCommand(t, ran, "echo from a shell", "from a shell", 3)
			if a := askAgents(t, r, adapter, ran, "[[error: 401]]"); a.status != "failed" || a.code != "authentication_error" {
				t.Errorf("a refused key: %+v", a)
			}

			session := "agsess_" + first.session
			events := r.http.events(session, "")
			r.http.say(session, "[[shell: tail -f /dev/null]]")
			r.until(cliTurnLimit, "the command runs", r.tails)
			if a := r.http.do("POST", "/v1/agents/sessions/"+session+"/events", cancelInput()); a.status != 202 {
				t.Errorf("cancel: %d %s", a.status, clip(a.body))
			}
			events.waitKind(cliTurnLimit, sessionEvent+"idle", 1)
			cancelled := toldBySession(t, r, first.session)
			if cancelled.status != "cancelled" {
				t.Errorf("the turn: %+v", cancelled)
			}

			before := r.standIns()
			r.http.say(session, "[[shell: tail -f /dev/null]]")
			r.until(cliTurnLimit, "the command runs", r.tails)
			for _, pid := range r.standIns() {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Error(err, before)
				}
			}
			killed := toldBySession(t, r, first.session)
			if killed.status != "failed" || !strings.Contains(killed.message, "SIGKILL") {
				t.Errorf("the turn of the killed process: %+v", killed)
			}
			completed(t, askAgents(t, r, adapter, killed, "What did I ask you to remember?"), "heron")
			if own := r.conversations(first.session); len(slices.Compact(own)) != 1 {
				t.Errorf("the CLI's own conversations: %v", own)
			}
		})
	}
	r.Clean(time.Minute)
}

// standIns are the processes of the stand-in.
func (r *cliRig) standIns() (pids []int) {
	for _, p := range r.Descendants() {
		if p.State != 'Z' && p.Parent == r.Pid && strings.HasPrefix(p.Command, os.Args[0]+" ") {
			pids = append(pids, p.Pid)
		}
	}
	return pids
}

// Permissions are kept by the declared modes and answers; one without a mode is refused
// by name before anything is started.
func TestStandInACPPermissions(t *testing.T) {
	t.Parallel()
	r := acpRig(t, (*cliRig)(nil).definitions(
		map[string]any{"name": "careful", "runtime": "someagent", "permissions": "ask"},
		map[string]any{"name": "reader", "runtime": "someagent", "permissions": "read_only"},
		map[string]any{"name": "free", "runtime": "someagent", "permissions": "full_access"},
	))
	for name, wrote := range map[string]bool{"someagent": true, "reader": false, "free": true} {
		turn := askAgents(t, r, name, nil, "[[shell: echo x >"+name+".txt]] [[say: done]]")
		completed(t, turn, "done")
		if (r.fileOf(name+".txt") != "") != wrote {
			t.Errorf("%s: the file has %q", name, r.fileOf(name+".txt"))
		}
	}
	for name, approve := range map[string]bool{"approve": true, "deny": false} {
		o := r.respondTo(t, true, map[string]any{"model": "careful", "input": "[[shell: echo x >" + name + ".txt]] [[say: done]]"})
		item, _ := at(o, "output", -1).(map[string]any)
		if item["type"] != "mcp_approval_request" || item["name"] != "command_execution" || item["server_label"] != "someagent" || !strings.Contains(word(item, "arguments"), name) {
			t.Fatalf("not asked for: %v", at(o, "output"))
		}
		o = r.respondTo(t, true, map[string]any{"model": "careful", "previous_response_id": o["id"], "input": []any{
			map[string]any{"type": "mcp_approval_response", "approval_request_id": item["id"], "approve": approve},
		}})
		if o["status"] != "completed" || (r.fileOf(name+".txt") != "") != approve {
			t.Errorf("%s: %v; the file has %q", name, o, r.fileOf(name+".txt"))
		}
	}
	r.Clean(time.Minute)
}
