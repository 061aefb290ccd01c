package mind

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Move is what the model does in one response.
type Move struct {
	// Wait comes before everything, Slow before each piece.
	Wait, Slow time.Duration
	// Fault ends the response; what else is set is said before it.
	Fault *Fault
	// Think is a reasoning summary.
	Think string
	// Say is a text. With Calls it is commentary before them.
	Say string
	// Fit asks for a Say of the schema that the request names, if it names one.
	Fit bool
	// Calls are tool calls, made at once; without one the turn ends here.
	Calls []*Call
	// Use is how many tokens the response counts; zero numbers are the provider's.
	Use Use
}

// Use is tokens of one response.
type Use struct{ Input, Output int }

// CallKind says which of a CLI's tools is meant. The set is closed.
type CallKind uint8

// Kinds of calls.
const (
	Shell    CallKind = iota + 1 // Args: the command line
	Write                        // Name: the path; Args: the content
	MCP                          // Server, Name: the tool; Args: JSON
	Function                     // Name: the tool, whoever serves it; Args: JSON
	Subagent                     // Args: the prompt of the subagent
	Join                         // waits for the subagents set to work so far
)

// Call is one tool call.
type Call struct {
	Kind               CallKind
	Server, Name, Args string
}

// Fault is a failure of the provider.
type Fault struct {
	// Kind is an HTTP status (400, 401, 403, 404, 429, 500, 503, 529), or one of
	// context (prompt too long), quota, cut (the stream breaks off), stall (the
	// stream goes quiet for good), garbage (a broken stream), incomplete (output
	// limit), refusal.
	Kind string
	// Times is how many attempts fail, 0 for all.
	Times int
}

// Who said a message.
type Who uint8

// Speakers of a conversation.
const (
	User Who = iota + 1
	Model
	Tool
)

// Message is one part of a conversation. Of a tool it is the result.
type Message struct {
	From Who
	Text string
}

// Now stands between an earlier conversation that a prompt tells and what the user
// says in it: what was played once is not played again.
const Now = "The user's message now:"

// Next says what the model does after the conversation so far. offered says
// whether there is a tool of a name, for calls that are only tried; nil offers all.
func Next(talk []Message, offered func(tool string) bool) Move {
	newest := len(talk) - 1
	for newest >= 0 && talk[newest].From != User {
		newest--
	}
	if newest < 0 {
		return Move{Say: "There was no question."}
	}
	before, prompt := talk[:newest], talk[newest].Text
	if at := strings.LastIndex(prompt, Now); at >= 0 {
		before = append(slices.Clone(before), Message{From: User, Text: prompt[:at]})
		prompt = prompt[at+len(Now):]
	}
	var results []string
	for _, m := range talk[newest:] {
		if m.From == Tool {
			results = append(results, m.Text)
		}
	}
	plain, list := Directives(prompt)
	list = slices.DeleteFunc(list, func(d Directive) bool {
		return d.Name == "try" && offered != nil && !offered(callOf(d).Name)
	})
	m, answered := play(list, len(results))
	if !answered {
		heard, _ := Directives(talk[newest].Text)
		m.Say = answer(before, plain, heard, results)
	}
	return m
}

// play carries out the directives behind the done-th call up to the next one.
// It says whether they end the response in a way of their own.
func play(list []Directive, done int) (m Move, answered bool) {
	var says, thoughts []string
	calls := 0
	for _, d := range list {
		if d.Name == "slow" {
			m.Slow = millis(d.Arg)
		}
		if d.Name == "use" {
			input, output, _ := strings.Cut(d.Arg, " ")
			m.Use = Use{Input: number(input), Output: number(output)}
		}
	}
	for i, d := range list {
		call := callOf(d)
		if call == nil && calls != done {
			continue
		}
		switch {
		case call != nil:
			calls++
			if calls > done {
				m.Calls, answered = append(m.Calls, call), true
			}
		case d.Name == "say":
			says, answered = append(says, d.Arg), true
		case d.Name == "count":
			says, answered = append(says, count(number(d.Arg))), true
		case d.Name == "big":
			says, answered = append(says, strings.Repeat("x", number(d.Arg))), true
		case d.Name == "json":
			says, m.Fit, answered = append(says, "{}"), true, true
		case d.Name == "think":
			thoughts = append(thoughts, d.Arg)
		case d.Name == "wait":
			m.Wait += millis(d.Arg)
		case d.Name == "error":
			kind, times, _ := strings.Cut(d.Arg, " ")
			m.Fault, answered = &Fault{Kind: kind, Times: number(times)}, true
		}
		joined := i+1 < len(list) && list[i+1].Name == "and"
		if m.Fault != nil || len(m.Calls) > 0 && !joined {
			break
		}
	}
	m.Say, m.Think = strings.Join(says, "\n"), strings.Join(thoughts, "\n")
	return m, answered
}

func callOf(d Directive) *Call {
	switch d.Name {
	case "shell":
		return &Call{Kind: Shell, Args: d.Arg}
	case "write":
		path, text, _ := strings.Cut(d.Arg, " ")
		return &Call{Kind: Write, Name: path, Args: text}
	case "join":
		return &Call{Kind: Join}
	case "task":
		return &Call{Kind: Subagent, Args: d.Arg}
	case "mcp":
		f := strings.SplitN(d.Arg, " ", 3)
		for len(f) < 3 {
			f = append(f, "")
		}
		return &Call{Kind: MCP, Server: f[0], Name: f[1], Args: object(f[2])}
	case "call", "try":
		name, args, _ := strings.Cut(d.Arg, " ")
		return &Call{Kind: Function, Name: name, Args: object(args)}
	}
	return nil
}

func object(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return "{}"
	}
	return s
}

func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func millis(s string) time.Duration { return time.Duration(number(s)) * time.Millisecond }

func count(n int) string {
	var b []byte
	for i := 1; i <= n; i++ {
		if i > 1 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(i), 10)
	}
	return string(b)
}

// maxPiece keeps a text without blanks from being one piece.
const maxPiece = 4 << 10

// Pieces parts a text the way a model streams it: word by word, each with the
// blanks behind it. They join to the text again.
func Pieces(text string) []string {
	var list []string
	for len(text) > 0 {
		n := strings.IndexByte(text, ' ') + 1
		if n == 0 || n > maxPiece {
			n = min(len(text), maxPiece)
		}
		for n < len(text) && text[n] == ' ' {
			n++
		}
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		list = append(list, text[:n])
		text = text[n:]
	}
	return list
}
