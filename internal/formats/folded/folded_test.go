package folded

import (
	"bytes"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/formats/foreign"
)

func TestRead(t *testing.T) {
	text := "main;solve;kernel<int, 3> 5\nmain 2\nmain;solve 0\n"
	if !sniff([]byte(text), false) {
		t.Fatal("not recognised")
	}
	out, err := parse(t.Context(), strings.NewReader(text), &foreign.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tab := out.Tables[0]
	if tab.Rows() != 7 {
		t.Fatalf("%d samples, want 7", tab.Rows())
	}
	if got := tab.Column(samples.Function).Text(0); got != "kernel<int, 3>" {
		t.Errorf("function %q", got)
	}
	if got := tab.Column("caller").Text(4); got != "solve" {
		t.Errorf("caller %q", got)
	}
}

// TestWithoutCalls reads what has no call, by the name of the file: nothing else
// tells it from other counted words.
func TestWithoutCalls(t *testing.T) {
	const text = "solve 2\noperator new(unsigned long) 3\n"
	for name, want := range map[string]bool{"a.folded": true, "a.collapsed": true, "a.folded.gz": true, "a.txt": false} {
		if got := Format.Sniff(&foreign.Input{Path: name, Head: []byte(text)}); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for _, other := range []string{"", "two words\n", "1 2\n", "a;b 3\nand more text\n"} {
		if Format.Sniff(&foreign.Input{Path: "a.folded", Head: []byte(other)}) {
			t.Errorf("%q is taken for stacks", other)
		}
	}
	out, err := parse(t.Context(), strings.NewReader(text+"main;sweep; 4\n"), &foreign.Options{})
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]int{}
	for i := range out.Tables[0].Rows() {
		functions[out.Tables[0].Column(samples.Function).Text(i)]++
	}
	if len(functions) != 3 || functions["solve"] != 2 || functions["operator new(unsigned long)"] != 3 || functions["sweep"] != 4 {
		t.Errorf("%v", functions)
	}
}

// TestMany holds that more samples than are laid out stay sums.
func TestMany(t *testing.T) {
	out, err := parse(t.Context(), strings.NewReader("a;b 9000000000\na;c 1\n"), &foreign.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tab := out.Tables[0]
	if tab.Rows() != 2 || tab.Column(samples.Weight).Float(0) != 9e9 || len(out.Warnings) != 1 {
		t.Errorf("%d rows, warnings %q", tab.Rows(), out.Warnings)
	}
}

func TestSniffRefusesOthers(t *testing.T) {
	for _, head := range []string{"", "main 2\n", "1;2;3 4\n5;6;7 8\n", "time;cpu;latency\n1;2;3\n", "a;b\n", ";a 3\n", "a;b 3\nand more text\n", "a;b\x00 3\n"} {
		if sniff([]byte(head), false) {
			t.Errorf("%q is taken for stacks", head)
		}
	}
}

func TestDamaged(t *testing.T) {
	text := "main;solve 5\nbroken\nmain 2\n"
	if _, err := parse(t.Context(), strings.NewReader(text), &foreign.Options{}); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("error %v", err)
	}
	out, err := parse(t.Context(), strings.NewReader(text), &foreign.Options{Salvage: true})
	if err != nil || out.Tables[0].Rows() != 7 || len(out.Warnings) != 1 {
		t.Errorf("%+v, %v", out, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("main;a 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		sniff(data, false)
		_, _ = parse(t.Context(), bytes.NewReader(data), &foreign.Options{Salvage: true})
	})
}
