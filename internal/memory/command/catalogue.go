package command

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// kind is what an entry of the catalogue stands for. Of equally good matches
// the one with the larger prior comes first.
type kind uint8

const (
	kindPhenomenon kind = iota
	kindAxis
	kindForeign // an axis that only this source has
	kindPage
	kindValue
	kindSet
	kindThird
	kindUnset
	kindHistogram
	kindResource
)

var priors = [...]float64{
	kindPhenomenon: 1, kindAxis: 0.98, kindForeign: 0.93, kindPage: 0.96, kindValue: 0.92, kindSet: 0.9,
	kindThird: 0.86, kindUnset: 0.84, kindHistogram: 0.8, kindResource: 0.88,
}

// entry is something that can be named.
type entry struct {
	kind    kind
	name    string // as commands write it
	column  string // the axis it is on; empty for page actions
	where   string
	lazy    clause // in place of where
	does    string // for a set of samples: "the slowest one in a hundred"
	missing string
	action  Action // of page actions
	target  string
}

func (e *entry) selects() bool {
	switch e.kind {
	case kindPhenomenon, kindValue, kindSet, kindThird, kindUnset, kindResource:
		return true
	}
	return false
}

func (e *entry) isAxis() bool { return e.kind == kindAxis || e.kind == kindForeign }

// Catalogue is everything about a data set that has a name. It does not change
// after NewCatalogue and may be used by several goroutines.
type Catalogue struct {
	table     *table.Table
	resources []string
	entries   []entry
	index     *index
	sets      *index  // of phenomena alone, see unsaid
	letters   []int32 // phrases compared by letters too: all but the names of values
	axes      map[string]int
	cost      string // the column whose sums rank things; empty if there is none
	latency   string // the column that says how long an access took; empty if none does

	named  map[string]string // columns by their words, see axisAt
	absent map[string]string // why columns by their words are not there, see absentAt
	values map[string][]int  // entries of values by what is typed in full, see valuesAt

	countThreads sync.Once
	inOrder      []float64 // see threads

	mu     sync.Mutex
	fits   map[string][]float32 // see fit
	scales map[string]float64   // see axisScale
}

// mostNames bounds the names of values that can be found: beyond it a list of
// suggestions is no way to choose.
const mostNames = 100_000

// axisNames are other words for the columns that every source shares.
var axisNames = map[string][]string{
	"time": {"timestamp"}, "cpu": {"CPU core", "core", "processor"}, "node": {"NUMA node"}, "rank": {"MPI rank"},
	"pid": {"process id"}, "tid": {"thread", "thread id"}, "ip": {"instruction pointer", "instruction address", "program counter"},
	"addr": {"address", "data address", "virtual address"}, "phys": {"physical address"}, "op": {"operation", "access type"},
	"width": {"access size", "bytes"}, "latency": {"load latency", "cycles", "duration"}, "weight": {"cost"},
	"level": {"data source", "memory level", "cache level", "served by"}, "hit": {"hit or miss"}, "remote": {"remote access"},
	"hops": {"distance"}, "snoop": {"snoop result", "coherence"}, "tlb": {"TLB access", "translation"}, "lock": {"locked"},
	"file": {"source file"}, "line": {"source line", "code line"}, "function": {"routine"}, "instruction": {"instruction UID", "opcode", "mnemonic"},
	"symbol": {"variable", "data object", "array", "object"}, "index": {"element", "array index"}, "iteration": {"iter", "time step"},
	"x": {"x index"}, "y": {"y index"}, "z": {"z index"},
}

// naming are the numbers that name things: one number is a value, not a limit.
var naming = []string{"cpu", "node", "rank", "pid", "tid", "line", "hops", "iteration", "x", "y", "z", "index", "width", "numa"}

// NewCatalogue names what is in a table. resources are the nodes of its
// topology as the selection language writes them ("L3:1"); nil without one.
func NewCatalogue(t *table.Table, resources []string) *Catalogue {
	c := &Catalogue{table: t, resources: resources, index: newIndex(), sets: newIndex(), axes: map[string]int{}, values: map[string][]int{},
		fits: map[string][]float32{}, scales: map[string]float64{}}
	f := &facts{t}
	c.cost, c.latency = f.cost(), f.latency()
	for _, p := range phenomena {
		if len(t.Columns()) == 0 {
			break // no samples to select
		}
		a := p.find(f)
		c.add(entry{kind: kindPhenomenon, name: p.name, column: a.axis, where: a.where, lazy: a.lazy, missing: a.missing, does: doesOf(p, a)}, p.aliases...)
		for _, name := range append([]string{p.name}, p.aliases...) {
			c.sets.add(len(c.entries)-1, name, "")
		}
	}
	if len(t.Columns()) > 0 {
		c.add(entry{kind: kindPhenomenon, name: "everything", does: "all samples"}, "all", "all samples", "clear", "reset", "clear selection", "reset selection", "clear filters", "remove filters", "no filter", "show everything again", "select all", "deselect", "start over", "start again", "nothing")
	}
	for _, col := range t.Columns() {
		c.addAxis(col)
	}
	for _, p := range pageCommands {
		c.add(entry{kind: kindPage, name: p.name, action: p.action, target: p.target, does: p.does}, p.aliases...)
	}
	for i := range c.index.phrases {
		c.letters = append(c.letters, int32(i))
	}
	c.addValues()
	c.nameAxes()
	c.nameAbsent()
	return c
}

func (c *Catalogue) add(e entry, aliases ...string) {
	n := len(c.entries)
	c.entries = append(c.entries, e)
	c.index.add(n, e.name, "")
	for _, a := range aliases {
		c.index.add(n, a, "")
	}
}

// addAxis names a column and the sets of samples it divides the data into.
func (c *Catalogue) addAxis(col *table.Column) {
	name := titleOf(col)
	c.axes[col.Name] = len(c.entries)
	missing := ""
	if col.Provenance == table.Absent {
		missing = "no sample has a value of " + col.Name
	}
	aliases := axisNames[col.Name]
	if fold(name) != fold(col.Name) {
		aliases = append([]string{col.Name}, aliases...)
	}
	kind := kindAxis
	if _, shared := axisNames[col.Name]; !shared {
		kind = kindForeign
	}
	c.add(entry{kind: kind, name: name, column: col.Name, missing: missing, does: col.Note}, aliases...)
	if missing != "" {
		return
	}
	switch col.Kind {
	case table.Flag:
		c.add(entry{kind: kindSet, name: name + " set", column: col.Name, where: setTo(col.Name, 1), does: "samples with " + name}, col.Name+" yes", "with "+col.Name)
		c.add(entry{kind: kindUnset, name: name + " not set", column: col.Name, where: setTo(col.Name, 0), does: "samples without " + name}, "not "+col.Name, "no "+name, "without "+name)
	case table.Number, table.Time:
		for _, t := range thirds {
			c.add(entry{kind: kindThird, name: t.name + " " + name, column: col.Name, lazy: t.of(col.Name), does: fmt.Sprintf("the %s third of %s", t.says, name)}, thirdNames(t, col.Name)...)
		}
	}
	c.add(entry{kind: kindHistogram, name: "histogram of " + name, column: col.Name, action: View, target: "axis", does: "shows the histogram of " + name}, "distribution of "+name)
}

// titleOf is how a column is called in sentences: its label, or its name.
func titleOf(c *table.Column) string {
	if c.Label != "" {
		return c.Label
	}
	return c.Name
}

// third is a part of an axis between quantiles. The parts do not overlap and
// every value is in one of them, also where many values are equal.
type third struct {
	name, says string
	words      []string
	of         func(column string) clause
}

var thirds = []third{
	{"low", "lowest", []string{"small", "lowest"}, func(column string) clause {
		return between(column, func(a, b query.Value) string {
			if a.Number == b.Number {
				return query.Compare{Column: column, Op: query.Lt, Value: a}.String()
			}
			return query.Compare{Column: column, Op: query.Le, Value: a}.String()
		})
	}},
	{"mid", "middle", []string{"middle", "medium"}, func(column string) clause {
		return between(column, func(a, b query.Value) string {
			if a.Number == b.Number {
				return query.Compare{Column: column, Op: query.Eq, Value: a}.String()
			}
			return query.Compare{Column: column, Op: query.Gt, Value: a}.String() + " & " + query.Compare{Column: column, Op: query.Lt, Value: b}.String()
		})
	}},
	{"high", "highest", []string{"large", "highest"}, func(column string) clause {
		return between(column, func(a, b query.Value) string {
			if a.Number == b.Number {
				return query.Compare{Column: column, Op: query.Gt, Value: b}.String()
			}
			return query.Compare{Column: column, Op: query.Ge, Value: b}.String()
		})
	}},
}

// between makes a clause of the two quantiles that divide a column in three.
func between(column string, text func(a, b query.Value) string) clause {
	return func(n numbers) (string, error) {
		a, err := n.quantile(column, 1.0/3)
		if err != nil {
			return "", err
		}
		b, err := n.quantile(column, 2.0/3)
		return text(query.NumberValue(a), query.NumberValue(b)), err
	}
}

// thirdNames are the other ways to name a third.
func thirdNames(t third, column string) []string {
	var out []string
	for _, w := range t.words {
		out = append(out, w+" "+column)
	}
	return out
}

// addValues names the values of categories. Names of levels are also what hits
// them.
func (c *Catalogue) addValues() {
	left := mostNames
	for _, col := range c.table.Columns() {
		if col.Kind != table.Category || col.Provenance == table.Absent {
			continue
		}
		for _, v := range col.Dict[:min(left, len(col.Dict))] {
			if strings.TrimSpace(v) == "" {
				continue
			}
			n := len(c.entries)
			c.entries = append(c.entries, entry{kind: kindValue, name: col.Name + " " + v, column: col.Name,
				where: query.Compare{Column: col.Name, Op: query.Eq, Value: query.TextValue(v)}.String(),
				does:  fmt.Sprintf("samples with %s %s", col.Name, v)})
			c.nameValue(n, col.Name, v)
			c.index.add(n, v, strings.Join(append([]string{col.Name}, axisNames[col.Name]...), " "))
			if col.Name == "level" {
				c.index.add(n, v+" hits", "served by cache")
			}
		}
		left -= min(left, len(col.Dict))
	}
}

// pageCommands are what the page can do besides selecting and arranging axes.
var pageCommands = []struct {
	name    string
	action  Action
	target  string
	does    string
	aliases []string
}{
	{"open parallel coordinates", View, "parallel", "shows parallel coordinates", []string{"parallel coordinates", "parallel coordinates view", "axes", "go to axes"}},
	{"open one axis", View, "axis", "shows one axis as a large histogram", []string{"single axis view", "go to histogram"}},
	{"open categories", View, "category", "shows the values of a category as bars", []string{"categories", "category view", "bars", "go to categories"}},
	{"open heat map", View, "heat", "shows when which CPU, thread, object or function was slow", []string{"heat map", "heatmap", "over time", "timeline", "samples per second", "go to heat map"}},
	{"open calls", View, "calls", "shows the call stacks as a flame graph or a tree, with callers and callees", []string{"flame graph", "flamegraph", "call tree", "call graph", "call stacks", "callers and callees", "sandwich", "icicle of calls", "go to calls"}},
	{"open spread", View, "spread", "shows the level mix and the latencies of each line or object", []string{"spread", "level mix", "latency distribution per line", "go to spread"}},
	{"open cache lines", View, "lines", "shows the cache lines that threads share, the most contended first", []string{"cache lines", "contention", "lock contention", "line sharing", "sharing", "c2c", "false sharing", "go to cache lines"}},
	{"open first touch", View, "touches", "shows which thread on which node touched the pages of each object first", []string{"first touch", "page faults", "who touched it first", "go to first touch"}},
	{"open allocations", View, "allocations", "shows what each place of the program allocates, how long that lives, and how much it is used", []string{"allocations", "heap", "what it allocates", "leaks", "never freed", "biggest array", "largest objects", "sizes of objects", "go to allocations"}},
	{"order axes by correlation", Arrange, "", "puts the axes next to each other that tell most of each other (mutual information)", []string{"sort axes", "arrange axes by correlation", "suggest an order of axes", "mutual information order"}},
	{"open topology", View, "topology", "goes to the hardware topology", []string{"topology", "hardware view", "hardware", "sunburst", "icicle", "machine", "go to topology"}},
	{"open code", View, "code", "goes to the source code", []string{"code", "source code", "source code view", "assembly", "go to code"}},
	{"open top offenders", View, "offenders", "goes to the lists of lines and objects", []string{"top offenders", "offenders", "hot lines", "ranking", "hot spots", "where is the time spent", "where am I losing time", "where does the time go", "what takes longest", "go to top offenders"}},
	{"open samples", View, "rows", "lists the selected samples, each with why it has its level", []string{"rows", "table of samples", "list samples", "raw data", "why this level"}},
	{"choose columns", Columns, "", "says which column of the file is which, and what an L1 hit is assumed to take", []string{"map columns", "remap attributes", "import settings", "assumed L1 latency"}},
	{"open insights", View, "insights", "lists what is wrong with this run, the most at stake first", []string{"insights", "findings", "what is wrong", "why is it slow", "problems", "advice", "go to insights"}},
	{"open metrics and clusters", View, "parallel", "shows the metric over windows of an axis and its clusters, above the axes", []string{"imbalance", "imbalance between threads", "load imbalance", "load balance", "balance of threads", "work distribution", "clusters", "phases", "metrics", "guided exploration", "go to metrics"}},
	{"compare with another run", View, changesView, "shows what differs between this run and another one that is open", []string{"compare", "compare with", "compare runs", "diff", "difference", "changes", "before and after", "regression", "what changed"}},
	{"open statistics", View, "statistics", "goes to the statistics", []string{"statistics", "stats", "summary", "median latency", "mean latency", "average latency", "median", "quartiles", "percentiles", "quantiles", "how many samples", "number of samples", "how long did it run", "go to statistics"}},
	{"color topology by latency", Color, "latency", "colours the topology by the latency spent", []string{"set colour latency", "colour by cycles"}},
	{"color topology by samples", Color, "samples", "colours the topology by the number of samples", []string{"set colour samples", "colour by count"}},
	{"color topology by mean latency", Color, "mean", "colours the topology by the mean latency", []string{"set colour mean", "colour by average"}},
	{"set bins", Bins, "100", "divides each axis into so many bins", []string{"number of bins", "histogram bins"}},
	{"fewer bins", Bins, "50", "divides each axis into 50 bins", []string{"less bins", "coarser bins", "wider bins", "bigger bins", "larger bins"}},
	{"more bins", Bins, "200", "divides each axis into 200 bins", []string{"finer bins", "narrower bins", "smaller bins"}},
	{"undo", Undo, "", "takes back the last selection", []string{"back", "go back", "step back"}},
	{"redo", Redo, "", "repeats what was taken back", []string{"again"}},
	{"invert selection", Invert, "", "selects the others", []string{"invert", "complement", "opposite"}},
	{"filter to the selection", Filter, "", "shows only the selected samples", []string{"keep only the selection", "zoom to selection"}},
	{"exclude the selection", Exclude, "", "leaves the selected samples out", []string{"hide the selected samples", "remove selected samples"}},
	{"export picture", Export, "png", "saves the view as a PNG picture", []string{"export png", "save picture", "save image", "download picture", "screenshot"}},
	{"export page as picture", Export, "page-png", "saves the whole page as a PNG picture, with the selection", []string{"export page", "page as png", "save page", "picture of the page"}},
	{"export page as PDF", Export, "page-pdf", "saves the whole page as a PDF, with the selection", []string{"page as pdf", "export pdf", "save pdf", "save as pdf", "print", "print page", "print this page"}},
	{"export SVG", Export, "svg", "saves the view as an SVG drawing", []string{"export svg", "export vector", "save svg"}},
	{"export table", Export, "csv", "saves the numbers of the view as CSV", []string{"export csv", "export view csv", "save csv"}},
	{"export samples", Export, "rows", "saves the selected samples as CSV", []string{"export rows", "download samples", "export selection csv"}},
	{"help", Help, "", "shows all keys", []string{"keys", "keyboard shortcuts", "what can I do", "shortcuts"}},
	{"guide", Help, "guide", "shows where the guide explains this page", []string{"manual", "documentation", "docs", "how to read this", "tutorial", "explain"}},
	{"open a file", Open, "", "opens another file", []string{"open file", "load file", "import", "open"}},
	{"save selection", Save, "", "keeps the selection under a name", []string{"name the selection", "remember selection"}},
	{"copy link", Link, "", "copies the link to this state of the page", []string{"share", "URL", "send link", "share link"}},
	{"light or dark", Theme, "", "changes the theme", []string{"theme", "change theme", "colors"}},
	{"dark theme", Theme, "dark", "shows the page light on dark", []string{"dark mode", "night", "make it dark"}},
	{"light theme", Theme, "light", "shows the page dark on light", []string{"light mode", "day"}},
}

func (ctx *Context) shows(column string) bool { return slices.Contains(ctx.Shown, column) }
