package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/agenthost/agenthost/actors/crash"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// maxPath bounds a workspace's path.
const maxPath = 4096

// place fills in where the session works.
func (h *Host) place(s *spec.Session) error {
	env := &s.Environment
	if env.Type == "" {
		env.Type = spec.EnvSelfHosted
	}
	if env.ID.IsZero() {
		env.ID = event.NewID()
	}
	own := filepath.Join(h.cfg.stateDir, "workspaces", s.ID.Hex())
	switch env.Type {
	case spec.EnvNone: // empty, whatever the agent is used to
		if env.Workspace != "" {
			return event.FailParam(event.InvalidRequest, workspaceParam, "an environment of type none has no workspace_directory; leave it out or use self_hosted")
		}
		env.Workspace = own
		return nil
	case spec.EnvSelfHosted:
		env.Workspace = cmp.Or(env.Workspace, s.Agent.Workspace, h.cfg.workspace, own)
	default: // hosted: private to the session
		env.Workspace = cmp.Or(env.Workspace, own)
	}
	if env.Workspace == own {
		return nil
	}
	dir, err := h.cleanWorkspace(env.Workspace)
	env.Workspace = dir
	return err
}

const workspaceParam = "environment.workspace_directory"

// cleanWorkspace refuses a path that says something else than it seems to, and the
// host's own rooms, where other sessions work.
func (h *Host) cleanWorkspace(dir string) (string, error) {
	refuse := func(why string) error {
		return event.FailParam(event.InvalidRequest, workspaceParam, "workspace_directory "+why)
	}
	clean := filepath.Clean(dir)
	switch {
	case !filepath.IsAbs(dir) || strings.ContainsRune(dir, 0):
		return "", refuse("must be an absolute path")
	case len(dir) > maxPath:
		return "", refuse(fmt.Sprintf("may have at most %d bytes", maxPath))
	case slices.Contains(strings.Split(filepath.ToSlash(dir), "/"), ".."):
		return "", refuse("may not contain ..")
	case clean == h.cfg.stateDir:
		return "", refuse("is the host's state directory; name another")
	}
	for _, room := range rooms {
		if within(filepath.Join(h.cfg.stateDir, room), clean) {
			return "", refuse("lies in a directory that the host keeps for itself; name another")
		}
	}
	return clean, nil
}

func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))
}

// workspace is where the session works now. A private one is where the state
// directory is, which may have been moved since the session was made; no caller can
// have named it, because the session's id is in it.
func (h *Host) workspace(s *spec.Session) (dir string, private bool) {
	dir = s.Environment.Workspace
	if strings.HasSuffix(filepath.ToSlash(dir), "/workspaces/"+s.ID.Hex()) {
		return filepath.Join(h.cfg.stateDir, "workspaces", s.ID.Hex()), true
	}
	return dir, false
}

func (h *Host) workspaceReady(s *spec.Session) error {
	dir, private := h.workspace(s)
	if private {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return workspaceFailure("the session's private workspace cannot be made", err)
		}
		return nil
	}
	return enterable(dir)
}

// enterable refuses what a CLI cannot be started in. Behind the slash and the dot it is
// looked up like a file within, which takes a directory and the right to enter it.
func enterable(dir string) error {
	_, err := os.Stat(dir + "/.")
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOTDIR):
		return &event.Failure{Code: event.WorkspaceUnavail, Message: fmt.Sprintf("the workspace %s is not a directory; name one", dir), Cause: err}
	case errors.Is(err, fs.ErrPermission):
		return workspaceFailure(fmt.Sprintf("the workspace %s may not be entered by the user that the host runs as; change its permissions or name another", dir), err)
	}
	return workspaceFailure(fmt.Sprintf("the workspace %s cannot be used; make it or name another", dir), err)
}

// lookTime is how long a workspace may take to be found. It may lie on a disk that does
// not answer.
const lookTime = 5 * time.Second

// workspaceThere refuses a new session whose workspace is not there: its first turn
// would only fail. named says that the caller named it. It looks at the disk, so it is
// not for a Receive.
func (h *Host) workspaceThere(ctx context.Context, s *spec.Session, named bool) error {
	dir, private := h.workspace(s)
	if private {
		return nil
	}
	found := make(chan error, 1)
	go func() { // ends with its one call of the system
		defer crash.Guard()
		found <- enterable(dir)
	}()
	late := time.NewTimer(lookTime)
	defer late.Stop()
	var err error
	select {
	case err = <-found:
	case <-late.C:
		err = event.Fail(event.WorkspaceUnavail, fmt.Sprintf("the workspace %s did not answer within %s; see to its disk or name another", dir, lookTime))
	case <-ctx.Done():
		return ctx.Err()
	}
	if f, ok := event.AsFailure(err); ok && named {
		return &event.Failure{Code: event.InvalidRequest, Param: workspaceParam, Cause: f,
			Message: f.Message + " (workspace_directory must be an existing directory of the host, by its absolute path)"}
	}
	return err
}

func workspaceFailure(what string, err error) *event.Failure {
	var pe *os.PathError
	if errors.As(err, &pe) {
		what += ": " + pe.Err.Error()
	}
	return &event.Failure{Code: event.WorkspaceUnavail, Message: what, Cause: err}
}

// removeWorkspace removes a session's private workspace.
func (h *Host) removeWorkspace(s *spec.Session) {
	if s == nil {
		return
	}
	dir, private := h.workspace(s)
	if !private {
		return
	}
	if err := os.RemoveAll(dir); err != nil {
		h.log.Warn("workspace could not be removed", "session", s.ID, "error", err)
	}
}
