package pinatrace

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/foreign"
)

const sample = "0x7f3acd1eadc0: R 0x7ffc35c3c178\n0x7f3acd1eadc4: W 0x7ffc35c3c170\nnoise\n#eof\n"

func TestRead(t *testing.T) {
	r := NewReader(strings.NewReader(sample))
	got, err := refs.All(r)
	if err != nil {
		t.Fatal(err)
	}
	want := []refs.Ref{
		{Addr: 0x7ffc35c3c178, PC: 0x7f3acd1eadc0},
		{Addr: 0x7ffc35c3c170, PC: 0x7f3acd1eadc4, Op: refs.Store},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if a := r.About(); a.Skipped != 1 || len(a.Notes) != 1 {
		t.Errorf("about = %+v, want 1 skipped line and its note", a)
	}
}

func TestCutShort(t *testing.T) {
	r := NewReader(strings.NewReader("0x10: R 0x20\n"))
	if _, err := refs.All(r); err != nil {
		t.Fatal(err)
	}
	if n := r.About().Notes; len(n) != 1 || !strings.Contains(n[0], "cut short") {
		t.Errorf("notes = %q, want the one about the missing #eof", n)
	}
}

func TestSniff(t *testing.T) {
	for head, want := range map[string]bool{
		sample: true, "#\n0x1: W 0x2\n": true, "0x2000D5C0 READ  30\n": false, "": false, " L 10,8\n": false,
	} {
		if got := Format.Sniff(&foreign.Input{Head: []byte(head)}); got != want {
			t.Errorf("Sniff(%q) = %v, want %v", head, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("0x: R 0x\n0x1:R 0x2\n0x1: R\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if _, err := refs.All(NewReader(strings.NewReader(string(in)))); err != nil && len(in) < 1<<20 {
			t.Fatalf("a text trace has no errors, only lines passed over: %v", err)
		}
	})
}
