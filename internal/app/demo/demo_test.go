package demo

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats"
)

// TestCommittedDataIsFresh simulates one of the eight iterations again: it does
// not depend on the later ones. `go run ./internal/app/demo/gen -check` compares
// the whole file.
func TestCommittedDataIsFresh(t *testing.T) {
	test.NoRaces(t, "simulations in one goroutine")
	again, err := Stencil(StencilOptions{Iterations: 1})
	if err != nil {
		t.Fatal(err)
	}
	checkFresh(t, built(t), again)
	fixed, err := OpenFixed()
	if err != nil {
		t.Fatal(err)
	}
	if again, err = fixedRun(); err != nil {
		t.Fatal(err)
	}
	checkFresh(t, fixed.Samples, again)
}

func checkFresh(t *testing.T, stored *table.Table, again *Run) {
	t.Helper()
	iteration := stored.Column("iteration")
	var early []int
	last := none
	for i := range stored.Rows() {
		if !iteration.Has(i) || iteration.Float(i) < 1 {
			early = append(early, i)
		} else {
			last = max(last, int(iteration.Float(i)))
		}
	}
	if last != stencilIterations-1 {
		t.Errorf("the committed run has iterations up to %d, the source %d", last, stencilIterations-1)
	}
	if diff := compare(stored.Take(early), again.Samples); diff != "" {
		t.Errorf("the committed data is stale; make it again with 'go run ./internal/app/demo/gen': %s", diff)
	}
}

// compare returns the first difference of two tables. Names may have other
// codes: a shorter run meets them in the same order, but not all of them.
func compare(a, b *table.Table) string {
	if a.Rows() != b.Rows() || len(a.Columns()) != len(b.Columns()) {
		return fmt.Sprintf("%d rows of %d columns against %d of %d", a.Rows(), len(a.Columns()), b.Rows(), len(b.Columns()))
	}
	for k, c := range a.Columns() {
		d := b.Columns()[k]
		if c.Meta() != d.Meta() {
			return fmt.Sprintf("column %+v against %+v", c.Meta(), d.Meta())
		}
		for i := range a.Rows() {
			if c.Text(i) != d.Text(i) {
				return fmt.Sprintf("%s of row %d is %q against %q", c.Name, i, c.Text(i), d.Text(i))
			}
		}
	}
	return ""
}

func TestSmallEnough(t *testing.T) {
	if n := len(stencilData) + len(fixedData); n > 3_000_000 {
		t.Errorf("the committed data has %d bytes; at most 3 MB are allowed", n)
	}
	if n := built(t).Rows(); n < 60_000 || n > 120_000 {
		t.Errorf("the built-in run has %d samples", n)
	}
}

func TestEncodeDecode(t *testing.T) {
	run, err := Uniform(5000, 3)
	if err != nil {
		t.Fatal(err)
	}
	data, err := Encode(run)
	if err != nil {
		t.Fatal(err)
	}
	h, samples, err := decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := compare(run.Samples, samples); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(run.Objects, h.Objects); diff != "" {
		t.Error(diff)
	}
	for i, c := range run.Samples.Columns() {
		if d := samples.Columns()[i]; fmt.Sprintf("%T", c.Data) != fmt.Sprintf("%T", d.Data) || !slices.Equal(c.Dict, d.Dict) {
			t.Errorf("%s: %T with names %v comes back as %T with %v", c.Name, c.Data, c.Dict, d.Data, d.Dict)
		}
	}
}

func FuzzDecode(f *testing.F) {
	run, err := Uniform(50, 3)
	if err != nil {
		f.Fatal(err)
	}
	data, err := Encode(run)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)-7])
	f.Add([]byte{255, 255, 255, 255, 1})
	f.Add([]byte("\x02\x00\x00\x00{}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if _, s, err := decode(in); err == nil && s == nil {
			t.Error("neither a table nor an error")
		}
	})
}

func TestEveryColumnSaysWhereItComesFrom(t *testing.T) {
	modelled := []string{"time", "latency", "level", "hit", "remote", "hops", "snoop", "tlb", "home"}
	columns := []string{
		"time", "cpu", "node", "tid", "pid", "ip", "addr", "op", "width", "latency", "level", "hit", "remote", "hops",
		"tlb", "file", "line", "function", "instruction", "symbol", "index", "x", "y", "z", "iteration",
	}
	s := built(t)
	for _, name := range columns {
		c := s.Column(name)
		if c == nil {
			t.Errorf("no column %s", name)
			continue
		}
		if c.Note == "" || c.Provenance == table.Measured || c.Provenance == table.Absent {
			t.Errorf("%s is %v, note %q", name, c.Provenance, c.Note)
		}
		if slices.Contains(modelled, name) && c.Provenance != table.Modelled {
			t.Errorf("%s is %v, want modelled", name, c.Provenance)
		}
	}
}

// TestLinesHoldTheirAccess looks every sampled line up in the source: it names
// the array, through the pointers that swap exchanges.
func TestLinesHoldTheirAccess(t *testing.T) {
	lines := strings.Split(stencilSource, "\n")
	s := built(t)
	seen := map[string]bool{}
	for i := range s.Rows() {
		line, symbol := int(s.Column("line").Float(i)), s.Column("symbol").Text(i)
		if !strings.Contains(lines[line-1], strings.TrimSuffix(symbol, "new")+"[") && !strings.Contains(lines[line-1], symbol+"[") &&
			!strings.Contains(lines[line-1], "unew[") {
			t.Fatalf("row %d: %s on line %d: %s", i, symbol, line, lines[line-1])
		}
		seen[s.Column("function").Text(i)+" "+symbol] = true
	}
	for _, want := range []string{"fill rhs", "boundary u", "sweep coef", "sweep material", "sweep unew", "residual u", "residual partial"} {
		if !seen[want] {
			t.Errorf("no sample of %s", want)
		}
	}
}

func TestAddressesFitTheirObjects(t *testing.T) {
	run, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	objects := map[string]Object{}
	for _, o := range run.Objects {
		objects[o.Name] = o
	}
	s := run.Samples
	addr := s.Column("addr").Data.([]uint64)
	for i := range s.Rows() {
		o := objects[s.Column("symbol").Text(i)]
		index := int(s.Column("index").Float(i))
		if index < 0 || index >= o.Count || addr[i] != o.Address+uint64(index*o.Width) {
			t.Fatalf("row %d: address %#x, element %d of %+v", i, addr[i], index, o)
		}
	}
}

func TestTopology(t *testing.T) {
	run, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	topo, err := formats.ReadTopology(run.Topology)
	if err != nil {
		t.Fatal(err)
	}
	if topo.Root() == nil {
		t.Fatal("no tree")
	}
	lstopo := test.Peer(t, "lstopo-no-graphics", "hwloc-nox")
	file := filepath.Join(t.TempDir(), "topology.xml")
	if err := os.WriteFile(file, run.Topology, 0o644); err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]int{"pu": 32, "core": 16, "package": 2, "numanode": 2, "l3cache": 2, "l2cache": 16, "l1dcache": 16} {
		out, err := exec.Command(lstopo, "-i", file, "--only", kind).CombinedOutput()
		if err != nil {
			t.Fatalf("lstopo: %v\n%s", err, out)
		}
		if n := strings.Count(string(out), "\n"); n != want {
			t.Errorf("lstopo sees %d of %s, want %d:\n%s", n, kind, want, out)
		}
	}
}

// TestProgramsRun compiles the sources and compares the decomposition of the
// simulated stencil with that of the real one.
func TestProgramsRun(t *testing.T) {
	cc := test.Peer(t, "gcc", "gcc")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	build := func(file string, flags ...string) string {
		exe := strings.TrimSuffix(file, ".c")
		args := append([]string{"-O2", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-o", exe, file}, flags...)
		if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
			t.Fatalf("gcc %v: %v\n%s", args, err, out)
		}
		return exe
	}
	output := func(exe string) string {
		out, err := exec.Command(exe).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", exe, err, out)
		}
		return string(out)
	}
	stencilC := write("stencil.c", stencilSource)
	plain, fixed := output(build(stencilC)), output(build(stencilC, "-DFIXED"))
	if strings.Count(plain, "residual") != stencilIterations || plain != fixed {
		t.Errorf("the stencil prints %q, its fixed form %q", plain, fixed)
	}
	output(build(write("lookup.c", lookupSource)))

	maps := write("maps.c", `#define main stencil_main
#include "stencil.c"
#undef main
int main(void)
{
    for (int z = 0; z < NZ; z++) printf("%d ", owner(z));
    for (int t = 0; t < THREADS; t++) printf("%d ", place(t));
    return 0;
}
`)
	for _, f := range []bool{false, true} {
		want := ""
		p := &stencil{fixed: f}
		for z := range nz {
			want += fmt.Sprintf("%d ", p.owner(z))
		}
		for t := range stencilThreads {
			want += fmt.Sprintf("%d ", place(t, f))
		}
		flags := []string{"-Wno-unused-function"}
		if f {
			flags = append(flags, "-DFIXED")
		}
		if got := output(build(maps, flags...)); got != want {
			t.Errorf("fixed %v: owners and places are %s, simulated are %s", f, got, want)
		}
	}
}

func TestBadPeriod(t *testing.T) {
	if _, err := Stencil(StencilOptions{Period: -1}); err == nil {
		t.Error("a negative period is accepted")
	}
}

// TestWalls: the story of the demo's mesh. In nearly every cell of the two walls
// samples are later than in the median cell inside.
func TestWalls(t *testing.T) {
	m, err := Dump(0)
	if err != nil {
		t.Fatal(err)
	}
	g := m.Blocks[0].Grid
	region := g.CellData[1].Data.([]int32)
	r := read(built(t))
	x, y, per := r.Column("x"), r.Column("y"), DumpCells()
	sum, n := make([]float64, g.NumCells()), make([]float64, g.NumCells())
	for i := range r.all {
		if !x.Has(i) || !y.Has(i) || r.z(i) == none {
			continue
		}
		cell := (r.z(i)/per[2]*ny+int(y.Float(i))/per[1])*dumpNX + int(x.Float(i))/per[0]
		sum[cell] += float64(r.latency(i))
		n[cell]++
	}
	var middle, walls []float64
	for c := range sum {
		if n[c] < 1 {
			t.Fatalf("cell %d of the demo's mesh has no samples", c)
		}
		if region[c] == regionWall {
			walls = append(walls, sum[c]/n[c])
		} else {
			middle = append(middle, sum[c]/n[c])
		}
	}
	slices.Sort(middle)
	late := 0
	for _, w := range walls {
		if w > middle[len(middle)/2] {
			late++
		}
	}
	if len(walls) != 2*dumpNX*dumpNZ || late < len(walls)*9/10 {
		t.Errorf("%d of %d cells of the walls are later than the median cell inside", late, len(walls))
	}
}
