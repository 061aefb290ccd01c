//go:build linux

package process

import (
	"bytes"
	"testing"
)

func TestHandedIsReadOnce(t *testing.T) {
	t.Parallel()
	spec := sh("cat <&3; echo; cat <&3; (cat /proc/self/fd/3); echo end")
	spec.Handed = bytes.Repeat([]byte("k"), MaxHanded)
	r := start(t, spec)
	r.wait(t)
	if got := r.text(); got != string(spec.Handed)+"\nend" {
		t.Errorf("got %d bytes, ending in %q", len(got), got[max(0, len(got)-20):])
	}
	none := start(t, sh("if [ -e /proc/$$/fd/3 ]; then echo open; else echo none; fi"))
	none.wait(t)
	if got := none.text(); got != "none" {
		t.Errorf("without anything handed the descriptor is %s", got)
	}
}

func TestTooMuchIsNotHanded(t *testing.T) {
	t.Parallel()
	spec := sh("true")
	spec.Handed = make([]byte, MaxHanded+1)
	if _, err := Start(spec); err == nil {
		t.Error("it was started")
	}
}
