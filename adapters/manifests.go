package adapters

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/agenthost/agenthost/actors/agent"
)

//go:embed manifests.json
var manifestsFile []byte

// Manifests are the versions of an adapter's CLI that a host may install, the
// newest first; none for an adapter without any. They are facts about packages: a
// lock file of the package without addresses, so that npm asks its own registry and
// compares what comes with our checksums.
func Manifests(adapter string) ([]agent.Manifest, error) {
	all, err := ReadManifests(manifestsFile)
	if err != nil {
		return nil, err
	}
	var out []agent.Manifest
	for i := range all {
		if all[i].Adapter == adapter {
			out = append(out, all[i])
		}
	}
	return out, nil
}

// ReadManifests reads the form of manifests.json.
func ReadManifests(text []byte) ([]agent.Manifest, error) {
	var out []agent.Manifest
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("manifests: %w", err)
	}
	for i := range out {
		if err := out[i].Valid(); err != nil {
			return nil, err
		}
	}
	return out, nil
}
