package guide

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
)

// TestLikeHosts draws runs whose hosts differ by chance alone, some mostly because
// of few samples, and counts those in which a host is named.
func TestLikeHosts(t *testing.T) {
	test.NoRaces(t, oneStory)
	const measures = 6
	random := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct{ hosts, runs int }{{4, 8000}, {8, 8000}, {32, 2000}, {256, 250}} {
		limits := limitsOf(tt.hosts, 2*measures)
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

// drawnCPUs are samples of some CPUs whose latencies draw makes, of a file that has
// little else: it says no place on a machine.
func drawnCPUs(t *testing.T, cpus, rows int, random *rand.Rand, draw func(cpu int) float64) []Insight {
	t.Helper()
	data := query.Data{Table: drawnTable(t, cpus, rows, random, draw)}
	return insights(t, New(data, nil, kernel.New(data, kernel.Options{})))
}

func drawnTable(t *testing.T, cpus, rows int, random *rand.Rand, draw func(cpu int) float64) *table.Table {
	t.Helper()
	cpu, latency, line := make([]int64, rows), make([]int64, rows), make([]int64, rows)
	for i := range rows {
		cpu[i], line[i] = int64(random.IntN(cpus)), int64(10+random.IntN(30))
		latency[i] = int64(math.Round(max(1, draw(int(cpu[i])))))
	}
	drawn, err := table.New("samples", []*table.Column{
		samples.Ints(samples.CPU, table.Unknown, cpu, nil), samples.Ints(samples.Latency, table.Unknown, latency, nil), samples.Ints(samples.Line, table.Unknown, line, nil)})
	if err != nil {
		t.Fatal(err)
	}
	return drawn
}

// drawnHosts is a run merged of one of each host; draw makes the latencies of a CPU
// of a host.
func drawnHosts(t *testing.T, hosts []string, cpus, rows int, random *rand.Rand, draw func(host, cpu int) float64) []Insight {
	t.Helper()
	var runs []*run.Run
	for h, name := range hosts {
		r := &run.Run{Contents: []*table.Table{drawnTable(t, cpus, rows, random, func(cpu int) float64 { return draw(h, cpu) })}}
		r.Kind, r.Origin.Host = "samples", name
		runs = append(runs, r)
	}
	merged, err := run.Merge(runs, nil)
	if err != nil {
		t.Fatal(err)
	}
	data := query.Data{Table: merged.Table("samples")}
	return insights(t, New(data, nil, kernel.New(data, kernel.Options{})))
}

// latencies are ways in which the samples of a CPU may differ, with a mean of 1.
var latencies = []struct {
	name string
	draw func(*rand.Rand) float64
	lost float64 // power that its far samples cost
}{
	{"exponential", func(r *rand.Rand) float64 { return r.ExpFloat64() }, 0},
	{"normal", func(r *rand.Rand) float64 { return 1 + 0.2*r.NormFloat64() }, 0},
	{"lognormal", func(r *rand.Rand) float64 { return math.Exp(1.2*r.NormFloat64() - 0.72) }, 0.35},
	{"one in a hundred far", func(r *rand.Rand) float64 {
		if r.IntN(100) == 0 {
			return 50.5
		}
		return 0.5
	}, 1},
}

// TestLikeCPUs draws runs whose CPUs are alike and counts those in which one is named.
func TestLikeCPUs(t *testing.T) {
	test.NoRaces(t, oneStory)
	random := rand.New(rand.NewPCG(11, 12))
	runs := 500
	if testing.Short() {
		runs = 100
	}
	for _, of := range latencies {
		for _, size := range []struct{ cpus, rows int }{{4, 600}, {8, 600}, {64, 3000}} {
			named := 0
			for range runs {
				if rank(drawnCPUs(t, size.cpus, size.rows, random, func(int) float64 { return 125 * of.draw(random) }), "odd-cpu") > 0 {
					named++
				}
			}
			t.Logf("%s, %d CPUs, %d samples: named in %d of %d runs", of.name, size.cpus, size.rows, named, runs)
			if most := falseHosts(size.cpus) * float64(runs); float64(named) > most+4*math.Sqrt(most+1) {
				t.Errorf("%s, %d CPUs: one is named in %d of %d runs, %g are claimed", of.name, size.cpus, named, runs, most)
			}
		}
	}
}

// TestOddCPU plants a CPU whose accesses take 425 where those of the others take 125,
// and counts how often it is found, and no other.
func TestOddCPU(t *testing.T) {
	test.NoRaces(t, oneStory)
	random := rand.New(rand.NewPCG(13, 14))
	const runs = 100
	for _, of := range latencies[:3] {
		for _, size := range []struct {
			cpus, rows int
			power      float64
		}{{4, 300, 0.5}, {4, 600, 0.8}, {6, 600, 0.95}, {8, 600, 0.95}, {8, 1200, 0.98}} {
			found, others := 0, 0
			for range runs {
				list := drawnCPUs(t, size.cpus, size.rows, random, func(cpu int) float64 {
					if cpu == 3 {
						return 425 * of.draw(random)
					}
					return 125 * of.draw(random)
				})
				for _, in := range list {
					switch {
					case in.Kind != "odd-cpu":
					case strings.HasPrefix(in.Text, "CPU 3 is unlike") && in.Where == "cpu = 3":
						found++
					default:
						others++
					}
				}
			}
			t.Logf("%s, %d CPUs, %d samples: found in %d of %d runs, another in %d", of.name, size.cpus, size.rows, found, runs, others)
			if float64(found) < (size.power-of.lost)*runs || others > 3 {
				t.Errorf("%s, %d CPUs, %d samples: found in %d of %d runs, another in %d", of.name, size.cpus, size.rows, found, runs, others)
			}
		}
	}
}

// TestOddCPUOfHosts plants one CPU of one host of a run that was merged of three, which
// are machines of different speed: CPU 3 of one host is not CPU 3 of another, and no CPU
// of the slowest host is odd for being there.
func TestOddCPUOfHosts(t *testing.T) {
	test.NoRaces(t, oneStory)
	random := rand.New(rand.NewPCG(15, 16))
	hosts, speed := []string{"login", "n1", "n2"}, []float64{1, 4, 0.5}
	const runs = 60
	for _, of := range latencies[:2] {
		found, others, named := 0, 0, 0
		like := func(host int) float64 { return 125 * speed[host] * of.draw(random) }
		for range runs {
			for _, in := range drawnHosts(t, hosts, 8, 800, random, func(host, cpu int) float64 {
				if host == 2 && cpu == 3 {
					return 3.4 * like(host)
				}
				return like(host)
			}) {
				switch {
				case in.Kind != "odd-cpu":
				case strings.HasPrefix(in.Text, "CPU 3 of n2 is unlike the other 7 there: mean latency ") && in.Where == "host = n2 & cpu = 3":
					found++
				default:
					others++
				}
			}
			if rank(drawnHosts(t, hosts, 8, 800, random, func(host, _ int) float64 { return like(host) }), "odd-cpu") > 0 {
				named++
			}
		}
		t.Logf("%s: found in %d of %d runs, another in %d; of like CPUs one in %d", of.name, found, runs, others, named)
		if float64(found) < 0.95*runs || others > 3 || named > 3 {
			t.Errorf("%s: found in %d of %d runs, another in %d; of like CPUs one in %d", of.name, found, runs, others, named)
		}
	}
}

// TestOddCPUOfNoHost has samples of a host beside some that do not say theirs, which are
// compared among themselves.
func TestOddCPUOfNoHost(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 18))
	drawn := drawnTable(t, 8, 3200, random, func(cpu int) float64 { return 100 + 10*random.NormFloat64() })
	latency, valid, codes := drawn.Column(samples.Latency).Data.([]int32), table.NewBits(3200), make([]uint32, 3200)
	for row := range 3200 {
		if row%2 == 0 {
			valid.Set(row)
		} else if drawn.Column(samples.CPU).Float(row) == 5 {
			latency[row] *= 4
		}
	}
	data := query.Data{Table: withColumn(t, drawn, table.Categories(samples.Host, table.Measured, codes, []string{"n1"}, valid))}
	found := insights(t, New(data, nil, kernel.New(data, kernel.Options{})))
	at := rank(found, "odd-cpu", "CPU 5 of no known host is unlike the other 7 there")
	if at == 0 || found[at-1].Where != "host = none & cpu = 5" {
		t.Errorf("the CPU of no known host is not named:%s", list(found))
	}
}

// withColumn is a table with one more column.
func withColumn(t *testing.T, of *table.Table, c *table.Column) *table.Table {
	t.Helper()
	out, err := table.New(of.Name, append(slices.Clone(of.Columns()), c))
	if err != nil {
		t.Fatal(err)
	}
	return out
}
