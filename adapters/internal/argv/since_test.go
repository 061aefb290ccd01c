package argv

import "testing"

func TestSince(t *testing.T) {
	t.Parallel()
	for told, want := range map[string]bool{
		"2.1.328 (Claude Code)": true, "2.1.328": true, "2.1.329": true, "2.2.0": true, "3.0.0 x": true,
		"2.1.327 (Claude Code)": false, "2.0.999": false, "1.9.999": false, "2.1.328-beta": false, "2.1": false, "": false, "v2.1.328": false, "2.1.-1": false, "2.1.328.1": false,
	} {
		if Since(told, "2.1.328") != want {
			t.Errorf("%q: %v", told, !want)
		}
	}
}
