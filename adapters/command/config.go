package command

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/agenthost/agenthost/adapters/internal/argv"
)

// Config is a declarative adapter, with the key names of the configuration file.
type Config struct {
	Command []string `yaml:"command" json:"command"`
	Prompt  string   `yaml:"prompt" json:"prompt"` // argv, stdin
	Output  Output   `yaml:"output" json:"output"`
	JSONL   Paths    `yaml:"jsonl" json:"jsonl"`
	Resume  Resume   `yaml:"resume" json:"resume"`
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

// Resume says how a conversation goes on.
type Resume struct {
	Args []string `yaml:"args" json:"args"`
	// SessionIDFrom is the path of the CLI's session id in its output; nil or "" for
	// jsonl.session_path.
	SessionIDFrom *string `yaml:"session_id_from" json:"session_id_from"`
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

var (
	validName   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	validEnv    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	placeholder = regexp.MustCompile(`\{[a-z_]+\}`)
)

// check fills defaults and reports the first wrong key.
func (c *Config) check() error {
	if c.Prompt == "" {
		c.Prompt = "stdin"
	}
	if c.Output.Format == "" {
		c.Output.Format = formatText
	}
	if len(c.Command) == 0 || c.Command[0] == "" {
		return &KeyError{"command", "the program is missing"}
	}
	if placeholder.MatchString(c.Command[0]) {
		return &KeyError{"command[0]", "the program cannot hold a placeholder"}
	}
	prompts, err := placeholders("command", c.Command)
	if err != nil {
		return err
	}
	switch {
	case c.Prompt != "argv" && c.Prompt != "stdin":
		return &KeyError{"prompt", fmt.Sprintf("%q is not one of argv, stdin", c.Prompt)}
	case c.Prompt == "argv" && prompts != 1:
		return &KeyError{"command", fmt.Sprintf("prompt: argv needs {prompt} once, it is there %d times", prompts)}
	case c.Prompt == "stdin" && prompts != 0:
		return &KeyError{"command", "{prompt} belongs to prompt: argv"}
	}
	if prompts, err = placeholders("resume.args", c.Resume.Args); err != nil {
		return err
	}
	if prompts != 0 {
		return &KeyError{"resume.args", "{prompt} belongs into command"}
	}
	return c.checkOutput()
}

func (c *Config) checkOutput() error {
	switch c.Output.Format {
	case formatText, formatJSONL, formatCodex, formatClaude, formatCursor:
	default:
		return &KeyError{"output.format", fmt.Sprintf("%q is not one of text, jsonl, jsonl-codex, jsonl-claude, jsonl-cursor", c.Output.Format)}
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
			return &KeyError{key, "belongs to output.format: jsonl"}
		}
		if _, err := parsePath(paths[key]); err != nil {
			return &KeyError{key, err.Error()}
		}
	}
	if c.Output.Format == formatJSONL && c.JSONL.Text == "" && c.JSONL.Message == "" {
		return &KeyError{"jsonl", "text_path or message_path is needed: nothing would be the answer"}
	}
	if c.Output.Format == formatText && usesSession(c.Resume.Args) {
		return &KeyError{"resume.args", "{session_id} has no source in output.format: text"}
	}
	if c.Output.Format == formatJSONL && usesSession(c.Resume.Args) && c.sessionPath() == "" {
		return &KeyError{"resume.args", "{session_id} has no source; set resume.session_id_from or jsonl.session_path"}
	}
	names := map[string]string{"llm_env.api_key": c.LLMEnv.APIKey, "llm_env.base_url": c.LLMEnv.BaseURL, "llm_env.model": c.LLMEnv.Model}
	for _, key := range argv.Sorted(names) {
		if name := names[key]; name != "" && !validEnv.MatchString(name) {
			return &KeyError{key, fmt.Sprintf("%q is no name of a variable", name)}
		}
	}
	return nil
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
func placeholders(key string, args []string) (prompts int, err error) {
	for i, a := range args {
		for _, p := range placeholder.FindAllString(a, -1) {
			switch p {
			case "{prompt}":
				prompts++
			case "{session_id}", "{model}", "{workdir}":
			default:
				return 0, &KeyError{fmt.Sprintf("%s[%d]", key, i), fmt.Sprintf("%s is not one of {prompt}, {session_id}, {model}, {workdir}", p)}
			}
		}
	}
	return prompts, nil
}
