package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/memory/align"
)

// SideColumn says of which run a row of two runs is, and SideA and SideB are its
// names.
const (
	SideColumn = "side"
	SideA      = "A"
	SideB      = "B"
)

// Joined is two runs as one table: the rows of A, then those of B, so that one
// selection holds for both and every picture of one side has the bins of the
// other. Names are those of B; what only A has keeps its own, lines in a file of
// their own (align.InA).
type Joined struct {
	Table *table.Table
	// Unlike says of columns why their values in A and B do not compare.
	Unlike map[string]string
	// Lines pairs the lines of source files.
	Lines *align.Alignment
	// Tau is the allowance for how two runs of one program differ, as a standard
	// deviation of the logarithm of a cost of either.
	Tau float64
	// Apart says how the machines of the runs differ, and is empty where they do
	// not. CPUs and memory nodes are then numbered by their rank of load in their
	// run, and OwnCPU is the numbers of their machines.
	Apart  string
	OwnCPU *table.Column
}

// Join puts two runs into one table.
func Join(ctx context.Context, a, b *Run) (*Joined, error) {
	f := &fitting{threads: map[*table.Table]align.Threads{}}
	sideA, err := f.side(ctx, []Run{*a})
	if err != nil {
		return nil, err
	}
	sideB, err := f.side(ctx, []Run{*b})
	if err != nil {
		return nil, err
	}
	al := align.New(sideA, sideB, nil)
	out := &Joined{Unlike: map[string]string{}, Lines: al, Tau: allowance(ctx, a, b)}
	if why := otherModels(models([]Run{*a}), models([]Run{*b})); why != "" && a.Table.Column(samples.Level) != nil {
		out.Unlike[samples.Level] = why
	}
	if a.Topology != nil && b.Topology != nil {
		out.Apart = otherMachines(a.Topology.Summary(), b.Topology.Summary())
	}
	if out.Apart != "" {
		out.OwnCPU = cpusOf(a.Table, b.Table)
	}
	tables := make([]*table.Table, 2)
	for i, r := range []*Run{a, b} {
		columns, err := out.columns(r, []*Run{b, a}[i], f.threads[r.Table])
		if err != nil {
			return nil, err
		}
		if r == a {
			columns = intoTermsOf(al, columns)
		}
		if out.Apart != "" {
			columns = byLoad(columns)
		}
		if tables[i], err = table.New(r.Table.Name, append(columns, sideColumn(i, r.Table.Rows()))); err != nil {
			return nil, err
		}
	}
	out.Table, err = table.Concat(samples.Table, tables)
	return out, err
}

// cpusOf is the CPU of each row of two tables by the number of its machine, -1
// where nobody knows.
func cpusOf(tables ...*table.Table) *table.Column {
	var values []int64
	for _, t := range tables {
		c := t.Column(samples.CPU)
		for i := range t.Rows() {
			v := int64(-1)
			if c != nil && c.Kind == table.Number && c.Has(i) {
				v = int64(c.Float(i))
			}
			values = append(values, v)
		}
	}
	return table.Ints(samples.CPU, "", table.Derived, values, nil)
}

// byLoad numbers CPUs and memory nodes by how many samples each has, most first:
// what else could be alike in two machines is not known.
func byLoad(columns []*table.Column) []*table.Column {
	for i, c := range columns {
		if !byPlace(c.Name) || c.Kind != table.Number {
			continue
		}
		counts := map[int64]int{}
		for row := range c.Len() {
			if c.Has(row) {
				counts[int64(c.Float(row))]++
			}
		}
		rank := map[int64]int64{}
		for k, own := range mostFirst(counts, cmp.Compare[int64]) {
			rank[own] = int64(k)
		}
		columns[i] = renumbered(c, "by rank of load in its run: 0 has the most samples, because the machines differ", func(own int64) int64 { return rank[own] })
	}
	return columns
}

// allowance is that of one run a side; the larger one where the runs do not compare.
func allowance(ctx context.Context, a, b *Run) float64 {
	f, err := fit(ctx, []Run{*a}, []Run{*b}, &Options{Common: true, Questions: []Question{{Metric: Cost}}})
	if err != nil {
		return tauFar
	}
	return f.tau
}

func sideColumn(side, rows int) *table.Column {
	codes := make([]uint32, rows)
	for i := range codes {
		codes[i] = uint32(side)
	}
	c := table.Categories(SideColumn, table.Derived, codes, []string{SideA, SideB}, nil)
	c.Note = "the run that the sample is of"
	return c
}

// columns are those of a run that the other has in the same form or not at all.
func (j *Joined) columns(r, other *Run, threads align.Threads) ([]*table.Column, error) {
	var out []*table.Column
	for _, c := range r.Table.Columns() {
		if c.Name == SideColumn {
			continue
		}
		o := other.Table.Column(c.Name)
		if o != nil && (o.Kind != c.Kind || o.Unit != c.Unit) {
			j.Unlike[c.Name] = fmt.Sprintf("%s is a %s in %s in one run and a %s in %s in the other", c.Name, c.Kind, unitOr(c), o.Kind, unitOr(o))
			continue
		}
		if why := unlike(c, o); why != "" {
			j.Unlike[c.Name] = why
		}
		out = append(out, withoutChance(c, threads))
	}
	if len(out) == 0 {
		return nil, errors.New("the runs have no column in the same form")
	}
	return out, nil
}

// withoutChance is a column without what is another number in every run: when it
// began, and what the system called its threads and processes.
func withoutChance(c *table.Column, threads align.Threads) *table.Column {
	switch {
	case c.Kind == table.Time: // from the start of its run
		here := *c
		here.Base = 0
		return &here
	case c.Name == samples.Symbol && c.Kind == table.Category:
		return renamed(c, threads.Object)
	case c.Name == samples.TID && c.Kind == table.Number && len(threads) > 0:
		return numbered(c, threads)
	case c.Name == samples.PID && c.Kind == table.Number: // what the system gave them says nothing
		return processesInOrder(c)
	}
	return c
}

// runColumn says of which run of a side a row is.
const runColumn = "run"

// Merge puts the runs of one side into one table, whose column run has their names.
func Merge(ctx context.Context, runs []Run) (*table.Table, error) {
	tables := make([]*table.Table, len(runs))
	var names []string
	for i := range runs {
		if why := otherwiseMade(&runs[0], &runs[i]); why != "" {
			return nil, fmt.Errorf("%s and %s are no runs of one side: %s; 'isobath diff' compares them run by run", runs[0].Name, runs[i].Name, why)
		}
		names = append(names, runs[i].Name)
	}
	for i := range runs {
		r := &runs[i]
		threads, err := threadsOf(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		var columns []*table.Column
		for _, c := range r.Table.Columns() {
			if c.Name == SideColumn || c.Name == runColumn {
				continue
			}
			if first := runs[0].Table.Column(c.Name); first != nil && (first.Kind != c.Kind || first.Unit != c.Unit || first.Provenance != c.Provenance) {
				return nil, fmt.Errorf("%s and %s are no runs of one side: %s is a %s in %s, %s, and a %s in %s, %s", runs[0].Name, r.Name, c.Name, first.Kind, unitOr(first), first.Provenance, c.Kind, unitOr(c), c.Provenance)
			}
			columns = append(columns, withoutChance(c, threads))
		}
		codes := make([]uint32, r.Table.Rows())
		for row := range codes {
			codes[row] = uint32(i)
		}
		of := table.Categories(runColumn, table.Derived, codes, names, nil)
		of.Note = "the run of this side that the sample is of"
		if tables[i], err = table.New(r.Table.Name, append(columns, of)); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
	}
	return table.Concat(samples.Table, tables)
}

// otherwiseMade says why samples of two runs are not shown together: in one picture
// that which was sampled more often would hide the other, and samples of another machine
// would stand on this one. Empty if they are.
func otherwiseMade(a, b *Run) string {
	two := []Run{*a, *b}
	if modes := distinct(two, modeOf); len(modes) > 1 {
		return "sampled by " + strings.Join(modes, " and ")
	}
	if period(a) != period(b) {
		return fmt.Sprintf("sampled every %s and %s", cmp.Or(periodText(a), unknown), cmp.Or(periodText(b), unknown))
	}
	if of := [2]int{threshold(a), threshold(b)}; of[0] != of[1] {
		return fmt.Sprintf("loads were sampled from %d cycles on and from %d", of[0], of[1])
	}
	if a.Topology != nil && b.Topology != nil {
		if why := otherMachines(a.Topology.Summary(), b.Topology.Summary()); why != "" {
			return why
		}
	}
	if of := [2]string{models(two[:1]), models(two[1:])}; of[0] != of[1] {
		return fmt.Sprintf("levels are modelled for %s and for %s", cmp.Or(of[0], unnamedMachine), cmp.Or(of[1], unnamedMachine))
	}
	return ""
}

// OfRun selects the rows of one run of a side.
func OfRun(name string) query.Expr {
	return query.Compare{Column: runColumn, Op: "=", Value: query.TextValue(name)}
}

func unitOr(c *table.Column) string {
	if c.Unit == "" {
		return "no unit"
	}
	return c.Unit
}

// unlike says why values of a column do not compare; empty if they do.
func unlike(c, other *table.Column) string {
	switch {
	case other == nil:
		return fmt.Sprintf("only one of the runs has %s", c.Name)
	case c.Name != samples.Time && slices.Contains(incomparable, c.Name):
		return "addresses of two runs do not compare"
	case c.Provenance != other.Provenance && (c.Provenance == table.Modelled || other.Provenance == table.Modelled):
		return fmt.Sprintf("%s is %s in one run and %s in the other", c.Name, originOf(c.Provenance), originOf(other.Provenance))
	}
	return ""
}

// renamed is a column of names under other ones.
func renamed(c *table.Column, name func(string) string) *table.Column {
	names := table.NewInterner()
	codes := make([]uint32, len(c.Dict))
	for i, n := range c.Dict {
		codes[i] = names.CodeString(name(n))
	}
	return recoded(c, names.Names(), func(row int) uint32 { return codes[c.Data.([]uint32)[row]] })
}

// recoded is a column of names with other codes.
func recoded(c *table.Column, dict []string, code func(row int) uint32) *table.Column {
	out := *c
	values := make([]uint32, c.Len())
	for i := range values {
		if c.Has(i) {
			values[i] = code(i)
		}
	}
	out.Data, out.Dict, out.Spill = values, dict, nil
	return &out
}

// renumbered is a column of numbers by other ones; number is asked once for each,
// in the order of the rows.
func renumbered(c *table.Column, note string, number func(own int64) int64) *table.Column {
	values := make([]int64, c.Len())
	known := map[int64]int64{}
	for i := range values {
		if !c.Has(i) {
			continue
		}
		own := int64(c.Float(i))
		n, seen := known[own]
		if !seen {
			n = number(own)
			known[own] = n
		}
		values[i] = n
	}
	out := table.Ints(c.Name, c.Unit, c.Provenance, values, c.Valid)
	out.Label, out.Note = c.Label, note
	return out
}

// numbered is a column of threads by their number in order.
func numbered(c *table.Column, threads align.Threads) *table.Column {
	return renumbered(c, "threads in order: 0 is the main one", func(own int64) int64 { return int64(threads[strconv.FormatInt(own, 10)]) })
}

// processesInOrder is a column of processes by the order of their first samples.
func processesInOrder(c *table.Column) *table.Column {
	next := int64(-1)
	return renumbered(c, "processes in order of their first samples", func(int64) int64 { next++; return next })
}

// intoTermsOf puts the names of A into those of B.
func intoTermsOf(al *align.Alignment, columns []*table.Column) []*table.Column {
	at := func(name string, kind table.Kind) int {
		return slices.IndexFunc(columns, func(c *table.Column) bool { return c.Name == name && c.Kind == kind })
	}
	inB := func(name, own string) string {
		if partner, _, ok := al.Key([]string{name}, []string{own}); ok {
			return partner[0]
		}
		return own
	}
	for _, name := range []string{samples.Function, samples.Symbol} {
		if i := at(name, table.Category); i >= 0 {
			columns[i] = renamed(columns[i], func(own string) string { return inB(name, own) })
		}
	}
	if i := at("stack", table.Category); i >= 0 { // paths of calls compare by the names of B
		columns[i] = renamed(columns[i], func(own string) string {
			var frames []string
			for _, f := range symbol.ParseStack(own) {
				f.Function = inB(samples.Function, f.Function)
				frames = append(frames, f.String())
			}
			return strings.Join(frames, ";")
		})
	}
	if f, l := at(samples.File, table.Category), at(samples.Line, table.Number); f >= 0 && l >= 0 {
		columns[f], columns[l] = placesInB(al, columns[f], columns[l])
	}
	return columns
}

// placesInB are files and lines of A as B has them.
func placesInB(al *align.Alignment, file, line *table.Column) (f, l *table.Column) {
	type place struct {
		file uint32
		line int64
	}
	names := table.NewInterner()
	known := map[place]place{}
	by := []string{samples.File, samples.Line}
	files, lines := make([]uint32, file.Len()), make([]int64, file.Len())
	for i := range files {
		if !file.Has(i) {
			if line.Has(i) {
				lines[i] = int64(line.Float(i))
			}
			continue
		}
		own := place{file: file.Data.([]uint32)[i]}
		key := []string{file.Dict[own.file], ""}
		if line.Has(i) {
			own.line = int64(line.Float(i))
			key[1] = strconv.FormatInt(own.line, 10)
		}
		there, seen := known[own]
		if !seen {
			there = own
			partner, _, ok := al.Key(by, key)
			if !ok {
				partner = []string{align.InA(key[0]), key[1]}
			}
			there.file = names.CodeString(partner[0])
			if n, err := strconv.ParseInt(partner[1], 10, 64); err == nil {
				there.line = n
			}
			known[own] = there
		}
		files[i], lines[i] = there.file, there.line
	}
	f = recoded(file, names.Names(), func(row int) uint32 { return files[row] })
	l = table.Ints(line.Name, line.Unit, line.Provenance, lines, line.Valid)
	l.Label, l.Note = line.Label, line.Note
	return f, l
}

// Of selects the rows of one side.
func Of(side string) query.Expr {
	return query.Compare{Column: SideColumn, Op: "=", Value: query.TextValue(side)}
}

// Chosen are the runs of a side that a selection is about: all of them, unless it names
// some. One that it leaves out is no run in which the rest of it costs nothing.
func Chosen(ctx context.Context, runs []Run) ([]Run, error) {
	var out []Run
	for _, r := range runs {
		named := aboutRuns(r.Where)
		if named == nil {
			return runs, nil
		}
		rows, err := r.Engine.Select(ctx, query.Both(r.Filter, named))
		if err != nil {
			return nil, err
		}
		if rows.Count() > 0 {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return runs, nil
	}
	return out, nil
}

// aboutRuns is the part of a selection that speaks of runs of a side alone; nil if
// there is none.
func aboutRuns(e query.Expr) query.Expr {
	all, isAnd := e.(query.And)
	switch {
	case isAnd:
		var part query.Expr
		for _, term := range all.Terms {
			part = query.Both(part, aboutRuns(term))
		}
		return part
	case e != nil && onlyOf(e, runColumn):
		return e
	}
	return nil
}

// onlyOf says that nothing but one column decides an expression.
func onlyOf(e query.Expr, column string) bool {
	each := func(terms []query.Expr) bool {
		return !slices.ContainsFunc(terms, func(t query.Expr) bool { return !onlyOf(t, column) })
	}
	switch e := e.(type) {
	case query.Compare:
		return e.Column == column
	case query.In:
		return e.Column == column
	case query.Match:
		return e.Column == column
	case query.And:
		return each(e.Terms)
	case query.Or:
		return each(e.Terms)
	case query.Not:
		return onlyOf(e.Term, column)
	}
	return false
}
