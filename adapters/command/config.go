package command

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/agenthost/agenthost/adapters/internal/argv"
)

// Config is a declarative adapter, with the key names of the configuration file.
type Config struct {
	// Binary is the program where it is not the first element of Command.
	Binary  string   `yaml:"binary" json:"binary"`
	Command []string `yaml:"command" json:"command"`
	Prompt  string   `yaml:"prompt" json:"prompt"` // argv, stdin
	Output  Output   `yaml:"output" json:"output"`
	JSONL   Paths    `yaml:"jsonl" json:"jsonl"`
	Resume  Resume   `yaml:"resume" json:"resume"`
	Exit    Exit     `yaml:"exit" json:"exit"`
	LLMEnv  LLMEnv   `yaml:"llm_env" json:"llm_env"`
	Aliases []string `yaml:"aliases" json:"aliases"`
}

// Output says what the CLI prints.
type Output struct {
	Format string `yaml:"format" json:"format"` // text, jsonl, jsonl-codex, jsonl-claude, jsonl-cursor
}

// Paths say where in a line of format jsonl things are: ".message.text", with
// numbers for list entries. An empty one is nowhere.
type Paths struct {
	Text    string `yaml:"text_path" json:"text_path"`       // a piece of the answer
	Message string `yaml:"message_path" json:"message_path"` // a whole message
	Error   string `yaml:"error_path" json:"error_path"`     // a text, or an object with a message
	Session string `yaml:"session_path" json:"session_path"`
	Usage   string `yaml:"usage_path" json:"usage_path"`
	Done    string `yaml:"done_path" json:"done_path"`
}

// Resume says how a conversation goes on: with further arguments, or with others.
type Resume struct {
	// Args are added to Command on every turn but the first.
	Args []string `yaml:"args" json:"args"`
	// Argv stands in place of Command there; it begins with the same program.
	Argv []string `yaml:"argv" json:"argv"`
	// SessionIDFrom is the path of the CLI's session id in its output; nil or "" for
	// jsonl.session_path.
	SessionIDFrom *string `yaml:"session_id_from" json:"session_id_from"`
}

// Exit says what the exit status means where the output does not tell.
type Exit struct {
	// Success are the statuses of a turn that succeeded; nil for 0.
	Success []int `yaml:"success" json:"success"`
	// Failures give a status the code of its failure.
	Failures map[string]string `yaml:"failures" json:"failures"`
}

// LLMEnv names the variables in which the CLI expects its provider.
type LLMEnv struct {
	APIKey  string `yaml:"api_key" json:"api_key"`
	BaseURL string `yaml:"base_url" json:"base_url"`
	Model   string `yaml:"model" json:"model"`
}

// Formats of output.
const (
	formatText   = "text"
	formatJSONL  = "jsonl"
	formatCodex  = "jsonl-codex"
	formatClaude = "jsonl-claude"
	formatCursor = "jsonl-cursor"
)

// KeyError is a wrong value in a definition. Key is its path, such as
// "output.format".
type KeyError struct {
	Key, Problem string
}

func (e *KeyError) Error() string { return e.Key + ": " + e.Problem }

// KeyErrors are all that an error of New names.
func KeyErrors(err error) []*KeyError {
	var many interface{ Unwrap() []error }
	if !errors.As(err, &many) {
		return nil
	}
	var list []*KeyError
	for _, one := range many.Unwrap() {
		var wrong *KeyError
		if errors.As(one, &wrong) {
			list = append(list, wrong)
		}
	}
	return list
}

var (
	validName   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	validEnv    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	placeholder = regexp.MustCompile(`\{[a-z_]+\}`)
)

// problems are the wrong keys of a definition.
type problems []error

func (p *problems) add(key, format string, args ...any) {
	*p = append(*p, &KeyError{key, fmt.Sprintf(format, args...)})
}

// check fills defaults and reports every wrong key: *KeyErrors, joined.
func (c *Config) check() error {
	if c.Prompt == "" {
		c.Prompt = "stdin"
	}
	if c.Output.Format == "" {
		c.Output.Format = formatText
	}
	var p problems
	if placeholder.MatchString(c.Binary) {
		p.add("binary", "the program cannot hold a placeholder")
	}
	if c.Prompt != "argv" && c.Prompt != "stdin" {
		p.add("prompt", "%q is not one of argv, stdin", c.Prompt)
	}
	c.checkTemplate(&p, "command", c.Command)
	c.checkResume(&p)
	c.checkOutput(&p)
	c.checkExit(&p)
	c.checkNames(&p)
	return errors.Join(p...)
}

// checkTemplate judges a whole command line.
func (c *Config) checkTemplate(p *problems, key string, template []string) {
	if len(template) == 0 || template[0] == "" {
		p.add(key, "the program is missing")
		return
	}
	if placeholder.MatchString(template[0]) {
		p.add(key+"[0]", "the program cannot hold a placeholder")
		return
	}
	switch prompts := placeholders(p, key, template); {
	case c.Prompt == "argv" && prompts != 1:
		p.add(key, "prompt: argv needs {prompt} once, it is there %d times", prompts)
	case c.Prompt == "stdin" && prompts != 0:
		p.add(key, "{prompt} belongs to prompt: argv")
	}
}

func (c *Config) checkResume(p *problems) {
	key, args := "resume.args", c.Resume.Args
	switch {
	case c.Resume.Argv != nil && c.Resume.Args != nil:
		p.add("resume.argv", "resume.args belongs to the arguments of command; keep one of both")
		return
	case c.Resume.Argv != nil:
		key, args = "resume.argv", c.Resume.Argv
		before := len(*p)
		c.checkTemplate(p, key, args)
		if len(*p) == before && len(c.Command) > 0 && args[0] != c.Command[0] {
			p.add("resume.argv[0]", "a later turn runs the same program, %q", c.Command[0])
		}
	case placeholders(p, key, args) != 0:
		p.add(key, "{prompt} belongs into command")
	}
	if f := c.Resume.SessionIDFrom; f != nil && *f != "" && len(args) == 0 {
		p.add("resume.session_id_from", "nothing goes on with it; set resume.args or resume.argv")
	}
	if !usesSession(args) {
		return
	}
	switch {
	case c.Output.Format == formatText:
		p.add(key, "{session_id} has no source in output.format: text")
	case c.Output.Format == formatJSONL && c.sessionPath() == "":
		p.add(key, "{session_id} has no source; set resume.session_id_from or jsonl.session_path")
	}
}

func (c *Config) checkOutput(p *problems) {
	switch c.Output.Format {
	case formatText, formatJSONL, formatCodex, formatClaude, formatCursor:
	default:
		p.add("output.format", "%q is not one of text, jsonl, jsonl-codex, jsonl-claude, jsonl-cursor", c.Output.Format)
		return
	}
	paths := map[string]string{
		"jsonl.text_path": c.JSONL.Text, "jsonl.message_path": c.JSONL.Message, "jsonl.error_path": c.JSONL.Error,
		"jsonl.session_path": c.JSONL.Session, "jsonl.usage_path": c.JSONL.Usage, "jsonl.done_path": c.JSONL.Done,
	}
	if f := c.Resume.SessionIDFrom; f != nil {
		paths["resume.session_id_from"] = *f
	}
	for _, key := range argv.Sorted(paths) {
		if paths[key] == "" {
			continue
		}
		if c.Output.Format != formatJSONL {
			p.add(key, "belongs to output.format: jsonl")
		} else if _, err := parsePath(paths[key]); err != nil {
			p.add(key, "%s", err)
		}
	}
	if c.Output.Format == formatJSONL && c.JSONL.Text == "" && c.JSONL.Message == "" {
		p.add("jsonl", "text_path or message_path is needed: nothing would be the answer")
	}
}

// checkNames judges the names of variables.
func (c *Config) checkNames(p *problems) {
	names := map[string]string{"llm_env.api_key": c.LLMEnv.APIKey, "llm_env.base_url": c.LLMEnv.BaseURL, "llm_env.model": c.LLMEnv.Model}
	for _, key := range argv.Sorted(names) {
		if name := names[key]; name != "" && !validEnv.MatchString(name) {
			p.add(key, "%q is no name of a variable", name)
		}
	}
	seen := map[string]string{}
	for _, key := range argv.Sorted(names) {
		if other := seen[names[key]]; other != "" {
			p.add(key, "is the variable of %s too", other)
		}
		if names[key] != "" {
			seen[names[key]] = key
		}
	}
}

// sessionPath is where the session id is, "" for nowhere.
func (c *Config) sessionPath() string {
	if f := c.Resume.SessionIDFrom; f != nil && *f != "" {
		return *f
	}
	return c.JSONL.Session
}

func usesSession(args []string) bool {
	for _, a := range args {
		if strings.Contains(a, "{session_id}") {
			return true
		}
	}
	return false
}

// placeholders refuses unknown ones and counts {prompt}.
func placeholders(p *problems, key string, args []string) (prompts int) {
	for i, a := range args {
		for _, name := range placeholder.FindAllString(a, -1) {
			switch name {
			case "{prompt}":
				prompts++
			case "{session_id}", "{model}", "{workdir}":
			default:
				p.add(fmt.Sprintf("%s[%d]", key, i), "%s is not one of {prompt}, {session_id}, {model}, {workdir}", name)
			}
		}
	}
	return prompts
}
