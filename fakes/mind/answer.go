package mind

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// maxEcho is how much of a prompt is said back; of a longer one the size and the
// digest are said, which is enough to see that it arrived whole.
const maxEcho = 400

// answer is what the model says when no directive says it: plain is what the user
// says now, heard with what the prompt tells before it.
func answer(before []Message, plain, heard string, results []string) string {
	if len(results) > 0 {
		for i, r := range results {
			results[i] = strings.TrimSpace(r)
		}
		return "The tool returned: " + strings.Join(results, "\n")
	}
	if asksForMemory(plain) {
		var all []string
		for _, m := range before {
			if m.From == User {
				text, _ := Directives(m.Text)
				all = append(all, memories(text)...)
			}
		}
		all = slices.Compact(append(all, memories(plain)...)) // the model has said it again
		if len(all) == 0 {
			return "You did not ask me to remember anything."
		}
		return "You asked me to remember " + strings.Join(all, ", ") + "."
	}
	if m := memories(plain); len(m) > 0 {
		return "I will remember " + strings.Join(m, ", ") + "."
	}
	if len(heard) > maxEcho {
		sum := sha256.Sum256([]byte(heard))
		return "I am a scripted model and heard " + strconv.Itoa(len(heard)) + " bytes with SHA-256 " + hex.EncodeToString(sum[:]) + "."
	}
	return "I am a scripted model and heard: " + heard
}

// sentences parts a text behind . ! ? and at line ends.
func sentences(text string) []string {
	var list []string
	at := 0
	for i := range len(text) {
		switch text[i] {
		case '.', '!', '?', '\n':
			list = append(list, strings.TrimSpace(text[at:i+1]))
			at = i + 1
		}
	}
	return append(list, strings.TrimSpace(text[at:]))
}

func asksForMemory(text string) bool {
	for _, s := range sentences(text) {
		if isQuestion(s) && (indexFold(s, "remember") >= 0 || indexFold(s, "recall") >= 0) {
			return true
		}
	}
	return false
}

func isQuestion(sentence string) bool {
	return strings.HasSuffix(sentence, "?") || indexFold(sentence, "what did i ask") >= 0 || indexFold(sentence, "recall") == 0
}

// indexFold finds an ASCII word in any case. Lowering s first would move its
// offsets where a letter's lower form has another length.
func indexFold(s, word string) int {
	for i := 0; i+len(word) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(word)], word) {
			return i
		}
	}
	return -1
}

// memories are what the statements of a text ask to remember.
func memories(text string) []string {
	var list []string
	for _, s := range sentences(text) {
		at := indexFold(s, "remember ")
		if at < 0 || isQuestion(s) {
			continue
		}
		if what := strings.Trim(s[at+len("remember "):], " .!:"); what != "" {
			list = append(list, what)
		}
	}
	return list
}
