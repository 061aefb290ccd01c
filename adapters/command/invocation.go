package command

import (
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/argv"
)

// Invocation fills the definition in for a turn.
func (a *Adapter) Invocation(r *agent.Request) (*agent.Invocation, error) {
	inv := &agent.Invocation{ExitIsVerdict: a.cfg.exitDecides()}
	template := a.template(r)
	prompt := r.Prompt
	if r.Instructions != "" {
		prompt = r.Instructions + "\n\n" + prompt
	}
	if a.cfg.Prompt == "stdin" {
		inv.Stdin = []byte(prompt)
	} else if err := a.fits(template, prompt); err != nil {
		return nil, err
	}
	values := map[string]string{"{session_id}": r.Native, "{model}": r.Model, "{workdir}": r.Workspace}
	if a.implied(r) != "" || !a.resumes() {
		values["{session_id}"] = ""
	}
	args := fill(template[1:], values, prompt)
	if r.Native != "" && a.resumes() {
		args = beforeDashes(args, template[1:], fill(a.cfg.Resume.Args, values, ""))
	}
	inv.Args = beforeDashes(args, template[1:], r.ExtraArgs)
	for _, e := range [...]struct{ name, value string }{{a.cfg.LLMEnv.APIKey, r.LLM.APIKey}, {a.cfg.LLMEnv.BaseURL, r.LLM.BaseURL}, {a.cfg.LLMEnv.Model, r.Model}} {
		if e.name != "" && e.value != "" {
			inv.Env = append(inv.Env, e.name+"="+e.value)
		}
	}
	return inv, argv.Check(inv.Args)
}

// template is the command line of the turn.
func (a *Adapter) template(r *agent.Request) []string {
	if r.Native != "" && a.cfg.Resume.Argv != nil {
		return a.cfg.Resume.Argv
	}
	return a.cfg.Command
}

func (a *Adapter) takesModel() bool {
	return a.cfg.LLMEnv.Model != "" || slices.ContainsFunc(a.cfg.Command, func(s string) bool { return strings.Contains(s, "{model}") })
}

// fits refuses a prompt that cannot be an argument, or would be read as an option.
func (a *Adapter) fits(template []string, prompt string) error {
	if err := argv.Fits("input", prompt, 256); err != nil {
		return err
	}
	if !strings.HasPrefix(prompt, "-") {
		return nil
	}
	for i, arg := range template {
		if arg == "--" {
			return nil
		}
		if at := strings.Index(arg, "{prompt}"); at > 0 {
			return nil
		} else if at == 0 {
			return event.FailParam(event.InvalidRequest, "input", "the prompt begins with '-', which "+a.name+" would read as an option; write its definition with {prompt} behind \"--\" or as \""+optionBefore(template, i)+"={prompt}\"")
		}
	}
	return nil
}

func optionBefore(command []string, i int) string {
	if i > 1 && strings.HasPrefix(command[i-1], "--") {
		return command[i-1]
	}
	return "--option"
}

// fill replaces placeholders. The prompt is put in last and once, so that nothing in
// it is taken for a placeholder.
func fill(template []string, values map[string]string, prompt string) []string {
	args := make([]string, 0, len(template))
	for _, arg := range template {
		missing := false
		for _, name := range [...]string{"{session_id}", "{model}"} {
			if values[name] == "" && strings.Contains(arg, name) {
				missing = true
				if n := len(args); arg == name && n > 0 && len(args[n-1]) > 1 && args[n-1][0] == '-' && args[n-1] != "--" {
					args = args[:n-1]
				}
			}
		}
		if missing {
			continue
		}
		before, after, has := strings.Cut(arg, "{prompt}")
		before = replace(before, values)
		if has {
			before += prompt + replace(after, values)
		}
		args = append(args, before)
	}
	return args
}

func replace(s string, values map[string]string) string {
	if !strings.Contains(s, "{") {
		return s
	}
	return strings.NewReplacer("{session_id}", values["{session_id}"], "{model}", values["{model}"], "{workdir}", values["{workdir}"]).Replace(s)
}

// beforeDashes adds more to args: at the end, or before the template's own "--".
func beforeDashes(args, template, more []string) []string {
	if !slices.Contains(template, "--") {
		return append(args, more...)
	}
	at := slices.Index(args, "--")
	return slices.Insert(args, at, more...)
}
