package crash

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const secret = "s3cr3t-of-the-test"

type told struct{ text string }

func (t told) String() string { return t.text }

type held struct{ text string }

type liar struct{}

func (liar) Error() string { panic(secret) }

// deaths are panics, each in a process of its own: what stderr has to have.
var deaths = map[string]struct {
	die  func()
	says string
}{
	"text":    {func() { panic("the key is " + secret) }, "panic: the key is [hidden]"},
	"error":   {func() { panic(fmt.Errorf("outer: %w", errors.New(secret))) }, "panic: outer: [hidden]"},
	"spoken":  {func() { panic(told{secret}) }, "panic: [hidden]"},
	"struct":  {func() { panic(held{secret}) }, "panic: (crash.held)"},
	"nothing": {func() { panic(nil) }, "panic: panic called with nil argument"},
	"runtime": {func() { _ = []int{}[len(os.Args)] }, "panic: runtime error: index out of range"},
	"again": {func() {
		defer func() { panic(fmt.Sprint("again: ", recover())) }()
		panic(secret)
	}, "panic: again: [hidden]"},
	"raised in a defer": {func() {
		defer func() { panic("second " + secret) }()
		panic("first " + secret)
	}, "panic: second [hidden]"},
	"value that panics": {func() { panic(liar{}) }, "panic: [not shown]"},
	"two at once": {func() {
		go func() {
			defer Guard()
			panic(secret)
		}()
		panic(secret)
	}, "panic: [hidden]"},
}

func TestMain(m *testing.M) {
	if d, ok := deaths[os.Getenv("CRASH_TEST")]; ok {
		if os.Getenv("CRASH_BARE") == "" {
			Install(func(s string) string { return strings.ReplaceAll(s, secret, "[hidden]") }, os.Stderr)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer Guard()
			d.die()
		}()
		<-done
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func dies(t *testing.T, name string, env ...string) (code int, stderr string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, "CRASH_TEST="+name)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), errs.String()
}

func TestACrashIsToldWithoutSecrets(t *testing.T) {
	t.Parallel()
	for name, d := range deaths {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stderr := dies(t, name)
			if code != Code || !strings.HasPrefix(stderr, d.says) || !strings.Contains(stderr, "crash_test.go:") {
				t.Errorf("exit %d, stderr: %s", code, stderr)
			}
			if strings.Contains(stderr, secret) || strings.Count(stderr, "panic: ") != 1 {
				t.Errorf("stderr: %s", stderr)
			}
		})
	}
}

// A program that has not said how to hide secrets dies as Go programs do.
func TestWithoutInstallTheRuntimeTells(t *testing.T) {
	t.Parallel()
	code, stderr := dies(t, "text", "CRASH_BARE=1")
	if code != Code || !strings.Contains(stderr, "panic: the key is "+secret) || !strings.Contains(stderr, "crash_test.go:") {
		t.Errorf("exit %d, stderr: %s", code, stderr)
	}
}

func TestUninstallIsOfItsOwn(t *testing.T) {
	first := Install(nil, nil)
	second := Install(nil, nil)
	first()
	if installed.Load() == nil {
		t.Error("the first one took the second away")
	}
	second()
	if installed.Load() != nil {
		t.Error("one is left")
	}
}
