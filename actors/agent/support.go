package agent

// Support is what tests found out about one feature of an adapter. The set is
// closed.
type Support string

// The words of the capability matrix.
const (
	// Verified was seen to work with a real run of the CLI.
	Verified Support = "verified"
	// PassedThrough reaches the CLI; what it makes of it was not looked at.
	PassedThrough Support = "passed_through"
	// Refused is refused by name before anything is started.
	Refused Support = "refused"
	// Lacking is nothing that the CLI does: it is not asked for it, and a turn that
	// wishes for it runs without.
	Lacking Support = "none"
)

// Proof is what is known about an adapter's features.
type Proof struct {
	// Version is that of the program with which features were verified, "" for none.
	Version  string
	Features map[string]Support
}
