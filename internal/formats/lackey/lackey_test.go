package lackey

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/foreign"
)

const sample = `==77== Lackey, an example Valgrind tool
==77== Command: ./bubble 1 2
I  00109eac,1
 S 1fff0006f8,8
I  00109ead,4
hello from the program
 L 1fff000588,8
 M 0025747c,1
==77== 
`

func TestRead(t *testing.T) {
	r := NewReader(strings.NewReader(sample))
	got, err := refs.All(r)
	if err != nil {
		t.Fatal(err)
	}
	want := []refs.Ref{
		{Addr: 0x1fff0006f8, PC: 0x109eac, Size: 8, Op: refs.Store},
		{Addr: 0x1fff000588, PC: 0x109ead, Size: 8, Op: refs.Load},
		{Addr: 0x25747c, PC: 0x109ead, Size: 1, Op: refs.Modify},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if a := r.About(); a.Instructions != 2 || a.Skipped != 1 || len(a.Notes) != 1 {
		t.Errorf("about = %+v, want 2 instructions, 1 skipped line and a note", a)
	}
}

func TestSniff(t *testing.T) {
	tests := []struct {
		name, head string
		want       bool
	}{
		{"with Valgrind's messages", sample[:100], true},
		{"lines only", " L 10,8\n S 20,4\nI  30,1\n", true},
		{"messages only", "==1== Memcheck, a memory error detector\n", false},
		{"pinatrace", "0x10: R 0x20\n", false},
		{"csv", "seq,op,addr\n0,L,0x10\n", false},
		{"empty", "", false},
	}
	for _, tt := range tests {
		if got := Format.Sniff(&foreign.Input{Head: []byte(tt.head)}); got != tt.want {
			t.Errorf("%s: Sniff = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(" L ffffffffffffffffff,8\n L 10,\n L 10,99999999999999999999\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if _, err := refs.All(NewReader(strings.NewReader(string(in)))); err != nil && len(in) < 1<<20 {
			t.Fatalf("a text trace has no errors, only lines passed over: %v", err)
		}
	})
}
