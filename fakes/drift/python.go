package drift

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

//go:embed dump.py
var dump string

// Python reads the openai package of a virtual environment's interpreter.
func Python(ctx context.Context, interpreter string) (*SDK, error) {
	cmd := exec.CommandContext(ctx, interpreter, "-I", "-B", "-c", dump, strings.Join(Scope, ","))
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("read the openai package of %s: %w\n%s", interpreter, err, exit.Stderr)
		}
		return nil, fmt.Errorf("read the openai package of %s: %w", interpreter, err)
	}
	s := &SDK{}
	if err := json.Unmarshal(out, s); err != nil {
		return nil, fmt.Errorf("read the openai package of %s: %w", interpreter, err)
	}
	return s, nil
}
