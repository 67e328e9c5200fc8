package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/source"
	"github.com/isobath/isobath/internal/data/table"
)

// Merge makes one run of the runs of a program's ranks. Each sample gets the
// rank it belongs to, and the host if there is more than one. The result shares
// nothing with the runs but their source files. Messages are nil unless they tell the
// clocks of the runs.
func Merge(runs []*Run, messages *MessageClocks) (*Run, error) {
	out := &Run{Manifest: runs[0].Manifest, TopologyData: runs[0].TopologyData, Tree: machine(runs[0].Tree), SourceFiles: map[string]source.File{}}
	out.From, out.Warnings, out.Sources = nil, nil, nil
	out.Trace = "" // whoever joins a message trace says so
	machines := &cluster{Version: clusterVersion, unlike: make([]bool, len(runs))}
	for i, r := range runs {
		if r.Kind != kind.Samples {
			return nil, fmt.Errorf("%s holds %s; only samples can be merged", r.Path, r.Kind)
		}
		machines.add(i, r)
		out.From = append(out.From, filepath.Base(r.Path))
	}
	var err error
	if machines.several() && len(machines.Machines) > 0 {
		if out.Tree, err = json.Marshal(machines); err != nil {
			return nil, err
		}
		out.TopologyData, out.Manifest.Topology = out.Tree, "topology.json"
	}
	clocks := clocksOf(runs, machines, messages)
	if out.Contents, err = mergeTables(runs, machines.several(), clocks); err != nil {
		return nil, err
	}
	for _, r := range runs {
		for _, s := range r.Sources {
			if _, ok := out.SourceFiles[s.Name]; !ok {
				out.SourceFiles[s.Name] = r.SourceFiles[s.Name]
				out.Sources = append(out.Sources, s)
			}
		}
	}
	out.Warnings = append(mergeWarnings(runs, machines), clocks.said()...)
	out.Names = mergeNames(runs)
	if out.Recording = mergeRecordings(runs); out.Recording != nil {
		clocks.note(out.Recording, runs)
	}
	return out, nil
}

// mergeWarnings says once what several ranks say, and whose machine is not the one
// that is shown.
func mergeWarnings(runs []*Run, machines *cluster) []string {
	if len(runs) == 1 {
		return slices.Clone(runs[0].Warnings)
	}
	var said []string
	by := map[string][]int{} // the ranks that say it
	for i, r := range runs {
		all := slices.DeleteFunc(slices.Clone(r.Warnings), func(w string) bool { return strings.HasPrefix(w, clocksOfHosts) }) // said anew
		switch {
		case machines.several() && len(machines.Machines) > 0 && r.Tree == nil:
			all = append(all, "ran on a host whose topology is not known; its samples are on no part of the cluster")
		case machines.unlike[i]:
			all = append(all, fmt.Sprintf("ran on another kind of machine than other ranks of the same host (%s); samples are shown on the first that was read", r.Origin.Host))
		}
		for _, w := range all {
			if by[w] == nil {
				said = append(said, w)
			}
			if rank := r.rank(i); !slices.Contains(by[w], rank) {
				by[w] = append(by[w], rank)
			}
		}
	}
	for i, w := range said {
		said[i] = fmt.Sprintf("%s: %s", ranksText(by[w]), w)
	}
	return said
}

// ranksText lists ranks as people write them: "rank 3", "ranks 0-2, 7".
func ranksText(ranks []int) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d", ranks[0])
	}
	slices.Sort(ranks)
	var parts []string
	for first := 0; first < len(ranks); {
		last := first
		for last+1 < len(ranks) && ranks[last+1] == ranks[last]+1 {
			last++
		}
		part := fmt.Sprint(ranks[first])
		if last > first {
			part += fmt.Sprintf("-%d", ranks[last])
		}
		parts = append(parts, part)
		first = last + 1
	}
	return "ranks " + strings.Join(parts, ", ")
}

// mergeNames joins the sentences that name objects: those of one run stay in
// their order, since the first about an object counts, and what ranks share is
// said once.
func mergeNames(runs []*Run) string {
	var lines []string
	seen := map[string]bool{}
	for _, r := range runs {
		for line := range strings.Lines(r.Names) {
			if line = strings.TrimSpace(line); line != "" && !seen[line] {
				seen[line] = true
				lines = append(lines, line)
			}
		}
	}
	if lines == nil {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// machine is a topology without the CPUs that one process may not use: launchers
// give each rank its own.
func machine(tree json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(tree, &fields) != nil {
		return tree
	}
	delete(fields, "blocked")
	out, err := json.Marshal(fields)
	if err != nil {
		return tree
	}
	return out
}

// hardware is what a topology says of the machine itself, to compare two of
// them. How much memory there is, is left out: a virtual machine is given and
// takes back memory while it runs, and so are notes of what could not be read and
// what the machine is called.
func hardware(tree json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	var objects []map[string]any
	if json.Unmarshal(machine(tree), &fields) != nil || json.Unmarshal(fields["objects"], &objects) != nil {
		return machine(tree)
	}
	for _, o := range objects {
		if o["type"] == "Machine" || o["type"] == "NUMA" {
			delete(o, "size")
		}
	}
	delete(fields, "objects")
	delete(fields, "warnings")
	delete(fields, "name")
	out, err := json.Marshal(map[string]any{"objects": objects, "rest": fields})
	if err != nil {
		return tree
	}
	return out
}

// rank returns the rank a run says it is, and otherwise its place in the list.
func (r *Run) rank(place int) int {
	if r.Recording != nil && r.Recording.Rank != nil {
		return *r.Recording.Rank
	}
	return place
}

// mergeTables joins the tables of each name.
func mergeTables(runs []*Run, hosts bool, clocks *clocks) ([]*table.Table, error) {
	var names []string
	for _, r := range runs {
		for _, t := range r.Contents {
			if !slices.Contains(names, t.Name) {
				names = append(names, t.Name)
			}
		}
	}
	var out []*table.Table
	for _, name := range names {
		all, err := mergeTable(name, runs, hosts, clocks)
		if err != nil {
			return nil, fmt.Errorf("merge table %s: %w", name, err)
		}
		out = append(out, all)
	}
	return out, nil
}

// mergeTable joins the tables of one name and says which run each row is from.
func mergeTable(name string, runs []*Run, hosts bool, clocks *clocks) (*table.Table, error) {
	var parts []*table.Table
	var ranks []int32
	var machines []uint32
	dict := table.NewInterner()
	for i, r := range runs {
		t := r.Table(name)
		if t == nil {
			continue
		}
		if clocks.together() {
			t = t.Shifted(clocks.behind(i, r), samples.Time, "end")
		}
		parts = append(parts, t)
		ranks = append(ranks, int32(r.rank(i)))
		machines = append(machines, dict.CodeString(r.Origin.Host))
	}
	labels := []label{{samples.Rank, func(parts []*table.Table, first int) (*table.Column, error) {
		data, spill, err := repeated(parts, ranks[first:])
		return samples.Column(samples.Rank, table.Measured, data, nil).Back(spill), err
	}}}
	if hosts {
		labels = append(labels, label{samples.Host, func(parts []*table.Table, first int) (*table.Column, error) {
			data, spill, err := repeated(parts, machines[first:])
			return table.Categories(samples.Host, table.Measured, data, dict.Names(), nil).Back(spill), err
		}})
	}
	for _, l := range labels {
		filled, err := l.fillGaps(parts)
		defer table.CloseColumns(filled) // what is joined is a copy
		if err != nil {
			return nil, err
		}
	}
	all, err := table.Concat(name, parts)
	if err != nil {
		return nil, err
	}
	columns := slices.Clone(all.Columns())
	for _, l := range labels {
		if all.Column(l.column) != nil {
			continue
		}
		c, err := l.make(parts, 0)
		if err != nil {
			return nil, errors.Join(err, table.CloseColumns(columns))
		}
		columns = append(columns, c)
	}
	return table.New(name, columns)
}

// label is a column that says which run a row is from; make makes it for parts
// that follow each other, the first of which has that place.
type label struct {
	column string
	make   func(parts []*table.Table, first int) (*table.Column, error)
}

// fillGaps gives the column to the parts without it if one has it, as a run that
// was merged before does, and returns what it made. If none has it, it is made for
// all rows at once, which needs no memory for each part.
func (l label) fillGaps(parts []*table.Table) (made []*table.Column, err error) {
	if !slices.ContainsFunc(parts, func(t *table.Table) bool { return t.Column(l.column) != nil }) {
		return nil, nil
	}
	for i, t := range parts {
		if t.Column(l.column) != nil {
			continue
		}
		c, err := l.make(parts[i:i+1], i)
		if err != nil {
			return made, err
		}
		made = append(made, c)
		if parts[i], err = table.New(t.Name, append(slices.Clone(t.Columns()), c)); err != nil {
			return made, err
		}
	}
	return made, nil
}

// repeated has the value of each part in all of its rows. What is long is in a
// temporary file.
func repeated[T table.Fixed](parts []*table.Table, values []T) ([]T, *table.Spill, error) {
	var g table.Growing[T]
	for i, t := range parts {
		for left := t.Rows(); left > 0; {
			block := g.Room(left)
			for k := range block {
				block[k] = values[i]
			}
			left -= len(block)
		}
	}
	return g.Values()
}

// mergeRecordings adds up what the recordings say; nil unless all say something.
func mergeRecordings(runs []*Run) *Recording {
	if slices.ContainsFunc(runs, func(r *Run) bool { return r.Recording == nil }) {
		return nil
	}
	sum := *runs[0].Recording
	sum.Rank, sum.Addresses, sum.InKernel, sum.Model, sum.Last = nil, nil, nil, nil, nil
	var signals []string
	for i, r := range runs {
		d := r.Recording
		sum.Addresses, sum.InKernel = addCounts(sum.Addresses, d.Addresses), addCounts(sum.InKernel, d.InKernel)
		sum.addModel(d.Model)
		sum.addLast(d.Last)
		if d.Signal != "" {
			signals = append(signals, fmt.Sprintf("%s (rank %d)", d.Signal, r.rank(i)))
		}
		if i == 0 {
			continue
		}
		sum.Seconds, sum.Status = max(sum.Seconds, d.Seconds), max(sum.Status, d.Status)
		sum.User, sum.System = sum.User+d.User, sum.System+d.System
		sum.Samples, sum.Touches = sum.Samples+d.Samples, sum.Touches+d.Touches
		sum.Lost, sum.Throttled, sum.Damaged = sum.Lost+d.Lost, sum.Throttled+d.Throttled, sum.Damaged+d.Damaged
		sum.Truncated += d.Truncated
		sum.LostTouches += d.LostTouches
		sum.Kernel, sum.Other = sum.Kernel+d.Kernel, sum.Other+d.Other
	}
	sum.Signal = strings.Join(signals, ", ")
	return &sum
}

// addCounts adds counts to others; nil where there are none.
func addCounts(to, more map[string]int) map[string]int {
	if more != nil && to == nil {
		to = map[string]int{}
	}
	for name, n := range more {
		to[name] += n
	}
	return to
}

// addLast is the time that any rank has samples of; each counts from its own
// beginning.
func (r *Recording) addLast(l *Last) {
	switch {
	case l == nil:
	case r.Last == nil:
		only := *l
		r.Last = &only
	default:
		r.Last = &Last{Asked: max(r.Last.Asked, l.Asked), From: min(r.Last.From, l.From), To: max(r.Last.To, l.To)}
	}
}

// addModel adds up estimated levels. Ranks of one program are modelled alike; if
// they are not, the first machine is named.
func (r *Recording) addModel(m *Model) {
	if m == nil {
		return
	}
	if r.Model == nil {
		r.Model = &Model{Topology: m.Topology, Method: m.Method, Levels: map[string]int{}}
	}
	for level, n := range m.Levels {
		r.Model.Levels[level] += n
	}
}
