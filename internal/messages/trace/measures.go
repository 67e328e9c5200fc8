package trace

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/formats/otf2"
)

// Measure is a metric that the tracer recorded beside the events: a hardware
// counter, memory in use, a temperature.
type Measure struct {
	// Name tells measures apart. A metric that was recorded for more than one
	// location says so in it: "power (per node)".
	Name        string
	Description string
	Unit        string
	Kind        MeasureKind
}

// MeasureKind says what a recorded value means.
type MeasureKind uint8

// The kinds of OTF2: a counter that only grows, a value of its own, or the
// change since the record before.
const (
	Accumulated MeasureKind = iota
	Absolute
	Relative
)

// Series are the records of one measure, per process in order of time.
type Series struct {
	Time  [][]int64
	Value [][]float64
}

// measuresOf lists the metrics of the classes and instances that have values, in
// the order they are defined; the same metric may be a member of several classes,
// and is then one measure.
func measuresOf(d *otf2.Definitions, seen map[uint32]bool) []Measure {
	member := map[Measure]uint32{}
	var out []Measure
	for _, id := range sortedKeys(seen) {
		class, scope := recorded(d, id)
		for _, number := range d.MetricClasses[class].Members {
			m := measureOf(d, number, scope)
			if _, known := member[m]; !known {
				member[m] = number
				out = append(out, m)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Measure) int { return cmp.Compare(member[a], member[b]) })
	return out
}

// scope is what a metric was recorded for: its own location, or what name and
// note say.
type scope struct{ name, note string }

// recorded returns the class of what a METRIC event names, a class or an
// instance of one, and for whom it is.
func recorded(d *otf2.Definitions, id uint32) (class uint32, of scope) {
	i, ok := d.MetricInstances[id]
	if !ok {
		return id, scope{}
	}
	shared := func(what string) scope {
		return scope{"per " + what, "one value for all ranks of a " + what}
	}
	switch i.ScopeKind {
	case otf2.ScopeLocationGroup:
		return i.Class, shared("process")
	case otf2.ScopeNode:
		// The class tells a host from a socket or the whole machine.
		return i.Class, shared(cmp.Or(d.Text(d.Nodes[uint32(i.Scope)].Class), "node"))
	case otf2.ScopeGroup:
		name, _ := d.GroupLocations(uint32(i.Scope))
		if name == "" {
			name = fmt.Sprint(i.Scope)
		}
		return i.Class, scope{"group " + name, "one value for all ranks of group " + name}
	}
	return i.Class, scope{}
}

func measureOf(d *otf2.Definitions, member uint32, of scope) Measure {
	m := d.MetricMembers[member]
	out := Measure{Name: d.Text(m.Name), Description: d.Text(m.Description), Unit: d.Text(m.Unit)}
	if of.name != "" {
		out.Name += " (" + of.name + ")"
		out.Description = strings.TrimPrefix(out.Description+"; "+of.note, "; ")
	}
	if k := MeasureKind(m.Mode & 15); k <= Relative {
		out.Kind = k
	}
	return out
}

// MeasureNamed returns the measure of a name.
func (t *Trace) MeasureNamed(name string) (Measure, bool) {
	i := slices.IndexFunc(t.Measures, func(m Measure) bool { return m.Name == name })
	if i < 0 {
		return Measure{}, false
	}
	return t.Measures[i], true
}

// column is where in the list of a METRIC event a measure stands, and for which
// processes the event is: those of its own location unless shared.
type column struct {
	at     int
	scale  float64
	shared bool
	procs  []int32
}

// columnsOf finds a measure in every class and instance.
func columnsOf(d *otf2.Definitions, m Measure, scopes scopes) map[uint32]column {
	out := map[uint32]column{}
	add := func(id uint32) (c column, ok bool) {
		class, of := recorded(d, id)
		for at, member := range d.MetricClasses[class].Members {
			if measureOf(d, member, of) == m {
				return column{at: at, scale: scaleOf(d.MetricMembers[member])}, true
			}
		}
		return c, false
	}
	for id := range d.MetricClasses {
		if c, ok := add(id); ok {
			out[id] = c
		}
	}
	for id, instance := range d.MetricInstances {
		delete(out, id) // an instance hides a class of its id
		if c, ok := add(id); ok {
			c.shared, c.procs = true, scopes.of(d, instance)
			out[id] = c
		}
	}
	return out
}

// Series reads the archive again for the records of a measure. Few traces have
// any and few people look, so they are not kept from the first reading.
func (t *Trace) Series(ctx context.Context, m Measure) (*Series, error) {
	a, err := t.Archive()
	if err != nil {
		return nil, err
	}
	d := a.Defs
	scopes := t.scopes(d)
	columns := columnsOf(d, m, scopes)
	s := &Series{Time: make([][]int64, len(t.Procs)), Value: make([][]float64, len(t.Procs))}
	for _, l := range d.Locations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := t.readSeries(a, l.ID, columns, scopes.location[l.ID], s); err != nil {
			return nil, err
		}
	}
	for p := range s.Time { // metrics of a host come from a location of their own
		s.order(p)
	}
	return s, nil
}

func (t *Trace) readSeries(a *otf2.Archive, location uint64, columns map[uint32]column, own []int32, s *Series) error {
	r, err := a.Events(location)
	if err != nil {
		return err
	}
	defer r.Close()
	var ev otf2.Event
	for r.Next(&ev) {
		if ev.Kind != otf2.Metric {
			continue
		}
		c, ok := columns[uint32(ev.F[0])]
		if !ok || c.at >= len(ev.List) {
			continue
		}
		procs := own
		if c.shared {
			procs = c.procs
		}
		for _, p := range procs {
			s.Time[p] = append(s.Time[p], t.timeOf(p, ev.Time))
			s.Value[p] = append(s.Value[p], measureValue(ev.List[c.at])*c.scale)
		}
	}
	return nil
}

// scopes says for which processes a metric was recorded.
type scopes struct {
	location map[uint64][]int32
	group    map[uint32][]int32
	node     map[uint32][]int32
	set      map[uint32][]int32 // groups of locations, as they are asked for
}

func (t *Trace) scopes(d *otf2.Definitions) scopes {
	out := scopes{map[uint64][]int32{}, map[uint32][]int32{}, map[uint32][]int32{}, map[uint32][]int32{}}
	groups := make(map[uint64]uint32, len(d.Locations))
	for _, l := range d.Locations {
		groups[l.ID] = l.Group
	}
	for p := range t.Procs {
		id := t.Procs[p].Location
		out.location[id] = append(out.location[id], int32(p))
		group := groups[id]
		out.group[group] = append(out.group[group], int32(p))
		// A tree of a damaged file may be a ring: no node is visited twice.
		seen := map[uint32]bool{}
		for n := d.LocationGroups[group].Parent; n != otf2.None && !seen[n]; n = d.Nodes[n].Parent {
			if _, ok := d.Nodes[n]; !ok {
				break
			}
			seen[n] = true
			out.node[n] = append(out.node[n], int32(p))
		}
	}
	return out
}

// of returns the processes of an instance's scope, each once.
func (s scopes) of(d *otf2.Definitions, i otf2.MetricInstance) []int32 {
	switch i.ScopeKind {
	case otf2.ScopeLocation:
		return s.location[i.Scope]
	case otf2.ScopeLocationGroup:
		return s.group[uint32(i.Scope)]
	case otf2.ScopeNode:
		return s.node[uint32(i.Scope)]
	case otf2.ScopeGroup:
		id := uint32(i.Scope)
		out, known := s.set[id]
		if !known {
			_, locations := d.GroupLocations(id)
			for _, l := range locations {
				out = append(out, s.location[l]...)
			}
			slices.Sort(out)
			out = slices.Compact(out)
			s.set[id] = out
		}
		return out
	}
	return nil // of a later version
}

func scaleOf(m otf2.MetricMember) float64 {
	base := 2.0
	if m.Base == 1 {
		base = 10
	}
	return math.Pow(base, float64(m.Exponent))
}

// measureValue is the value of a METRIC event.
func measureValue(v otf2.Value) float64 {
	switch v.Type {
	case 10:
		return math.Float64frombits(v.Bits)
	case 8:
		return float64(int64(v.Bits))
	}
	return float64(v.Bits)
}

// order sorts the records of a process by time, which they are unless several
// locations recorded for it.
func (s *Series) order(p int) {
	if slices.IsSorted(s.Time[p]) {
		return
	}
	at := make([]int32, len(s.Time[p]))
	for i := range at {
		at[i] = int32(i)
	}
	slices.SortStableFunc(at, func(a, b int32) int {
		switch x, y := s.Time[p][a], s.Time[p][b]; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	s.Time[p], s.Value[p] = permuted(s.Time[p], at), permuted(s.Value[p], at)
}
