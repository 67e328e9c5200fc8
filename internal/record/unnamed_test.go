package record

import (
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
)

// texts makes a column; "" is no value.
func texts(t *testing.T, name string, values ...string) *table.Column {
	t.Helper()
	in, codes, has := table.NewInterner(), make([]uint32, len(values)), table.NewBits(len(values))
	for i, v := range values {
		if v != "" {
			codes[i] = in.CodeString(v)
			has.Set(i)
		}
	}
	return table.Categories(name, table.Derived, codes, in.Names(), has)
}

// What has no name is said with its share, and how to get it; what is named, or
// little, is not.
func TestUnnamed(t *testing.T) {
	fill := func(n int, v string) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = v
		}
		return out
	}
	const code, script, memory = "code that was made", "interpreter of Python", "called by its mapping"
	log := &run.Heap{Threshold: 4096}
	for name, tt := range map[string]struct {
		modules, scripts, sources, symbols []string
		heap                               *run.Heap
		read                               int32 // a process whose frames are read; samples are of 0
		want, not                          []string
	}{
		"an ordinary program": {modules: fill(100, "app"), sources: fill(100, "global"), symbols: fill(100, "a"), heap: log, not: []string{code, script, memory}},
		"a little":            {modules: append(fill(97, "app"), fill(3, "//anon")...), sources: append(fill(97, "global"), fill(3, "anonymous")...), symbols: fill(100, "a"), heap: log, not: []string{code, script, memory}},
		"JavaScript":          {modules: append(fill(60, "//anon"), fill(40, "node")...), want: []string{"60.0 % of the samples are in " + code, "node --perf-basic-prof"}, not: []string{script, memory}},
		"with names":          {modules: append(fill(60, "[generated]"), fill(40, "node")...), not: []string{code}},
		"Java":                {modules: append(fill(90, "//anon"), fill(10, "libjvm.so")...), want: []string{"90.0 %", "DumpPerfMapAtExit"}},
		"another compiler":    {modules: fill(100, "[anon:JIT]"), want: []string{"100.0 %", "perf map or a jitdump"}},
		"the kernel":          {modules: fill(100, "[kernel]"), not: []string{code}},
		"old Python":          {modules: append(fill(80, "python3.11"), fill(20, "libc.so.6")...), read: 1, want: []string{"80.0 % of the samples are in the " + script, "this is Python 3.11; they are read from 3.9 to 3.11"}},
		"Python that is read": {modules: fill(100, "python3.11"), read: 0, not: []string{script}},
		"new Python":          {modules: fill(100, "libpython3.13.so.1.0"), read: 1, want: []string{"100.0 %", "PYTHONPERFSUPPORT=1"}},
		"free-threaded":       {modules: fill(100, "python3.13t"), read: 1, want: []string{"PYTHONPERFSUPPORT=1"}},
		"named Python":        {modules: fill(100, "python3.13"), read: 1, scripts: fill(100, "f (a.py)"), not: []string{script}},
		"no log":              {modules: fill(100, "app"), sources: fill(100, "anonymous"), symbols: fill(100, "anonymous 1 MiB"), heap: &run.Heap{Absent: "app is linked statically"}, want: []string{"100.0 %", "there is no allocation log: app is linked statically"}},
		"small ones":          {modules: fill(100, "app"), sources: append(fill(50, "mapping"), fill(50, "global")...), symbols: append(fill(50, "[heap]"), fill(50, "a")...), heap: log, want: []string{"50.0 %", memory, "--heap-threshold 1", "4 KiB"}},
		"of samples with one": {modules: fill(100, "app"), sources: append(fill(50, ""), append(fill(10, "anonymous"), fill(40, "global")...)...), symbols: fill(100, "a"), heap: log, want: []string{"20.0 % of the samples with an object"}},
		"all is logged":       {modules: fill(100, "app"), sources: fill(100, "anonymous"), symbols: fill(100, "a"), heap: &run.Heap{Threshold: 1}, want: []string{"maps it itself"}},
	} {
		t.Run(name, func(t *testing.T) {
			columns := []*table.Column{texts(t, "module", tt.modules...), table.Ints("pid", "", table.Measured, make([]int64, len(tt.modules)), nil)}
			for column, values := range map[string][]string{"script": tt.scripts, "object_source": tt.sources, "symbol": tt.symbols} {
				if values != nil {
					columns = append(columns, texts(t, column, values...))
				}
			}
			samples, err := table.New("samples", columns)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(unnamed(samples, tt.heap, &pythons{read: map[int32]bool{tt.read: true}}), "\n")
			for _, w := range tt.want {
				if !strings.Contains(got, w) {
					t.Errorf("%q does not say %q", got, w)
				}
			}
			for _, n := range tt.not {
				if strings.Contains(got, n) {
					t.Errorf("%q says %q", got, n)
				}
			}
		})
	}
}
