package actors

import (
	"context"
	"log/slog"
)

// quietHandler passes the actor library's warnings and errors on and drops the
// attributes that hold messages, which may contain prompts.
type quietHandler struct{ slog.Handler }

func (q quietHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && q.Handler.Enabled(ctx, l)
}

func (q quietHandler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, r.Message, 0)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key != "msg" && a.Key != "message" && a.Key != "reason" {
			clean.AddAttrs(a)
		}
		return true
	})
	return q.Handler.Handle(ctx, clean)
}

func (q quietHandler) WithAttrs(as []slog.Attr) slog.Handler {
	return quietHandler{q.Handler.WithAttrs(as)}
}

func (q quietHandler) WithGroup(name string) slog.Handler {
	return quietHandler{q.Handler.WithGroup(name)}
}
