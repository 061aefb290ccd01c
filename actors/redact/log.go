package redact

import (
	"context"
	"fmt"
	"log/slog"
)

// Handler is a log without the secrets of live: of the message, the attributes and
// what they print as.
func Handler(next slog.Handler, live *Live) slog.Handler { return &handler{next, live} }

type handler struct {
	next slog.Handler
	live *Live
}

func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	set := h.live.Set()
	own := slog.NewRecord(r.Time, r.Level, set.String(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		own.AddAttrs(attr(set, a))
		return true
	})
	return h.next.Handle(ctx, own)
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.next.WithAttrs(all(h.live.Set(), attrs)), h.live}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.next.WithGroup(name), h.live}
}

func all(set *Set, attrs []slog.Attr) []slog.Attr {
	out := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		out[i] = attr(set, a)
	}
	return out
}

func attr(set *Set, a slog.Attr) slog.Attr {
	a.Key = set.String(a.Key)
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(set.String(a.Value.String()))
	case slog.KindGroup:
		a.Value = slog.GroupValue(all(set, a.Value.Group())...)
	case slog.KindAny:
		// However the next handler would print it: when it holds a secret, it is the
		// redacted print.
		text := fmt.Sprintf("%+v", a.Value.Any())
		if b, ok := a.Value.Any().([]byte); ok {
			text = string(b)
		}
		if said := set.String(text); said != text {
			a.Value = slog.StringValue(said)
		}
	case slog.KindBool, slog.KindDuration, slog.KindFloat64, slog.KindInt64, slog.KindTime, slog.KindUint64, slog.KindLogValuer:
	}
	return a
}
