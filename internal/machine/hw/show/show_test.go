package show

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/canvas"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/machine/hw"
)

var update = flag.Bool("update", false, "write the golden files anew")

// pebs are the level names of the low four bits of the legacy data source.
var pebs = []hw.Level{hw.BeyondL3, hw.L1, hw.LFB, hw.L2, hw.L3, hw.L3, hw.L3, hw.L3, hw.BeyondL3, hw.Unknown}

// lulesh places the samples of a real run, read here by hand so that no
// importer takes part, and returns the view of those with at least a latency.
func lulesh(t testing.TB, least float64) *View {
	t.Helper()
	folder := test.Shared(t, "samples/lulesh_legacy")
	topo, err := formats.OpenTopology(filepath.Join(folder, "hardware.xml"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(folder, "data", "samples.out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var cpus []int32
	var codes []uint32
	var latencies []float64
	var dict []string
	for _, l := range hw.Levels() {
		dict = append(dict, l.String())
	}
	for _, r := range records[1:] {
		cpu, _ := strconv.Atoi(r[7])
		source, _ := strconv.Atoi(r[6])
		latency, _ := strconv.ParseFloat(r[5], 64)
		cpus = append(cpus, int32(cpu))
		codes = append(codes, uint32(pebs[source&0xF]-hw.L1))
		latencies = append(latencies, latency)
	}
	samples, err := table.New("samples", []*table.Column{
		{Name: "cpu", Kind: table.Number, Data: cpus},
		{Name: "level", Kind: table.Category, Data: codes, Dict: dict},
		{Name: "latency", Kind: table.Number, Data: latencies},
	})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := hw.PlaceRows(hw.NewPlacer(topo), samples)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]hw.Count, len(rows.Coder.Places))
	for i, v := range latencies {
		if v < least {
			continue
		}
		n := &counts[rows.Code[i]]
		n.Samples++
		n.Valued++
		n.Sum += v
		n.Squares += v * v
	}
	return &View{
		Topology: topo, Samples: hw.Fold(rows.Coder, counts),
		Of: uint64(samples.Rows()), Level: table.Derived, Latency: table.Measured, LatencyUnit: "cycles",
	}
}

// TestReferenceValues compares with values an independent script computed.
func TestReferenceValues(t *testing.T) {
	v := lulesh(t, 0)
	if err := v.Samples.Check(); err != nil {
		t.Error(err)
	}
	tests := []struct {
		kind               hw.Kind
		n                  int
		samples            uint64
		mean, meanOfMeans  float64
		imbalance, epsilon float64
	}{
		{hw.CPU, 32, 15676, 65.234626, 66.673749, 2.633162, 1e-6},
		{hw.Cache1, 16, 4101, 51.256767, 54.610843, 2.190074, 1e-6},
		{hw.Cache2, 16, 6085, 64.081841, 65.826682, 2.129816, 1e-6},
		{hw.Cache3, 2, 1512, 50.367725, 50.364841, 1, 1e-6},
	}
	for _, tt := range tests {
		var all hw.Count
		var each []float64
		means := 0.0
		for _, i := range v.Topology.At(tt.kind) {
			n := v.Samples.Tallies[i].Served
			if tt.kind == hw.CPU {
				n = v.Samples.Tallies[i].Passed
			}
			all.Add(n)
			m, _ := n.Mean()
			means += m
			each = append(each, float64(n.Samples))
		}
		mean, _ := all.Mean()
		if len(each) != tt.n || all.Samples != tt.samples || math.Abs(mean-tt.mean) > tt.epsilon ||
			math.Abs(means/float64(tt.n)-tt.meanOfMeans) > tt.epsilon || math.Abs(imbalance(each)-tt.imbalance) > tt.epsilon {
			t.Errorf("%v: %d resources, %d samples, mean %f, L %f, I %f; want %+v", tt.kind, len(each), all.Samples, mean, means/float64(tt.n), imbalance(each), tt)
		}
	}
}

func imbalance(each []float64) float64 {
	mean, square, most := 0.0, 0.0, 0.0
	for _, v := range each {
		mean += v / float64(len(each))
	}
	for _, v := range each {
		square += (v - mean) * (v - mean) / float64(len(each))
		most = max(most, math.Abs(v-mean))
	}
	return most / math.Sqrt(square)
}

// TestPictureNumbers compares with the legend of the target picture of the
// page, whose numbers come from the same samples with a latency of at least
// 100.
func TestPictureNumbers(t *testing.T) {
	v := lulesh(t, 100)
	l := newLayout(v, ByLatency)
	if v.Samples.Total.Samples != 2147 {
		t.Errorf("%d samples, want 2147", v.Samples.Total.Samples)
	}
	want := map[string][2]string{
		"CPU": {"11.5 k", "28.2 k"}, "L1": {"2.6 k", "10.4 k"}, "L2": {"12.3 k", "20.8 k"}, "L3": {"0", "2.7 k"},
	}
	links := map[string][2]float64{"CPU": {27, 57}, "L1": {42, 70}, "L2": {2, 8}}
	for _, r := range l.rings {
		name := r.kind.String()
		if name == "NUMA" {
			if r.scale.n != 0 {
				t.Errorf("%d memory nodes have samples, want none", r.scale.n)
			}
			continue
		}
		if got := [2]string{plain(amount(r.scale.low())), plain(amount(r.scale.max))}; got != want[name] {
			t.Errorf("%s runs from %s to %s, want %v", name, got[0], got[1], want[name])
		}
		if got, ok := links[name]; ok && got != [2]float64{r.link.min, r.link.max} {
			t.Errorf("links of %s from %v to %v, want %v", name, r.link.min, r.link.max, got)
		}
	}
	var unplaced uint64
	for _, u := range v.Samples.Unplaced {
		unplaced += u.Samples
	}
	if unplaced != 863 {
		t.Errorf("%d samples not placed, want 863", unplaced)
	}
}

// small is a machine of two sockets with every kind of sample, made by hand.
func small(t testing.TB, latency table.Provenance) *View {
	t.Helper()
	topo, err := formats.OpenTopology(filepath.Join("testdata", "small.xml"))
	if err != nil {
		t.Fatal(err)
	}
	p := hw.NewPlacer(topo)
	c := hw.NewCoder(p)
	var counts []hw.Count
	for i, s := range []struct {
		cpu   int
		level hw.Level
		n     uint64
		each  float64
	}{
		{0, hw.L1, 900, 4}, {0, hw.LFB, 30, 20}, {0, hw.L2, 80, 14}, {0, hw.L3, 40, 45}, {0, hw.LocalRAM, 20, 180},
		{1, hw.L1, 700, 4}, {1, hw.L3, 60, 48}, {1, hw.RemoteRAM, 50, 310},
		{2, hw.L1, 400, 4}, {2, hw.LocalRAM, 10, 170}, {2, hw.BeyondL3, 7, 200}, {2, hw.MSC, 3, 90},
		{9, hw.L1, 5, 4},
	} {
		c.Code(p.Place(s.cpu, hw.Access{Level: s.level, Home: -1}))
		counts = append(counts, hw.Count{Samples: s.n, Valued: s.n, Sum: float64(s.n) * s.each, Squares: float64(s.n) * s.each * s.each})
		if len(c.Places) != i+1 {
			t.Fatalf("two rows share place %d", i)
		}
	}
	v := &View{Topology: topo, Samples: hw.Fold(c, counts), Of: 4000, Level: table.Measured, Latency: latency, LatencyUnit: "cycles", Where: "latency > 3"}
	if err := v.Samples.Check(); err != nil {
		t.Error(err)
	}
	return v
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestGolden(t *testing.T) {
	v := small(t, table.Measured)
	alone := &View{Topology: v.Topology}
	draw := func(f func(canvas.Canvas, *Drawing) error, d *Drawing) func(io.Writer) error {
		return func(w io.Writer) error { return f(canvas.NewSVG(w), d) }
	}
	asJSON := func(v *View) func(io.Writer) error {
		return func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", " ")
			return e.Encode(v.Tree())
		}
	}
	for name, write := range map[string]func(io.Writer) error{
		"small.txt":          v.Text,
		"small-alone.txt":    alone.Text,
		"small-modelled.txt": small(t, table.Modelled).Text,
		"small.json":         asJSON(v),
		"small-alone.json":   asJSON(alone),
		"small.svg":          draw(v.Sunburst, &Drawing{}),
		"small-icicle.svg":   draw(v.Icicle, &Drawing{Theme: Dark}),
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
		})
	}
}

// TestEveryTopology writes every shared file in every form: text must fit 80
// columns, SVG must be well-formed with every block inside the picture, JSON
// must hold every resource once.
func TestEveryTopology(t *testing.T) {
	folder := test.Shared(t, "topology")
	paths, _ := filepath.Glob(filepath.Join(folder, "*.xml"))
	more, _ := filepath.Glob(filepath.Join(folder, "sys-sage", "s*.xml"))
	for _, path := range append(paths, more...) {
		if strings.HasSuffix(path, "schema.xml") {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			topo, err := formats.OpenTopology(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range []*View{{Topology: topo}, everywhere(topo)} {
				checkForms(t, v)
			}
		})
	}
}

// everywhere puts samples on every place of a topology.
func everywhere(topo *hw.Topology) *View {
	p := hw.NewPlacer(topo)
	c := hw.NewCoder(p)
	var counts []hw.Count
	for pl := range hw.Place(p.Places()) {
		n := uint64(pl)*2654435761%97 + 1
		c.Code(pl)
		counts = append(counts, hw.Count{Samples: n, Valued: n, Sum: float64(n * 10)})
	}
	return &View{Topology: topo, Samples: hw.Fold(c, counts), Level: table.Measured, Latency: table.Measured, LatencyUnit: "cycles"}
}

func checkForms(t *testing.T, v *View) {
	t.Helper()
	if v.Samples != nil {
		if err := v.Samples.Check(); err != nil {
			t.Error(err)
		}
	}
	var b bytes.Buffer
	if err := v.Text(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(b.String(), "\n") {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
	for _, th := range []*Theme{Light, Dark} {
		for _, draw := range []func(canvas.Canvas, *Drawing) error{v.Sunburst, v.Icicle} {
			b.Reset()
			if err := draw(canvas.NewSVG(&b), &Drawing{Theme: th}); err != nil {
				t.Fatal(err)
			}
			checkSVG(t, b.Bytes())
		}
	}
	nodes := 0
	var walk func(n *Node)
	walk = func(n *Node) {
		nodes++
		for _, kid := range n.Children {
			walk(kid)
		}
	}
	walk(v.Tree())
	if nodes < len(v.Topology.Resources) || v.Samples == nil && nodes != len(v.Topology.Resources) {
		t.Errorf("JSON has %d nodes of %d resources", nodes, len(v.Topology.Resources))
	}
}

func checkSVG(t *testing.T, data []byte) {
	t.Helper()
	if i := bytes.Index(data, []byte("NaN")); i >= 0 {
		t.Errorf("NaN in the drawing: %s", data[max(0, i-80):i+3])
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("SVG: %v", err)
		}
		e, _ := token.(xml.StartElement)
		seen := map[string]bool{} // browsers refuse an attribute given twice, this decoder does not
		for _, a := range e.Attr {
			if seen[a.Name.Local] {
				t.Fatalf("SVG: element %s has two attributes %s", e.Name.Local, a.Name.Local)
			}
			seen[a.Name.Local] = true
		}
	}
}

func TestAmount(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 7: "7", 2648: "2.6 k", 28240: "28.2 k", 587000: "587 k", 1022618: "1.02 M", 999600: "1.00 M", 370e9: "370 G", 12.345: "12.3"} {
		if got := plain(amount(v)); got != want {
			t.Errorf("amount(%v) = %q, want %q", v, got, want)
		}
	}
	for n, want := range map[uint64]string{0: "", 32768: "32 KiB", 20971520: "20 MiB", 1610612736: "1.5 GiB", 512: "512 B", 397816131584: "370.5 GiB", 1310720: "1.25 MiB", 1000: "1000 B"} {
		if got := bytesize(n); got != want {
			t.Errorf("bytesize(%d) = %q, want %q", n, got, want)
		}
	}
}
