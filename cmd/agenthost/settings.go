package main

import (
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/agenthost/agenthost/cmd/config"
	"github.com/agenthost/agenthost/server"
)

// settings are the flags of a verb that reads the configuration: --config, and
// one flag for each scalar key.
type settings struct {
	File string `name:"config" placeholder:"FILE" help:"Configuration file, YAML or JSON; without it AGENTHOST_CONFIG, then ./agenthost.yaml if it is there."`
	kong.Plugins
	flags reflect.Value
	keys  []config.Scalar
}

// plugSettings gives every verb its flags. They are made from the configuration's
// own list of keys, so there is no second one.
func (v *verbs) plugSettings() {
	v.Serve.plug(false)
	for _, s := range []*settings{&v.Run.settings, &v.Doctor.settings, &v.Install.settings, &v.Config.Check.settings, &v.CheckConfig.settings, &v.Healthcheck.settings, &v.Store.Dump.settings,
		&v.Store.Check.settings, &v.Store.Repair.settings, &v.Store.Compact.settings, &v.Store.Export.settings, &v.Store.Import.settings, &v.Adapter.Certify.settings, &v.Policy.Check.settings, &v.Policy.Explain.settings, &v.Audit.Export.settings} {
		s.plug(true) // they work, and the help of serve lists them
	}
}

func (s *settings) plug(hidden bool) {
	here := config.Here("", nil)
	s.keys = config.Default(here.Home, here.Root).Scalars()
	fields := make([]reflect.StructField, len(s.keys))
	for i, k := range s.keys {
		kind := reflect.TypeFor[*string]()
		tag := fmt.Sprintf(`name:%q help:%q group:"settings" placeholder:%q`, k.Flag(), sentence(k.Help), or(k.Default, "TEXT"))
		if k.Bool {
			kind = reflect.TypeFor[*bool]()
			tag = fmt.Sprintf(`name:%q help:%q group:"settings"`, k.Flag(), sentence(k.Help))
		}
		if hidden {
			tag += ` hidden:""`
		}
		fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: kind, Tag: reflect.StructTag(tag)}
	}
	p := reflect.New(reflect.StructOf(fields))
	s.flags = p.Elem()
	s.Plugins = kong.Plugins{p.Interface()}
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// given are the flags that were set, by key.
func (s *settings) given() map[string]string {
	out := map[string]string{}
	for i, k := range s.keys {
		switch p := s.flags.Field(i).Interface().(type) {
		case *string:
			if p != nil {
				out[k.Key] = *p
			}
		case *bool:
			if p != nil {
				out[k.Key] = fmt.Sprint(*p)
			}
		}
	}
	return out
}

// load reads the configuration; extra are flags of the verb itself that set a
// key.
func (s *settings) load(extra map[string]string) (*config.Config, []string, error) {
	flags := s.given()
	for k, v := range extra {
		flags[k] = v
	}
	src := config.Here(s.File, flags)
	src.Aliases, src.Operations = aliases(), operations()
	cfg, warnings, err := config.Load(src)
	if err != nil {
		return cfg, warnings, exit(exitUsage, err)
	}
	return cfg, warnings, nil
}

// operations are those that a policy decides on.
func operations() (out []config.Operation) {
	for _, o := range server.Operations() {
		if o.Gated {
			out = append(out, config.Operation{ID: o.ID, Old: o.Old})
		}
	}
	return out
}

// logger writes to standard error as the configuration says.
func logger(c *console, l config.Log) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.Level)); err != nil {
		level = slog.LevelInfo // checked before
	}
	opts := &slog.HandlerOptions{Level: level}
	if l.Format == "json" {
		return slog.New(slog.NewJSONHandler(c.err, opts))
	}
	return slog.New(slog.NewTextHandler(c.err, opts))
}

// env reads a variable of this process.
func env(name string) string {
	if name == "" {
		return ""
	}
	return os.Getenv(name)
}
