package guide

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
)

// edited is a table with one column changed.
func edited(t *testing.T, from *table.Table, name string, change func(c *table.Column)) *table.Table {
	t.Helper()
	var columns []*table.Column
	for _, c := range from.Columns() {
		if c.Name == name {
			n := *c
			change(&n)
			c = &n
		}
		columns = append(columns, c)
	}
	out, err := table.New(from.Name, columns)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestScatteredElements deals the elements of all objects to the two packages in
// several ways; only chunks that alternate are scattered.
func TestScatteredElements(t *testing.T) {
	test.NoRaces(t, oneStory)
	r, err := demo.Uniform(30000, 7)
	if err != nil {
		t.Fatal(err)
	}
	plain := opened(t, r, nil)
	_, parts := (&insightSearch{Guide: plain}).farParts()
	const elements = 1 << 16
	for name, tt := range map[string]struct {
		index func(r *rand.Rand, part int) int
		want  string
	}{
		"chunks of 512 alternate":  {func(r *rand.Rand, part int) int { return (2*r.IntN(elements/1024)+part)*512 + r.IntN(512) }, "512 elements"},
		"chunks of 1000 alternate": {func(r *rand.Rand, part int) int { return (2*r.IntN(32)+part)*1000 + r.IntN(1000) }, "elements"},
		"half each":                {func(r *rand.Rand, part int) int { return part*elements/2 + r.IntN(elements/2) }, ""},
		"any":                      {func(r *rand.Rand, part int) int { return r.IntN(elements) }, ""},
		"few elements alternate":   {func(r *rand.Rand, part int) int { return 2*r.IntN(16) + part }, "one element"},
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 9))
			g := changed(t, r, func(from *table.Table) *table.Table {
				return edited(t, from, "index", func(c *table.Column) {
					data := slices.Clone(c.Data.([]int32))
					for i := range data {
						data[i] = int32(tt.index(random, int(parts.of(i))))
					}
					c.Data = data
				})
			})
			found := insights(t, g)
			n := 0
			for _, in := range found {
				if in.Kind != "scattered" {
					continue
				}
				n++
				if tt.want == "" || !strings.Contains(in.Text, tt.want) || in.Axis != "index" || !strings.HasPrefix(in.Where, "symbol = a") {
					t.Errorf("%+v", in)
				}
			}
			if want := map[bool]int{true: 4, false: 0}[tt.want != ""]; n != want {
				t.Errorf("%d of the four objects are scattered, want %d:%s", n, want, list(found))
			}
		})
	}
}

// homed puts the pages that memory samples found on the other node or on their
// own, in all columns that say where a page is.
func homed(t *testing.T, from *table.Table, away func(row int) bool) *table.Table {
	t.Helper()
	level, node := from.Column("level"), from.Column("node").Data.([]int32)
	local, _ := level.Code(hw.LocalRAM.String())
	remote, _ := level.Code(hw.RemoteRAM.String())
	codes := level.Data.([]uint32)
	memory := func(row int) bool { return codes[row] == local || codes[row] == remote }
	hops := func(row int) int32 {
		if away(row) {
			return 1
		}
		return 0
	}
	out := edited(t, from, "level", func(c *table.Column) {
		c.Data = replaced(codes, memory, func(row int) uint32 { return []uint32{local, remote}[hops(row)] })
	})
	out = edited(t, out, "remote", func(c *table.Column) {
		c.Data = replaced(c.Data.([]uint8), memory, func(row int) uint8 { return uint8(hops(row)) })
	})
	out = edited(t, out, "hops", func(c *table.Column) { c.Data = replaced(c.Data.([]int32), memory, hops) })
	return edited(t, out, "home", func(c *table.Column) {
		c.Data = replaced(c.Data.([]int32), memory, func(row int) int32 { return node[row] ^ hops(row) })
	})
}

func replaced[T any](data []T, of func(row int) bool, by func(row int) T) []T {
	data = slices.Clone(data)
	for row := range data {
		if of(row) {
			data[row] = by(row)
		}
	}
	return data
}

// TestRemoteAccesses makes the memory of one object, or of all, remote.
func TestRemoteAccesses(t *testing.T) {
	r, err := demo.Uniform(30000, 8)
	if err != nil {
		t.Fatal(err)
	}
	symbol := r.Samples.Column("symbol")
	for name, tt := range map[string]struct {
		remote func(row int) bool
		words  []string
		where  string
	}{
		"one object": {func(row int) bool { return symbol.Text(row) == "a1" }, []string{"most are of a1 (", "in uniform.c:", "object a1 has "}, "symbol = a1"},
		"all":        {func(int) bool { return true }, []string{"100.0 % of the samples that went to memory", "by chance give 50.0 %", "most are of a"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := changed(t, r, func(from *table.Table) *table.Table { return homed(t, from, tt.remote) })
			found, err := g.Insights(context.Background(), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			check(t, g, found)
			k := rank(found, "remote", tt.words...)
			if k == 0 {
				t.Fatalf("no remote finding with %q:%s", tt.words, list(found))
			}
			if in := found[k-1]; !strings.Contains(in.Where, tt.where) || !strings.Contains(in.Where, "emote") {
				t.Errorf("where %q; want remote samples, and %q", in.Where, tt.where)
			}
		})
	}
}

// TestLinesOfProcesses plants two processes at the same addresses: in each, two CPUs
// write their own half of a line. Taken as one process, CPUs of both would use the same
// addresses; and an array of many such lines is selected as it is counted.
func TestLinesOfProcesses(t *testing.T) {
	r, err := demo.Uniform(1000, 3)
	if err != nil {
		t.Fatal(err)
	}
	for name, column := range map[string]string{"processes": samples.PID, "hosts": samples.Host} {
		for _, lines := range []int{1, 100} {
			t.Run(fmt.Sprintf("%s %d", name, lines), func(t *testing.T) {
				g := changed(t, r, func(*table.Table) *table.Table { return mirrored(t, column, lines) })
				found := insights(t, g)
				at := rank(found, "false-sharing", "Object counters ", "4 CPUs use different addresses")
				if at == 0 || rank(found, "shared-line") > 0 {
					t.Fatalf("each process has its own line:%s", list(found))
				}
				s := newSlowRun(t, g)
				rows, in := s.where(found[at-1].Where), &found[at-1]
				said := fmt.Sprintf("%d samples found one of %d of its cache lines", len(rows), 2*lines)
				if !strings.Contains(in.Text, said) || !strings.Contains(in.Text, "take "+s.share(rows)) {
					t.Errorf("the selection has %q: %s", said, in.Text)
				}
			})
		}
	}
}

// mirrored are samples of two processes or hosts: CPU 0 and 1 of the first use the
// first and second half of each line, CPU 3 and 2 of the other.
func mirrored(t *testing.T, column string, lines int) *table.Table {
	t.Helper()
	const each = 32
	n := lines * 4 * each
	addr, snoop, symbol, who := make([]uint64, n), make([]uint32, n), make([]uint32, n), make([]uint32, n)
	cpu, pid, latency, clock := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range n {
		cpu[i] = int64(i % 4)
		who[i] = uint32(cpu[i] / 2)
		pid[i] = 10 + int64(who[i])
		half := uint64(cpu[i]) % 2
		if who[i] == 1 {
			half = 1 - half
		}
		addr[i] = 0x10000 + 128*uint64(i/4%lines) + 8*half
		snoop[i], latency[i], clock[i] = 1, 300, int64(i)*1000
	}
	identity := table.Ints(samples.PID, "", table.Measured, pid, nil)
	if column == samples.Host {
		identity = table.Categories(samples.Host, table.Measured, who, []string{"a", "b"}, nil)
	}
	out, err := table.New("samples", []*table.Column{
		{Name: "time", Kind: table.Time, Unit: "ns", Provenance: table.Measured, Data: clock},
		table.Ints("cpu", "", table.Measured, cpu, nil), table.Ints("latency", "cycles", table.Measured, latency, nil), identity,
		table.Addresses("addr", table.Measured, addr, nil), table.Categories("snoop", table.Measured, snoop, []string{"none", "hit modified"}, nil),
		table.Categories("symbol", table.Derived, symbol, []string{"counters"}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
