package redact

import (
	"encoding/base64"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	minValue = 6  // characters a value must have
	minLine  = 16 // and a line of a value of several lines
)

// addForms adds the ways in which a value may appear.
func addForms(forms map[string]bool, value string) {
	value = strings.TrimSpace(value)
	if len(value) > 7 && strings.EqualFold(value[:7], "bearer ") {
		value = strings.TrimSpace(value[7:]) // finds it behind "Bearer " as well
	}
	if utf8.RuneCountInString(value) < minValue || strings.Contains(Mark, value) {
		return
	}
	addText(forms, value)
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		forms[enc.EncodeToString([]byte(value))] = true
		forms[enc.WithPadding(base64.NoPadding).EncodeToString([]byte(value))] = true
	}
	for f := range within(value) {
		forms[f] = true
	}
	// Output comes line by line, so a value of several lines never comes whole.
	// The first and last line of a PEM block are no secret.
	if strings.Contains(value, "\n") {
		for line := range strings.Lines(value) {
			line = strings.TrimSpace(line)
			if utf8.RuneCountInString(line) >= minLine && !strings.HasPrefix(line, "-----") {
				addText(forms, line)
			}
		}
	}
}

// within gives what base64 of a longer text has of a value in it, wherever in the
// text it is: the characters that only the value decides. That of a user's name and
// a password is one such text.
func within(value string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for before := range 3 {
			bits := 8 * (before + len(value))
			text := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), value...))
			text = text[(8*before+5)/6 : bits/6]
			if !yield(text) || !yield(strings.NewReplacer("+", "-", "/", "_").Replace(text)) {
				return
			}
		}
	}
}

// addText adds the value itself, percent-encoded and as the inside of a JSON string.
func addText(forms map[string]bool, value string) {
	forms[value] = true
	for _, f := range []string{
		url.QueryEscape(value),
		url.PathEscape(value),
		percent(value, "-_.~"),                 // RFC 3986, space as %20
		percent(value, "-_.~/"),                // Python's quote
		percent(value, "-_.~!'()*"),            // JavaScript's encodeURIComponent
		percent(value, "-_.~!'()*;/?:@&=+$,#"), // and encodeURI
	} {
		forms[f] = true
		forms[lowerHex(f)] = true
	}
	for _, f := range []string{
		jsonInside(value, false, false, false),
		jsonInside(value, true, false, false),
		jsonInside(value, false, true, false),
		jsonInside(value, false, false, true),
		jsonInside(value, true, true, false),
	} {
		forms[f] = true
		forms[jsonInside(f, false, false, false)] = true // JSON inside a JSON string
	}
}

// percent encodes everything but letters, digits and keep.
func percent(value, keep string) string {
	var b strings.Builder
	for i := range len(value) {
		c := value[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(keep, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// lowerHex writes the digits behind percent signs in lower case.
func lowerHex(encoded string) string {
	p := []byte(encoded)
	for i := 0; i+2 < len(p); i++ {
		if p[i] == '%' {
			for j := i + 1; j <= i+2; j++ {
				if 'A' <= p[j] && p[j] <= 'F' {
					p[j] += 'a' - 'A'
				}
			}
		}
	}
	return string(p)
}

// jsonInside escapes a value as encoders do: html escapes what Go and others
// escape for browsers, ascii writes no byte above 127, slash escapes slashes.
func jsonInside(value string, html, ascii, slash bool) string {
	var b strings.Builder
	for i, r := range value {
		switch {
		case r == '"' || r == '\\' || r == '/' && slash:
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\b':
			b.WriteString(`\b`)
		case r == '\f':
			b.WriteString(`\f`)
		case r < ' ', html && (r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029'):
			fmt.Fprintf(&b, `\u%04x`, r)
		case r == utf8.RuneError && !strings.HasPrefix(value[i:], "\uFFFD"):
			b.WriteByte(value[i]) // no character: nothing to escape
		case r > 0xffff && ascii:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		case r > 0x7e && ascii:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
