package files

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName bounds a file's name in bytes.
const maxName = 255

// plainName makes a name fit to be shown: the last element of a path, without
// control and formatting characters, never empty and never a directory's.
func plainName(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, name))
	if len(name) > maxName {
		cut := maxName
		for !utf8.RuneStart(name[cut]) {
			cut--
		}
		name = name[:cut]
	}
	if strings.Trim(name, ".") == "" {
		return "file"
	}
	return name
}

// disposition is a Content-Disposition that saves under name. Nothing of the name
// but letters, digits and a few marks is in it as it is (RFC 6266, RFC 8187).
func disposition(name string) string {
	var plain, coded strings.Builder
	for _, r := range name {
		if plainRune(r) {
			plain.WriteRune(r)
		} else {
			plain.WriteByte('_')
		}
	}
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(name); i++ {
		if b := name[i]; b != ' ' && plainRune(rune(b)) {
			coded.WriteByte(b)
		} else {
			coded.WriteString("%" + string(hex[b>>4]) + string(hex[b&15]))
		}
	}
	out := `attachment; filename="` + plain.String() + `"`
	if plain.String() != name {
		out += "; filename*=UTF-8''" + coded.String()
	}
	return out
}

func plainRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' || r == ' '
}
