package spec

import (
	"fmt"
	"io"
	"log/slog"
)

// Masked is what is shown in the place of a secret.
const Masked = "[redacted]"

// Secret is a value that nothing may show or store: it prints, logs and marshals as
// Masked. Only Reveal gives it.
type Secret struct {
	text *string // a pointer: fmt would print a string in another struct's private field
}

// NewSecret keeps text.
func NewSecret(text string) Secret { return Secret{&text} }

// Reveal gives the value, for the one place that hands it on.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// String is Masked.
func (Secret) String() string { return Masked }

// Format prints Masked for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Masked) }

// MarshalJSON writes Masked.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + Masked + `"`), nil }

// MarshalText writes Masked.
func (Secret) MarshalText() ([]byte, error) { return []byte(Masked), nil }

// LogValue is Masked.
func (Secret) LogValue() slog.Value { return slog.StringValue(Masked) }
