package cycle

import (
	"fmt"
	"slices"
	"testing"
)

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
// that what it counts depends on its length; one that is fitted to the turns counts
// them all.
func TestStable(t *testing.T) {
	for _, tt := range []struct {
		body, window int
		exact        bool
		same         Lengths
	}{
		{14, 0, true, Lengths{3, 14}}, // the usual window
		{9, 0, true, Lengths{3, 9}},
		{7, 0, true, Lengths{3, 7}},
		{5, 0, true, Lengths{3, 5}},
		{4, 0, true, Lengths{3, 4}},
		{4, DefaultWindow, false, Lengths{}},
		{5, DefaultWindow, false, Lengths{}},
	} {
		t.Run(fmt.Sprintf("turns of %d, windows of %d", tt.body, tt.window), func(t *testing.T) {
			syms, turns := nested(tt.body)
			r, err := Analyse(t.Context(), fromSyms(syms), Options{Window: tt.window})
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, c := range r.Classes {
				if c.Exact && !c.Stable {
					t.Errorf("%d turns are shown as exact, but depend on the window", c.Turns)
				}
				stays := c.Dual >= 0 && c.Turns == turns-6 // the turns that are not the last of an entry
				if c.Exact && c.Turns != turns && c.Turns != 6 && !stays {
					t.Errorf("%d turns are shown as exact, want %d", c.Turns, turns)
				}
				if c.Exact && c.Turns == turns {
					found = true
					if c.Same != tt.same {
						t.Errorf("windows of %v count %d turns, want %v", c.Same, turns, tt.same)
					}
				}
			}
			if found != tt.exact {
				t.Errorf("the %d turns are exact: %v, want %v (windows of %d)", turns, found, tt.exact, r.Points.Window)
			}
		})
	}
}

func TestShortestPeriod(t *testing.T) {
	turns := func(n int, body ...uint32) (syms []uint32) {
		for range n {
			syms = append(syms, body...)
		}
		return syms
	}
	different := count(1000, func(i int) uint32 { return uint32(100 + i) })
	for name, tt := range map[string]struct {
		syms []uint32
		want int
	}{
		"nothing":                      {nil, 0},
		"one reference":                {turns(50, 1), 0},
		"two in turn are no four":      {turns(50, 1, 2), 0},
		"five":                         {turns(50, 1, 2, 3, 4, 5), 5},
		"a load and store at one":      {turns(50, 1, 1, 2, 3, 4), 5},
		"three twice, and another":     {turns(50, 1, 2, 3, 1, 2, 3, 4), 7},
		"two turns":                    {turns(2, 1, 2, 3, 4, 5, 6), 6},
		"a turn and a half":            {turns(2, 1, 2, 3, 4, 5, 6)[:11], 0},
		"the shorter of two":           {slices.Concat(turns(50, 1, 2, 3, 4, 5, 6, 7), turns(50, 11, 12, 13, 14, 15)), 5},
		"a chance repetition":          {slices.Concat(different, turns(2, 1, 2, 3, 4), different), 0},
		"as long as the usual window":  {turns(50, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10), 0},
		"one less than the usual ones": {turns(50, 1, 2, 3, 4, 5, 6, 7, 8, 9), 9},
	} {
		if got, err := shortestPeriod(t.Context(), nil, tt.syms); err != nil || got != tt.want {
			t.Errorf("%s: %d (%v), want %d", name, got, err, tt.want)
		}
	}
}
