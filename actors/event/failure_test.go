package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestFailureIsFoundInAChain(t *testing.T) {
	t.Parallel()
	f := &Failure{Code: QueueFull, Message: "full", Cause: io.ErrUnexpectedEOF}
	err := fmt.Errorf("post: %w", errors.Join(errors.New("other"), f))
	if got, ok := AsFailure(err); !ok || got != f || CodeOf(err) != QueueFull {
		t.Errorf("%v %v", got, ok)
	}
	if !errors.Is(err, Fail(QueueFull, "")) || errors.Is(err, Fail(HostBusy, "")) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("a failure is its code and its cause")
	}
	if f.Error() != "queue_full: full" {
		t.Error(f)
	}
	if p := FailParam(InvalidRequest, "model", "no"); p.Param != "model" || p.Code != InvalidRequest || p.Message != "no" {
		t.Errorf("%+v", p)
	}
}

func TestWhatIsNoFailure(t *testing.T) {
	t.Parallel()
	var none *Failure
	for _, err := range []error{nil, io.EOF, none, fmt.Errorf("post: %w", none)} {
		if f, ok := AsFailure(err); ok || f != nil || CodeOf(err) != "" {
			t.Errorf("%#v gave %v", err, f)
		}
	}
	if errors.Is(Fail(QueueFull, ""), none) {
		t.Error("a failure is not nil")
	}
}

// The cause may hold what a stranger must not see.
func TestCauseIsNotStored(t *testing.T) {
	t.Parallel()
	f := &Failure{Code: CLICrashed, Message: "m", Cause: errors.New("secret")}
	if b, err := json.Marshal(f); err != nil || string(b) != `{"code":"cli_crashed","message":"m"}` {
		t.Errorf("%s %v", b, err)
	}
}
