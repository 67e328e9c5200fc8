package guide

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// TestLikeHosts draws runs whose hosts differ by chance alone, some mostly because
// of few samples, and counts those in which a host is named.
func TestLikeHosts(t *testing.T) {
	test.NoRaces(t, oneStory)
	const measures = 6
	random := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct{ hosts, runs int }{{4, 8000}, {8, 8000}, {32, 2000}, {256, 250}} {
		limits := limitsOf(tt.hosts, measures)
		for _, chance := range []float64{0, 5} {
			named := 0
			for range tt.runs {
				drawn := make([]hostMeasure, measures)
				for m := range drawn {
					for range tt.hosts {
						drawn[m].values = append(drawn[m].values, 100+random.NormFloat64()+chance*random.NormFloat64())
						drawn[m].chance = append(drawn[m].chance, chance)
					}
				}
				if len(oddHosts(drawn, limits)) > 0 {
					named++
				}
			}
			t.Logf("%d hosts, chance %g: named in %d of %d runs", tt.hosts, chance, named, tt.runs)
			// Four standard deviations of a count above what is claimed.
			if most := falseHosts(tt.hosts) * float64(tt.runs); float64(named) > most+4*math.Sqrt(most+1) {
				t.Errorf("%d hosts, chance %g: a host is named in %d of %d runs, %g are claimed", tt.hosts, chance, named, tt.runs, most)
			}
		}
	}
}

// clustered makes a run of many hosts: each draws its samples from the same program.
// take says whether a host keeps a row it has drawn, and dear multiplies latency.
func clustered(t *testing.T, hosts, each int, take func(host int, level string, random *rand.Rand) bool, dear func(host int) float64) *Guide {
	t.Helper()
	return drawnFor(t, hosts, each, take, dear, func(codes []uint32, names []string) *table.Column {
		return table.Categories(samples.Host, table.Measured, codes, names, nil)
	})
}

// drawnFor is clustered with another column for who drew a sample.
func drawnFor(t *testing.T, hosts, each int, take func(host int, level string, random *rand.Rand) bool, dear func(host int) float64,
	column func(codes []uint32, names []string) *table.Column) *Guide {
	t.Helper()
	r, err := fixedRun()
	if err != nil {
		t.Fatal(err)
	}
	return changed(t, r, func(old *table.Table) *table.Table {
		random := rand.New(rand.NewPCG(7, 9))
		level := old.Column(samples.Level)
		var rows []int
		var codes []uint32
		var names []string
		for h := range hosts {
			names = append(names, fmt.Sprintf("n%03d", h))
			for kept := 0; kept < each; {
				if row := random.IntN(old.Rows()); take(h, level.Text(row), random) {
					rows, codes = append(rows, row), append(codes, uint32(h))
					kept++
				}
			}
		}
		at := 0
		drawn := rebuilt(t, old, rows, func(name string, v float64) float64 {
			if name != samples.Latency {
				return v
			}
			v *= dear(int(codes[at]))
			at++
			return v
		})
		out, err := table.New(old.Name, append(slices.Clone(drawn.Columns()), column(codes, names)))
		if err != nil {
			t.Fatal(err)
		}
		return out
	})
}

// TestOddHosts plants two hosts: one whose accesses take longer, and one that goes
// to memory more often.
func TestOddHosts(t *testing.T) {
	test.NoRaces(t, oneStory)
	always := func(int, string, *rand.Rand) bool { return true }
	same := func(int) float64 { return 1 }
	if found := insights(t, clustered(t, 32, 1500, always, same)); rank(found, "odd-host") > 0 {
		t.Errorf("like hosts:%s", list(found))
	}
	found := insights(t, clustered(t, 32, 1500, func(host int, level string, random *rand.Rand) bool {
		return host != 29 || level == samples.LocalRAM || random.IntN(3) == 0
	}, func(host int) float64 {
		if host == 17 {
			return 1.8
		}
		return 1
	}))
	slow, far := rank(found, "odd-host", "Host n017 ", "mean latency"), rank(found, "odd-host", "Host n029 ", "% from Local RAM")
	if slow == 0 || far == 0 || max(slow, far) > 2 {
		t.Fatalf("the two hosts are not first:%s", list(found))
	}
	others := 0
	for _, in := range found {
		if in.Kind == "odd-host" {
			others++
		}
	}
	if others != 2 {
		t.Errorf("%d hosts are named, two are odd:%s", others, list(found))
	}
	if _, err := fmt.Sscanf(found[slow-1].Where, "host = n%03d", new(int)); err != nil {
		t.Errorf("selection %q", found[slow-1].Where)
	}
}

// TestOddHostOfFew plants one host of six that is three times as slow: so few hosts
// say little of their spread, and the other five still say enough.
func TestOddHostOfFew(t *testing.T) {
	test.NoRaces(t, oneStory)
	always := func(int, string, *rand.Rand) bool { return true }
	for _, hosts := range []int{6, 9, 12} {
		found := insights(t, clustered(t, hosts, 1500, always, func(host int) float64 {
			if host == 3 {
				return 3
			}
			return 1
		}))
		if rank(found, "odd-host", "Host n003 ", "mean latency") != 1 {
			t.Errorf("%d hosts, one three times as slow:%s", hosts, list(found))
		}
		if found := insights(t, clustered(t, hosts, 1500, always, func(int) float64 { return 1 })); rank(found, "odd-host") > 0 {
			t.Errorf("%d like hosts:%s", hosts, list(found))
		}
	}
}

// TestOddRankOfOneHost plants one rank of seven that is three times as slow, on one
// machine that has no name.
func TestOddRankOfOneHost(t *testing.T) {
	always := func(int, string, *rand.Rand) bool { return true }
	ranks := func(codes []uint32, _ []string) *table.Column {
		numbers := make([]int32, len(codes))
		for i, c := range codes {
			numbers[i] = int32(c)
		}
		return &table.Column{Name: samples.Rank, Kind: table.Number, Provenance: table.Measured, Data: numbers}
	}
	found := insights(t, drawnFor(t, 7, 1500, always, func(r int) float64 { return float64(1 + 2*(r/6)) }, ranks))
	if rank(found, "odd-rank", "Rank 6 ", "mean latency", "other 6") != 1 {
		t.Errorf("one rank of seven is three times as slow:%s", list(found))
	}
	if found := insights(t, drawnFor(t, 7, 1500, always, func(int) float64 { return 1 }, ranks)); rank(found, "odd-rank") > 0 {
		t.Errorf("like ranks:%s", list(found))
	}
}
