package pprof

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// TestAgainstPprof reads profiles that the Go runtime makes and compares every
// stack's numbers with what pprof itself prints.
func TestAgainstPprof(t *testing.T) {
	dir := t.TempDir()
	for name, write := range map[string]func(*bytes.Buffer) error{
		"cpu": func(b *bytes.Buffer) error {
			if err := pprof.StartCPUProfile(b); err != nil {
				return err
			}
			for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
				regexp.MustCompile(`(a|b)*c+[d-f]`).FindString(strings.Repeat("ab", 500))
			}
			pprof.StopCPUProfile()
			return nil
		},
		"heap":      func(b *bytes.Buffer) error { return pprof.Lookup("allocs").WriteTo(b, 0) },
		"goroutine": func(b *bytes.Buffer) error { return pprof.Lookup("goroutine").WriteTo(b, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, name)
			if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			in, err := foreign.Look(file)
			if err != nil {
				t.Fatal(err)
			}
			if !Format.Sniff(in) {
				t.Fatal("not recognised")
			}
			got, err := Format.Samples(t.Context(), in, &foreign.Options{})
			if err != nil {
				t.Fatal(err)
			}
			raw, err := exec.Command("go", "tool", "pprof", "-raw", file).Output()
			if err != nil {
				t.Fatal(err)
			}
			count, cost := totals(string(raw))
			rows, sum := int64(0), int64(0)
			tab := got.Tables[0]
			rows = int64(tab.Rows())
			weight := tab.Column(samples.Weight)
			for i := range tab.Rows() {
				sum += int64(weight.Float(i))
			}
			if sum != cost {
				t.Errorf("cost %d, pprof says %d", sum, cost)
			}
			if name == "cpu" && rows != count {
				t.Errorf("%d samples, pprof says %d", rows, count)
			}
			if c := tab.Column("stack"); c == nil || c.Kind != table.Category {
				t.Error("no stacks")
			}
		})
	}
}

// TestLabels holds that what a program says of its samples has columns: pprof's own
// list of labels has as many samples of each.
func TestLabels(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpu")
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"Ä rger", "b"} {
		pprof.Do(t.Context(), pprof.Labels("request kind", who, "cpu", "fast"), func(context.Context) {
			for end := time.Now().Add(150 * time.Millisecond); time.Now().Before(end); {
				regexp.MustCompile(`(a|b)*c+[d-f]`).FindString(strings.Repeat("ab", 500))
			}
		})
	}
	pprof.StopCPUProfile()
	// A number of a sample, as heap profiles have the size of blocks.
	p, err := profile.ParseData(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Sample {
		s.NumLabel, s.NumUnit = map[string][]int64{"sent": {7}}, map[string][]string{"sent": {"bytes"}}
	}
	b.Reset()
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	in, err := foreign.Look(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Format.Samples(t.Context(), in, &foreign.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tab := got.Tables[0]
	kind, cpu, sent := tab.Column("request_kind"), tab.Column("label_cpu"), tab.Column("sent")
	if kind == nil || cpu == nil || sent == nil || tab.Column("cpu") != nil || sent.Unit != "bytes" || sent.Float(0) != 7 {
		t.Fatalf("columns %v", tab.Columns())
	}
	counts := map[string]int{}
	for i := range tab.Rows() {
		if kind.Has(i) {
			counts[kind.Text(i)]++
		}
	}
	for who, n := range counts {
		raw, err := exec.Command("go", "tool", "pprof", "-raw", "-sample_index=samples", "-tagfocus=request kind="+who, file).Output()
		if err != nil {
			t.Fatal(err)
		}
		if want, _ := totals(string(raw)); want != int64(n) {
			t.Errorf("%q: %d samples, pprof says %d", who, n, want)
		}
	}
	if len(counts) != 2 {
		t.Errorf("%v", counts)
	}
}

// A line of -raw: the values of a stack and its locations.
var rawSample = regexp.MustCompile(`^\s*((?:-?\d+\s+)*-?\d+): ([\d ]+)$`)

// totals sums the first and the default value, or else the last, of the stacks
// that pprof prints.
func totals(raw string) (first, cost int64) {
	_, text, _ := strings.Cut(raw, "Samples:\n")
	text, _, _ = strings.Cut(text, "Locations")
	head, _, _ := strings.Cut(text, "\n")
	types := strings.Fields(head)
	chosen := len(types) - 1
	if i := slices.IndexFunc(types, func(s string) bool { return strings.HasSuffix(s, "[dflt]") }); i >= 0 {
		chosen = i
	}
	for line := range strings.Lines(text) {
		m := rawSample.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		values := strings.Fields(m[1])
		var a, b int64
		fmt.Sscan(values[0], &a)
		fmt.Sscan(values[chosen], &b)
		first, cost = first+a, cost+b
	}
	return first, cost
}

func TestSniffRefusesOthers(t *testing.T) {
	for _, head := range []string{"", "\n\x02ab", "time,cpu\n1,2\n", "\n\n\n\n", "\x0a\x04\x08\x01\x10\x02", "\x0a\x04\x08\x01\x10\x02\xff\xff\xff"} {
		if sniff([]byte(head)) {
			t.Errorf("%q is taken for a profile", head)
		}
	}
}

func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 0); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("\x0a\x04\x08\x01\x10\x02\x12\x02\x10\x01\x32\x00\x32\x01a\x32\x01b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		sniff(data)
		_, _ = parse(t.Context(), bytes.NewReader(data), nil)
	})
}
