package guide

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

// slowRun answers from plain rows, one look at a cell at a time.
type slowRun struct {
	*Guide
	t     *testing.T
	rows  []int // all
	total float64
}

func newSlowRun(t *testing.T, g *Guide) *slowRun {
	s := &slowRun{Guide: g, t: t}
	for row := range g.data.Table.Rows() {
		s.rows = append(s.rows, row)
	}
	s.total = s.cost(s.rows)
	return s
}

func (s *slowRun) text(row int, column string) string {
	c := s.data.Table.Column(column)
	if c == nil || !c.Has(row) {
		return ""
	}
	return c.Text(row)
}

func (s *slowRun) number(row int, column string) float64 {
	return s.data.Table.Column(column).Float(row)
}

// valued are the rows with a latency; all of them where no row has one.
func (s *slowRun) valued(rows []int) []int {
	if !s.timed() {
		return rows
	}
	return only(rows, s.data.Table.Column("latency").Has)
}

// timed reports whether the run has latencies.
func (s *slowRun) timed() bool {
	c := s.data.Table.Column("latency")
	return c != nil && c.Provenance != table.Absent
}

// costs is what shares are of.
func (s *slowRun) costs() string {
	if s.timed() {
		return "latency"
	}
	return "samples"
}

func (s *slowRun) cost(rows []int) float64 {
	if !s.timed() {
		return float64(len(rows))
	}
	sum := 0.0
	for _, row := range s.valued(rows) {
		sum += s.number(row, "latency")
	}
	return sum
}

func (s *slowRun) mean(rows []int) float64 { return s.cost(rows) / float64(len(s.valued(rows))) }

// share is that of rows in the run's cost, as it is written.
func (s *slowRun) share(rows []int) string { return shareText(s.cost(rows) / s.total) }

func ratio(part, whole []int) string { return shareText(float64(len(part)) / float64(len(whole))) }

func (s *slowRun) where(text string) []int {
	s.t.Helper()
	e, err := query.Parse(text, s.data.Table)
	if err != nil {
		s.t.Fatal(err)
	}
	set, err := query.SelectRows(context.Background(), s.data, e)
	if err != nil {
		s.t.Fatal(err)
	}
	return slices.Collect(set.All())
}

func only(rows []int, of func(row int) bool) []int {
	return slices.DeleteFunc(slices.Clone(rows), func(row int) bool { return !of(row) })
}

// by divides rows that have a known name, the one with the largest value of of first.
func (s *slowRun) by(rows []int, name func(row int) string, of func(rows []int) float64) []string {
	parts := s.parts(rows, name)
	return slices.SortedFunc(maps.Keys(parts), func(a, b string) int {
		return cmp.Or(cmp.Compare(of(parts[b]), of(parts[a])), cmp.Compare(parts[a][0], parts[b][0]))
	})
}

func (s *slowRun) parts(rows []int, name func(row int) string) map[string][]int {
	parts := map[string][]int{}
	for _, row := range rows {
		if n := name(row); strings.Trim(n, "?") != "" && n != "[unknown]" {
			parts[n] = append(parts[n], row)
		}
	}
	return parts
}

func (s *slowRun) object(row int) string { return s.text(row, "symbol") }

func (s *slowRun) line(row int) string {
	if line := s.text(row, "line"); line != "" {
		return s.text(row, "file") + ":" + line
	}
	return ""
}

func (s *slowRun) level(names ...string) func(row int) bool {
	return func(row int) bool { return slices.Contains(names, s.text(row, "level")) }
}

func (s *slowRun) inMemory(row int) bool { return s.level("Local RAM", "Remote RAM")(row) }
func (s *slowRun) away(row int) bool     { return s.level("Remote RAM", "Remote Cache")(row) }
func (s *slowRun) missed(row int) bool {
	return slices.Contains([]string{"miss", "walk", "OS fault"}, s.text(row, "tlb"))
}
func (s *slowRun) answered(row int) bool {
	name := s.text(row, "level")
	return name != "" && name != "Unknown" && !strings.HasPrefix(name, "Beyond")
}

// named is whether a finding is about an object or a line, and which.
func (s *slowRun) named(in *Insight, rows []int) (what string, name func(row int) string) {
	if strings.Contains(in.Where, "symbol = ") {
		return "object " + s.object(rows[0]), s.object
	}
	return "line " + s.line(rows[0]), s.line
}

// fragments are the words with numbers that the sentence of a finding must have, counted
// anew; ok is false for a kind that this test does not know.
func (s *slowRun) fragments(in *Insight) (out []string, ok bool) {
	rows := s.where(in.Where)
	add := func(format string, values ...any) { out = append(out, fmt.Sprintf(format, values...)) }
	switch in.Kind {
	case "hot-line", "hot-object":
		what, name := s.named(in, rows)
		next := s.by(s.rows, name, s.cost)[1]
		each := ""
		if s.timed() {
			each = fmt.Sprintf(" in %s of the samples, %.1f cycles each against %.1f cycles over all", ratio(rows, s.rows), s.mean(rows), s.mean(s.rows))
		}
		add("%s has %s of the %s%s; the next has %s", capital(what), s.share(rows), s.costs(), each, s.share(s.parts(s.rows, name)[next]))
	case "tlb":
		what, name := s.named(in, rows)
		misses := only(s.rows, func(row int) bool { return s.missed(row) && name(row) != "" })
		add("%s has %s of the %s TLB misses but %s of the samples; its misses take %s of the %s", capital(what), ratio(rows, misses),
			term.Thousands(len(misses)), ratio(s.parts(s.rows, name)[name(rows[0])], s.rows), s.share(rows), s.costs())
	case "one-node":
		memory := only(s.rows, s.inMemory)
		node := strings.TrimPrefix(in.Where, "at NUMA:")
		served := only(memory, func(row int) bool { return s.text(row, "home") == node })
		which := ratio(served, memory)
		if len(served) == len(memory) {
			which = "all"
		}
		add("NUMA %s serves %s of the %s samples that went to memory, but its CPUs issued only %s of them; these take %s of the %s", node, which,
			term.Thousands(len(memory)), ratio(only(memory, func(row int) bool { return s.text(row, "node") == node }), memory), s.share(served), s.costs())
	case "remote":
		out = s.remoteFragments(in, rows)
	case "first-touch":
		objects := s.parts(rows, s.object)
		near := only(s.rows, func(row int) bool { return objects[s.object(row)] != nil && s.level("Local RAM")(row) })
		if s.timed() {
			add("pay %s of all cycles for it (%s samples, %.1f cycles each against %.1f cycles from the own node)", s.share(rows), term.Thousands(len(rows)), s.mean(rows), s.mean(near))
		} else {
			add("pay %s of all samples for it", s.share(rows))
		}
		by := "by CPU 0"
		if s.data.Table.Column("function") != nil {
			by += " in fill (stencil.c:61–64)"
		}
		out = append(out, by, "NUMA 1 is unused", "Package #1")
	case "scattered":
		add("take %s of the %s", s.share(rows), s.costs())
		within, across := s.neighbours(in.Axis)
		add("in %s of cases", shareText(within))
		add("in %s;", shareText(across))
		if strings.Contains(in.Text, "beyond L2") { // what is counted where the data does not know nodes
			out = append(out, "samples of it beyond L2")
		}
	case "busy-core", "idle-core":
		out = s.coreFragments(in)
	case "phase":
		out = s.phaseFragments(in, rows)
	case "false-sharing", "shared-line":
		hit := only(rows, func(row int) bool { return s.text(row, "snoop") == "hit modified" })
		lines := s.parts(hit, func(row int) string { return fmt.Sprint(s.data.Table.Column("addr").Data.([]uint64)[row] / 64) })
		add("%d samples found one of %d of its cache lines", len(hit), len(lines))
		add("%d CPUs", len(s.parts(rows, func(row int) string { return s.text(row, "cpu") })))
		add("take %s of the %s", s.share(rows), s.costs())
	case "random-access":
		out = s.stepFragments(rows)
	case "outlier":
		add("a sample costs %.1f cycles", s.mean(rows))
		out = append(out, s.windowFragments(rows)...)
	default:
		return nil, false
	}
	return out, true
}

func (s *slowRun) remoteFragments(in *Insight, rows []int) (out []string) {
	far, near := only(s.rows, s.away), only(s.rows, s.level("Local RAM"))
	out = append(out, fmt.Sprintf("%s of the samples were served by another node (%s of the %s)", ratio(far, s.rows), s.share(far), s.costs()))
	if strings.Contains(in.Text, "from their own") {
		out = append(out, fmt.Sprintf(", %.1f cycles each against %.1f cycles from their own", s.mean(far), s.mean(near)))
	}
	count := func(rows []int) float64 { return float64(len(rows)) }
	for i, name := range []func(int) string{s.object, s.line} {
		var words []string
		parts := s.parts(far, name)
		for _, n := range s.by(far, name, count)[:min(2, len(parts))] {
			words = append(words, fmt.Sprintf("%s (%s)", n, ratio(parts[n], far)))
		}
		if len(words) > 0 {
			out = append(out, []string{"most are of ", ", in "}[i]+strings.Join(words, " and "))
		}
	}
	if strings.Contains(in.Text, "placed by chance") {
		memory := only(far, s.inMemory)
		return append(out, fmt.Sprintf("they are %s of the samples that went to memory, where pages placed by chance give 50.0 %%", ratio(memory, append(memory, near...))))
	}
	what, name := s.named(in, rows)
	return append(out, fmt.Sprintf("%s has %s of them but %s of all samples", what, ratio(rows, only(far, func(row int) bool { return name(row) != "" })), ratio(s.parts(s.rows, name)[name(rows[0])], s.rows)))
}

// neighbours looks at pairs of samples of one index, and of neighbouring ones: how many
// are of the same part of the machine.
func (s *slowRun) neighbours(axis string) (within, across float64) {
	depth, parts := (&insightSearch{Guide: s.Guide}).farParts()
	at := s.places.Coder.Placer.Topology.At(depth)
	by := map[int][]uint32{}
	for _, row := range s.rows {
		if c := s.data.Table.Column(axis); c.Has(row) && int(parts.of(row)) < len(at) {
			by[int(c.Float(row))] = append(by[int(c.Float(row))], parts.of(row))
		}
	}
	same := func(a, b []uint32, own bool) float64 {
		n, equal := 0, 0
		for i, x := range a {
			for k, y := range b {
				if own && i == k {
					continue
				}
				n++
				if x == y {
					equal++
				}
			}
		}
		return float64(equal) / float64(n)
	}
	n := 0.0
	for z, a := range by {
		if b := by[z+1]; len(a) >= 4 && len(b) >= 4 {
			within += (same(a, a, true) + same(b, b, true)) / 2
			across += same(a, b, false)
			n++
		}
	}
	return within / n, across / n
}

// coreFragments counts samples by core, or by CPU where the sentence does.
func (s *slowRun) coreFragments(in *Insight) (out []string) {
	kind := hw.Core
	if in.Depth == "CPU" {
		kind = hw.CPU
	}
	topology := s.places.Coder.Placer.Topology
	var loads []float64
	top, least := 0, 0
	for i, r := range topology.At(kind) {
		n := 0
		for _, row := range s.rows {
			if topology.Resources[r].CPUs.Has(int(s.number(row, "cpu"))) {
				n++
			}
		}
		loads = append(loads, float64(n))
		if loads[i] > loads[top] {
			top = i
		}
		if loads[i] < loads[least] {
			least = i
		}
	}
	busy := slices.Sorted(slices.Values(slices.DeleteFunc(slices.Clone(loads), func(n float64) bool { return n == 0 })))
	median, mean, squares := busy[len(busy)/2], 0.0, 0.0
	for _, n := range loads {
		mean += n / float64(len(loads))
	}
	for _, n := range loads {
		squares += (n - mean) * (n - mean) / float64(len(loads))
	}
	off := func(i int) float64 { return math.Abs(loads[i]-mean) / math.Sqrt(squares) }
	name := func(i int) string { return named(&topology.Resources[topology.At(kind)[i]]) }
	if in.Kind == "busy-core" {
		return []string{fmt.Sprintf("%s issued %s samples, %.1f times the median %v and %.1f σ above the mean", name(top), term.Thousands(int(loads[top])), loads[top]/median, kind, off(top))}
	}
	return []string{name(least), fmt.Sprintf("%.1f σ below the mean, while the median of the %d other %s has %s", off(least), len(loads)-1, plural(kind), term.Thousands(int(median)))}
}

var phaseHead = regexp.MustCompile(`^Phase \d of \d along time \([^;)]*`)

// phaseFragments counts a phase, which its selection is, against the rest.
func (s *slowRun) phaseFragments(in *Insight, rows []int) (out []string) {
	inside := map[int]bool{}
	for _, row := range rows {
		inside[row] = true
	}
	rest := only(s.rows, func(row int) bool { return !inside[row] })
	out = append(out, phaseHead.FindString(in.Text))
	if strings.Contains(in.Text, " of its samples)") {
		functions := s.parts(rows, func(row int) string { return s.text(row, "function") })
		most := s.by(rows, func(row int) string { return s.text(row, "function") }, func(rows []int) float64 { return float64(len(rows)) })[0]
		out = append(out, fmt.Sprintf("%s has %s of its samples", most, ratio(functions[most], rows)))
	}
	of := func(words string, is, among func(row int) bool) {
		if strings.Contains(in.Text, words) {
			out = append(out, fmt.Sprintf("%s%s%s", ratio(only(rows, is), only(rows, among)), words, ratio(only(rest, is), only(rest, among))))
		}
	}
	of(" of samples come from memory against ", s.inMemory, s.answered)
	of(" are served by another node against ", s.away, s.answered)
	of(" miss the TLB against ", s.missed, func(row int) bool { return s.missed(row) || strings.HasSuffix(s.text(row, "tlb"), "hit") })
	if strings.Contains(in.Text, "a sample costs") {
		out = append(out, fmt.Sprintf("a sample costs %.1f cycles against %.1f", s.mean(rows), s.mean(rest)))
	}
	cpus := func(rows []int) int { return len(s.parts(rows, func(row int) string { return s.text(row, "cpu") })) }
	switch n := cpus(rows); {
	case strings.Contains(in.Text, "only 1 CPU issues"):
		out = append(out, fmt.Sprintf("only %d CPU issues samples against %d", n, cpus(rest)))
	case strings.Contains(in.Text, "CPUs issue samples"):
		out = append(out, fmt.Sprintf("only %d CPUs issue samples against %d", n, cpus(rest)))
	}
	for _, m := range regexp.MustCompile(`the (\w+) load is`).FindAllStringSubmatch(in.Text, -1) {
		kind, err := hw.ParseKind(m[1])
		if err != nil {
			s.t.Fatal(err)
		}
		value := func(rows []int) float64 {
			v, _ := slow(s.Guide, "imbalance", kind, unsigned(rows))
			return v
		}
		out = append(out, fmt.Sprintf("the %s load is %.2f σ out of balance against %.2f", m[1], value(rows), value(rest)))
	}
	return out
}

func unsigned(rows []int) []uint32 {
	out := make([]uint32, len(rows))
	for i, row := range rows {
		out[i] = uint32(row)
	}
	return out
}

// inTime sorts rows by time.
func (s *slowRun) inTime(rows []int) []int {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(s.number(a, "time"), s.number(b, "time")) })
	return rows
}

// stepFragments follows the elements of an object from sample to sample of a thread.
func (s *slowRun) stepFragments(rows []int) []string {
	last, steps, forward := map[string]float64{}, []float64{}, 0
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, row := range s.inTime(rows) {
		at := s.number(row, "index")
		lo, hi = min(lo, at), max(hi, at)
		who := s.text(row, "tid")
		if s.data.Table.Column("tid") == nil {
			who = s.text(row, "cpu")
		}
		stream := strings.Join([]string{who, s.text(row, "ip"), s.text(row, "line")}, " ")
		if before, ok := last[stream]; ok && before != at {
			steps = append(steps, math.Abs(at-before))
			if at > before {
				forward++
			}
		}
		last[stream] = at
	}
	slices.Sort(steps)
	return []string{fmt.Sprintf("%s of steps go forward, the median step is %s of its %s elements; a sample costs %.1f cycles against %.1f cycles over all",
		shareText(float64(forward)/float64(len(steps))), shareText(steps[len(steps)/2]/(hi-lo)), term.Thousands(int(hi-lo)+1), s.mean(rows), s.mean(s.rows))}
}

// windowFragments divides the phase of a window into windows of as many samples.
func (s *slowRun) windowFragments(rows []int) []string {
	l, err := s.newInsightSearch(context.Background(), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	p, err := l.phased()
	if err != nil {
		s.t.Fatal(err)
	}
	all := s.inTime(s.rows)
	window := max(len(all)/128, 50)
	first := slices.Index(all, s.inTime(rows)[0]) / window
	from, to := 0, len(all)/window
	for i, b := range p.bounds {
		if b <= first {
			from = b
		} else {
			to = p.bounds[i]
			break
		}
	}
	var means []float64
	for i := from; i < to; i++ {
		end := (i + 1) * window
		if i+1 == len(all)/window {
			end = len(all)
		}
		means = append(means, s.mean(all[i*window:end]))
	}
	slices.Sort(means)
	c := s.data.Table.Column("time")
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, row := range rows {
		lo, hi = min(lo, c.Float(row)), max(hi, c.Float(row))
	}
	return []string{l.times(c, lo, hi), fmt.Sprintf("against a median of %.1f in windows of %s samples", means[len(means)/2], term.Thousands(window))}
}

// plainText is a sentence without the marks of modelled numbers.
func plainText(text string) string { return strings.ReplaceAll(text, "≈ ", "") }

// TestSentences counts every number of every sentence anew: what is left of a sentence
// without the words that this gives has no digit.
func TestSentences(t *testing.T) {
	const elsewhere = "the stories of the same runs are told in other tests; this one counts after them, slowly"
	test.NoRaces(t, elsewhere)
	if testing.Short() {
		t.Skip("-short: " + elsewhere)
	}
	told := map[string]int{}
	runs := storied(t)
	maps.Copy(runs, otherwise(t))
	for name, g := range runs {
		t.Run(name, func(t *testing.T) {
			s := newSlowRun(t, g)
			found := insights(t, g)
			for i := range found {
				in := &found[i]
				want, ok := s.fragments(in)
				if !ok {
					t.Errorf("nothing counts the numbers of %s: %s", in.Kind, in.Text)
					continue
				}
				want = append(want, s.storyFragments(found, i)...)
				left := plainText(in.Text)
				for _, w := range want {
					if !strings.Contains(left, plainText(w)) {
						t.Errorf("%s: counted anew it is %q: %s", in.Kind, w, in.Text)
					}
					left = strings.Replace(left, plainText(w), "", 1)
				}
				if strings.ContainsAny(withoutNames(left, g.data.Table), "0123456789") {
					t.Errorf("%s: nothing counts the numbers in %q", in.Kind, left)
				}
				told[in.Kind]++
			}
		})
	}
	if len(told) < 10 {
		t.Errorf("kinds of sentences: %v", told)
	}
}

// storyFragments is the cost that a story has in common with each part that it names.
func (s *slowRun) storyFragments(found []Insight, lead int) (out []string) {
	if found[lead].PartOf != "" {
		return nil
	}
	_, named, ok := strings.Cut(found[lead].Text, "the same samples show as ")
	if !ok {
		return nil
	}
	inside := map[int]bool{}
	for _, row := range claimedSlowly(s.t, s.Guide, &found[lead]) {
		inside[row] = true
	}
	n := 0
	for _, part := range found[lead+1:] {
		if part.PartOf == "" {
			break
		}
		if n++; n > joined.named {
			continue
		}
		words := s.share(only(claimedSlowly(s.t, s.Guide, &part), func(row int) bool { return inside[row] }))
		if n == 1 {
			words += " of the " + s.costs() + " in common"
		}
		out = append(out, fmt.Sprintf("%s (%s)", part.subject, words))
	}
	if strings.Contains(named, " more") {
		out = append(out, fmt.Sprintf("%d more", n-joined.named))
	}
	return out
}

// withoutNames takes out names of the data that have digits.
func withoutNames(text string, t *table.Table) string {
	for _, column := range []string{"symbol", "function"} {
		if c := t.Column(column); c != nil {
			for _, name := range c.Dict {
				if strings.ContainsAny(name, "0123456789") {
					text = strings.ReplaceAll(text, name, "")
				}
			}
		}
	}
	return text
}

// otherwise are runs that lack what most have: latencies, or those of stores, or CPUs;
// or that are of two hosts.
func otherwise(t *testing.T) map[string]*Guide {
	t.Helper()
	r, err := demo.Open()
	if err != nil {
		t.Fatal(err)
	}
	without := func(r *demo.Run, names ...string) *Guide {
		return changed(t, r, func(from *table.Table) *table.Table { return leftOut(t, from, names...) })
	}
	lookup, err := lookupRun()
	if err != nil {
		t.Fatal(err)
	}
	partly := func(r *demo.Run) *Guide {
		return changed(t, r, func(from *table.Table) *table.Table { return untimedStores(t, from) })
	}
	return map[string]*Guide{
		"demo without latency": without(r, "latency"), "lookup without latency": without(lookup, "latency"),
		"demo without CPUs": without(r, "cpu", "node"), "demo without code": without(r, "file", "line", "function"),
		"demo with latency of loads": partly(r), "lookup with latency of loads": partly(lookup),
		"two hosts": clustered(t, 2, 6000, func(int, string, *rand.Rand) bool { return true }, func(h int) float64 { return float64(1 + 2*h) }),
	}
}

// leftOut is a table without some columns.
func leftOut(t *testing.T, from *table.Table, names ...string) *table.Table {
	t.Helper()
	out, err := table.New(from.Name, slices.DeleteFunc(slices.Clone(from.Columns()), func(c *table.Column) bool { return slices.Contains(names, c.Name) }))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// untimedStores is a table in which only loads have a latency, as hardware has it.
func untimedStores(t *testing.T, from *table.Table) *table.Table {
	t.Helper()
	op := from.Column("op")
	return edited(t, from, "latency", func(c *table.Column) {
		c.Valid = table.NewBits(from.Rows())
		for row := range from.Rows() {
			if op.Text(row) == "load" {
				c.Valid.Set(row)
			}
		}
	})
}
