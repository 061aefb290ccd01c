package event

// EnvironmentStatus is how it stands with an environment.
type EnvironmentStatus string

// Statuses of an environment, in the words of the Agents wire.
const (
	EnvironmentPending EnvironmentStatus = "pending"
	EnvironmentReady   EnvironmentStatus = "ready"
	EnvironmentFailed  EnvironmentStatus = "failed"
)

// Environment is what a turn waits for before its CLI can be started.
type Environment struct {
	ID     ID                `json:"id"`
	Type   string            `json:"type"`
	Status EnvironmentStatus `json:"status"`
	// Failure is why it is failed.
	Failure *Failure `json:"failure,omitempty"`
}
