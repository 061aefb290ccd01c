package actors

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// askLimit bounds the answer of a program that is asked about itself.
const askLimit = 5 * time.Second

// ask runs the program with args; ok is false when it did not answer.
func (b *binary) ask(ctx context.Context, environ, args []string) (text string, ok bool) {
	limited, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	cmd := exec.CommandContext(limited, b.path, args...)
	cmd.Env = childEnv(environ, nil)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	return string(out), err == nil
}

// version asks the program once per change of its file. One that did not answer is
// not asked again either, unless it was the caller who left.
func (r *runtimes) version(ctx context.Context, rc *RuntimeConfig, environ []string) string {
	asker, ok := rc.Adapter.(agent.Versioner)
	if !ok {
		return ""
	}
	b, err := r.look(rc)
	if err != nil || b.asked {
		return b.version
	}
	if out, ok := b.ask(ctx, environ, asker.VersionArgs()); ok {
		line, _, _ := strings.Cut(out, "\n")
		b.version = strings.TrimSpace(line)
	} else if ctx.Err() != nil {
		return ""
	}
	b.asked = true
	r.keepAnswer(rc, b)
	return b.version
}

// help is what the program says when it is asked with args, "" when it does not
// answer. It is asked once per change of its file, like for its version.
func (r *runtimes) help(ctx context.Context, rc *RuntimeConfig, environ, args []string) string {
	b, err := r.look(rc)
	if err != nil {
		return ""
	}
	key := strings.Join(args, " ")
	if text, asked := b.help[key]; asked {
		return text
	}
	text, ok := b.ask(ctx, environ, args)
	if !ok && ctx.Err() != nil {
		return ""
	}
	if !ok {
		text = ""
	}
	b.help = maps.Clone(b.help)
	if b.help == nil {
		b.help = map[string]string{}
	}
	b.help[key] = text
	r.keepAnswer(rc, b)
	return text
}

// keepAnswer notes what the program said, as long as it is the same.
func (r *runtimes) keepAnswer(rc *RuntimeConfig, b binary) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found[rc.Adapter.Name()] = b
}

// Lack is a word of its command line that an installed program does not take.
type Lack struct {
	Word string
	// Param is the field of a request that asks for it, "" for every turn.
	Param string
}

var versionNumber = regexp.MustCompile(`\b\d+\.\d+\.\d+`)

// lacking are the words that the installed program does not list: of args, or with
// nil of all that the adapter may use. Nothing is known of one that is the version
// the adapter was tested with, that tells no version, or that lists nothing.
func (h *Host) lacking(ctx context.Context, rc *RuntimeConfig, args []string) []Lack {
	flagged, ok := rc.Adapter.(agent.Flagged)
	if !ok {
		return nil
	}
	version := h.runtimes.version(ctx, rc, h.cfg.environ)
	if !versionNumber.MatchString(version) || version == rc.Proof.Version {
		return nil
	}
	ask, words := flagged.Help(args)
	var needed []string
	for _, word := range slices.Sorted(maps.Keys(words)) {
		if args == nil || slices.ContainsFunc(args, func(a string) bool { return a == word || strings.HasPrefix(a, word+"=") }) {
			needed = append(needed, word)
		}
	}
	if len(needed) == 0 {
		return nil
	}
	text := h.runtimes.help(ctx, rc, h.cfg.environ, ask)
	if !lists(text, "--help") {
		return nil
	}
	var out []Lack
	for _, word := range needed {
		if !lists(text, word) {
			out = append(out, Lack{word, words[word]})
		}
	}
	return out
}

// lists says that a word stands in a help text by itself.
func lists(text, word string) bool {
	part := func(c byte) bool {
		return c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(word)
		if (from == 0 || !part(text[from-1])) && (to == len(text) || !part(text[to])) {
			return true
		}
		at = to
	}
}

// able refuses a run with args that the installed program cannot make.
func (h *Host) able(ctx context.Context, rc *RuntimeConfig, args []string) error {
	if args == nil {
		args = []string{}
	}
	lacks := h.lacking(ctx, rc, args)
	if len(lacks) == 0 {
		return nil
	}
	lack, name := lacks[0], rc.Adapter.Name()
	version := h.runtimes.version(ctx, rc, h.cfg.environ)
	remedy := rc.remedy()
	if list := h.Installable(name); len(list) > 0 {
		remedy = fmt.Sprintf("version %s has it; %s", list[0], remedy)
	}
	if lack.Param == "" {
		return event.Fail(event.RuntimeNotInstalled, fmt.Sprintf("the installed program of %s, %s, takes no %s, which every turn needs; %s", name, version, lack.Word, remedy))
	}
	return event.FailParam(event.Unsupported, lack.Param, fmt.Sprintf("the installed program of %s, %s, takes no %s, which %s needs; %s; or leave %s out",
		name, version, lack.Word, lack.Param, remedy, lack.Param))
}

// lessThan leaves out the capabilities that need what the program lacks.
func lessThan(caps agent.Capabilities, lacks []Lack) agent.Capabilities {
	for _, l := range lacks {
		switch l.Param {
		case "text.format":
			caps.Schema = false
		case "input":
			caps.Images = false
		case "reasoning.effort":
			caps.Reasoning = false
		case "limits.max_turns":
			caps.MaxTurns = false
		case "limits.max_budget_usd":
			caps.Budget = false
		case "mcp_servers":
			caps.MCP, caps.Functions = false, false
		case "instructions":
			caps.Instructions = false
		case "previous_response_id":
			caps.Resume = false
		}
	}
	return caps
}
