package main

import "testing"

// FuzzGate: limits of a comparison are refused, or are numbers that can be held.
func FuzzGate(f *testing.F) {
	f.Add("5%")
	f.Add("line:10%,function:5%")
	f.Add("2pp,latency,,mean")
	f.Add("nan%,-0%")
	f.Fuzz(func(t *testing.T, text string) {
		flags := diffFlags{by: "line", metric: "latency"}
		limits, err := flags.parseGate("--fail-above", text, false)
		if err != nil {
			return
		}
		for _, l := range limits {
			if !(l.Change >= 0 && l.Change < 1e4) {
				t.Errorf("%q is a limit of %v", text, l.Change)
			}
		}
	})
}

// FuzzFlags: sizes and ranges of flags are refused, or in order.
func FuzzFlags(f *testing.F) {
	f.Add("4GB")
	f.Add("10:20")
	f.Add("-1:18446744073709551615")
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := parseBytes(text); err == nil && n < 0 {
			t.Errorf("%q is %d bytes", text, n)
		}
		if from, to, err := parseRange(text); err == nil && to != 0 && from >= to {
			t.Errorf("%q is from %d to %d", text, from, to)
		}
	})
}
