package spec

import "github.com/agenthost/agenthost/actors/event"

// Artifact is what is known of a file that a completed turn published; its content
// is read through the host. It never changes: a turn that writes the same file
// publishes another artifact.
type Artifact struct {
	ID          event.ID `json:"id"`
	Session     event.ID `json:"session"`
	Turn        event.ID `json:"turn"`
	Environment event.ID `json:"environment"`
	// Path is where the file was in the workspace, with slashes and without the way
	// to the workspace.
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`  // hex, of the content
	Media   string `json:"media"`   // media type, a guess
	Created int64  `json:"created"` // Unix seconds
}
