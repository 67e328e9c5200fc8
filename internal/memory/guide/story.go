package guide

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// This file joins findings that are about the same samples into stories, and
// counts every cost once.

// joined are the thresholds of stories.
var joined = struct {
	beyondChance float64 // of the cost that two findings could share, the least that they must
	covered      float64 // of the cost and the score of a part, the least that its story must have
	named        int     // most parts that the sentence of a story names
}{beyondChance: 0.5, covered: 1.0 / 3, named: 3}

// overlap is the cost that findings have alone and in common. Samples that the same
// findings are about make a cell, so that it takes one pass over the samples however
// many pairs of findings there are.
type overlap struct {
	cells []overlapCell
	total float64   // of all samples searched
	own   []float64 // of the samples of each finding
	both  [][]float64
}

// overlapCell is the samples that the same findings are about.
type overlapCell struct {
	members []int // findings
	cost    float64
}

func (l *insightSearch) overlaps(found []Insight) (*overlap, error) {
	o := &overlap{total: l.cost, own: make([]float64, len(found)), both: make([][]float64, len(found))}
	cells := l.overlapsHere
	if l.far != nil {
		cells = l.overlapsElsewhere
	}
	if err := cells(found, o); err != nil {
		return nil, err
	}
	// In an order of their own, so that sums are rounded alike wherever the samples are.
	slices.SortFunc(o.cells, func(a, b overlapCell) int { return slices.Compare(a.members, b.members) })
	for k := range found {
		o.both[k] = make([]float64, len(found))
	}
	for _, c := range o.cells {
		for _, a := range c.members {
			o.own[a] += c.cost
			for _, b := range c.members {
				o.both[a][b] += c.cost
			}
		}
	}
	return o, nil
}

// overlapsHere finds the cells by a look at every sample.
func (l *insightSearch) overlapsHere(found []Insight, o *overlap) error {
	o.cells = []overlapCell{{}}
	cell := make([]int32, l.rowCount())
	for k := range found {
		rows, err := l.claimed(&found[k])
		if err != nil {
			return err
		}
		within := map[int32]int32{}
		for row := range rows.All() {
			to, known := within[cell[row]]
			if !known {
				to = int32(len(o.cells))
				o.cells = append(o.cells, overlapCell{members: append(slices.Clone(o.cells[cell[row]].members), k)})
				within[cell[row]] = to
			}
			cell[row] = to
		}
	}
	for row := range l.rows {
		o.cells[cell[row]].cost += l.costOf(row)
	}
	o.cells = slices.DeleteFunc(o.cells, func(c overlapCell) bool { return c.cost == 0 })
	return nil
}

// claimed are the samples whose cost a finding is about.
func (l *insightSearch) claimed(in *Insight) (table.Bits, error) {
	if in.beside {
		return nil, nil
	}
	e, err := query.Parse(in.Where, l.data.Table)
	if err != nil {
		return nil, err
	}
	rows, err := l.engine.Select(l.ctx, e)
	if err != nil || l.selected == nil && in.of == nil {
		return rows, err
	}
	rows = slices.Clone(rows)
	if l.selected != nil {
		rows.And(l.selected)
	}
	if in.of != nil {
		holds := l.claims(in.of)
		for row := range rows.All() {
			if !holds(row) {
				rows.Clear(row)
			}
		}
	}
	return rows, nil
}

// claims is whether a sample is one of a claim.
func (l *insightSearch) claims(c *claim) func(row int) bool {
	on := func(int) bool { return true }
	if c.lines != nil {
		on = l.onLines(c.lines)
	}
	return func(row int) bool {
		return on(row) && !slices.ContainsFunc(c.slots, func(s *slotting) bool { return s.of(row) != 0 })
	}
}

// associated reports whether two findings share much more than two that know
// nothing of each other would: the share of what they could have in common, beyond
// what chance gives them (Cole 1949).
func (o *overlap) associated(a, b int) bool {
	if o.total == 0 {
		return false
	}
	chance := o.own[a] * o.own[b] / o.total
	most := min(o.own[a], o.own[b]) - chance
	return most > 0 && o.both[a][b]-chance >= joined.beyondChance*most
}

// tells reports whether a finding tells the story of another: they are about the
// same samples, and it has enough of the other's cost and score.
func (o *overlap) tells(found []Insight, story, part int) bool {
	return o.associated(story, part) &&
		o.both[story][part] >= joined.covered*o.own[part] &&
		found[story].Score >= joined.covered*found[part].Score
}

// join makes stories of findings that share their samples: the one that says most
// of the why leads, the others are its parts and follow it. What each finding has of
// the run's cost that none before it has is its own.
func (l *insightSearch) join(found []Insight) ([]Insight, error) {
	o, err := l.overlaps(found)
	if err != nil {
		return nil, err
	}
	lead := o.stories(found)
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
		if lead[i] != i {
			found[i].PartOf = found[lead[i]].Kind
			found[i].Score = min(found[i].Score, found[lead[i]].Score)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(found[lead[b]].Score, found[lead[a]].Score), cmp.Compare(lead[a], lead[b]),
			cmp.Compare(inPart(lead, a), inPart(lead, b)), cmp.Compare(found[b].Score, found[a].Score))
	})
	o.countOnce(found, order, l.costs())
	l.tellStories(found, order, lead, o)
	out := make([]Insight, len(found))
	for i, k := range order {
		out[i] = found[k]
		out[i].of = nil // holds the columns of the search
	}
	return out, nil
}

func inPart(lead []int, i int) int {
	if lead[i] == i {
		return 0
	}
	return 1
}

// stories finds the finding that leads each, itself for most. Those that say more of
// the why choose first; one that leads no other may still become a part.
func (o *overlap) stories(found []Insight) []int {
	lead, leads := make([]int, len(found)), make([]bool, len(found))
	first := make([]int, len(found))
	for i := range found {
		lead[i], first[i] = i, i
	}
	slices.SortStableFunc(first, func(a, b int) int {
		return cmp.Or(cmp.Compare(found[b].why, found[a].why), cmp.Compare(found[b].Score, found[a].Score))
	})
	for _, story := range first {
		if lead[story] != story {
			continue
		}
		for _, part := range first {
			if part != story && lead[part] == part && !leads[part] && o.tells(found, story, part) {
				lead[part], leads[story] = story, true
			}
		}
	}
	return lead
}

// countOnce gives each finding, in the order of the list, the cost that none before
// it claims. A finding may claim a part of the cost of its samples: the most that any
// claims of a sample is claimed of it. A stake that is no cost of samples, but time
// or samples that are missing, is its own unless it is told by a story in the same.
func (o *overlap) countOnce(found []Insight, order []int, currency string) {
	taken := make([]float64, len(o.cells))
	for _, k := range order {
		in := &found[k]
		if in.Of != currency || in.beside {
			if in.PartOf == "" {
				in.Own = in.Stake
			}
			continue
		}
		if o.own[k] == 0 || o.total == 0 {
			continue
		}
		part := min(in.Stake*o.total/o.own[k], 1)
		sum := 0.0
		for c, cell := range o.cells {
			if slices.Contains(cell.members, k) && part > taken[c] {
				sum += cell.cost * (part - taken[c])
				taken[c] = part
			}
		}
		in.Own = sum / o.total
	}
}

// tellStories adds to the sentence of each story what else shows it, and the cure.
func (l *insightSearch) tellStories(found []Insight, order, lead []int, o *overlap) {
	for _, story := range order {
		var names []string
		for _, part := range order {
			if part == story || lead[part] != story {
				continue
			}
			common := l.share(o.both[story][part] / o.total)
			if len(names) == 0 {
				common += " of the " + l.costs() + " in common"
			}
			names = append(names, fmt.Sprintf("%s (%s)", found[part].subject, common))
		}
		in := &found[story]
		if len(names) > 0 {
			if more := len(names) - joined.named; more > 0 {
				names = append(names[:joined.named], fmt.Sprintf("%d more", more))
			}
			in.Text += "; the same samples show as " + listed(names)
		}
		if in.cure != "" && (len(names) > 0 || in.Kind == firstTouch) {
			in.Text += "; " + in.cure
		}
	}
}
