package spiral

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/loops/cycle"
)

// Colour stands for a group of references: a source line, a function whose
// lines are folded into it, an object, or an operation.
type Colour struct {
	Label    string `json:"label"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"` // set where lines are folded into it
	Count    int    `json:"count"`    // references
	In       string `json:"in"`       // function of a line
}

// Structure is a function of the program that can be folded to one colour or
// opened to its lines.
type Structure struct {
	Label    string `json:"label"`
	Function string `json:"function"`
	File     string `json:"file"`
	Count    int    `json:"count"` // references
	Lines    int    `json:"lines"`
	Folded   bool   `json:"folded"`
	Own      bool   `json:"own"` // in a file of the user's
}

// By is what references are coloured by.
type By string

// What references can be coloured by. The coordinate needs no groups: the page
// colours by the angle itself.
const (
	ByLine     By = "line"
	ByFunction By = "function"
	ByObject   By = "object"
	ByOp       By = "op"
	ByStride   By = "stride"
	ByMiss     By = "miss"
)

// MaxColours is how many groups are told apart; the rest share the last colour.
const MaxColours = 7

// least is the share of the references that a group needs for its own colour.
const least = 0.02

// otherColour is the colour of windows that have none of their own.
const otherColour = MaxColours

// Colouring gives every window a colour: that of its first reference.
type Colouring struct {
	Colours    []Colour // at most MaxColours, in order of first use
	Groups     []Colour // all, in order of first use
	Structures []Structure

	window []uint8
}

// Of returns the colour of a window.
func (c *Colouring) Of(window int) uint8 { return c.window[window] }

// Only gives the references that are not among some the colour of others. The
// groups and their colours stay.
func (c *Colouring) Only(among func(record int) bool) *Colouring {
	out := *c
	out.window = slices.Clone(c.window)
	for t := range out.window {
		if !among(t) {
			out.window[t] = otherColour
		}
	}
	return &out
}

// maxColourings bounds the remembered colourings; of 3 million windows each is
// 3 MB.
const maxColourings = 6

// Colouring groups the references. Functions in toggled are folded where they
// would be open, and open where they would be folded: by line the functions of
// libraries are folded, by function all are.
func (v *View) Colouring(by By, toggled []string) *Colouring {
	toggled = slices.Sorted(slices.Values(toggled))
	key := string(by) + "\x00" + strings.Join(toggled, "\x00")
	v.mu.Lock()
	defer v.mu.Unlock()
	if c := v.colourings[key]; c != nil {
		return c
	}
	g := grouping{v: v, index: map[Colour]int32{}}
	switch by {
	case ByObject:
		g.objects()
	case ByOp:
		g.operations()
	case ByStride:
		g.strides()
	case ByMiss:
		g.misses()
	default:
		g.places(by, toggled)
	}
	c := g.colour()
	if len(v.colourings) >= maxColourings {
		clear(v.colourings)
	}
	v.colourings[key] = c
	return c
}

// grouping collects groups. record gives the group of each record.
type grouping struct {
	v          *View
	index      map[Colour]int32
	groups     []Colour
	structures []Structure
	record     func(i int) int32 // nil: nothing is known
	all        bool              // rare groups have colours too
}

func (g *grouping) add(key Colour) int32 {
	i, ok := g.index[key]
	if !ok {
		i = int32(len(g.groups))
		g.index[key] = i
		g.groups = append(g.groups, key)
	}
	return i
}

// places groups by source line, or by function where that is folded.
func (g *grouping) places(by By, toggled []string) {
	tr := g.v.R.Trace
	if tr.Where == nil {
		return
	}
	of := make([]int32, len(tr.Sites))
	structure := map[string]int{}
	lines := map[Colour]bool{}
	where := make([]int, len(tr.Sites)) // structure of each site; -1 for none
	for s := range tr.Sites {
		site := &tr.Sites[s]
		p := site.Place
		own := g.v.own(p.File)
		folded := p.Function != "" && (by == ByFunction || !own || p.Line == 0) != slices.Contains(toggled, p.Function)
		of[s] = g.add(colourOf(site, folded))
		g.groups[of[s]].In = p.Function
		if where[s] = -1; p.Function == "" {
			continue
		}
		k, ok := structure[p.Function]
		if !ok {
			k = len(g.structures)
			structure[p.Function] = k
			g.structures = append(g.structures, Structure{Label: shortName(p.Function), Function: p.Function, File: p.File, Folded: folded, Own: own})
		}
		where[s] = k
		if line := (Colour{Function: p.Function, File: p.File, Line: p.Line}); !lines[line] {
			lines[line] = true
			g.structures[k].Lines++
		}
	}
	for _, s := range tr.Where {
		if k := where[s]; k >= 0 {
			g.structures[k].Count++
		}
	}
	g.record = func(i int) int32 { return of[tr.Where[i]] }
}

func colourOf(s *cycle.Site, folded bool) Colour {
	p := s.Place
	switch {
	case folded:
		return Colour{Label: shortName(p.Function), File: p.File, Function: p.Function}
	case p.Line > 0:
		return Colour{Label: fmt.Sprintf("%s:%d", base(p.File), p.Line), File: p.File, Line: p.Line}
	case p.Function != "":
		return Colour{Label: shortName(p.Function), File: p.File, Function: p.Function}
	}
	return Colour{Label: fmt.Sprintf("%#x", s.PC)}
}

func (g *grouping) objects() {
	tr := g.v.R.Trace
	if tr.Object == nil {
		return
	}
	for _, name := range tr.Objects {
		g.add(Colour{Label: name})
	}
	unnamed := g.add(Colour{Label: "more objects"})
	g.record = func(i int) int32 { return min(int32(tr.Object[i]), unnamed) }
}

func (g *grouping) operations() {
	tr := g.v.R.Trace
	if tr.Ops == nil {
		return
	}
	for _, label := range []string{"load", "store", "modify"} {
		g.add(Colour{Label: label})
	}
	g.record = func(i int) int32 { return int32(tr.Ops[i]) }
}

// strides groups by how far an instruction moved since it last ran.
func (g *grouping) strides() {
	tr := g.v.R.Trace
	if tr.Strides == nil || tr.Where == nil {
		return
	}
	for _, label := range []string{"same address", "within a cache line", "within a page", "farther"} {
		g.add(Colour{Label: label})
	}
	g.record = func(i int) int32 { return int32(tr.Strides[i]) }
}

// misses groups by the level that answers.
func (g *grouping) misses() {
	tr := g.v.R.Trace
	if tr.Levels == nil {
		return
	}
	for _, label := range g.v.Levels {
		g.add(Colour{Label: label})
	}
	most := int32(len(g.v.Levels) - 1)
	g.record = func(i int) int32 { return min(int32(tr.Levels[i]), most) }
	g.all = true
}

// colour counts the groups, and gives those with the most references a colour of
// their own, in the order of their first use, so that neighbours in the program
// differ.
func (g *grouping) colour() *Colouring {
	c := &Colouring{window: make([]uint8, g.v.Windows()), Structures: g.structures}
	if g.record == nil {
		for t := range c.window {
			c.window[t] = otherColour
		}
		return c
	}
	records := len(g.v.R.Trace.Syms)
	for i := range records {
		g.groups[g.record(i)].Count++
	}
	order := make([]int32, len(g.groups))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return g.groups[b].Count - g.groups[a].Count })
	var chosen []int32
	for _, i := range order {
		if n := g.groups[i].Count; n > 0 && len(chosen) < MaxColours && (g.all || float64(n) >= least*float64(records)) {
			chosen = append(chosen, i)
		}
	}
	slices.Sort(chosen) // groups are in order of first use
	colour := make([]uint8, len(g.groups))
	for i := range colour {
		colour[i] = otherColour
	}
	for k, i := range chosen {
		colour[i] = uint8(k)
		c.Colours = append(c.Colours, g.groups[i])
	}
	for t := range c.window {
		c.window[t] = colour[g.record(t)]
	}
	c.Groups = slices.DeleteFunc(g.groups, func(k Colour) bool { return k.Count == 0 })
	return c
}

// shortName is a demangled function without its result, template arguments and
// parameters: std::swap for what takes three lines in full.
func shortName(f string) string {
	depth := 0
	var out []byte
	for i := 0; i < len(f); i++ {
		switch c := f[i]; {
		case c == '<' && !strings.HasSuffix(string(out), "operator"):
			depth++
		case c == '>' && depth > 0:
			depth--
		case depth > 0:
		case c == '(' && len(out) > 0:
			return string(out)
		case c == ' ' && !strings.HasSuffix(string(out), "operator"):
			out = out[:0] // what came before was the result
		default:
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return f
	}
	return string(out)
}

func base(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
	return path
}
