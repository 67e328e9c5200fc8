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
	if !sniff([]byte(text)) {
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
		if sniff([]byte(head)) {
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
		sniff(data)
		_, _ = parse(t.Context(), bytes.NewReader(data), &foreign.Options{Salvage: true})
	})
}
