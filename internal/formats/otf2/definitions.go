package otf2

import (
	"fmt"
	"slices"
)

// Definition is one global definition as it stands in the file: the scalar
// fields in the order of the table, and at most one string, list or property
// list. Has counts the fields that were present.
type Definition struct {
	Kind   DefKind
	F      [11]uint64
	Has    int
	Text   string
	List   []uint64
	Values []Value
}

// Definitions are the global definitions a trace needs, resolved after the
// whole file was read: some tracers write references before what they name.
type Definitions struct {
	Clock           Clock
	Strings         map[uint32]string
	Attributes      map[uint32]Attribute
	Nodes           map[uint32]Node
	LocationGroups  map[uint32]LocationGroup
	Locations       []Location // by id
	Regions         map[uint32]Region
	Groups          map[uint32]Group // communicator groups; COMM_LOCATIONS are apart
	LocationSets    map[uint32]Group // groups whose members are locations
	CommLocations   map[uint8][]uint64
	Comms           map[uint32]Comm
	MetricMembers   map[uint32]MetricMember
	MetricClasses   map[uint32]MetricClass
	MetricInstances map[uint32]MetricInstance
	Contexts        map[uint32]Context
	Sources         map[uint32]SourceLocation
	Windows         map[uint32]uint32 // windows of one-sided communication to their communicators
	Handles         map[uint32]uint32 // handles of files to theirs; None if they have none

	resolved map[uint32][]uint64 // groups as locations
}

// Clock says how ticks become time.
type Clock struct {
	Resolution uint64 // ticks per second
	Offset     uint64 // ticks of the earliest event
	Length     uint64
	Realtime   uint64 // ns since 1970, Undefined if not recorded
	Defined    bool
}

// Attribute names a value that can be attached to events.
type Attribute struct {
	Name, Description uint32
	Type              uint8
}

// Node is a node of the system tree: a machine, a host, a socket.
type Node struct {
	Name, Class, Parent uint32
}

// LocationGroup is a process or an accelerator.
type LocationGroup struct {
	Name   uint32
	Type   uint8
	Parent uint32
}

// Location is one stream of events: a thread, an accelerator queue, a metric.
type Location struct {
	ID     uint64
	Name   uint32
	Type   uint8
	Events uint64 // as the writer says; some always say 2
	Group  uint32
}

// Types of locations.
const (
	LocationCPU    = 1
	LocationGPU    = 2
	LocationMetric = 3
)

// Region is a function, a loop, an MPI call.
type Region struct {
	Name, Canonical uint32
	File            uint32
	Begin, End      uint32
	Role, Paradigm  uint8
	Flags           uint32
}

// ParadigmMPI is the code of MPI in regions and groups.
const ParadigmMPI = 4

// Types of groups.
const (
	groupLocations     = 1
	groupCommLocations = 4
	groupComm          = 5
	groupSelf          = 6
)

// Group is the member list of a communicator: indices into the locations of
// its paradigm, by rank.
type Group struct {
	Name     uint32
	Self     bool
	Paradigm uint8
	Global   bool // ranks in records are already indices
	Members  []uint64
}

// Comm is a communicator; Inter says that it joins Group and GroupB.
type Comm struct {
	Name, Group, GroupB, Parent uint32
	Inter                       bool
}

// MetricMember describes one metric.
type MetricMember struct {
	Name, Description, Unit uint32
	Type, Mode, Value, Base uint8
	Exponent                int64
}

// MetricClass is a set of metrics recorded together.
type MetricClass struct {
	Members    []uint32
	Occurrence uint8
}

// MetricInstance is a class recorded by one location for a scope.
type MetricInstance struct {
	Class     uint32
	Recorder  uint64
	ScopeKind ScopeKind
	Scope     uint64
}

// ScopeKind is what a metric is recorded for.
type ScopeKind uint8

// The scopes of metrics.
const (
	ScopeLocation ScopeKind = iota
	ScopeLocationGroup
	ScopeNode
	ScopeGroup
)

// Context is a node of the calling context tree of sampling traces.
type Context struct {
	Region, Source, Parent uint32
}

// SourceLocation is a file and a line.
type SourceLocation struct {
	File, Line uint32
}

// None is a reference to no definition.
const None = ^uint32(0)

// readDefinitions visits every known record of a global definition file. A
// damaged record ends the file: what follows cannot be found any more.
func readDefinitions(s *stream, w *Warnings, visit func(*Definition)) {
	var d Definition
	for {
		if s.pos >= s.limit {
			w.Add("global definitions end without an end mark", s.file)
			return
		}
		id := s.data[s.pos]
		switch id {
		case endOfChunk:
			if !s.next() {
				w.Add("global definitions end without an end mark", s.file)
				return
			}
			continue
		case endOfBuffer, endOfFile:
			return
		}
		body, end, ok := recordLength(s.data, s.pos+1, s.limit, s.big)
		if !ok {
			w.Add("global definitions are damaged; the rest of them is missing", fmt.Sprintf("%s, byte %d", s.file, s.pos))
			return
		}
		if definitions[id].name != "" {
			c := cursor{b: s.data, i: body, end: end, big: s.big}
			if decodeDefinition(&d, DefKind(id), &c) {
				visit(&d)
			} else {
				w.Add("a global definition is damaged and left out", fmt.Sprintf("%s, byte %d", s.file, s.pos))
			}
		}
		s.pos = end
	}
}

// decodeDefinition reads the fields of one record. It is false for a record
// that cannot be used: a bad size, a list longer than the record, or one of
// the fields every version has missing.
func decodeDefinition(d *Definition, kind DefKind, c *cursor) bool {
	layout := &definitions[kind]
	*d = Definition{Kind: kind, List: d.List[:0], Values: d.Values[:0]}
	for i, f := range layout.fields {
		// Fields of later versions are tested one by one: an OTF2 1.1 region
		// may end after any of them.
		if c.left() == 0 && i >= layout.newer {
			break
		}
		switch f.enc {
		case str:
			d.Text = c.str()
		case av:
			d.F[i] = c.value(uint8(d.F[i-1]), nil).Bits
		case list64, short32:
			d.readList(f.enc, c)
		case props:
			n := c.count(u8, 3)
			for range n {
				property, typ := c.byte(), uint8(c.byte())
				d.List = append(d.List, property)
				d.Values = append(d.Values, c.value(typ, nil))
			}
		default:
			d.F[i] = c.scalar(f.enc)
		}
		if c.bad || c.short {
			return false
		}
		d.Has = i + 1
	}
	return true
}

func (d *Definition) readList(e encoding, c *cursor) {
	size, item := c32, c64
	if e == short32 {
		size, item = u8, c32
	}
	n := c.count(size, 1)
	for range n {
		d.List = append(d.List, c.scalar(item))
	}
}

func newDefinitions() *Definitions {
	return &Definitions{
		Clock:           Clock{Realtime: Undefined},
		Strings:         map[uint32]string{},
		Attributes:      map[uint32]Attribute{},
		Nodes:           map[uint32]Node{},
		LocationGroups:  map[uint32]LocationGroup{},
		Regions:         map[uint32]Region{},
		Groups:          map[uint32]Group{},
		LocationSets:    map[uint32]Group{},
		CommLocations:   map[uint8][]uint64{},
		Comms:           map[uint32]Comm{},
		MetricMembers:   map[uint32]MetricMember{},
		MetricClasses:   map[uint32]MetricClass{},
		MetricInstances: map[uint32]MetricInstance{},
		Contexts:        map[uint32]Context{},
		Sources:         map[uint32]SourceLocation{},
		Windows:         map[uint32]uint32{},
		Handles:         map[uint32]uint32{},
		resolved:        map[uint32][]uint64{},
	}
}

// add stores a definition in its table.
func (t *Definitions) add(d *Definition) {
	f := func(i int) uint32 { return uint32(d.F[i]) }
	id := f(0)
	switch d.Kind {
	case defClock:
		t.Clock = Clock{Resolution: d.F[0], Offset: d.F[1], Length: d.F[2], Realtime: Undefined, Defined: true}
		if d.Has > 3 {
			t.Clock.Realtime = d.F[3]
		}
	case defString:
		t.Strings[id] = d.Text
	case defAttribute:
		t.Attributes[id] = Attribute{Name: f(1), Type: uint8(f(2)), Description: d.orNone(3)}
	case defSystemNode:
		t.Nodes[id] = Node{Name: f(1), Class: f(2), Parent: f(3)}
	case defLocationGroup:
		t.LocationGroups[id] = LocationGroup{Name: f(1), Type: uint8(f(2)), Parent: f(3)}
	case defLocation:
		t.Locations = append(t.Locations, Location{ID: d.F[0], Name: f(1), Type: uint8(f(2)), Events: d.F[3], Group: f(4)})
	case defRegion:
		t.addRegion(d)
	case defGroup:
		t.addGroup(d)
	case defMetricMember:
		t.MetricMembers[id] = MetricMember{Name: f(1), Description: f(2), Type: uint8(f(3)), Mode: uint8(f(4)),
			Value: uint8(f(5)), Base: uint8(f(6)), Exponent: int64(d.F[7]), Unit: f(8)}
	case defMetricClass:
		members := make([]uint32, len(d.List))
		for i, m := range d.List {
			members[i] = uint32(m)
		}
		t.MetricClasses[id] = MetricClass{Members: members, Occurrence: uint8(f(2))}
	case defMetricInstance:
		t.MetricInstances[id] = MetricInstance{Class: f(1), Recorder: d.F[2], ScopeKind: ScopeKind(f(3)), Scope: d.F[4]}
	case defComm:
		t.Comms[id] = Comm{Name: f(1), Group: f(2), Parent: f(3), GroupB: None}
	case defInterComm:
		t.Comms[id] = Comm{Name: f(1), Group: f(2), GroupB: f(3), Parent: f(4), Inter: true}
	case defSourceLocation:
		t.Sources[id] = SourceLocation{File: f(1), Line: f(2)}
	case defRMAWin:
		t.Windows[id] = f(2)
	case defIOHandle:
		t.Handles[id] = d.orNone(5)
	case defContext:
		t.Contexts[id] = Context{Region: f(1), Source: f(2), Parent: f(3)}
	}
}

// orNone returns field i, or None where an old version does not have it.
func (d *Definition) orNone(i int) uint32 {
	if d.Has <= i {
		return None
	}
	return uint32(d.F[i])
}

func (t *Definitions) addRegion(d *Definition) {
	r := Region{Name: uint32(d.F[1]), File: uint32(d.F[4]), Begin: uint32(d.F[5]), End: uint32(d.F[6]), Canonical: d.orNone(7)}
	if d.Has > 8 {
		r.Role = uint8(d.F[8])
	}
	if d.Has > 9 {
		r.Paradigm = uint8(d.F[9])
	}
	if d.Has > 10 {
		r.Flags = uint32(d.F[10])
	}
	t.Regions[uint32(d.F[0])] = r
}

// oldGroupTypes translates the group types of OTF2 before 1.2.
var oldGroupTypes = map[uint64]uint64{1: groupLocations, 4: groupComm, 5: groupSelf, 6: groupCommLocations}

func (t *Definitions) addGroup(d *Definition) {
	typ, paradigm, flags := oldGroupTypes[d.F[2]], uint8(ParadigmMPI), uint64(0)
	if d.Has > 4 {
		typ = d.F[4]
	}
	if d.Has > 5 {
		paradigm = uint8(d.F[5])
	}
	if d.Has > 6 {
		flags = d.F[6]
	}
	if typ == groupLocations || typ == groupCommLocations {
		t.LocationSets[uint32(d.F[0])] = Group{Name: uint32(d.F[1]), Paradigm: paradigm, Members: slices.Clone(d.List)}
	}
	// eztrace gives the locations and the first communicator the same id, so
	// the two kinds are kept apart.
	switch typ {
	case groupCommLocations:
		if _, seen := t.CommLocations[paradigm]; !seen {
			t.CommLocations[paradigm] = slices.Clone(d.List)
		}
	case groupComm, groupSelf:
		t.Groups[uint32(d.F[0])] = Group{Name: uint32(d.F[1]), Self: typ == groupSelf, Paradigm: paradigm,
			Global: flags&1 != 0, Members: slices.Clone(d.List)}
	}
}

// Text returns the string of a reference, or "" for an undefined one.
func (t *Definitions) Text(id uint32) string { return t.Strings[id] }

// finish sorts the locations and drops repeated ids.
func (t *Definitions) finish(file string, w *Warnings) {
	slices.SortStableFunc(t.Locations, func(a, b Location) int {
		switch {
		case a.ID < b.ID:
			return -1
		case a.ID > b.ID:
			return 1
		}
		return 0
	})
	n := len(t.Locations)
	t.Locations = slices.CompactFunc(t.Locations, func(a, b Location) bool { return a.ID == b.ID })
	w.AddN("a location is defined twice; the first counts", file, n-len(t.Locations))
	if t.Clock.Resolution == 0 {
		w.Add("no clock resolution; one tick is taken as one nanosecond", file)
		t.Clock.Resolution = 1e9
	}
}
