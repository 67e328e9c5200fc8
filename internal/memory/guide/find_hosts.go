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

// This file finds the machines of a cluster, and the ranks of a program, that are
// unlike the others: each is described by a vector of numbers, and compared with
// the median of them. Hosts stand for both in names here.

// hostMeasure is one number about each host.
type hostMeasure struct {
	values []float64
	// chance is how far the draw of as many samples moves the number of a host that
	// is like the others, a standard deviation: an odd host does not excuse itself
	// with a spread of its own.
	chance []float64
	least  float64 // difference from the median host that matters
	// stake is the part of a host's cost that a difference from the median is about.
	stake func(value, median float64) float64
	text  func(value, median float64) string
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
// more where there are few.
type hostLimits struct{ all, others float64 }

// limitsOf are those of Student's t for as many comparisons as there are.
func limitsOf(hosts, measures int) hostLimits {
	p := 1 - falseHosts(hosts)/2/2/float64(hosts*measures)
	return hostLimits{
		all:    stat.StudentQuantile(p, max(1, medianEfficiency*float64(hosts-1))),
		others: stat.StudentQuantile(p, float64(hosts-2)),
	}
}

// oddHosts compares hosts in every measure. The spread of hosts holds what the draw
// of samples does to a host with the usual number of them; a host with fewer
// samples may be as much farther off.
func oddHosts(measures []hostMeasure, limits hostLimits) []hostOddness {
	var out []hostOddness
	for m, v := range measures {
		median := stat.Median(v.values)
		distances := make([]float64, len(v.values))
		for h, value := range v.values {
			distances[h] = math.Abs(value - median)
		}
		spread := stat.MADScale * stat.Median(distances)
		usual := stat.Median(v.chance)
		for h, value := range v.values {
			if math.Abs(value-median) < v.least {
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
	return l.unlikeOthers(samples.Host, "Host", "hosts"), nil
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
	return l.unlikeOthers(samples.Rank, "Rank", "ranks"), nil
}

// unlikeOthers compares the values of a column, with the numbers that make one odd.
func (l *insightSearch) unlikeOthers(column, one, many string) []Insight {
	hosts := l.groups(nil, column)
	const fewest = 4 // of fewer, none can be told from the rest
	if len(hosts) < fewest || slices.ContainsFunc(hosts, func(h group) bool { return h.n < limit.samples }) {
		return nil
	}
	measures := append(l.hostCosts(column, hosts), l.hostLevels(column, hosts)...)
	byHost := map[int][]hostOddness{}
	for _, o := range oddHosts(measures, limitsOf(len(hosts), len(measures))) {
		byHost[o.host] = append(byHost[o.host], o)
	}
	if 4*len(byHost) > len(hosts) {
		return nil // two kinds of machines, rather than odd ones
	}
	var out []Insight
	for host, odd := range byHost {
		slices.SortFunc(odd, func(a, b hostOddness) int {
			return cmp.Or(cmp.Compare(math.Abs(b.deviations), math.Abs(a.deviations)), cmp.Compare(a.measure, b.measure))
		})
		stake, words := 0.0, []string{}
		for _, o := range odd {
			m := measures[o.measure]
			median := stat.Median(m.values)
			stake = max(stake, m.stake(m.values[o.host], median))
			words = append(words, fmt.Sprintf("%s, %.1f deviations off", m.text(m.values[o.host], median), math.Abs(o.deviations)))
		}
		row := hosts[host].row
		out = append(out, Insight{
			Text: fmt.Sprintf("%s %s is unlike the other %d: %s; one in %s runs of like %s would name one", one,
				l.data.Table.Column(column).Text(row), len(hosts)-1, strings.Join(words[:min(3, len(words))], "; "), term.Thousands(int(1/falseHosts(len(hosts)))), many),
			Stake: min(stake, 1), Surprise: 1 - falseHosts(len(hosts)),
			Where: l.within(equals(l.data.Table, row, column)), View: ParallelView, Axis: column,
			Of: "time", subject: strings.ToLower(one) + " " + l.data.Table.Column(column).Text(row),
		})
	}
	slices.SortFunc(out, func(a, b Insight) int { return cmp.Or(cmp.Compare(b.Stake, a.Stake), cmp.Compare(a.Where, b.Where)) })
	return out
}

// hostCosts are the number of samples of each host and what one costs. Hosts that
// wait for one another all lose what the slowest does: the stake is the part of its
// time that the median host does not need.
func (l *insightSearch) hostCosts(column string, hosts []group) []hostMeasure {
	lost := func(value, median float64) float64 { return 1 - min(value, median)/max(value, median) }
	count := hostMeasure{stake: lost, text: func(value, median float64) string {
		return fmt.Sprintf("%s samples against %s", term.Thousands(int(value)), term.Thousands(int(median)))
	}}
	mean := hostMeasure{stake: lost, text: func(value, median float64) string {
		return fmt.Sprintf("mean latency %s against %s", l.latencyText(value), l.latencyText(median))
	}}
	squares := make([]float64, len(hosts))
	grouped := l.grouping([]string{column})
	at := l.placesOf(hosts)
	for row := range l.rows {
		if k := grouped.code[row]; k >= 0 {
			squares[at[k]] += l.squareOf(row)
		}
	}
	spread := make([]float64, len(hosts))
	for i, h := range hosts {
		m := h.mean()
		count.values, mean.values = append(count.values, float64(h.n)), append(mean.values, m)
		spread[i] = math.Sqrt(max(0, squares[i]/float64(max(h.valued, 1))-m*m))
	}
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
func (l *insightSearch) hostLevels(column string, hosts []group) []hostMeasure {
	if l.category(samples.Level) == nil {
		return nil
	}
	levels := l.groups(nil, samples.Level)
	levelOf, hostOf := l.grouping([]string{samples.Level}), l.grouping([]string{column})
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
		m := hostMeasure{least: 0.02,
			stake: func(value, median float64) float64 { return math.Abs(value - median) },
			text: func(value, median float64) string {
				about := l.about(samples.Level)
				return fmt.Sprintf("%s%s from %s against %s%s", about, term.Percent(value), name, about, term.Percent(median))
			}}
		for h, host := range hosts {
			m.values = append(m.values, counts[k][h]/float64(host.n))
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
