package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInstallingByTurnsNeedsTheSwitchAndAManifest(t *testing.T) {
	t.Parallel()
	file := func(text string) string {
		name := filepath.Join(t.TempDir(), "agenthost.yaml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	wanted := file("agents: {codex: {auto_install: true}}\n")
	if _, _, err := load(t, wanted, nil); err == nil || !strings.Contains(err.Error(), "agents.codex.auto_install") || !strings.Contains(err.Error(), "ABX_AGENTS_ALLOW_INSTALL=1") {
		t.Errorf("switched off: %v", err)
	}
	c := good(t, wanted, nil, "ABX_AGENTS_ALLOW_INSTALL=1")
	if !c.AllowInstall || !c.Agents.Runtimes["codex"].AutoInstall {
		t.Errorf("%+v", c.Agents.Runtimes["codex"])
	}
	if c := good(t, "", nil, "ABX_AGENTS_ALLOW_INSTALL=0"); c.AllowInstall {
		t.Error("0 allows it")
	}
	for _, text := range []string{
		"agents: {cursor: {auto_install: true}}\n",
		"agents: {mine: {adapter: command, command: [mine, \"{prompt}\"], output: {format: text}, auto_install: true}}\n",
	} {
		if _, _, err := load(t, file(text), nil, "ABX_AGENTS_ALLOW_INSTALL=1"); err == nil || !strings.Contains(err.Error(), "cannot install") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
