package config

import _ "embed"

// Example is a file with every key and its default, explained.
//
//go:embed example.yaml
var Example string
