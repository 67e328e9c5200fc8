package profile

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/table"
)

func stacked(t *testing.T) *table.Table {
	t.Helper()
	stacks := []string{"main (a.c:9);solve (a.c:5);kernel (b.c:3)", "main (a.c:9);solve (a.c:6);kernel (b.c:3)", "main (a.c:12)"}
	tab, err := table.New("samples", []*table.Column{
		table.Categories("stack", table.Derived, []uint32{0, 0, 1, 2, 1, 0}, stacks, nil),
		table.Ints("latency", "cycles", table.Measured, []int64{10, 20, 300, 0, 5, 7}, bitsOf(6, 3)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// bitsOf has all of n rows but one.
func bitsOf(n, without int) table.Bits {
	b := table.FullBits(n)
	b.Clear(without)
	return b
}

func TestFolded(t *testing.T) {
	stacks, err := Stacks(t.Context(), stacked(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[Value]string{
		Samples: "main;solve;kernel 5\nmain 1\n",
		Latency: "main;solve;kernel 342\n",
	} {
		var out strings.Builder
		if err := WriteFolded(&out, stacks, value); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%s: got %q, want %q", value, out.String(), want)
		}
	}
}

// TestPprof has the Go toolchain read what we write.
func TestPprof(t *testing.T) {
	stacks, err := Stacks(t.Context(), stacked(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := WritePprof(&out, stacks, "cycles"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "out.pb.gz")
	if err := os.WriteFile(file, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command("go", "tool", "pprof", "-raw", file).CombinedOutput()
	if err != nil {
		t.Fatalf("go tool pprof: %v\n%s", err, text)
	}
	for _, want := range []string{
		"samples/count latency/cycles",
		"3         37: 1 2 3",
		"2        305: 1 4 3",
		"1          0: 5",
		"1: 0x0 M=1 kernel b.c:3:0",
		"2: 0x0 M=1 solve a.c:5:0",
		"3: 0x0 M=1 main a.c:9:0",
		"4: 0x0 M=1 solve a.c:6:0",
		"5: 0x0 M=1 main a.c:12:0",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("pprof does not say %q:\n%s", want, text)
		}
	}
}

// TestWithoutStacks makes stacks of the function and what it was inlined into.
func TestWithoutStacks(t *testing.T) {
	tab, err := table.New("samples", []*table.Column{
		table.Categories("function", table.Derived, []uint32{0, 0, 0}, []string{"square"}, bitsOf(3, 2)),
		table.Categories("inline", table.Derived, []uint32{0, 0, 0}, []string{"both ← step"}, bitsOf(3, 1)),
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := bitsOf(3, 2)
	stacks, err := Stacks(t.Context(), tab, rows)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := WriteFolded(&out, stacks, Samples); err != nil {
		t.Fatal(err)
	}
	if want := "step;both;square 1\nsquare 1\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	empty, err := table.New("samples", []*table.Column{table.Ints("cpu", "", table.Measured, []int64{1}, nil)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Stacks(t.Context(), empty, nil); err != ErrNoCode {
		t.Errorf("samples without code: %v", err)
	}
}

func TestCalls(t *testing.T) {
	tab, err := table.New("samples", []*table.Column{
		table.Categories("stack", table.Derived, []uint32{0, 0, 1, 2, 3, 3, 3}, []string{"main;a;b", "main;c;b", "main;a", "main;a;b;a;b"}, nil),
		table.Ints("latency", "cycles", table.Measured, []int64{1, 2, 4, 8, 16, 32, 64}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	stacks, err := Stacks(t.Context(), tab, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Calls{Function: "b", Total: 6, Self: 6,
		Callers: []Call{{"a", 5, 115}, {"c", 1, 4}}, Callees: []Call{{"a", 3, 112}}}
	if diff := cmp.Diff(want, CallsOf(stacks, "")); diff != "" {
		t.Errorf("calls of b (-want +got):\n%s", diff)
	}
	want = Calls{Function: "main", Total: 7, Callers: []Call{{"", 7, 127}}, Callees: []Call{{"a", 6, 123}, {"c", 1, 4}}}
	if diff := cmp.Diff(want, CallsOf(stacks, "main")); diff != "" {
		t.Errorf("calls of main (-want +got):\n%s", diff)
	}
}

func TestForNobody(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Stacks(gone, stacked(t), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("stacks are summed for nobody: %v", err)
	}
}

// TestCallgrind has callgrind_annotate read what we write: what functions cost
// themselves and with all they call, also where they call themselves.
func TestCallgrind(t *testing.T) {
	annotate := test.Peer(t, "callgrind_annotate", "valgrind")
	frames := func(text string) []symbol.Frame { return symbol.ParseStack(text) }
	stacks := []Stack{
		{Frames: frames("main (a.c:9);f (a.c:3);g (b.c:7);f (a.c:3);h (b.c:1)"), Samples: 5, Latency: 50, Valued: 5},
		{Frames: frames("main (a.c:9);f (a.c:4)"), Samples: 2, Latency: 11, Valued: 1},
		{Frames: frames("main (a.c:12)"), Samples: 1},
		{Frames: frames("other"), Samples: 3},
	}
	var out bytes.Buffer
	if err := WriteCallgrind(&out, stacks); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "out.callgrind")
	if err := os.WriteFile(file, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	for inclusive, want := range map[string][]string{
		"no":  {"11 (100.0%) 61 (100.0%)  PROGRAM TOTALS", "5 (45.45%) 50 (81.97%)  b.c:h", "2 (18.18%) 11 (18.03%)  a.c:f", "1 ( 9.09%)  0           a.c:main", "???:other"},
		"yes": {"11 (100.0%) 61 (100.0%)  PROGRAM TOTALS", "8 (72.73%) 61 (100.0%)  a.c:main", "7 (63.64%) 61 (100.0%)  a.c:f", "5 (45.45%) 50 (81.97%)  b.c:h"},
	} {
		text, err := exec.Command(annotate, "--inclusive="+inclusive, "--auto=no", "--threshold=100", file).CombinedOutput()
		if err != nil {
			t.Fatalf("callgrind_annotate: %v\n%s", err, text)
		}
		for _, w := range want {
			if !strings.Contains(string(text), w) {
				t.Errorf("inclusive=%s does not say %q:\n%s", inclusive, w, text)
			}
		}
	}
}
