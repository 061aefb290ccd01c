package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/agenthost/agenthost/actors/crash"
	"github.com/agenthost/agenthost/cmd/config"
	"github.com/agenthost/agenthost/server"
	"github.com/agenthost/agenthost/server/audit"
)

// lookEvery is how often the files that tokens come from are looked at. One that has
// changed is read when it has stayed the same for one look more: whoever writes it
// may not be finished.
const lookEvery = 2 * time.Second

// reloader puts new tokens, and a new policy, in the place of the old ones while the
// server runs. Its
// goroutine ends with end.
type reloader struct {
	load  func() (*config.Config, []string, error)
	apply func(*config.Config) error
	book  *audit.Log
	log   *slog.Logger
	// cfg is what was started with, but for what was reloaded. It is the reloader's own.
	cfg *config.Config
	// tried is how the files were when they were last read, seen how they were at the
	// last look.
	tried, seen map[string]string
}

// start begins to look, and to listen for asked. The result ends that.
func (r *reloader) start(asked <-chan os.Signal) (end func()) {
	r.tried = stamps(r.cfg.Watched())
	r.seen = r.tried
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer crash.Guard()
		defer close(done)
		t := time.NewTicker(lookEvery)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				r.look()
			case <-asked:
				r.reload("a signal")
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}

// look reloads when a file has changed and rests.
func (r *reloader) look() {
	now := stamps(r.cfg.Watched())
	if maps.Equal(now, r.seen) && !maps.Equal(now, r.tried) {
		r.reload("a file changed")
	}
	r.seen = now
}

// reload reads the configuration anew and puts its tokens in force, or says why not.
func (r *reloader) reload(why string) {
	r.tried = stamps(r.cfg.Watched())
	r.seen = r.tried
	next, warnings, err := r.load()
	if err == nil {
		err = r.apply(next)
	}
	if err != nil {
		var problems config.Problems
		if !errors.As(err, &problems) {
			problems = config.Problems{{Source: "configuration", What: err.Error()}}
		}
		for _, p := range problems {
			r.log.Error("the new configuration is refused; the old one stays", "problem", p.String())
		}
		r.book.Add(audit.Record{Operation: audit.OpReload, Decision: audit.Deny, Detail: fmt.Sprintf("%s; %d problem(s), which the server's log has; the old tokens stay", why, len(problems))})
		return
	}
	for _, w := range warnings {
		r.log.Warn("configuration", "text", w)
	}
	if later := changed(r.cfg, next); len(later) > 0 {
		r.log.Warn("changed keys of the configuration that take effect at the next start", "keys", strings.Join(later, ", "))
	}
	gone, come := compared(r.cfg.Auth.Tokens, next.Auth.Tokens)
	r.cfg.Auth.Tokens, r.cfg.Policy, r.cfg.File = next.Auth.Tokens, next.Policy, next.File
	before := r.tried // a file may have changed since it was read
	r.tried = stamps(r.cfg.Watched())
	r.seen = maps.Clone(r.tried)
	for f := range r.tried {
		if was, known := before[f]; known {
			r.tried[f] = was
		}
	}
	r.log.Info("configuration reloaded", "why", why, "tokens", len(next.Auth.Tokens), "new", come, "gone", gone)
	r.book.Add(audit.Record{Operation: audit.OpReload, Decision: audit.Allow, Detail: fmt.Sprintf("%s; %d tokens, %d new, %d gone", why, len(next.Auth.Tokens), come, gone)})
}

// compared counts the tokens that are in one list only.
func compared(before, after []config.Token) (gone, come int) {
	missing := func(in []config.Token, from []config.Token) (n int) {
		for _, t := range from {
			if !slices.ContainsFunc(in, func(o config.Token) bool {
				return o.ID == t.ID && o.Value == t.Value && o.SHA256 == t.SHA256 && o.Until.Equal(t.Until) && slices.Equal(o.Roles, t.Roles)
			}) {
				n++
			}
		}
		return n
	}
	return missing(after, before), missing(before, after)
}

// reloaded are the keys that take effect at once.
var reloaded = []string{"auth", "policy"}

// changed names the other keys of the file that have changed, those of the top.
func changed(before, after *config.Config) (keys []string) {
	a, b := reflect.ValueOf(before).Elem(), reflect.ValueOf(after).Elem()
	for i := range a.NumField() {
		key := a.Type().Field(i).Tag.Get("yaml")
		if key == "" || key == "-" || slices.Contains(reloaded, key) {
			continue
		}
		if !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			keys = append(keys, key)
		}
	}
	if before.Auth.AllowAnonymous != after.Auth.AllowAnonymous {
		keys = append(keys, "auth.allow_anonymous")
	}
	return keys
}

// stamps says how each of the files is; it changes when the file does.
func stamps(files []string) map[string]string {
	all := make(map[string]string, len(files))
	for _, f := range files {
		all[f] = "none"
		if info, err := os.Stat(f); err == nil {
			all[f] = fmt.Sprintf("%d %d %d", info.Size(), info.ModTime().UnixNano(), inode(info))
		}
	}
	return all
}

// principals are those of the configuration, each with all its tokens.
func principals(tokens []config.Token) []server.Principal {
	var list []server.Principal
	for _, t := range tokens {
		at := slices.IndexFunc(list, func(p server.Principal) bool { return p.ID == t.ID })
		if at < 0 {
			at = len(list)
			list = append(list, server.Principal{ID: t.ID, Roles: t.Roles, RequestsPerMinute: t.RequestsPerMinute})
		}
		digest := server.Digest(t.Value)
		if t.SHA256 != "" { // 64 hex digits: the configuration has looked
			_, _ = hex.Decode(digest[:], []byte(t.SHA256))
		}
		list[at].Tokens = append(list[at].Tokens, server.Token{Digest: digest, Expires: t.Until})
	}
	return list
}

// values are the tokens themselves, without those that are known by their digest.
func values(tokens []config.Token) (list []string) {
	for _, t := range tokens {
		if t.Value != "" {
			list = append(list, t.Value)
		}
	}
	return list
}
