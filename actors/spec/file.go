package spec

import "github.com/agenthost/agenthost/actors/event"

// File is what is known of a stored file; its content is read through the host.
type File struct {
	ID    event.ID `json:"id"`
	Owner string   `json:"owner"`
	// Name is what the caller calls it. It is shown and never a path.
	Name    string `json:"name"`
	Purpose string `json:"purpose"`
	Bytes   int64  `json:"bytes"`
	Created int64  `json:"created"` // Unix seconds
}
