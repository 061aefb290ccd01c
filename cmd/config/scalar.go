package config

import (
	"fmt"
	"reflect"
	"sort"
	"strings"
	"time"
)

// Scalar is one setting that a flag or a variable can set too.
type Scalar struct {
	Key  string // limits.max_queue
	Help string
	// Default is the value as a person writes it; Bool says it is true or false.
	Default string
	Bool    bool

	field field
}

// Flag is the name of the setting's flag, without the dashes.
func (s Scalar) Flag() string { return strings.ReplaceAll(s.Key, "_", "-") }

// Variable is the name of the setting's variable.
func (s Scalar) Variable() string {
	return "AGENTHOST_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(s.Key))
}

// Scalars lists the settings that have a flag and a variable, in the order of
// the file. Adapters that are not built in are only in the file.
func (c *Config) Scalars() []Scalar { return scalars(reflect.ValueOf(c).Elem(), "") }

func scalars(v reflect.Value, path string) []Scalar {
	var out []Scalar
	list, rest := fields(v)
	for _, f := range list {
		at := join(path, f.key)
		switch {
		case f.value.Kind() == reflect.Struct:
			out = append(out, scalars(f.value, at)...)
		case f.value.Kind() == reflect.Slice || f.value.Kind() == reflect.Map:
		default:
			if help := help(v.Type(), f.key); help != "" {
				out = append(out, Scalar{Key: at, Help: help, Default: written(f.value), Bool: f.value.Kind() == reflect.Bool, field: f})
			}
		}
	}
	if rest.IsValid() {
		names := append([]string(nil), BuiltIn...)
		sort.Strings(names)
		for _, name := range names {
			if entry := rest.MapIndex(reflect.ValueOf(name)); entry.IsValid() {
				out = append(out, scalars(entry.Elem(), join(path, name))...)
			}
		}
	}
	return out
}

func help(t reflect.Type, key string) string {
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("yaml") == key {
			return t.Field(i).Tag.Get("help")
		}
	}
	return ""
}

// written is a scalar as a person writes it.
func written(v reflect.Value) string {
	d, ok := v.Interface().(time.Duration)
	if !ok {
		return fmt.Sprint(v.Interface())
	}
	s := d.String() // 5m0s, 720h0m0s
	if t, ok := strings.CutSuffix(s, "m0s"); ok {
		s = t + "m"
	}
	if t, ok := strings.CutSuffix(s, "h0m"); ok {
		s = t + "h"
	}
	return s
}
