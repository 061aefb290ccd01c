package main

import (
	"io"

	"github.com/agenthost/agenthost/cmd/config"
)

type configVerbs struct {
	Check   configCheckVerb   `cmd:"" help:"Say whether the configuration is right, and what is wrong with it: exit code 0 or 1."`
	Example configExampleVerb `cmd:"" help:"Print a configuration file with every key, its default and what it means."`
}

type configExampleVerb struct{}

// Run prints the example.
func (configExampleVerb) Run(c *console) error {
	if _, err := io.WriteString(c.out, config.Example); err != nil {
		return exit(exitFailed, err)
	}
	return nil
}

type configCheckVerb struct {
	settings
}

// Run prints OK or every problem.
func (v *configCheckVerb) Run(c *console) error {
	cfg, warnings, err := v.load(nil)
	for _, w := range warnings {
		say(c.err, "warning: %s", w)
	}
	if err != nil {
		code := fail(c.out, exitFailed, err)
		return exit(code, nil)
	}
	say(c.out, "OK (%s)", or(cfg.File, "no file; defaults and variables"))
	return nil
}
