package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// fileIn is a file of its own directory with text.
func fileIn(t *testing.T, dir, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAPrincipalHasSeveralTokens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token := fileIn(t, dir, "app.token", "token-of-the-file-0123\n", 0o600)
	file := fileIn(t, dir, "agenthost.yaml", `auth:
  tokens:
    - {id: app, roles: [dev], token_env: ONE, requests_per_minute: 60, expires: 2099-01-01}
    - {id: app, token_file: app.token}
    - {id: app, roles: [dev], token_env: TWO, expires: "2099-06-01T10:00:00+02:00"}
`, 0o600)
	c := good(t, file, nil, "ONE=token-number-one-01", "TWO=token-number-two-02")
	for i, want := range []Token{
		{Value: "token-number-one-01", Until: time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)},
		{Value: "token-of-the-file-0123"},
		{Value: "token-number-two-02", Until: time.Date(2099, 6, 1, 8, 0, 0, 0, time.UTC)},
	} {
		got := c.Auth.Tokens[i]
		if got.ID != "app" || !slices.Equal(got.Roles, []string{"dev"}) || got.RequestsPerMinute != 60 || got.Value != want.Value || !got.Until.Equal(want.Until) {
			t.Errorf("%d: %+v", i, got)
		}
	}
	if got := c.Watched(); !slices.Equal(got, []string{file, token}) {
		t.Errorf("watched: %v", got)
	}
}

func TestTokensThatCannotBe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fileIn(t, dir, "short", "short", 0o600)
	fileIn(t, dir, "two", "token-number-one-01\ntoken-number-two-02\n", 0o600)
	fileIn(t, dir, "open", "token-that-all-can-read", 0o644)
	fileIn(t, dir, "huge", strings.Repeat("x", maxTokenFile+1), 0o600)
	for entry, want := range map[string]string{
		`{id: a, roles: [dev], token_file: missing}`:                                                 "token_file: .*no such file",
		`{id: a, roles: [dev], token_file: short}`:                                                   "holds a token of 5 characters",
		`{id: a, roles: [dev], token_file: two}`:                                                     "more than one word",
		`{id: a, roles: [dev], token_file: huge}`:                                                    "more than 4096 bytes",
		`{id: a, roles: [dev], token_file: .}`:                                                       "no regular file",
		`{id: a, roles: [dev], token_file: open, token_env: ONE}`:                                    "has token_env and token_file",
		`{id: a, roles: [dev], token_env: ONE, expires: tomorrow}`:                                   `"tomorrow" is no time`,
		"{id: a, roles: [dev], token_env: ONE}\n    - {id: a, roles: [admin], token_env: TWO}":       "says something else of it",
		"{id: a, roles: [dev], token_env: ONE}\n    - {id: b, roles: [dev], token_env: ONE}":         "holds the same token as auth.tokens",
		"{id: a, roles: [dev], token_env: ONE, weight: 2}\n    - {id: a, weight: 3, token_env: TWO}": "says something else of it",
	} {
		file := fileIn(t, t.TempDir(), "agenthost.yaml", "auth:\n  tokens:\n    - "+strings.ReplaceAll(entry, "token_file: ", "token_file: "+dir+"/")+"\n", 0o600)
		_, _, err := load(t, file, nil, "ONE=token-number-one-01", "TWO=token-number-two-02")
		words := strings.Split(want, ".*")
		if err == nil || !strings.Contains(err.Error(), words[0]) || !strings.Contains(err.Error(), words[len(words)-1]) {
			t.Errorf("%s: %v", entry, err)
		}
		if err != nil && (strings.Contains(err.Error(), "token-number") || strings.Contains(err.Error(), "token-that")) {
			t.Errorf("%s: the token is in %v", entry, err)
		}
	}
	file := fileIn(t, t.TempDir(), "agenthost.yaml", "auth:\n  tokens:\n    - {id: a, roles: [dev], token_file: "+dir+"/open, expires: 2020-01-01}\n", 0o600)
	_, warnings, err := load(t, file, nil)
	if text := strings.Join(warnings, "\n"); err != nil || !strings.Contains(text, "can be read by other users") || !strings.Contains(text, "is over") {
		t.Errorf("%v %v", err, warnings)
	}
}
