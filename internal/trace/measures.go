package trace

import (
	"context"
	"math"
	"slices"

	"isobath/internal/formats/otf2"
)

// Measure is a metric that the tracer recorded beside the events: a hardware
// counter, memory in use, a temperature.
type Measure struct {
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

// measuresOf lists the metrics of an archive, by name; the same metric may be a
// member of several classes, and is then one measure.
func measuresOf(d *otf2.Definitions) []Measure {
	var out []Measure
	for _, id := range sortedKeys(d.MetricMembers) {
		m := measureOf(d, d.MetricMembers[id])
		if !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}

func measureOf(d *otf2.Definitions, m otf2.MetricMember) Measure {
	out := Measure{Name: d.Text(m.Name), Description: d.Text(m.Description), Unit: d.Text(m.Unit)}
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

// column is where in the list of a METRIC event a measure stands.
type column struct {
	at    int
	scale float64
}

// Series reads the archive again for the records of a measure. Few traces have
// any and few people look, so they are not kept from the first reading.
func (t *Trace) Series(ctx context.Context, m Measure) (*Series, error) {
	a, err := otf2.Open(t.Path)
	if err != nil {
		return nil, err
	}
	d := a.Defs
	columns := map[uint32]column{} // of classes
	for id, class := range d.MetricClasses {
		for at, member := range class.Members {
			def := d.MetricMembers[member]
			if measureOf(d, def) == m {
				columns[id] = column{at, scaleOf(def)}
				break
			}
		}
	}
	s := &Series{Time: make([][]int64, len(t.Procs)), Value: make([][]float64, len(t.Procs))}
	scopes := t.scopes(d)
	for _, l := range d.Locations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := t.readSeries(a, l.ID, columns, scopes, s); err != nil {
			return nil, err
		}
	}
	for p := range s.Time { // metrics of a host come from a location of their own
		s.order(p)
	}
	return s, nil
}

func (t *Trace) readSeries(a *otf2.Archive, location uint64, columns map[uint32]column, scopes scopes, s *Series) error {
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
		id := uint32(ev.F[0])
		procs := scopes.location[location]
		if instance, ok := a.Defs.MetricInstances[id]; ok {
			id, procs = instance.Class, scopes.of(instance)
		}
		c, ok := columns[id]
		if !ok || c.at >= len(ev.List) {
			continue
		}
		for _, p := range procs {
			s.Time[p] = append(s.Time[p], int64(ev.Time-t.Origin))
			s.Value[p] = append(s.Value[p], number(ev.List[c.at])*c.scale)
		}
	}
	return nil
}

// scopes says for which processes a metric was recorded.
type scopes struct {
	location map[uint64][]int32
	group    map[uint32][]int32
	node     map[uint32][]int32
}

func (t *Trace) scopes(d *otf2.Definitions) scopes {
	out := scopes{map[uint64][]int32{}, map[uint32][]int32{}, map[uint32][]int32{}}
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

func (s scopes) of(i otf2.MetricInstance) []int32 {
	switch i.ScopeKind {
	case 0:
		return s.location[i.Scope]
	case 1:
		return s.group[uint32(i.Scope)]
	case 2:
		return s.node[uint32(i.Scope)]
	}
	return nil // a group of anything: nobody knows whose
}

func scaleOf(m otf2.MetricMember) float64 {
	base := 2.0
	if m.Base == 1 {
		base = 10
	}
	return math.Pow(base, float64(m.Exponent))
}

// number is the value of a METRIC event.
func number(v otf2.Value) float64 {
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
