package advice

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
)

// ReadMap reads a change as advise prints it with --show map, one sentence a
// line:
//
//	object p fields x,vx to p.hot; rest to p.cold
//	object p soa
//	object v fields count,id,name
//	object m element 4096 is 4160
//	object c start 0 of 64
//	object pool order first-use
//	object f element 8 is 1
//	loops matmul.c:17 order i/16 j/16 k/16 i j k
//	pages 2M for a
//	pages of a on interleave
func ReadMap(r io.Reader, t *replay.Trace, table *layout.Table) (*replay.Plan, error) {
	infer(t, table)
	m := &mapReader{trace: t, table: table, plan: &replay.Plan{Huge: map[uint32]bool{}, Homes: map[uint32]replay.Policy{}}}
	scan := bufio.NewScanner(io.LimitReader(r, 1<<20))
	for line := 1; scan.Scan(); line++ {
		text := strings.TrimSpace(beforeComment.FindString(scan.Text()))
		if text == "" {
			continue
		}
		if err := m.sentence(text); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	return m.plan, scan.Err()
}

type mapReader struct {
	trace *replay.Trace
	table *layout.Table
	plan  *replay.Plan
}

var (
	// A name in quotes may hold what begins a comment elsewhere.
	beforeComment  = regexp.MustCompile(`^(?:"(?:[^"\\]|\\.)*"|[^#])*`)
	objectSentence = regexp.MustCompile(`^object ("(?:[^"\\]|\\.)*"|\S+) (.+)$`)
	fieldsSentence = regexp.MustCompile(`^fields (\S+)(?: to (?:"(?:[^"\\]|\\.)*"|\S+); rest to (?:"(?:[^"\\]|\\.)*"|\S+))?$`)
	elemSentence   = regexp.MustCompile(`^element (\d+) is (\d+)$`)
	startSentence  = regexp.MustCompile(`^start (\d+) of (\d+)$`)
	loopsSentence  = regexp.MustCompile(`^loops (\S*) ?order (.+)$`)
	homesSentence  = regexp.MustCompile(`^pages of ("(?:[^"\\]|\\.)*"|\S+) on (\S+)$`)
	pagesSentence  = regexp.MustCompile(`^pages (\S+) for ("(?:[^"\\]|\\.)*"|\S+)$`)
)

func (m *mapReader) sentence(text string) error {
	if s := pagesSentence.FindStringSubmatch(text); s != nil {
		n, err := platform.Bytes(s[1])
		if err != nil || n != 2<<20 {
			return fmt.Errorf("pages of %s: want 2M", s[1])
		}
		o, err := m.object(s[2])
		if err == nil {
			m.plan.Huge[o.Number] = true
		}
		return err
	}
	if s := homesSentence.FindStringSubmatch(text); s != nil {
		o, err := m.object(s[1])
		if err == nil {
			m.plan.Homes[o.Number], err = replay.ParsePolicy(s[2], nil)
		}
		return err
	}
	if s := loopsSentence.FindStringSubmatch(text); s != nil {
		return m.loops(s[1], s[2])
	}
	s := objectSentence.FindStringSubmatch(text)
	if s == nil {
		return fmt.Errorf("%q is no change; see 'isobath advise --show map'", text)
	}
	o, err := m.object(s[1])
	if err != nil {
		return err
	}
	if slices.ContainsFunc(m.plan.Changes, func(c *replay.Change) bool { return c.Object == o }) {
		return fmt.Errorf("object %s is changed twice", o.Name)
	}
	c, err := m.change(o, s[2])
	if err == nil {
		m.plan.Changes = append(m.plan.Changes, c)
	}
	return err
}

// object finds an object by its name.
func (m *mapReader) object(name string) (*layout.Object, error) {
	if strings.HasPrefix(name, `"`) {
		if plain, err := strconv.Unquote(name); err == nil {
			name = plain
		}
	}
	var have []string
	for _, o := range m.table.Objects[1:] {
		if o.Name == name {
			return o, nil
		}
		have = append(have, o.Name)
	}
	return nil, fmt.Errorf("object %q is not in the trace; it has %s", name, strings.Join(have[:min(len(have), 8)], ", "))
}

func (m *mapReader) change(o *layout.Object, text string) (*replay.Change, error) {
	p := newProfile(o)
	p.study(m.trace)
	if s := fieldsSentence.FindStringSubmatch(text); s != nil {
		return m.fields(o, s[1], strings.Contains(text, " to "))
	}
	if s := elemSentence.FindStringSubmatch(text); s != nil {
		from, _ := strconv.ParseUint(s[1], 10, 32)
		to, _ := strconv.ParseUint(s[2], 10, 32)
		return resized(o, from, to)
	}
	if s := startSentence.FindStringSubmatch(text); s != nil {
		return started(o, s[1], s[2])
	}
	var a *Advice
	var err error
	switch text {
	case "soa":
		a, err = soaOf(p)
	case "order first-use":
		a, err = orderOf(p)
	default:
		return nil, fmt.Errorf("object %s: %q is no change; want fields, soa, element, start or order first-use", o.Name, text)
	}
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, fmt.Errorf("object %s: %q changes nothing", o.Name, text)
	}
	return a.plan.Changes[0], nil
}

// fields puts some fields first, or into an array of their own.
func (m *mapReader) fields(o *layout.Object, text string, apart bool) (*replay.Change, error) {
	var chosen, rest []int
	for name := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(o.Fields, func(f layout.Field) bool { return f.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("object %s has no field %q; it has %s", o.Name, name, names(o, all(len(o.Fields))))
		}
		if slices.Contains(chosen, i) {
			return nil, fmt.Errorf("object %s: field %s is named twice", o.Name, name)
		}
		chosen = append(chosen, i)
	}
	for i := range o.Fields {
		if !slices.Contains(chosen, i) {
			rest = append(rest, i)
		}
	}
	if !apart || len(rest) == 0 {
		order := append(chosen, rest...)
		at, size := structOf(o, order)
		return replay.NewChange(o, o.Elem, []replay.Part{{Name: o.Name, Stride: size}}, moves(o, 0, order, at))
	}
	hotAt, hotSize := structOf(o, chosen)
	coldAt, coldSize := structOf(o, rest)
	return replay.NewChange(o, o.Elem, []replay.Part{{Name: o.Name + ".hot", Stride: hotSize}, {Name: o.Name + ".cold", Stride: coldSize}},
		append(moves(o, 0, chosen, hotAt), moves(o, 1, rest, coldAt)...))
}

func all(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// resized makes elements longer, or so short that only their first bytes are
// left: the accesses shrink with them.
func resized(o *layout.Object, from, to uint64) (*replay.Change, error) {
	if from == 0 || to == 0 || o.Blocks != nil {
		return nil, fmt.Errorf("object %s: elements of %d bytes cannot become %d", o.Name, from, to)
	}
	return replay.NewChange(o, from, []replay.Part{{Name: o.Name, Stride: to}}, []replay.Move{{Size: min(from, to), Part: 0}})
}

// started moves an object to a start that lies so many bytes beyond a multiple.
func started(o *layout.Object, beyond, of string) (*replay.Change, error) {
	by, err1 := strconv.ParseUint(beyond, 10, 32)
	unit, err2 := strconv.ParseUint(of, 10, 32)
	if err1 != nil || err2 != nil || unit == 0 || unit&(unit-1) != 0 || by >= unit || o.Blocks != nil {
		return nil, fmt.Errorf("object %s: want start A of B, B a power of two and A below it", o.Name)
	}
	elem := o.Elem
	if elem == 0 {
		elem = min(o.Size, 64)
	}
	c, err := whole(o, elem, elem)
	if err != nil {
		return nil, err
	}
	start := uint64(1)<<49 + by
	c.Start = &start
	return c, nil
}

// loops reads an order such as "i/16 j/16 i j".
func (m *mapReader) loops(place, text string) error {
	n := m.nest(place)
	if n == nil {
		return fmt.Errorf("no rectangular nest of loops is found at %q", place)
	}
	loops, err := parseLoops(n, text)
	if err != nil {
		return err
	}
	m.plan.Order = n.Order(m.trace, loops)
	if !replay.NewDependences(m.trace).Keeps(m.plan.Order) {
		return fmt.Errorf("order %s changes the order of stores to some bytes, or what a load reads", text)
	}
	return nil
}

// nest is the one whose body begins at a place, or else has a line there: people
// name any line of a loop. Without a place it is the first; nil if there is none.
func (m *mapReader) nest(place string) *replay.Nest {
	nests, _ := replay.FindNests(m.trace)
	for _, n := range nests {
		if place == "" || place == placeText(m.trace.PlaceOf(n.Body[0])) {
			return n
		}
	}
	for _, n := range nests {
		if slices.ContainsFunc(n.Body, func(c uint32) bool { return place == placeText(m.trace.PlaceOf(c)) }) {
			return n
		}
	}
	return nil
}

func parseLoops(n *replay.Nest, text string) (loops []replay.Loop, err error) {
	tile := map[int]int{}
	seen := map[int]bool{}
	for word := range strings.FieldsSeq(text) {
		name, size, cut := strings.Cut(word, "/")
		i := slices.Index(loopLetters, name)
		if i < 0 || i >= len(n.Trips) {
			return nil, fmt.Errorf("loop %q: the nest has %s", name, strings.Join(loopLetters[:len(n.Trips)], ", "))
		}
		if cut {
			if tile[i], err = strconv.Atoi(size); err != nil || tile[i] < 1 {
				return nil, fmt.Errorf("%q: want a size of tiles such as 16", word)
			}
			loops = append(loops, replay.Loop{Of: i, Tile: tile[i]})
			continue
		}
		if seen[i] {
			return nil, fmt.Errorf("loop %s is named twice", name)
		}
		seen[i] = true
		loops = append(loops, replay.Loop{Of: i, Tile: tile[i], In: tile[i] > 0})
	}
	if len(seen) != len(n.Trips) {
		return nil, fmt.Errorf("order %q: the nest has %d loops, %s", text, len(n.Trips), strings.Join(loopLetters[:len(n.Trips)], ", "))
	}
	return loops, nil
}
