package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/locality/answer"
)

// TestLocalityVerbs: every trace of the fixtures has an answer, also those whose
// objects end in the middle of an element.
func TestLocalityVerbs(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	traces, err := filepath.Glob(filepath.Join(test.Fixture(t, "locality"), "traces", "*.csv*"))
	if err != nil || len(traces) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, trace := range traces {
		for _, args := range [][]string{{"reuse", "--machine", "classic"}, {"whatif", "--topology", "zen3"}, {"advise", "--machine", "classic"}} {
			if err := runVerb(append(args, "--json", trace)...); err != nil {
				t.Errorf("%s %s: %v", args[0], filepath.Base(trace), err)
			}
		}
	}
}

// TestSampledReuse: distances are exact unless a sample is asked for, which then says
// how far off it may be, in text and JSON.
func TestSampledReuse(t *testing.T) {
	var b strings.Builder
	b.WriteString("op,addr,size\n")
	for i := range 60_000 {
		fmt.Fprintf(&b, "L,%#x,8\n", 0x100000+64*(i*7919%30_000))
	}
	trace := filepath.Join(t.TempDir(), "sweep.csv")
	if err := os.WriteFile(trace, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	said := func(args ...string) string {
		t.Helper()
		text, err := isobath(t, append([]string{"reuse", trace, "--machine", "classic"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if text := said(); strings.Contains(text, "≈") || !strings.Contains(text, "L1: 60 000 misses (100.0 %)") {
		t.Errorf("exact:\n%s", text)
	}
	if text := said("--sample", "0.1"); !strings.Contains(text, "the samples' miss ratios lie up to ") || !strings.Contains(text, "L1: ≈ ") {
		t.Errorf("sampled:\n%s", text)
	}
	var a answer.Reuse
	if err := json.Unmarshal([]byte(said("--sample", "0.1", "--json")), &a); err != nil || a.Sample == nil || a.Sample.Rate != 0.1 || a.Provenance != answer.Modelled || len(a.Groups) > 0 {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := isobath(t, "reuse", trace, "--sample", "0.01"); err == nil || !strings.Contains(err.Error(), "--sample") {
		t.Errorf("too few lines: %v", err)
	}
}

func TestShownAdvice(t *testing.T) {
	all := make([]answer.Advice, 3)
	for top, want := range map[int]int{0: 3, 2: 2, 9: 3} {
		if got := len(shownAdvice(all, top)); got != want {
			t.Errorf("--top %d shows %d of 3, want %d", top, got, want)
		}
	}
}
