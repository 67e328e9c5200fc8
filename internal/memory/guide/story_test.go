package guide

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// storied are runs with findings that share samples.
func storied(t *testing.T) map[string]*Guide {
	t.Helper()
	r, err := demo.Open()
	out := map[string]*Guide{
		"demo": opened(t, r, err), "lookup": made(t, lookupRun), "fixed": made(t, fixedRun), "lulesh": lulesh(t),
	}
	even, err := demo.Uniform(20000, 3)
	if err != nil {
		t.Fatal(err)
	}
	out["hot object"] = changed(t, even, func(from *table.Table) *table.Table { return dearer(t, from, 1) })
	for seed := range uint64(3) {
		out["planted "+string('a'+rune(seed))] = changed(t, even, func(from *table.Table) *table.Table { return planted(t, from, seed) })
	}
	return out
}

// dearer makes the samples of one object cost nine times as much.
func dearer(t *testing.T, from *table.Table, code uint32) *table.Table {
	t.Helper()
	symbol := from.Column("symbol").Data.([]uint32)
	return edited(t, from, "latency", func(c *table.Column) {
		old := c.Data.([]int32)
		c.Data = replaced(old, func(row int) bool { return symbol[row] == code }, func(row int) int32 { return 9 * old[row] })
	})
}

// planted makes an object dear, its memory remote, and a span of time or a line dear:
// findings that overlap in part, in other ways for each seed.
func planted(t *testing.T, from *table.Table, seed uint64) *table.Table {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 20))
	code := uint32(random.IntN(len(from.Column("symbol").Dict)))
	symbol, line := from.Column("symbol").Data.([]uint32), from.Column("line").Data.([]int32)
	at, n := line[random.IntN(len(line))], from.Rows()
	begin := n / 4 * random.IntN(3)
	away := make([]bool, n)
	for row := range away {
		away[row] = symbol[row] == code || random.IntN(3) == 0
	}
	out := homed(t, from, func(row int) bool { return away[row] })
	return edited(t, out, "latency", func(c *table.Column) {
		old := c.Data.([]int32)
		c.Data = replaced(old, func(int) bool { return true }, func(row int) int32 {
			v := old[row]
			if symbol[row] == code {
				v *= 3
			}
			if line[row] == at {
				v *= 2
			}
			if row >= begin && row < begin+n/3 {
				v += 200
			}
			return v
		})
	})
}

// TestCostIsCountedOnce recomputes from plain rows what each finding has of the run's
// cost that none above it has.
func TestCostIsCountedOnce(t *testing.T) {
	test.NoRaces(t, oneStory)
	joins := 0
	for name, g := range storied(t) {
		t.Run(name, func(t *testing.T) {
			found := insights(t, g)
			latency, total := g.data.Table.Column("latency"), 0.0
			for row := range g.data.Table.Rows() {
				total += latency.Float(row)
			}
			taken, sum, lead := make([]float64, g.data.Table.Rows()), 0.0, -1
			for i, in := range found {
				if in.PartOf == "" {
					lead = i
				} else if joins++; lead < 0 || found[lead].Kind != in.PartOf {
					t.Errorf("%s is part of %s, which does not lead it:%s", in.Kind, in.PartOf, list(found))
				}
				if in.Own < 0 || in.Own > in.Stake+1e-9 {
					t.Errorf("%s has %g of its own of a stake of %g", in.Kind, in.Own, in.Stake)
				}
				if in.Of != "latency" {
					continue
				}
				rows := claimedSlowly(t, g, &in)
				cost := 0.0
				for _, row := range rows {
					cost += latency.Float(row)
				}
				part, own := min(in.Stake*total/cost, 1), 0.0
				for _, row := range rows {
					own += latency.Float(row) * max(part-taken[row], 0) / total
					taken[row] = max(taken[row], part)
				}
				if math.Abs(own-in.Own) > 1e-6 {
					t.Errorf("%s has %.6f of its own, counted row by row %.6f: %s", in.Kind, in.Own, own, in.Text)
				}
				sum += own
			}
			if sum > 1+1e-9 {
				t.Errorf("the findings have %.3f of the cost:%s", sum, list(found))
			}
		})
	}
	if joins < 8 {
		t.Errorf("%d findings are parts of a story in all runs", joins)
	}
}

// claimedSlowly are the rows whose cost a finding is about, from its words.
func claimedSlowly(t *testing.T, g *Guide, in *Insight) []int {
	t.Helper()
	e, err := query.Parse(in.Where, g.data.Table)
	if err != nil {
		t.Fatal(err)
	}
	set, err := query.SelectRows(context.Background(), g.data, e)
	if err != nil {
		t.Fatal(err)
	}
	var rows []int
	level, tlb := g.data.Table.Column("level"), g.data.Table.Column("tlb")
	for row := range set.All() {
		// A phase that has more samples of a kind is about those.
		about := true
		if in.Kind == "phase" {
			switch in.Metric {
			case "dram":
				about = level.Text(row) == "Local RAM" || level.Text(row) == "Remote RAM"
			case "remote":
				about = level.Text(row) == "Remote cache" || level.Text(row) == "Remote RAM"
			case "tlb":
				about = tlb.Has(row) && tlb.Text(row) == "miss"
			}
		}
		if about {
			rows = append(rows, row)
		}
	}
	return rows
}

// TestStoriesAreApart: no two findings that lead stories share most of what they could.
func TestStoriesAreApart(t *testing.T) {
	test.NoRaces(t, oneStory)
	for name, g := range storied(t) {
		t.Run(name, func(t *testing.T) {
			found := insights(t, g)
			latency, total := g.data.Table.Column("latency"), 0.0
			cost := make([]float64, len(found))
			rows := make([]map[int]bool, len(found))
			for row := range g.data.Table.Rows() {
				total += latency.Float(row)
			}
			for i := range found {
				rows[i] = map[int]bool{}
				for _, row := range claimedSlowly(t, g, &found[i]) {
					rows[i][row] = true
					cost[i] += latency.Float(row)
				}
			}
			for a := range found {
				for b := range a {
					if found[a].PartOf != "" || found[b].PartOf != "" || found[a].Kind == "idle-core" || found[b].Kind == "idle-core" {
						continue
					}
					both := 0.0
					for row := range rows[a] {
						if rows[b][row] {
							both += latency.Float(row)
						}
					}
					small, chance := min(cost[a], cost[b]), cost[a]*cost[b]/total
					inSmaller := both-chance >= 0.5*(small-chance)
					if mostOfBoth := both >= max(cost[a], cost[b])/3; inSmaller && mostOfBoth && small > chance {
						t.Errorf("%s and %s stand side by side and share %.1f %% of the cost:\n%s\n%s", found[a].Kind, found[b].Kind, 100*both/total, found[a].Text, found[b].Text)
					}
				}
			}
		})
	}
}

// TestHotObjectStory: an object whose samples are dear shows as object, and its lines;
// that is one cost.
func TestHotObjectStory(t *testing.T) {
	test.NoRaces(t, oneStory)
	found := insights(t, lulesh(t))
	at := rank(found, "hot-object", "the same samples show as line LULESH_OMP.cc:2035 (30.0 % of the latency in common)")
	if at == 0 {
		t.Fatalf("the object does not name its line:%s", list(found))
	}
	if in := found[at]; in.Kind != "hot-line" || in.PartOf != "hot-object" || in.Own > 1e-9 {
		t.Errorf("the line is not part of its object: %+v", in)
	}
	if at := rank(found, "tlb"); at == 0 || found[at-1].PartOf != "phase" {
		t.Errorf("the TLB misses are not part of the phase in which they begin:%s", list(found))
	}
}
