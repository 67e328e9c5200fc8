package guide

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/stat"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
)

// This file finds the machines of a cluster, the ranks of a program and the CPUs that
// are unlike the others: each is described by a vector of numbers, and compared with
// the median of them. Hosts stand for all of them in names here.

// hostMeasure is one number about each host.
type hostMeasure struct {
	values []float64
	// chance is how far the draw of as many samples moves the number of a host that
	// is like the others, a standard deviation: an odd host does not excuse itself
	// with a spread of its own.
	chance []float64
	least  float64 // difference from the median host that matters
	// above says that only a host above the median is odd.
	above bool
	// sure is the difference of each host that the draw of its samples cannot make; nil
	// where there are so many that the spread of hosts says it.
	sure []float64
	// stake is the part of the cost that a difference of a host from the median is about.
	stake func(host int, median float64) float64
	text  func(host int, median float64) string
}

// matters says that a host is far enough from the median to be looked at.
func (m *hostMeasure) matters(host int, median float64) bool {
	d := m.values[host] - median
	if !m.above {
		d = math.Abs(d)
	}
	return d >= m.least && (m.sure == nil || d > m.sure[host])
}

// hostOddness is how far a host is from the median host in one measure.
type hostOddness struct {
	host, measure int
	deviations    float64
}

// falseHosts is the share of runs of like hosts in which some host is named. A few
// hosts say so little of their spread that at one run in a thousand none would ever
// be named; the sentence says which share was taken.
func falseHosts(hosts int) float64 {
	if hosts < 10 {
		return 0.01
	}
	return 0.001
}

// medianEfficiency is how well the median deviation of normal values tells their
// spread, against the standard deviation: 37 of 100 values are as good. The
// degrees of freedom of a spread that is estimated with it are as many fewer
// (TestLikeHosts draws runs and counts).
const medianEfficiency = 0.37

// hostLimits are how many deviations make a host odd, so that in a share
// falseHosts of the runs whose hosts differ by chance alone one of them is named.
// Two scales are tried, each with half of that share: the median deviation of all hosts, which
// several odd ones do not move, and the deviation of all other hosts, which knows
// more where there are few. Of fewer than fewForMedian it is the only one: their
// median deviation says nothing that half of the share would be worth.
type hostLimits struct{ all, others float64 }

const fewForMedian = 8

// limitsOf are those of Student's t for as many comparisons as there are; a measure
// of which either side is odd has two tails, and each of several groups of hosts has
// them of its own.
func limitsOf(hosts, tails int) hostLimits {
	share := falseHosts(hosts) / float64(hosts*tails)
	if hosts < fewForMedian {
		return hostLimits{all: math.Inf(1), others: stat.StudentQuantile(1-share, float64(hosts-2))}
	}
	return hostLimits{
		all:    stat.StudentQuantile(1-share/2, max(1, medianEfficiency*float64(hosts-1))),
		others: stat.StudentQuantile(1-share/2, float64(hosts-2)),
	}
}

// tailsOf counts the tails of measures.
func tailsOf(measures []hostMeasure) int {
	n := 0
	for i := range measures {
		n++
		if !measures[i].above {
			n++
		}
	}
	return n
}

// oddHosts compares hosts in every measure. The spread of hosts holds what the draw
// of samples does to a host with the usual number of them; a host with fewer
// samples may be as much farther off.
func oddHosts(measures []hostMeasure, limits hostLimits) []hostOddness {
	var out []hostOddness
	for m := range measures {
		v := &measures[m]
		median := stat.Median(v.values)
		distances := make([]float64, len(v.values))
		for h, value := range v.values {
			distances[h] = math.Abs(value - median)
		}
		spread := stat.MADScale * stat.Median(distances)
		usual := stat.Median(v.chance)
		for h, value := range v.values {
			if !v.matters(h, median) {
				continue
			}
			few := max(0, v.chance[h]*v.chance[h]-usual*usual)
			fromAll := (value - median) / math.Sqrt(spread*spread+few)
			mean, variance := momentsWithout(v.values, h)
			fromOthers := (value - mean) / math.Sqrt(variance*(1+1/float64(len(v.values)-1))+few)
			switch {
			case math.Abs(fromAll) > limits.all:
				out = append(out, hostOddness{h, m, fromAll})
			case math.Abs(fromOthers) > limits.others:
				out = append(out, hostOddness{h, m, fromOthers})
			}
		}
	}
	return out
}

// momentsWithout are the mean and the variance of all values but one.
func momentsWithout(values []float64, without int) (mean, variance float64) {
	n := float64(len(values) - 1)
	for i, v := range values {
		if i != without {
			mean += v / n
		}
	}
	for i, v := range values {
		if i != without {
			variance += (v - mean) * (v - mean) / (n - 1)
		}
	}
	return mean, variance
}

// oddMachines names the hosts that behave unlike the others.
func oddMachines(l *insightSearch) ([]Insight, error) {
	if l.data.Table.Column(samples.Host) == nil {
		return nil, nil
	}
	l, err := l.over(alike{columns: []string{samples.Host, samples.Level}})
	if err != nil {
		return nil, err
	}
	return l.unlikeOthers(peers{columns: []string{samples.Host}, one: "Host", many: "hosts", of: "time", view: ParallelView}), nil
}

// oddRanks names the ranks that do; where each has a host of its own, that says it.
func oddRanks(l *insightSearch) ([]Insight, error) {
	if l.data.Table.Column(samples.Rank) == nil {
		return nil, nil
	}
	l, err := l.over(alike{columns: []string{samples.Host, samples.Rank, samples.Level}})
	if err != nil {
		return nil, err
	}
	if len(l.groups(nil, samples.Host)) >= len(l.groups(nil, samples.Rank)) {
		return nil, nil
	}
	return l.unlikeOthers(peers{columns: []string{samples.Rank}, one: "Rank", many: "ranks", of: "time", view: ParallelView}), nil
}

// oddCPUs names the CPUs whose accesses take longer than those of the others of their
// machine: a core that is slowed down, or one whose thread does other work. How many
// samples each has is what idle and busy cores are about.
func oddCPUs(l *insightSearch) ([]Insight, error) {
	if samples.Usable(l.told, samples.CPU) == nil || l.latency == nil {
		return nil, nil
	}
	l, err := l.over(alike{columns: []string{samples.Host, samples.CPU}})
	if err != nil {
		return nil, err
	}
	columns := []string{samples.Host, samples.CPU}
	if len(l.machinesOf(l.groups(nil, columns...))) < 2 {
		columns = columns[1:]
	}
	// A CPU with few samples would keep the others from being compared: threads stray.
	cpus := slices.DeleteFunc(l.groups(nil, columns...), func(g group) bool { return g.valued < fewOfCPU })
	machines := slices.DeleteFunc(l.machinesOf(cpus), func(m []group) bool { return len(m) < fewestHosts })
	var out []Insight
	for _, on := range machines {
		p := peers{columns: columns, one: "CPU", many: "CPUs", of: l.costs(), view: AxisView, metric: "mean", groups: len(machines)}
		if len(columns) > 1 {
			p.on = l.hostOf(on[0].row)
		}
		out = append(out, l.unlike(p, on, []hostMeasure{l.cpuCost(columns, on)})...)
	}
	sortByStake(out)
	return out, nil
}

// machinesOf divides CPUs by their host; those without one are on one machine.
func (l *insightSearch) machinesOf(cpus []group) [][]group {
	host := l.data.Table.Column(samples.Host)
	at := map[float64]int{}
	var out [][]group
	for _, g := range cpus {
		number := -1.0
		if host != nil && host.Has(g.row) {
			number = host.Float(g.row)
		}
		m, ok := at[number]
		if !ok {
			m = len(out)
			at[number], out = m, append(out, nil)
		}
		out[m] = append(out[m], g)
	}
	return out
}

// hostOf names the host of a row.
func (l *insightSearch) hostOf(row int) string {
	if host := l.data.Table.Column(samples.Host); host.Has(row) {
		return host.Text(row)
	}
	return "no known host"
}

const (
	fewestHosts = 4  // of fewer, none can be told from the rest
	fewOfCPU    = 20 // timed samples that a CPU needs to be compared
)

// peers are things that should be like each other.
type peers struct {
	columns   []string // that tell them apart, the one that names them last
	one, many string
	on        string // the host that they are on, where there are several
	groups    int    // of peers that are compared, if more than these
	of        string // what a stake is a share of
	view      View
	metric    string
}

// unlikeOthers compares hosts or ranks, with the numbers that make one odd.
func (l *insightSearch) unlikeOthers(p peers) []Insight {
	hosts := l.groups(nil, p.columns...)
	if len(hosts) < fewestHosts || slices.ContainsFunc(hosts, func(h group) bool { return h.n < limit.samples }) {
		return nil
	}
	return l.unlike(p, hosts, append(l.hostCosts(p.columns, hosts), l.hostLevels(p.columns, hosts)...))
}

// unlike names those that are odd in some measure.
func (l *insightSearch) unlike(p peers, hosts []group, measures []hostMeasure) []Insight {
	byHost := map[int][]hostOddness{}
	for _, o := range oddHosts(measures, limitsOf(len(hosts), tailsOf(measures)*max(1, p.groups))) {
		byHost[o.host] = append(byHost[o.host], o)
	}
	if 4*len(byHost) > len(hosts) {
		return nil // two kinds of machines, rather than odd ones
	}
	named := p.columns[len(p.columns)-1]
	var out []Insight
	for host, odd := range byHost {
		slices.SortFunc(odd, func(a, b hostOddness) int {
			return cmp.Or(cmp.Compare(math.Abs(b.deviations), math.Abs(a.deviations)), cmp.Compare(a.measure, b.measure))
		})
		stake, words := 0.0, []string{}
		for _, o := range odd {
			m := measures[o.measure]
			median := stat.Median(m.values)
			stake = max(stake, m.stake(o.host, median))
			words = append(words, m.text(o.host, median)+off(o.deviations))
		}
		row := hosts[host].row
		name, there := p.one+" "+l.data.Table.Column(named).Text(row), ""
		if p.on != "" {
			name, there = name+" of "+p.on, " there"
		}
		out = append(out, Insight{
			Text: fmt.Sprintf("%s is unlike the other %d%s: %s; one in %s runs of like %s would name one",
				name, len(hosts)-1, there, strings.Join(words[:min(3, len(words))], "; "), term.Thousands(int(1/falseHosts(len(hosts)))), p.many),
			Stake: min(stake, 1), Surprise: 1 - falseHosts(len(hosts)),
			Where: l.within(equals(l.data.Table, row, p.columns...)), View: p.view, Axis: named, Metric: p.metric,
			Of: p.of, subject: name,
		})
	}
	sortByStake(out)
	return out
}

func sortByStake(list []Insight) {
	slices.SortFunc(list, func(a, b Insight) int { return cmp.Or(cmp.Compare(b.Stake, a.Stake), cmp.Compare(a.Where, b.Where)) })
}

// off says how many deviations a host is away; those of hosts that are all alike to
// the last digit are without bound.
func off(deviations float64) string {
	if math.IsInf(deviations, 0) {
		return ""
	}
	return fmt.Sprintf(", %.1f deviations off", math.Abs(deviations))
}

// spreads is how far the costs of the samples of each host are from their mean, and of
// all of them together.
func (l *insightSearch) spreads(columns []string, hosts []group) (each []float64, all float64) {
	squares, of := make([]float64, len(hosts)), group{}
	grouped, at, together := l.grouping(columns), l.placesOf(hosts), 0.0
	for row := range l.rows {
		if h, ok := at[grouped.code[row]]; ok {
			squares[h] += l.squareOf(row)
		}
	}
	each = make([]float64, len(hosts))
	deviation := func(squares float64, g *group) float64 {
		return math.Sqrt(max(0, squares/float64(max(g.valued, 1))-g.mean()*g.mean()))
	}
	for h := range hosts {
		each[h] = deviation(squares[h], &hosts[h])
		together += squares[h]
		of.addAll(&hosts[h])
	}
	return each, deviation(together, &of)
}

// cpuCost is what a sample of each CPU costs. Samples of a CPU are few and of very
// different cost, so the draw must not explain the difference: not by how all
// samples differ, of which a few dear ones may fall on one CPU, and not by how its
// own do, of which one alone may be all there is.
func (l *insightSearch) cpuCost(columns []string, cpus []group) hostMeasure {
	own, all := l.spreads(columns, cpus)
	m := hostMeasure{above: true,
		stake: func(cpu int, median float64) float64 {
			return (cpus[cpu].mean() - median) * float64(cpus[cpu].valued) / l.cost
		},
		text: func(cpu int, median float64) string {
			return fmt.Sprintf("mean latency %s of %s against %s", l.latencyText(cpus[cpu].mean()), term.Counted(cpus[cpu].valued, "sample"), l.latencyText(median))
		}}
	const ownSigmas = 3
	for i, g := range cpus {
		root := math.Sqrt(float64(g.valued))
		m.values = append(m.values, g.mean())
		m.chance = append(m.chance, all/root)
		m.sure = append(m.sure, max(limit.sigmas*all, ownSigmas*own[i])/root)
	}
	m.least = (limit.change - 1) * stat.Median(m.values)
	return m
}

// hostCosts are the number of samples of each host and what one costs. Hosts that
// wait for one another all lose what the slowest does: the stake is the part of its
// time that the median host does not need.
func (l *insightSearch) hostCosts(columns []string, hosts []group) []hostMeasure {
	var count, mean hostMeasure
	lost := func(m *hostMeasure) func(int, float64) float64 {
		return func(h int, median float64) float64 { return 1 - min(m.values[h], median)/max(m.values[h], median) }
	}
	count.stake, mean.stake = lost(&count), lost(&mean)
	count.text = func(h int, median float64) string {
		return fmt.Sprintf("%s samples against %s", term.Thousands(hosts[h].n), term.Thousands(int(median)))
	}
	mean.text = func(h int, median float64) string {
		return fmt.Sprintf("mean latency %s against %s", l.latencyText(hosts[h].mean()), l.latencyText(median))
	}
	for _, h := range hosts {
		count.values, mean.values = append(count.values, float64(h.n)), append(mean.values, h.mean())
	}
	spread, _ := l.spreads(columns, hosts)
	usual := stat.Median(spread)
	for _, h := range hosts {
		count.chance = append(count.chance, math.Sqrt(stat.Median(count.values)))
		mean.chance = append(mean.chance, usual/math.Sqrt(float64(max(h.valued, 1))))
	}
	const least = 0.05 // of the median host
	count.least, mean.least = least*stat.Median(count.values), least*stat.Median(mean.values)
	untimed := func(h group) bool { return h.valued < limit.samples }
	if l.latency == nil || slices.ContainsFunc(hosts, untimed) {
		return []hostMeasure{count}
	}
	return []hostMeasure{count, mean}
}

// hostLevels is the share of each level in the samples of each host.
func (l *insightSearch) hostLevels(columns []string, hosts []group) []hostMeasure {
	if l.category(samples.Level) == nil {
		return nil
	}
	levels := l.groups(nil, samples.Level)
	levelOf, hostOf := l.grouping([]string{samples.Level}), l.grouping(columns)
	atHost, atLevel := l.placesOf(hosts), l.placesOf(levels)
	counts := make([][]float64, len(levels))
	for k := range counts {
		counts[k] = make([]float64, len(hosts))
	}
	for row := range l.rows {
		if h, k := hostOf.code[row], levelOf.code[row]; h >= 0 && k >= 0 {
			counts[atLevel[k]][atHost[h]] += float64(l.samplesOf(row))
		}
	}
	var out []hostMeasure
	for k, level := range levels {
		const rare = 0.01 // of all samples: a level that hardly serves any
		if float64(level.n) < rare*float64(l.samples) {
			continue
		}
		name := l.data.Table.Column(samples.Level).Text(level.row)
		part := func(h int) float64 { return counts[k][h] / float64(hosts[h].n) }
		m := hostMeasure{least: 0.02,
			stake: func(h int, median float64) float64 { return math.Abs(part(h) - median) },
			text: func(h int, median float64) string {
				about := l.about(samples.Level)
				return fmt.Sprintf("%s%s from %s against %s%s", about, term.Percent(part(h)), name, about, term.Percent(median))
			}}
		for h := range hosts {
			m.values = append(m.values, part(h))
		}
		usual := stat.Median(m.values)
		for _, host := range hosts {
			n := float64(host.n)
			// A host without any sample of a level may have had one.
			m.chance = append(m.chance, math.Sqrt(max(usual*(1-usual), 1/n)/n))
		}
		out = append(out, m)
	}
	return out
}

// placesOf is the place of each group in a list, by its code.
func (l *insightSearch) placesOf(groups []group) map[int32]int {
	at := make(map[int32]int, len(groups))
	for i, g := range groups {
		at[g.code] = i
	}
	return at
}
