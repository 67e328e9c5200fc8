package cycle

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// Group is a set of classes that exist together at one eps, and the basis of
// shortest harmonic forms of the lattice they span: toroidal coordinates.
type Group struct {
	Bars    []int // indices into Result.Bars
	Epsilon int
	Gram    [][]float64 // products of the harmonic forms of the bars
	Reduced [][]int64   // rows: the reduced basis in terms of the bars
	Energy  []float64   // of the reduced classes
	Winding []int64     // closed, of the reduced classes
	lifts   []float64   // open windings of the bars
}

// candidate is a class of the lattice of a group.
type candidate struct {
	coef   []int64 // on the bars of the basis
	energy float64
	turns  int64
	marker int
	// runs says that instructions run as often as the class turns. Classes
	// that count the ways back of an inner loop have none.
	runs bool
}

// finish groups the lifted bars, finds in each group the classes that windows
// count exactly, chooses one for every bar, and smooths them.
func (a *analysis) finish(ctx context.Context, b *basis, need int) error {
	ret, err := follow(ctx, a.Points, a.Walk, b.turns)
	if err != nil {
		return err
	}
	for _, members := range a.stab(b, need) {
		if err := a.group(ctx, b, members, need, ret); err != nil {
			return err
		}
	}
	rank(a.Classes)
	return a.explain(ctx)
}

// stab splits the bars into sets that are alive together. Bars shorter than
// the wanted persistence stay alone: they would only blur the basis.
func (a *analysis) stab(b *basis, need int) [][]int {
	var sets [][]int
	var open []int
	for k, i := range b.bars {
		if a.Bars[i].Persistence() < a.opts.Persistence {
			sets = append(sets, []int{k})
			continue
		}
		open = append(open, k)
	}
	slices.SortStableFunc(open, func(x, y int) int { return a.Bars[b.bars[x]].Death - a.Bars[b.bars[y]].Death })
	for len(open) > 0 {
		eps := a.Bars[b.bars[open[0]]].Death - 1
		var in, out []int
		for _, k := range open {
			if a.Bars[b.bars[k]].Birth <= eps {
				in = append(in, k)
			} else {
				out = append(out, k)
			}
		}
		slices.Sort(in)
		sets = append(sets, in)
		open = out
	}
	return sets
}

// group handles one set of bars that exist together.
func (a *analysis) group(ctx context.Context, b *basis, members []int, need int, ret *returns) error {
	g := Group{Epsilon: need}
	for _, k := range members {
		g.Bars = append(g.Bars, b.bars[k])
		g.Epsilon = max(g.Epsilon, a.Bars[b.bars[k]].Birth)
	}
	if err := a.gram(ctx, &g, b, members); err != nil {
		return err
	}
	var err error
	if g.Reduced, err = reduceBasis(g.Gram); err != nil {
		return fmt.Errorf("reduce the basis of %d classes: %w", len(members), err)
	}
	anchor := ret.anchor()
	for _, row := range g.Reduced {
		g.Energy = append(g.Energy, product(g.Gram, row, row))
		g.Winding = append(g.Winding, along(spread(row, members, ret.classes), ret.closed[anchor]))
	}
	a.Groups = append(a.Groups, g)
	found := a.candidates(&g, members, ret)
	chosen, rest := a.choose(&g, found)
	for i, c := range chosen {
		if err := a.addClass(ctx, b, members, c, need, ret, a.Bars[g.Bars[i]], false); err != nil {
			return err
		}
	}
	for _, c := range rest {
		if err := a.addClass(ctx, b, members, c, need, ret, Bar{}, true); err != nil {
			return err
		}
	}
	return nil
}

// gram smooths every member at the group's eps and multiplies the forms.
func (a *analysis) gram(ctx context.Context, g *Group, b *basis, members []int) error {
	graph := a.graphAt(g.Epsilon)
	forms, pots := make([]*form, len(members)), make([]*potential, len(members))
	for i, k := range members {
		forms[i] = a.rips.restrict(b.forms[k], g.Epsilon)
		p, err := smooth(ctx, graph, forms[i])
		if err != nil {
			return err
		}
		pots[i] = p
		a.report("coordinates", i, len(members))
	}
	g.Gram = make([][]float64, len(members))
	g.lifts = make([]float64, len(members))
	for i := range members {
		a.Walk.each(func(k, u, v int) {
			g.lifts[i] += float64(a.Walk.Count[k]) * pots[i].step(forms[i], u, v)
		})
		g.Gram[i] = make([]float64, len(members))
		for j := range members {
			g.Gram[i][j] = inner(forms[i], pots[i], forms[j])
		}
	}
	return nil
}

// spread writes coefficients on the members as coefficients on all bars of the
// basis.
func spread(coef []int64, members []int, n int) []int64 {
	out := make([]int64, n)
	for i, k := range members {
		out[k] = coef[i]
	}
	return out
}

// candidates lists the sums of at most three reduced classes that some window
// counts exactly: those that instructions count as well first, then by energy.
func (a *analysis) candidates(g *Group, members []int, ret *returns) []candidate {
	n := len(members)
	var out []candidate
	try := func(rows []int, signs []int64) {
		coef := make([]int64, n)
		for i, r := range rows {
			for c := range coef {
				coef[c] += signs[i] * g.Reduced[r][c]
			}
		}
		lift := 0.0
		for c, x := range coef {
			lift += float64(x) * g.lifts[c]
		}
		class := spread(coef, members, ret.classes)
		if at, ok := ret.once(class, lift); ok {
			c := candidate{coef: coef, energy: product(g.Gram, coef, coef), turns: int64(ret.visits[at]), marker: at}
			start, length := ret.turn(at, class)
			c.runs = len(a.counting(c.turns, start, length)) > 0
			out = append(out, c)
		}
	}
	for i := range n {
		try([]int{i}, []int64{1})
		for j := range i {
			try([]int{i, j}, []int64{1, 1})
			try([]int{i, j}, []int64{1, -1})
			if n > 12 {
				continue
			}
			for k := range j {
				for s := range 4 {
					try([]int{i, j, k}, []int64{1, int64(1 - s&1*2), int64(1 - s&2)})
				}
			}
		}
	}
	slices.SortStableFunc(out, func(x, y candidate) int {
		if x.runs != y.runs {
			if x.runs {
				return -1
			}
			return 1
		}
		if math.Abs(x.energy-y.energy) > 1e-6*(x.energy+y.energy) {
			return cmp.Compare(x.energy, y.energy)
		}
		return int(y.turns - x.turns)
	})
	return out
}

// choose picks for every bar the first candidate that is a class of that very
// bar: once the bar itself, plus classes that are born no later and
// die no earlier. Where there is none the bar's own class stays. The chosen
// classes are a basis of the same lattice. What remains and is no more
// complicated is returned as combinations.
func (a *analysis) choose(g *Group, found []candidate) (chosen, rest []candidate) {
	m := newMatching(len(g.Bars), func(k, bar int) bool { return a.represents(g, found[k].coef, bar) })
	for k := range found {
		before := slices.Clone(m.candidate)
		if !m.add(k) {
			continue
		}
		if d := determinant(m.rows(found)); d != 1 && d != -1 {
			m.candidate = before
		}
	}
	used := make([]bool, len(found))
	chosen = make([]candidate, len(g.Bars))
	for i, row := range m.rows(found) {
		chosen[i] = candidate{coef: row, energy: g.Gram[i][i], marker: -1}
		if k := m.candidate[i]; k >= 0 {
			chosen[i], used[k] = found[k], true
		}
	}
	const most = 12
	highest := 0.0
	for _, c := range chosen {
		highest = max(highest, c.energy)
	}
	for k, c := range found {
		if !used[k] && c.energy <= 2*highest && len(rest) < most && !repeats(chosen, c) && !repeats(rest, c) {
			rest = append(rest, c)
		}
	}
	return chosen, rest
}

// matching gives candidates to bars they may stand for.
type matching struct {
	candidate []int // per bar; -1 if none
	fits      func(candidate, bar int) bool
	tried     []bool
}

func newMatching(bars int, fits func(candidate, bar int) bool) *matching {
	m := &matching{candidate: make([]int, bars), fits: fits, tried: make([]bool, bars)}
	for i := range m.candidate {
		m.candidate[i] = -1
	}
	return m
}

// add finds a bar for candidate k, moving others to bars that also fit them.
func (m *matching) add(k int) bool {
	clear(m.tried)
	return m.place(k)
}

func (m *matching) place(k int) bool {
	for bar, held := range m.candidate {
		if m.tried[bar] || !m.fits(k, bar) {
			continue
		}
		m.tried[bar] = true
		if held < 0 || m.place(held) {
			m.candidate[bar] = k
			return true
		}
	}
	return false
}

// rows is the basis that results: bars without a candidate keep their own class.
func (m *matching) rows(found []candidate) [][]int64 {
	rows := make([][]int64, len(m.candidate))
	for i, k := range m.candidate {
		if k >= 0 {
			rows[i] = found[k].coef
			continue
		}
		rows[i] = make([]int64, len(m.candidate))
		rows[i][i] = 1
	}
	return rows
}

// repeats reports whether a class with the same count is already there.
func repeats(have []candidate, c candidate) bool {
	return slices.ContainsFunc(have, func(h candidate) bool { return h.turns == c.turns && h.marker >= 0 })
}

func (a *analysis) represents(g *Group, coef []int64, i int) bool {
	if coef[i] != 1 && coef[i] != -1 {
		return false
	}
	bar := a.Bars[g.Bars[i]]
	for j, c := range coef {
		if other := a.Bars[g.Bars[j]]; c != 0 && (other.Birth > bar.Birth || other.Death < bar.Death) {
			return false
		}
	}
	return true
}

// determinant of a small integer matrix, by elimination in rationals kept as
// floats: entries stay far below where that could round.
func determinant(rows [][]int64) int64 {
	n := len(rows)
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
		for j := range m[i] {
			m[i][j] = float64(rows[i][j])
		}
	}
	det := 1.0
	for c := range n {
		p := c
		for r := c + 1; r < n; r++ {
			if math.Abs(m[r][c]) > math.Abs(m[p][c]) {
				p = r
			}
		}
		if m[p][c] == 0 {
			return 0
		}
		if p != c {
			m[p], m[c] = m[c], m[p]
			det = -det
		}
		det *= m[c][c]
		for r := c + 1; r < n; r++ {
			q := m[r][c] / m[c][c]
			for k := c; k < n; k++ {
				m[r][k] -= q * m[c][k]
			}
		}
	}
	return int64(math.Round(det))
}

// addClass makes a class from coefficients on the members of a group.
func (a *analysis) addClass(ctx context.Context, b *basis, members []int, c candidate, need int, ret *returns, bar Bar, combination bool) error {
	cl := &Class{Bar: bar, Combination: combination}
	var forms []*form
	var by []int64
	for i, k := range members {
		if c.coef[i] == 0 {
			continue
		}
		part := a.Bars[b.bars[k]]
		cl.Parts = append(cl.Parts, Part{b.bars[k], c.coef[i]})
		forms, by = append(forms, b.forms[k]), append(by, c.coef[i])
		if combination {
			cl.Bar = overlap(cl.Bar, part)
		}
	}
	cl.Epsilon = max(cl.Birth, need)
	if e := a.opts.Epsilon; e >= cl.Epsilon && e < cl.Death {
		cl.Epsilon = e
	}
	cl.cocycle = combine(forms, by)
	if err := a.smooth(ctx, cl); err != nil {
		return err
	}
	a.count(cl, spread(c.coef, members, ret.classes), ret)
	a.Classes = append(a.Classes, cl)
	return nil
}

// overlap is the range of eps in which both bars exist.
func overlap(a, b Bar) Bar {
	if a == (Bar{}) {
		return b
	}
	out := Bar{Birth: max(a.Birth, b.Birth), Death: min(a.Death, b.Death)}
	out.Alive = a.Alive && b.Alive
	return out
}
