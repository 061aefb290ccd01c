package redact

// shapeBegins is what the known kinds of tokens begin with.
var shapeBegins = []string{"sk-", "ghp", "gho", "ghu", "ghs", "ghr", "git", "xox", "AKI", "ASI", "eyJ", "---"}

// How long tokens of a kind are at least and at most. What is longer than most is
// taken to be over there: a text that comes in pieces is never held for longer.
const (
	leastSK, leastGitHub, leastSlack = 20, 36, 10
	leastJWT                         = 10 // each of its three parts
	mostToken, mostJWT, mostPEM      = 512, 8 << 10, 16 << 10
	awsRest                          = 16
)

// shaped looks for a token of a known kind at text[i], as begins does. A token is
// one only where a word begins.
func shaped(text string, i, prev int) (end int, open bool) {
	if text[i] == '-' {
		if prev == '-' {
			return i, false
		}
		return pem(text, i)
	}
	if prev >= 0 && tokenByte(byte(prev)) {
		return i, false
	}
	switch text[i] {
	case 's':
		return prefixed(text, i, "sk-", leastSK, true)
	case 'g':
		if i+1 < len(text) && text[i+1] == 'i' {
			return prefixed(text, i, "github_pat_", leastSK, false)
		}
		if i+2 < len(text) {
			switch text[i+2] {
			case 'p', 'o', 'u', 's', 'r':
			default:
				return i, false
			}
			kind := [4]byte{'g', 'h', text[i+2], '_'}
			return prefixed(text, i, string(kind[:]), leastGitHub, false)
		}
		return i, i+1 == len(text) || text[i+1] == 'h'
	case 'x':
		return slack(text, i)
	case 'A':
		if end, open = aws(text, i, "AKIA"); end > i || open {
			return end, open
		}
		return aws(text, i, "ASIA")
	case 'e':
		return jwt(text, i)
	}
	return i, false
}

// tokenByte says that c may be within a token.
func tokenByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// word says that the text has begin at i, and open that it may once it goes on.
func word(text string, i int, begin string) (is, open bool) {
	for k := range len(begin) {
		if i+k == len(text) {
			return false, true
		}
		if text[i+k] != begin[k] {
			return false, false
		}
	}
	return true, false
}

// run is where the bytes of a token end that begin at i, at most at limit; digit says
// that there is one among them.
func run(text string, i, limit int) (end int, digit bool) {
	for limit = min(limit, len(text)); i < limit && tokenByte(text[i]); i++ {
		digit = digit || '0' <= text[i] && text[i] <= '9'
	}
	return i, digit
}

// prefixed is a token of a beginning and at least some further bytes.
func prefixed(text string, i int, begin string, least int, digits bool) (int, bool) {
	is, open := word(text, i, begin)
	if !is {
		return i, open
	}
	from, limit := i+len(begin), i+mostToken
	end, digit := run(text, from, limit)
	open = end == len(text) && end < limit
	if end-from < least || digits && !digit {
		return i, open
	}
	return end, open
}

// slack is xoxb-…, xoxp-… and the like.
func slack(text string, i int) (int, bool) {
	is, open := word(text, i, "xox")
	if !is || i+3 >= len(text) {
		return i, open || is
	}
	if c := text[i+3]; c < 'a' || c > 'z' {
		return i, false
	}
	kind := [5]byte{'x', 'o', 'x', text[i+3], '-'}
	return prefixed(text, i, string(kind[:]), leastSlack, true)
}

// aws is the id of an access key: of a fixed length, and no longer.
func aws(text string, i int, begin string) (int, bool) {
	is, open := word(text, i, begin)
	if !is {
		return i, open
	}
	end := i + len(begin)
	for full := end + awsRest; end < full; end++ {
		if end == len(text) {
			return i, true
		}
		if c := text[end]; (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return i, false
		}
	}
	if end == len(text) {
		return end, true
	}
	if tokenByte(text[end]) {
		return i, false
	}
	return end, false
}

// jwt is three parts between dots, of which the first two are JSON objects.
func jwt(text string, i int) (int, bool) {
	at, limit := i, i+mostJWT
	for part := range 3 {
		if part < 2 {
			if is, open := word(text, at, "eyJ"); !is {
				return i, open
			}
		}
		end, _ := run(text, at, limit)
		switch {
		case end == len(text) && end < limit:
			if part == 2 && end-at >= leastJWT {
				return end, true
			}
			return i, true
		case end-at < leastJWT, end == limit && part < 2:
			return i, false
		case part == 2:
			return end, false
		case text[end] != '.':
			return i, false
		}
		at = end + 1
	}
	return i, false
}

// pem is a private key block: from its first line to its last one, or to where the
// text is no key any more.
func pem(text string, i int) (int, bool) {
	is, open := word(text, i, "-----BEGIN ")
	if !is {
		return i, open
	}
	const most = 40 // bytes of what kind of key it is
	at := i + len("-----BEGIN ")
	for from := at; ; at++ {
		if is, open = word(text, at, "PRIVATE KEY-----"); is || open {
			break
		}
		if c := text[at]; at-from >= most || (c < 'A' || c > 'Z') && c != ' ' {
			return i, false
		}
	}
	if !is {
		return i, true
	}
	at += len("PRIVATE KEY-----")
	limit := i + mostPEM
	for at < limit {
		if at == len(text) {
			return at, true
		}
		switch c := text[at]; {
		case c == '\\':
			if at+1 == len(text) {
				return at, true
			}
			if text[at+1] != 'n' && text[at+1] != 'r' {
				return at, false
			}
			at += 2
		case c == '-':
			if is, open = word(text, at, "-----END "); open {
				return at, true
			}
			if !is {
				at++ // of a header: "Proc-Type"
				continue
			}
			return pemEnd(text, at+len("-----END "))
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9',
			c == '+', c == '/', c == '=', c == '\n', c == '\r', c == ' ', c == '\t', c == ':', c == ',':
			at++
		default:
			return at, false
		}
	}
	return min(at, len(text)), false
}

// pemEnd is the end of a last line.
func pemEnd(text string, at int) (int, bool) {
	for ; at < len(text); at++ {
		if c := text[at]; c == '-' {
			is, open := word(text, at, "-----")
			if is {
				return at + len("-----"), false
			}
			return at, open
		} else if (c < 'A' || c > 'Z') && c != ' ' {
			return at, false
		}
	}
	return at, true
}
