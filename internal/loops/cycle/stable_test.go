package cycle

import "testing"

// nested is a loop of so many references that is entered six times, with other
// references before each entry.
func nested(body int) (syms []uint32, turns int64) {
	for entry := range 6 {
		for k := range 15 {
			syms = append(syms, uint32(100+k))
		}
		for range 3 + entry {
			for k := range body {
				syms = append(syms, uint32(k))
			}
			turns++
		}
	}
	return syms, turns
}

// TestStable holds that turns are exact only if other windows count as many. A
// window that is longer than a turn spans the way into the loop and out of it, so
// that what it counts depends on its length.
func TestStable(t *testing.T) {
	for _, tt := range []struct {
		body  int
		exact bool
	}{{14, true}, {4, false}, {5, false}} {
		syms, turns := nested(tt.body)
		found := false
		for _, c := range analyse(t, syms).Classes {
			if c.Exact && !c.Stable {
				t.Errorf("turns of %d: %d are shown as exact, but depend on the window", tt.body, c.Turns)
			}
			if c.Exact && tt.body < DefaultWindow && c.Turns != turns && c.Turns != 6 {
				t.Errorf("turns of %d: %d are shown as exact, want %d", tt.body, c.Turns, turns)
			}
			found = found || c.Exact && c.Turns == turns
		}
		if found != tt.exact {
			t.Errorf("turns of %d: the %d of them are exact: %v, want %v", tt.body, turns, found, tt.exact)
		}
	}
}
