package mind

import "strings"

// Directive is one [[name: argument]] of a prompt.
type Directive struct{ Name, Arg string }

// Directives parts a prompt into its plain text and its directives, in order.
// Brackets inside an argument nest, so [[shell: [[ -f x ]] && echo y]] is one
// directive. Double brackets that are no directive stay in the text.
func Directives(prompt string) (plain string, list []Directive) {
	var b strings.Builder
	for {
		at := strings.Index(prompt, "[[")
		if at < 0 {
			break
		}
		d, end, ok := directive(prompt[at:])
		if !ok {
			b.WriteString(prompt[:at+2])
			prompt = prompt[at+2:]
			continue
		}
		b.WriteString(prompt[:at])
		list = append(list, d)
		prompt = prompt[at+end:]
	}
	b.WriteString(prompt)
	return strings.TrimSpace(b.String()), list
}

// directive reads the directive that s starts with and says where it ends. The
// name is looked at first, so that a text full of brackets costs one pass.
func directive(s string) (d Directive, end int, ok bool) {
	name := s[2:]
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && c != '-' {
			name = name[:i]
			break
		}
	}
	rest := s[2+len(name):]
	if name == "" || !strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, "]]") {
		return Directive{}, 0, false
	}
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "[[":
			depth++
			i++
		case "]]":
			depth--
			i++
			if depth == 0 {
				arg := strings.TrimPrefix(s[2+len(name):i-1], ":")
				return Directive{Name: name, Arg: strings.TrimSpace(arg)}, i + 1, true
			}
		}
	}
	return Directive{}, 0, false
}
