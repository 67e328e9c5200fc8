package memory

import (
	"context"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/clickhouse"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/memory/align"
	"github.com/isobath/isobath/internal/memory/compare"
)

// pair is what two runs shown as one remember of them.
type pair struct {
	a, b   frame.RunSummary
	unlike []frame.Unlike
	lines  *align.Alignment
	// apart says how their machines differ; empty if they are one, or if there is
	// no picture of both.
	apart string
	// allowance is for how two runs of one program differ.
	allowance float64
	each      int               // runs of a side
	beside    map[string]string // files of lines that only A has, and those of B that they stand in
}

// Join shows two runs as one, in which a column says of which a sample is. The
// rows are copied, so that either run may be closed.
func Join(ctx context.Context, id string, a, b *frame.Run) (*frame.Run, error) {
	of := [2]*Samples{Of(a), Of(b)}
	var sides [2]compare.Run
	for i, s := range of {
		if s == nil {
			return nil, noSamples([]*frame.Run{a, b}[i])
		}
		if s.Data.Table.Elsewhere() {
			return nil, clickhouse.ErrElsewhere
		}
		sides[i] = s.side(nil)
	}
	each := len(of[0].members)
	if each != len(of[1].members) {
		return nil, frame.BadRequest("A is %s and B %s: as many of each are shown beside each other; 'isobath diff' compares any", term.Counted(max(each, 1), "run"), term.Counted(max(len(of[1].members), 1), "run"))
	}
	each = max(each, 1)
	joined, err := compare.Join(ctx, &sides[0], &sides[1])
	if err != nil {
		return nil, frame.BadRequest("%v", err)
	}
	out := &Samples{Manifest: of[1].Manifest, Data: query.Data{Table: joined.Table, RowSets: &query.RowSets{}}, pair: &pair{a: a.Summary(), b: b.Summary(), lines: joined.Lines, allowance: joined.Tau / math.Sqrt(float64(each)), each: each, beside: beside(joined)}}
	for _, name := range slices.Sorted(maps.Keys(joined.Unlike)) {
		out.pair.unlike = append(out.pair.unlike, frame.Unlike{Column: name, Why: joined.Unlike[name]})
	}
	note, err := out.placeBoth(of[0].Topology, of[1].Topology, joined)
	if err != nil {
		return nil, err
	}
	out.Engine = kernel.New(out.Data, kernel.Options{Budget: budget.Of(ctx)})
	r := &frame.Run{
		ID: id, Name: a.Name + " and " + b.Name, Kind: b.Kind, Format: b.Format, Origin: b.Origin, TopologyNote: note,
		Caveats: b.Caveats, Texts: texts(joined.Table, a, b),
		Release: func() error { out.Engine.(*kernel.Engine).Close(); return joined.Table.Close() },
	}
	out.Run = r
	r.Put(out)
	return r, nil
}

// placeBoth places the samples of both runs on the machine that they share, or
// each on its own; a note says why it does not.
func (s *Samples) placeBoth(a, b *hw.Topology, joined *compare.Joined) (note string, err error) {
	switch {
	case a == nil || b == nil:
		return "one of the runs has no hardware topology", nil
	case s.Data.Table.Column(samples.CPU) == nil:
		return "the samples do not say on which CPU they were taken", nil
	case joined.Apart == "":
		return "", s.place(b, joined.Table)
	}
	machines, err := hw.NewCluster([]hw.NamedMachine{{Name: compare.SideA, Machine: a}, {Name: compare.SideB, Machine: b}})
	if err != nil || len(machines.Hosts()) != 2 {
		return joined.Apart + "; open each run alone to see its own", nil // hosts of hosts, or too many CPUs for one tree
	}
	rows, err := onMachines(joined)
	if err != nil {
		return "", err
	}
	s.pair.apart = joined.Apart
	return "", s.place(machines, rows)
}

// onMachines is the rows of both runs by host: each run is on a machine of its own.
func onMachines(joined *compare.Joined) (*table.Table, error) {
	host := *joined.Table.Column(compare.SideColumn)
	host.Name = samples.Host
	columns := []*table.Column{joined.OwnCPU, &host}
	for _, c := range joined.Table.Columns() {
		if c.Name != samples.CPU && c.Name != samples.Host {
			columns = append(columns, c)
		}
	}
	return table.New(joined.Table.Name, columns)
}

// place places rows, which are those of the samples, on a topology.
func (s *Samples) place(on *hw.Topology, rows *table.Table) (err error) {
	s.Topology = on
	if s.Places, err = hw.PlaceRows(hw.NewPlacer(on), rows); err != nil {
		return err
	}
	s.Data.Placing = &query.Placing{Row: s.Places.Code, Count: len(s.Places.Coder.Places), Touching: s.Places.Coder.Touching}
	return nil
}

// filesOf are the source files that rows name.
func filesOf(t *table.Table) []string {
	if file := t.Column(samples.File); file != nil && file.Kind == table.Category {
		return file.Dict
	}
	return nil
}

// beside finds the file of B in whose text the lines stand that only A has.
func beside(joined *compare.Joined) map[string]string {
	out := map[string]string{}
	for _, name := range filesOf(joined.Table) {
		if own, ok := align.FromA(name); ok {
			if inB, known := joined.Lines.Beside(own); known {
				out[name] = inB
			}
		}
	}
	return out
}

// texts are the source files of both runs under their common names.
func texts(t *table.Table, a, b *frame.Run) map[string][]byte {
	out := map[string][]byte{}
	for _, name := range filesOf(t) {
		run, own := b, name
		if of, ok := align.FromA(name); ok {
			run, own = a, of
		}
		if text, err := run.SourceBytes(own); err == nil {
			out[name] = text
		}
	}
	return out
}

// side is the samples as one run of a side.
func (r *Samples) side(where query.Expr) compare.Run {
	texts := map[string][]string{}
	return compare.Run{Name: r.Run.Name, Manifest: r.Manifest, Table: r.Data.Table, Engine: r.Engine, Where: where, Topology: r.Topology, Text: func(file string) []string {
		lines, read := texts[file]
		if !read {
			lines = r.Run.SourceLines(file)
			texts[file] = lines
		}
		return lines
	}}
}

// Member is one of the runs of a side.
type Member struct {
	Name     string
	Manifest *run.Manifest
}

// OpenSide shows several runs of a side as one run, whose column run has their names.
func OpenSide(name string, set *dataset.Set, members []Member) *frame.Run {
	r := Open(name, "", set)
	Of(r).members = members
	return r
}

// runs are the samples as the runs of a side.
func (r *Samples) runs(where query.Expr) []compare.Run {
	whole := r.side(where)
	if len(r.members) == 0 {
		return []compare.Run{whole}
	}
	var out []compare.Run
	for _, m := range r.members {
		one := whole
		one.Name, one.Manifest, one.Filter = m.Name, m.Manifest, compare.OfRun(m.Name)
		out = append(out, one)
	}
	return out
}

// allOf are the rows of one run of a pair.
func (r *Samples) allOf(ctx context.Context, side string) (table.Bits, error) {
	if r.pair == nil || side != compare.SideA && side != compare.SideB {
		return nil, frame.BadRequest("side %q: a pair, runs/A,B, has sides A and B", side)
	}
	return r.Engine.Select(ctx, compare.Of(side))
}

// sides are the runs of a pair, which stay open until release is called; their
// engines answer in common names about what is selected in both.
func (s routes) sides(ctx context.Context, run *Samples, where string) (a, b []compare.Run, release func(), err error) {
	e, err := parseField("where", where, run.Data.Table)
	if err != nil {
		return nil, nil, nil, err
	}
	var releases []func()
	release = func() {
		for _, f := range releases {
			f()
		}
	}
	var out [2][]compare.Run
	for i, id := range []string{run.pair.a.ID, run.pair.b.ID} {
		held, let := s.Hold(id)
		if held == nil {
			release()
			return a, b, nil, frame.NotFound("open its file again", "run %s of the pair is not open any more", id)
		}
		releases = append(releases, let)
		out[i] = Of(held).runs(e)
		for k := range out[i] {
			one := &out[i][k]
			one.Engine, one.Filter = run.Engine, query.Both(one.Filter, compare.Of([]string{compare.SideA, compare.SideB}[i]))
		}
		if out[i], err = compare.Chosen(ctx, out[i]); err != nil {
			release()
			return a, b, nil, frame.WrongAsk(err)
		}
	}
	return out[0], out[1], release, nil
}

// changes says what changed between the runs of a pair.
func (s routes) changes(w http.ResponseWriter, r *http.Request, run *Samples) error {
	var ask AskChanges
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	if run.pair == nil {
		return frame.BadRequest("%s is one run; what changed is asked of a pair, runs/A,B/changes", run.Run.Name)
	}
	a, b, release, err := s.sides(r.Context(), run, ask.Where)
	if err != nil {
		return err
	}
	defer release()
	found, err := compare.What(s.Turns.Behind(r.Context()), a, b, compare.Options{Common: true})
	if err != nil {
		return refusedComparison(r.Context(), err)
	}
	out := WhatChanged{Sentence: found.Sentence, Limits: found.Limits, Nothing: found.Nothing, Modelled: found.Modelled, Warnings: frame.List(found.Warnings), Changes: []FoundChange{}}
	for _, f := range found.Findings {
		out.Changes = append(out.Changes, FoundChange{Kind: string(f.Kind), By: f.By, Text: f.Text, Share: f.Share, Score: f.Score, Sure: f.Sure, Where: f.Where})
	}
	return s.Answer(w, r, out)
}

// matched says which line of A each line of a source file of B was.
func (s routes) matched(w http.ResponseWriter, r *http.Request, run *Samples) error {
	if run.pair == nil {
		return frame.BadRequest("%s is one run; lines are matched in a pair, runs/A,B/matched", run.Run.Name)
	}
	name := r.URL.Query().Get("file")
	out := MatchedLines{File: name, Lines: []int{}, How: []string{}, Gone: []GoneLine{}, From: []LineFrom{}, Left: []LineIn{}}
	lines, ok := run.pair.lines.Pairs(name)
	if !ok {
		return s.Answer(w, r, out)
	}
	out.FileA, out.Lines = lines.FileA, lines.Lines
	for _, h := range lines.How {
		out.How = append(out.How, string(h))
	}
	for _, line := range slices.Sorted(maps.Keys(lines.From)) {
		out.From = append(out.From, LineFrom{Line: line, File: lines.From[line]})
	}
	if lines.FileA == "" {
		return s.Answer(w, r, out)
	}
	a, release := s.Hold(run.pair.a.ID)
	if a == nil {
		return s.Answer(w, r, out)
	}
	defer release()
	text := a.SourceLines(lines.FileA)
	out.Gone, out.TextA = gone(text, lines), strings.ToValidUTF8(strings.Join(text, "\n"), "\uFFFD")
	for _, line := range slices.Sorted(maps.Keys(lines.Left)) {
		out.Left = append(out.Left, LineIn{Line: line, File: lines.Left[line].File, In: lines.Left[line].Line})
	}
	return s.Answer(w, r, out)
}

// gone are the lines of A that B has not, each with the line of B that it stood
// before. Those that are in another file of B are not gone.
func gone(text []string, lines *align.LinesOf) []GoneLine {
	inB := map[int]int{}
	for j, i := range lines.Lines {
		if i > 0 && lines.From[j+1] == "" {
			inB[i] = j + 1
		}
	}
	out := []GoneLine{}
	next := len(lines.Lines) + 1
	for i := len(text); i >= 1; i-- {
		if j, ok := inB[i]; ok {
			next = j
			continue
		}
		if _, left := lines.Left[i]; left {
			continue
		}
		if strings.TrimSpace(text[i-1]) != "" || i < len(text) {
			out = append(out, GoneLine{Line: i, Before: next, Text: text[i-1]})
		}
	}
	slices.Reverse(out)
	return out
}
