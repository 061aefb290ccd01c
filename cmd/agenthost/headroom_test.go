package main

import "testing"

func TestHeadroomIsForWhoDoesNotSayOtherwise(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	if b := headroom(); len(b) != headroomBytes {
		t.Errorf("%d bytes", len(b))
	}
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "100")
			if b := headroom(); b != nil {
				t.Errorf("%d bytes", len(b))
			}
		})
	}
}
