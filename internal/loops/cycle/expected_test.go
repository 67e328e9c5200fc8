package cycle

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/refscsv"
)

// expected is one file of the shared data, computed with ripser.py (p = 47),
// numpy and scipy from the same traces.
type expected struct {
	Trace   string
	Mode    string
	W       int
	Records int
	Symbols int
	Windows int
	Unique  int
	Reps    []int32
	Idx     []uint32
	Bars    [][2]int
	Betti   map[string]int
	Classes []struct {
		Birth, Death, Eps int
		Edges             int
		Energy, Winding   float64
		IntWind           int `json:"int_wind"`
		Theta, Lift       []float64
	}
}

func expectedFiles(t *testing.T) []string {
	files, err := filepath.Glob(filepath.Join(test.Fixture(t, "refs/expected"), "*.*.json"))
	if err != nil || len(files) != 30 {
		t.Fatalf("%d expected files, error %v, want 30", len(files), err)
	}
	return files
}

func readExpected(t *testing.T, file string) *expected {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var e expected
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	return &e
}

func loadCSV(t testing.TB, path string, symbol Symbol) *Trace {
	t.Helper()
	r, _, err := foreign.List{refscsv.Format}.OpenRefs(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	traces, err := Load(t.Context(), r, Input{Symbol: symbol})
	if err != nil {
		t.Fatal(err)
	}
	if len(traces) != 1 {
		t.Fatalf("%d threads, want 1", len(traces))
	}
	return traces[0]
}

func sortBars(bars [][2]int) [][2]int {
	slices.SortFunc(bars, func(a, b [2]int) int {
		if a[0] != b[0] {
			return a[0] - b[0]
		}
		return a[1] - b[1]
	})
	return bars
}

func barPairs(bars []Bar) [][2]int {
	var out [][2]int
	for _, b := range bars {
		d := b.Death
		if b.Alive {
			d = -1
		}
		out = append(out, [2]int{b.Birth, d})
	}
	return sortBars(out)
}

func barsOf(t testing.TB, m *Matrix, p int) *barcode {
	t.Helper()
	r, err := newRips(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	b, err := persist(t.Context(), r, p, limits{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestExpectedBars(t *testing.T) {
	test.NoRaces(t, "TestPaperCounts and the traces made up here go through the same loops")
	for _, file := range expectedFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			e := readExpected(t, file)
			symbol, err := ParseSymbol(e.Mode)
			if err != nil {
				t.Fatal(err)
			}
			tr := loadCSV(t, filepath.Join(test.Fixture(t, "refs/traces"), e.Trace), symbol)
			if len(tr.Syms) != e.Records || tr.Symbols != e.Symbols {
				t.Fatalf("%d records, %d symbols, want %d, %d", len(tr.Syms), tr.Symbols, e.Records, e.Symbols)
			}
			p, err := Windows(t.Context(), tr.Syms, e.W)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(e.Reps, p.First); d != "" {
				t.Fatalf("first windows: %s", d)
			}
			if d := cmp.Diff(e.Idx, p.Index); d != "" {
				t.Fatalf("index: %s", d)
			}
			m, err := Distances(t.Context(), p, e.W)
			if err != nil {
				t.Fatal(err)
			}
			compareMatrix(t, m, strings.TrimSuffix(file, ".json")+".dist.csv")
			b := barsOf(t, m, 47)
			if d := cmp.Diff(sortBars(e.Bars), barPairs(b.bars)); d != "" {
				t.Fatalf("bars: %s", d)
			}
			for eps := 1; eps < e.W; eps++ {
				alive := 0
				for _, bar := range b.bars {
					if bar.Birth <= eps && eps < bar.Death {
						alive++
					}
				}
				if alive != e.Betti[strconv.Itoa(eps)] {
					t.Errorf("Betti number at %d: %d, want %d", eps, alive, e.Betti[strconv.Itoa(eps)])
				}
			}
		})
	}
}

// compareMatrix compares with a distance matrix, which exists up to 250 points.
func compareMatrix(t *testing.T, m *Matrix, file string) {
	t.Helper()
	f, err := os.Open(file)
	if os.IsNotExist(err) && m.N > 250 {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != m.N {
		t.Fatalf("%d rows, want %d", m.N, len(rows))
	}
	for i, row := range rows {
		for j, cell := range row {
			if strconv.Itoa(m.At(i, j)) != cell {
				t.Fatalf("distance %d, %d = %d, want %s", i, j, m.At(i, j), cell)
			}
		}
	}
}

func TestCapped(t *testing.T) {
	tr := loadCSV(t, test.Fixture(t, "refs/traces/matmul_standard.csv"), Addr)
	p, err := Windows(t.Context(), tr.Syms, 10)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Distances(t.Context(), p, 4)
	if err != nil {
		t.Fatal(err)
	}
	alive := map[int]int{}
	bars := barsOf(t, m, 47).bars
	for _, b := range bars {
		if b.Alive {
			alive[b.Birth]++
		}
	}
	if d := cmp.Diff(map[int]int{2: 4, 3: 5, 4: 9}, alive); d != "" || len(bars) != 1755 {
		t.Errorf("%d bars, want 1755; alive at the cap by birth: %s", len(bars), d)
	}
}
