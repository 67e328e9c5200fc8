package show

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
)

// Text writes the tree for a terminal of 80 columns. Alike siblings share a
// line.
func (v *View) Text(w io.Writer) error {
	t := &text{view: v, resources: v.Topology.Resources}
	if v.Samples != nil {
		t.resources = v.Samples.Placer.Resources
	}
	t.shapes()
	t.head()
	t.line(t.fold([]int{0}), "", "")
	t.foot()
	_, err := io.WriteString(w, t.b.String())
	return err
}

type text struct {
	view      *View
	resources []hw.Resource
	kids      [][]int
	shape     []int
	b         strings.Builder
}

// width is what every line fits in.
const width = 80

// group is alike resources on one line.
type group struct {
	members []int
	kids    []*group
}

// shapes numbers resources so that those with equal trees below them have equal
// numbers.
func (t *text) shapes() {
	t.kids = make([][]int, len(t.resources))
	t.shape = make([]int, len(t.resources))
	for i := range t.resources {
		r := &t.resources[i]
		if r.Parent >= 0 && !(r.Virtual && t.view.Samples.Tallies[i].Passed.Samples == 0) {
			t.kids[r.Parent] = append(t.kids[r.Parent], i)
		}
	}
	numbers := map[string]int{}
	for i := range slices.Backward(t.resources) {
		r := &t.resources[i]
		key := fmt.Sprint(r.Kind, roughly(r), r.Class, r.Memory, r.Tier, r.Virtual, r.Blocked, r.Aside, len(r.CPUs))
		if r.Virtual {
			key += r.Name
		}
		for _, kid := range t.kids[i] {
			key += fmt.Sprint(",", t.shape[kid])
		}
		if _, ok := numbers[key]; !ok {
			numbers[key] = len(numbers)
		}
		t.shape[i] = numbers[key]
	}
}

// roughly returns the size that makes resources alike: memory of one machine
// differs by what firmware took.
func roughly(r *hw.Resource) uint64 {
	if r.Kind == hw.NUMA {
		return (r.Size + 1<<31) >> 32
	}
	return r.Size
}

// fold groups the children of alike resources. With samples on the tree a few
// siblings stay apart, so that an imbalance between sockets is seen.
func (t *text) fold(members []int) *group {
	g := &group{members: members}
	byShape := map[int][]int{}
	var order []int
	for _, m := range members {
		for _, kid := range t.kids[m] {
			s := t.shape[kid]
			if byShape[s] == nil {
				order = append(order, s)
			}
			byShape[s] = append(byShape[s], kid)
		}
	}
	for _, s := range order {
		alike := byShape[s]
		if t.resources[alike[0]].Kind == hw.Host {
			odd := t.oddFirst(alike)
			for _, i := range alike[:odd] {
				g.kids = append(g.kids, t.fold([]int{i}))
			}
			if alike = alike[odd:]; len(alike) == 0 {
				continue
			}
		}
		if len(members) == 1 && t.view.Samples != nil && len(alike) <= 4 && t.resources[alike[0]].Kind <= hw.Cache3 {
			for _, i := range alike {
				g.kids = append(g.kids, t.fold([]int{i}))
			}
			continue
		}
		g.kids = append(g.kids, t.fold(alike))
	}
	return g
}

// hostsApart is how many hosts have lines of their own.
const hostsApart = 4

// oddFirst orders alike hosts, those first that are most unlike the others, and
// returns how many of them stay apart.
func (t *text) oddFirst(alike []int) int {
	if t.view.Samples == nil || len(alike) <= hostsApart {
		return 0 // fold keeps so few apart itself
	}
	place := map[int]int{}
	far := 0
	for i, h := range t.view.Samples.HostsByDistance() {
		place[h.Host] = i
		if i < hostsApart && h.Distance >= farHost && slices.Contains(alike, h.Host) {
			far++
		}
	}
	slices.SortFunc(alike, func(a, b int) int { return cmp.Compare(place[a], place[b]) })
	return far
}

// farHost is a distance from the median host that one of a few hundred like ones
// seldom has.
const farHost = 4

// hosts says what sets the hosts apart that have lines of their own.
func (t *text) hosts() {
	odd := t.view.Samples.HostsByDistance()
	if len(odd) <= hostsApart {
		return
	}
	for _, h := range odd[:hostsApart] {
		if h.Distance >= farHost {
			t.print(fmt.Sprintf("%s is %.1f deviations from the median host in %s", t.resources[h.Host].Name, h.Distance, h.Measure))
		}
	}
}

func (t *text) head() {
	v := t.view
	s := v.Topology.Summary()
	parts := []string{term.Counted(s.CPUs, "CPU")}
	if s.Nodes > 0 {
		parts = append(parts, term.Counted(s.Nodes, "memory node"))
	}
	if size := v.Topology.Root().Size; size > 0 {
		parts = append(parts, bytesize(size))
	}
	if v.Topology.Source != "" {
		parts = append(parts, "from "+v.Topology.Source)
	}
	t.print(v.Topology.Root().Name + ": " + strings.Join(parts, ", "))
	t.models()
	if v.Samples == nil {
		t.print("")
		return
	}
	total := v.Samples.Total
	line := plain(countSamples(total.Samples))
	if v.Where != "" {
		line = fmt.Sprintf("%s of %s where %s", plain(count(total.Samples)), plain(countSamples(v.Of)), v.Where)
	}
	t.print(line)
	t.print("level " + v.Level.String() + ", latency " + v.Latency.String())
	t.print("")
	if v.Amounts != nil {
		t.print(strings.TrimSpace(fmt.Sprintf("%s %s", v.Amounts.Name, v.Amounts.Unit)) + ", " + v.AmountsOf.String() +
			": of samples served for caches and memory, of samples issued for the rest; of alike resources the least and the largest")
		t.print("")
		t.row("", "", "samples", "served", "", "", term.ClipEnd(strings.Fields(v.Amounts.Name)[0], 9))
		return
	}
	t.row("", "", "samples", "served", v.unit(), "mean", "each")
}

// sayAmount writes the number of a resource with its marks.
func (v *View) sayAmount(a hw.Amount) string {
	said := samples.Approximately(v.AmountsOf) + plain(amount(a.Number))
	if a.AtLeast {
		said = "≥" + said
	}
	return said
}

// amountSpan writes the numbers of alike resources: one, or the least and the
// largest.
func (t *text) amountSpan(g *group) string {
	var least, most hw.Amount
	for _, m := range g.members {
		a := t.view.Amounts.Of(&t.resources[m])
		if a.Samples == 0 {
			continue
		}
		if least.Samples == 0 || a.Number < least.Number {
			least = a
		}
		if most.Samples == 0 || a.Number > most.Number {
			most = a
		}
	}
	switch {
	case most.Samples == 0:
		return "–"
	case least.Number == most.Number:
		return t.view.sayAmount(most)
	}
	return t.view.sayAmount(least) + "–" + t.view.sayAmount(most)
}

func (v *View) unit() string { return cmp.Or(v.LatencyUnit, "latency") }

// models names the processors once, above the tree.
func (t *text) models() {
	var models []string
	for _, i := range t.view.Topology.At(hw.Package) {
		if m := t.resources[i].Model; m != "" && !slices.Contains(models, m) {
			models = append(models, m)
		}
	}
	for _, m := range models {
		t.print(m)
	}
}

// print writes a line, broken at blanks where it is too long.
func (t *text) print(line string) {
	for utf8.RuneCountInString(line) > width {
		at := len(string([]rune(line)[:width]))
		if blank := strings.LastIndexByte(line[:at], ' '); blank > 0 {
			at = blank
		}
		t.b.WriteString(line[:at] + "\n")
		line = "  " + strings.TrimLeft(line[at:], " ")
	}
	t.b.WriteString(line + "\n")
}

func (t *text) line(g *group, indent, below string) {
	first := &t.resources[g.members[0]]
	name := first.ShortName()
	if len(g.members) > 1 {
		name = fmt.Sprintf("%d × %v", len(g.members), first.Kind)
	}
	if note := remark(first); note != "" {
		name += " " + note
	}
	size := bytesize(first.Size)
	if t.view.Samples == nil {
		t.plainRow(indent+name, size, t.cpuList(g))
	} else {
		t.sampleRow(indent+name, size, g)
	}
	for i, kid := range g.kids {
		branch, next := "├ ", "│ "
		if i == len(g.kids)-1 {
			branch, next = "└ ", "  "
		}
		t.line(kid, below+branch, below+next)
	}
}

func remark(r *hw.Resource) string {
	switch {
	case r.Virtual:
		return "*"
	case r.Class != "":
		return r.Class
	case r.Memory != "" || r.Tier != "":
		return strings.TrimSpace(r.Memory + tier(r))
	case r.Kind == hw.NUMA && len(r.CPUs) == 0:
		return "(no CPUs)"
	case r.Blocked:
		return "(not allowed)"
	}
	return ""
}

// tier says which tier a memory is of.
func tier(r *hw.Resource) string {
	if r.Tier == "" {
		return ""
	}
	return " tier " + r.Tier
}

// accelerators lists devices beside the tree; alike ones share a line.
func (t *text) accelerators(list []hw.Accelerator, indent string) {
	for i := 0; i < len(list); {
		a, n := list[i], 1
		for i+n < len(list) && alike(a, list[i+n]) {
			n++
		}
		line := indent + a.Name
		if n > 1 {
			line = fmt.Sprintf("%s%d × %s to %s", indent, n, a.Name, list[i+n-1].Name)
		}
		for _, more := range []string{a.Model, bytesize(a.Memory)} {
			if more != "" {
				line += ", " + more
			}
		}
		if a.Cores > 0 {
			line += ", " + term.Counted(a.Cores, "multiprocessor")
		}
		if a.Bus != "" && n == 1 {
			line += ", PCI " + a.Bus
		}
		t.print(line)
		t.accelerators(a.Parts, indent+"  ")
		i += n
	}
}

// alike reports whether two devices differ in their names and addresses only.
func alike(a, b hw.Accelerator) bool {
	return a.Model == b.Model && a.Memory == b.Memory && a.Cores == b.Cores && len(a.Parts) == 0 && len(b.Parts) == 0
}

// cpuList names the CPUs of a line; of many alike resources only how many each
// has.
func (t *text) cpuList(g *group) string {
	cpus := t.resources[g.members[0]].OwnCPUs()
	switch {
	case t.resources[g.members[0]].Kind == hw.CPU:
		var all []int
		for _, m := range g.members {
			all = append(all, t.resources[m].OwnOS())
		}
		return hw.NewCPUs(all).String()
	case len(cpus) == 0:
		return ""
	case len(g.members) > 1:
		return term.Counted(len(cpus), "CPU") + " each"
	}
	return cpus.String()
}

func (t *text) plainRow(name, size, cpus string) {
	line := fmt.Sprintf("%s %9s  %s", pad(name, 34), size, term.ClipEnd(cpus, 33))
	t.b.WriteString(strings.TrimRight(line, " ") + "\n")
}

func (t *text) sampleRow(name, size string, g *group) {
	first := &t.resources[g.members[0]]
	serves := first.Serves()
	var passed, served hw.Count
	least, most := ^uint64(0), uint64(0)
	for _, m := range g.members {
		tally := &t.view.Samples.Tallies[m]
		passed.Add(tally.Passed)
		served.Add(tally.Served)
		n := tally.Passed.Samples
		if serves {
			n = tally.Served.Samples
		}
		least, most = min(least, n), max(most, n)
	}
	cells := [5]string{column(passed.Samples), "", "–", "–", ""}
	value := passed
	switch {
	case serves && t.view.Level == table.Absent:
		cells[0], cells[1], value = "–", "–", served // not zero: nobody knows
	case serves:
		cells[1] = column(served.Samples)
		value = served
	}
	if t.view.Amounts != nil {
		t.row(name, size, cells[0], cells[1], "", "", t.amountSpan(g))
		return
	}
	if mean, ok := value.Mean(); ok {
		mark := samples.Approximately(t.view.Latency)
		cells[2], cells[3] = mark+plain(amount(value.Sum)), mark+fmt.Sprintf("%.1f", mean)
		if mean >= 1000 {
			cells[3] = mark + plain(amount(mean))
		}
	}
	if len(g.members) > 1 && most > 0 {
		cells[4] = span(least, most)
	}
	t.row(name, size, cells[0], cells[1], cells[2], cells[3], cells[4])
}

func (t *text) row(name, size, samples, served, sum, mean, each string) {
	line := fmt.Sprintf("%s %8s %9s %9s %7s %6s %9s", pad(name, 25), size, samples, served, sum, mean, each)
	t.b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// pad fills or cuts a name to a number of characters.
func pad(s string, n int) string {
	s = term.ClipEnd(s, n)
	return s + strings.Repeat(" ", n-utf8.RuneCountInString(s))
}

func (t *text) foot() {
	v := t.view
	if v.Samples != nil {
		t.hosts()
		t.unplaced()
		t.virtual()
	}
	t.distances()
	for _, c := range instruction(v.Topology) {
		t.print(fmt.Sprintf("instruction caches, not in the tree: %d × %s %s", c.Count, c.Type, bytesize(c.Size)))
	}
	if list := v.Topology.Accelerators; len(list) > 0 {
		t.print("")
		t.print("Accelerators, not in the tree:")
		t.accelerators(list, "  ")
	}
	for _, w := range v.warnings() {
		t.print("note: " + w)
	}
}

func (t *text) unplaced() {
	if len(t.view.Samples.Unplaced) == 0 {
		return
	}
	t.print("")
	t.print("Not placed beyond the CPU:")
	for _, u := range t.view.Samples.Unplaced {
		t.print(fmt.Sprintf("%10s  %s", plain(count(u.Samples)), because(u)))
	}
}

func because(u hw.Unplaced) string {
	if u.Level == hw.NoLevel {
		return u.Reason
	}
	return u.Level.String() + ": " + u.Reason
}

func (t *text) virtual() {
	for i := len(t.view.Topology.Resources); i < len(t.resources); i++ {
		if t.view.Samples.Tallies[i].Passed.Samples > 0 {
			t.print("* " + t.resources[i].Name + ": " + t.resources[i].Note)
		}
	}
}

// distances prints the matrix of a machine with few nodes.
func (t *text) distances() {
	d := t.view.Topology.Distances
	if d == nil || len(d.Nodes) < 2 || len(d.Nodes) > 8 {
		return
	}
	t.print("")
	unit := ""
	if d.Unit != "relative" {
		unit = ", " + d.Unit
	}
	line := fmt.Sprintf("%-22s", "distances"+unit)
	for _, n := range d.Nodes {
		line += fmt.Sprintf("%7d", n)
	}
	t.print(line)
	for i, from := range d.Nodes {
		line := pad(fmt.Sprintf("  from node %d to", from), 22)
		for j := range d.Nodes {
			line += fmt.Sprintf("%7g", d.Values[i*len(d.Nodes)+j])
		}
		t.print(line)
	}
}
