package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// turnsOf reads a list of positions: how far each window has turned. Places are
// checked against the definition of the spiral.
func turnsOf(t *testing.T, file string) []float64 {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []float64
	for i, row := range rows[1:] {
		var v [3]float64
		for k := range v {
			if v[k], err = strconv.ParseFloat(row[1+k], 64); err != nil {
				t.Fatal(err)
			}
		}
		const R = 366
		r := 0.1*R + 0.9*R*float64(i)/float64(len(rows)-2)
		x, y := 400+r*math.Sin(2*math.Pi*v[0]), 24+R-r*math.Cos(2*math.Pi*v[0])
		if row[0] != strconv.Itoa(i) || math.Hypot(x-v[1], y-v[2]) > 0.02 {
			t.Fatalf("%s: row %v is not at %.2f, %.2f", file, row, x, y)
		}
		out = append(out, v[0])
	}
	return out
}

// TestCyclesFrames: the first frame is the one class and the last the other, as
// --json has them; between, every window moves evenly.
func TestCyclesFrames(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	dir := filepath.Join(t.TempDir(), "a", "frames")
	out, err := isobath(t, "cycles", nestedCSV(t, 4, 5, 1), "--frames", dir, "--morph", "0:1", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Windows int
		Classes []struct{ Lift float64 }
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "frame-*"))
	if len(files) != 50 {
		t.Fatalf("%d files, want 25 pictures and 25 lists", len(files))
	}
	var all [][]float64
	for i := range 25 {
		name := filepath.Join(dir, fmt.Sprintf("frame-%03d", i+1))
		svg, err := os.ReadFile(name + ".svg")
		if err != nil || !strings.Contains(string(svg), "class 0 to class 1 · morph ") {
			t.Fatalf("%s.svg: %v", name, err)
		}
		all = append(all, turnsOf(t, name+".csv"))
		if len(all[i]) != doc.Windows {
			t.Fatalf("%s.csv has %d windows of %d", name, len(all[i]), doc.Windows)
		}
	}
	end := doc.Windows - 1
	for _, c := range []struct{ frame, class int }{{0, 0}, {24, 1}} {
		if got, want := all[c.frame][end], math.Abs(doc.Classes[c.class].Lift); math.Abs(got-want) > 1e-4 {
			t.Errorf("frame %d turns %g times, class %d %g", c.frame+1, got, c.class, want)
		}
	}
	for w := range doc.Windows {
		middle := (all[0][w] + all[24][w]) / 2
		if math.Abs(all[12][w]-middle) > 1e-5 {
			t.Fatalf("window %d is at %g half way, want %g", w, all[12][w], middle)
		}
	}
	for _, args := range [][]string{{"--morph", "0:99"}, {"--morph", "one"}} {
		if _, err := isobath(t, append([]string{"cycles", nestedCSV(t, 4, 5, 1), "--frames", dir}, args...)...); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
