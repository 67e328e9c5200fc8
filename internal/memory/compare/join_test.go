package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	runs "github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
)

// source is a run of samples in lines of one file, a thread each.
func source(t *testing.T, name, file string, text []string, tid int64, lines ...int64) Run {
	t.Helper()
	n := len(lines)
	files, objects := make([]uint32, n), make([]uint32, n)
	threads, latency := make([]int64, n), make([]int64, n)
	clock := make([]uint64, n)
	for i := range n {
		threads[i], latency[i], clock[i] = tid, 10, uint64(tid)*1_000_000+uint64(i)
	}
	r := made(t, name, table.Categories("file", table.Derived, files, []string{file}, nil), table.Ints("line", "", table.Derived, lines, nil),
		table.Categories("symbol", table.Derived, objects, []string{"a.c:3 4 KiB #" + name[len(name)-1:]}, nil),
		table.Ints("tid", "", table.Measured, threads, nil), table.Ints("latency", "cycles", table.Measured, latency, nil),
		table.Times("time", "ns", table.Measured, clock, nil))
	r.Text = func(f string) []string {
		if f == file {
			return text
		}
		return nil
	}
	return r
}

// TestJoin puts a run before and one after an edit into one table: lines that
// moved have one number, lines that went are of a file of their own, threads and
// objects lose what chance gave them, and clocks begin at 0.
func TestJoin(t *testing.T) {
	before := []string{"int f(int n) {", "  int total = compute(n);", "  int old_thing = prepare(total, n);", "  consume(old_thing, total);", "  return total;", "}"}
	after := []string{"// A longer comment", "int f(int n) {", "  int total = compute(n);", "  consume(0, total);", "  return total;", "}"}
	a := source(t, "run 1", "/old/a.c", before, 400, 2, 3, 5)
	b := source(t, "run 2", "/new/a.c", after, 900, 3, 5)
	j, err := Join(t.Context(), &a, &b)
	if err != nil {
		t.Fatal(err)
	}
	text := func(row int, names ...string) string {
		var out []string
		for _, n := range names {
			out = append(out, j.Table.Column(n).Text(row))
		}
		return strings.Join(out, " ")
	}
	want := []string{"A /new/a.c 3 0 0", "A /old/a.c (only in A) 3 0 1", "A /new/a.c 5 0 2", "B /new/a.c 3 0 0", "B /new/a.c 5 0 1"}
	for i, w := range want {
		if got := text(i, SideColumn, "file", "line", "tid", "time"); got != w {
			t.Errorf("row %d: %s, want %s", i, got, w)
		}
		if got := text(i, "symbol"); strings.Contains(got, "#") {
			t.Errorf("row %d: object %s", i, got)
		}
	}
	if of, ok := j.Lines.Pairs("/new/a.c"); !ok || !slices.Equal(of.Lines[:3], []int{0, 1, 2}) || of.How[1] != "equal" {
		t.Errorf("pairs %+v", of)
	}

	// Both sides compared through the one engine are what they are by themselves.
	e := kernel.New(query.Data{Table: j.Table}, kernel.Options{})
	defer e.Close()
	both := [2]Run{a, b}
	for i, side := range []string{SideA, SideB} {
		both[i].Engine, both[i].Filter = e, Of(side)
	}
	q := []Question{{By: []string{"file", "line"}, Metric: Cost}}
	c, err := Runs(t.Context(), both[:1], both[1:], Options{Questions: q, Common: true})
	if err != nil {
		t.Fatal(err)
	}
	if 2*c.A.Cost != 3*c.B.Cost || c.A.Of != 3 || c.B.Of != 2 || len(c.Groups) != 3 {
		t.Errorf("%+v %+v %d groups", c.A, c.B, len(c.Groups))
	}
	i := slices.IndexFunc(c.Groups, func(r Row) bool { return r.B.Samples == 0 })
	if i < 0 || c.Groups[i].Matched != "only a" || 3*c.Groups[i].A.Cost != c.A.Cost {
		t.Errorf("the line that went: %+v", c.Groups)
	}
}

// TestUnlike names the columns that are shown but not subtracted.
func TestUnlike(t *testing.T) {
	a := plain(t, nil)
	b := plain(t, func(r *Run) {
		edited(t, r, "latency", func(c *table.Column) { c.Provenance = table.Modelled })
		edited(t, r, "weight", func(c *table.Column) { c.Unit = "us" })
	})
	j, err := Join(t.Context(), &a, &b)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(j.Unlike["latency"], "modelled") || !strings.Contains(j.Unlike["weight"], "us") || j.Unlike["line"] != "" || j.Table.Column("weight") != nil || j.Table.Column("latency") == nil {
		t.Errorf("%v", j.Unlike)
	}
}

// TestLevelsOfTwoModels says that levels modelled for different machines do not
// compare.
func TestLevelsOfTwoModels(t *testing.T) {
	modelledFor := func(machine string) Run {
		r := made(t, machine, table.Categories("level", table.Modelled, []uint32{0, 1}, []string{"L1", "L2"}, nil), table.Ints("line", "", table.Derived, []int64{1, 2}, nil))
		r.Manifest.Recording = &runs.Recording{Model: &runs.Model{Topology: machine}}
		return r
	}
	a, b := modelledFor("the machine itself"), modelledFor("node.xml")
	for _, c := range []struct {
		b    *Run
		like bool
	}{{&b, false}, {&a, true}} {
		j, err := Join(t.Context(), &a, c.b)
		if err != nil {
			t.Fatal(err)
		}
		if why := j.Unlike["level"]; (why == "") != c.like || !c.like && (!strings.Contains(why, "the machine itself") || !strings.Contains(why, "node.xml")) {
			t.Errorf("%s against %s: %q", a.Name, c.b.Name, why)
		}
	}
}

// TestUnitsAreConverted compares a run in nanoseconds with one in microseconds.
func TestUnitsAreConverted(t *testing.T) {
	a := plain(t, nil)
	b := plain(t, func(r *Run) {
		edited(t, r, "weight", func(c *table.Column) {
			values := make([]int64, c.Len())
			for i := range values {
				values[i] = int64(c.Float(i)) / 1000
			}
			*c = *table.Ints("weight", "us", c.Provenance, values, nil)
		})
	})
	for _, r := range []*Run{&a, &b} {
		r.Manifest.Recording.Mode = "timer"
	}
	c, err := Runs(t.Context(), []Run{a}, []Run{b}, Options{Questions: []Question{{By: []string{"line"}, Metric: Cost}}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Unit != "ns" || math.Abs(c.B.Cost/c.A.Cost-1) > 1e-9 || math.Abs(*c.Whole.Ratio-1) > 1e-9 {
		t.Errorf("%s: A %v, B %v", c.Unit, c.A.Cost, c.B.Cost)
	}
	if !slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, "converted to ns") }) {
		t.Errorf("not said: %q", c.Warnings)
	}
}

// TestJoinOfProcesses has processes of two runs by their order, not by the numbers
// that the system gave them.
func TestJoinOfProcesses(t *testing.T) {
	a := made(t, "a", table.Ints("pid", "", table.Measured, []int64{10216, 10216, 10217}, nil))
	b := made(t, "b", table.Ints("pid", "", table.Measured, []int64{31, 7}, nil))
	j, err := Join(t.Context(), &a, &b)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"0", "0", "1", "0", "1"} {
		if got := j.Table.Column("pid").Text(i); got != want {
			t.Errorf("row %d is of process %s, want %s", i, got, want)
		}
	}
}

// TestJoinOfStacks has call stacks of A under the names that functions have in B.
func TestJoinOfStacks(t *testing.T) {
	text := func(name string) []string {
		return []string{"double " + name + "(double *u, int n) {", "  double worst = 0;", "  for (int i = 1; i < n; i++)", "    worst += u[i] * 0.25 + u[i - 1];", "  return worst / n;", "}"}
	}
	of := func(name, function string) Run {
		one := []uint32{0}
		r := made(t, name, table.Categories("file", table.Derived, one, []string{"a.c"}, nil), table.Ints("line", "", table.Derived, []int64{4}, nil),
			table.Categories("function", table.Derived, one, []string{function}, nil), table.Categories("stack", table.Derived, one, []string{"_start;main (b.c:9);" + function + " (a.c:4)"}, nil))
		r.Text = func(file string) []string { return map[string][]string{"a.c": text(function)}[file] }
		return r
	}
	a, b := of("a", "aggregate"), of("b", "summarise")
	j, err := Join(t.Context(), &a, &b)
	if err != nil {
		t.Fatal(err)
	}
	for row := range 2 {
		if got := j.Table.Column("stack").Text(row); got != "_start;main (b.c:9);summarise (a.c:4)" {
			t.Errorf("row %d: %s", row, got)
		}
	}
}

// TestJoinOfMachines numbers CPUs of two machines by their load, and keeps the
// numbers that the machines have for them.
func TestJoinOfMachines(t *testing.T) {
	on := func(name string, cpus int, used ...int64) Run {
		r := made(t, name, table.Ints("cpu", "", table.Measured, used, nil), table.Ints("line", "", table.Derived, make([]int64, len(used)), nil))
		r.Topology = machineOf(t, cpus, 1)
		return r
	}
	values := func(c *table.Column) (out []int) {
		for i := range c.Len() {
			out = append(out, int(c.Float(i)))
		}
		return out
	}
	a, b, like := on("a", 4, 3, 3, 1), on("b", 2, 0, 1, 1), on("like a", 4, 2, 2)
	j, err := Join(t.Context(), &a, &b)
	if err != nil {
		t.Fatal(err)
	}
	if j.Apart != "different machines: 4 CPUs, 1 node against 2 CPUs, 1 node" {
		t.Errorf("apart: %q", j.Apart)
	}
	if got, own := values(j.Table.Column("cpu")), values(j.OwnCPU); !slices.Equal(got, []int{0, 0, 1, 1, 0, 0}) || !slices.Equal(own, []int{3, 3, 1, 0, 1, 1}) {
		t.Errorf("ranks %v of %v", got, own)
	}
	if j, err = Join(t.Context(), &a, &like); err != nil || j.Apart != "" || !slices.Equal(values(j.Table.Column("cpu")), []int{3, 3, 1, 2, 2}) {
		t.Errorf("one machine: %v, %+v", err, j)
	}
}

// TestMerge shows the runs of a side together only if they were made alike: each has
// its own name in the column run, and what differs is said.
func TestMerge(t *testing.T) {
	named := func(name string, edit func(*Run)) Run {
		r := plain(t, edit)
		r.Name = name
		return r
	}
	a := named("a", nil)
	for _, tt := range []struct {
		name string
		edit func(*Run)
		want string // empty: they are shown together
	}{
		{"alike", nil, ""},
		{"another unit", func(r *Run) { edited(t, r, "latency", func(c *table.Column) { c.Unit = "ns" }) }, "latency is a number in cycles, measured, and a number in ns, measured"},
		{"modelled", func(r *Run) {
			edited(t, r, "latency", func(c *table.Column) { c.Provenance = table.Modelled })
		}, "and a number in cycles, modelled"},
		{"another rate", func(r *Run) { r.Manifest.Recording.Period *= 4 }, "sampled every 500 µs and 2 ms"},
		{"no known rate", func(r *Run) { r.Manifest.Recording = nil }, "sampled every 500 µs and unknown"},
		{"another kind of sampling", func(r *Run) { r.Manifest.Recording.Mode = "pebs" }, "sampled by timer and pebs"},
		{"another threshold", func(r *Run) { r.Manifest.Recording.Threshold = 30 }, "from 0 cycles on and from 30"},
		{"another machine", func(r *Run) { r.Topology = machineOf(t, 32, 2) }, "different machines: 2 CPUs, 1 node against 32 CPUs, 2 nodes"},
		{"another model", func(r *Run) { r.Manifest.Recording.Model = &runs.Model{Topology: "node.xml"} }, "modelled for a machine without a name and for node.xml"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := named("b", tt.edit)
			if b.Topology != nil {
				a.Topology = machineOf(t, 2, 1)
				defer func() { a.Topology = nil }()
			}
			merged, err := Merge(t.Context(), []Run{a, b})
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), "a and b are no runs of one side: ") || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v, want %q", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c := merged.Column("run"); merged.Rows() != a.Table.Rows()+b.Table.Rows() || c.Text(0) != "a" || c.Text(a.Table.Rows()) != "b" {
				t.Errorf("%d rows, the first of %s", merged.Rows(), c.Text(0))
			}
		})
	}
}
