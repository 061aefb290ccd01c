// Package config reads the settings of agenthost: defaults, one file, variables
// and flags, in that rising order.
//
// It owns the names of the keys (config.go is the one list; flags, variables and
// help are derived from it by reflection), the ABX_* names of existing
// deployments (abx.go), and everything said about a bad value: each problem
// names source, line, key, value and remedy, and all are reported at once.
// example.yaml is the explained file with every default; tests hold it and
// docs/configuration.md against the structs.
//
// It opens the named files and reads the environment it is given; it never
// starts anything, never writes, and never puts a secret into a message.
package config
