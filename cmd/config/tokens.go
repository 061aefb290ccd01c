package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func (l *loader) checkTokens() {
	first, values := map[string]int{}, map[string]string{}
	for i := range l.cfg.Auth.Tokens {
		t, key := &l.cfg.Auth.Tokens[i], tokenKey(i)
		if !tokenID.MatchString(t.ID) {
			l.fault(key+".id", t.ID, "is not a principal's id", "use 1 to 64 of A-Z a-z 0-9 . _ -")
		}
		if at, further := first[t.ID]; further {
			l.join(t, &l.cfg.Auth.Tokens[at], key, tokenKey(at))
		} else {
			first[t.ID] = i
			if !l.policed() {
				l.checkRoles(t, key)
			}
		}
		l.checkExpiry(t, key)
		if t.SHA256 != "" || t.Value == "" && !l.fillToken(t, key) {
			continue
		}
		if other, twice := values[t.Value]; twice {
			l.fault(key, "", "holds the same token as "+other, "give every principal a token of its own, and no token twice")
		}
		values[t.Value] = key
	}
}

// join gives a further token of a principal what the first one says of it.
func (l *loader) join(t, first *Token, key, firstKey string) {
	if len(t.Roles) == 0 {
		t.Roles = first.Roles
	}
	for _, n := range []struct{ own, of *int }{{&t.Weight, &first.Weight}, {&t.Concurrency, &first.Concurrency}, {&t.RequestsPerMinute, &first.RequestsPerMinute}} {
		if *n.own == 0 {
			*n.own = *n.of
		}
	}
	if !slices.Equal(t.Roles, first.Roles) || t.Weight != first.Weight || t.Concurrency != first.Concurrency || t.RequestsPerMinute != first.RequestsPerMinute {
		l.fault(key, t.ID, "is a further token of the principal of "+firstKey+" and says something else of it", "leave out its roles and limits: those of the first hold for all its tokens")
	}
}

// ParseMoment reads a time of RFC 3339, or a date as its beginning in UTC.
func ParseMoment(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Parse(time.DateOnly, text)
	}
	return at, nil
}

// checkExpiry reads when a token ends.
func (l *loader) checkExpiry(t *Token, key string) {
	if t.Expires == "" {
		return
	}
	var err error
	if t.Until, err = ParseMoment(t.Expires); err != nil {
		l.fault(key+".expires", t.Expires, "is no time", "write 2026-12-31T18:00:00Z, or 2026-12-31 for the beginning of that day in UTC")
		return
	}
	if !t.Until.After(time.Now()) {
		l.doubt(key+".expires", t.Expires, "is over: nobody is let in with this token", "remove it, or give its principal a new one")
	}
}

// fillToken reads the token's variable or file.
func (l *loader) fillToken(t *Token, key string) bool {
	for i := range l.problems {
		if l.problems[i].Key == key+".token" { // the token itself, an unknown key already
			l.problems[i].What, l.problems[i].Remedy = "a token has no place in a file", "put it into a variable and name that one with token_env, or into a file of its own and name that one with token_file"
			return false
		}
	}
	at, holder := key+".token_env", t.TokenEnv
	switch {
	case t.TokenEnv != "" && t.TokenFile != "":
		l.fault(key, "", "has token_env and token_file", "use one of them, or two tokens with the same id")
		return false
	case t.TokenFile != "":
		at, holder = key+".token_file", t.TokenFile
		if !l.readToken(t, at) {
			return false
		}
	case !variableName.MatchString(t.TokenEnv):
		l.fault(at, "", "is not the name of a variable", "put the token into a variable and name that one here")
		return false
	default:
		if t.Value = l.env[t.TokenEnv]; t.Value == "" {
			l.fault(at, t.TokenEnv, "is not set", "set that variable to the token")
			return false
		}
	}
	if len(t.Value) < minToken {
		l.fault(at, holder, fmt.Sprintf("holds a token of %d characters", len(t.Value)), fmt.Sprintf("use %d or more, such as the output of: openssl rand -hex 32", minToken))
		return false
	}
	return true
}

// maxTokenFile bounds a file with one token.
const maxTokenFile = 4096

// readToken reads the token's file: one line.
func (l *loader) readToken(t *Token, at string) bool {
	t.TokenFile = l.directory(at, t.TokenFile)
	text, mode, err := readSmall(t.TokenFile)
	if err != nil {
		p := unreadable("", t.TokenFile, err)
		l.fault(at, t.TokenFile, p.What, "name a file of one line that holds the token")
		return false
	}
	if t.Value = strings.TrimSpace(text); strings.ContainsAny(t.Value, " \t\r\n") {
		t.Value = ""
		l.fault(at, t.TokenFile, "holds more than one word", "write one token into a file, and give a principal several files by several entries with its id")
		return false
	}
	if mode&0o077 != 0 {
		l.doubt(at, t.TokenFile, fmt.Sprintf("can be read by other users (mode %04o)", mode), "chmod 600")
	}
	return true
}

func readSmall(path string) (text string, mode os.FileMode, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", 0, err
	}
	if !info.Mode().IsRegular() {
		return "", 0, errors.New("it is no regular file")
	}
	b, err := io.ReadAll(io.LimitReader(f, maxTokenFile+1))
	if err == nil && len(b) > maxTokenFile {
		err = fmt.Errorf("it has more than %d bytes", maxTokenFile)
	}
	return string(b), info.Mode().Perm(), err
}

// AuditFile is the newest part of the audit.
func (c *Config) AuditFile() string {
	if c.Audit.File != "" {
		return c.Audit.File
	}
	return filepath.Join(c.StateDir, "audit", "audit.jsonl")
}

// Watched are the files that tokens and policy come from.
func (c *Config) Watched() []string {
	var files []string
	if c.File != "" {
		files = append(files, c.File)
	}
	if c.Policy.File != "" {
		files = append(files, c.Policy.File)
	}
	for i := range c.Auth.Tokens {
		if f := c.Auth.Tokens[i].TokenFile; f != "" {
			files = append(files, f)
		}
	}
	return files
}
