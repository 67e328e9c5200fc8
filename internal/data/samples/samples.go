// Package samples is the one schema of samples: the names, kinds, units and
// meanings of their canonical columns in their one order, how levels are
// spelled, which columns can be used, and how a number says that it was not
// measured.
package samples

import (
	"slices"

	"github.com/isobath/isobath/internal/data/table"
)

// Table is the name of the table that holds samples.
const Table = "samples"

// The canonical columns: those that mean the same whatever recorded them.
// Columns of other names keep what their source calls them.
const (
	Time        = "time"
	CPU         = "cpu"
	Node        = "node"
	Rank        = "rank"
	Host        = "host"
	PID         = "pid"
	TID         = "tid"
	IP          = "ip"
	Addr        = "addr"
	Phys        = "phys"
	Op          = "op"
	Width       = "width"
	Latency     = "latency"
	Weight      = "weight"
	Waiting     = "waiting" // for what a thread waits; it has no value in others
	Kernel      = "kernel"  // why the kernel ran; it has no value in samples of the program
	Level       = "level"
	Hit         = "hit"
	Remote      = "remote"
	Hops        = "hops"
	Snoop       = "snoop"
	TLB         = "tlb"
	Lock        = "lock"
	File        = "file"
	Line        = "line"
	Function    = "function"
	Instruction = "instruction"
	Symbol      = "symbol"
	Index       = "index"
	X           = "x"
	Y           = "y"
	Z           = "z"
	Iteration   = "iteration"
)

// The units of canonical columns.
const (
	Cycles      = "cycles"
	Nanoseconds = "ns"
	Bytes       = "bytes"
)

// Axis says when a column is among the axes that are shown first.
type Axis int

// From asked for alone to always.
const (
	OnDemand   Axis = iota
	WhereEmpty      // where a run has too few of the usual ones
	WhereRoom       // on a wide page
	Usual
)

var axisWords = [...]string{OnDemand: "", WhereEmpty: "spare", WhereRoom: "wide", Usual: "usual"}

func (a Axis) String() string { return axisWords[a] }

// Field is what a canonical column is.
type Field struct {
	Name  string
	Kind  table.Kind
	Unit  string
	Label string // for people, where there is room for words
	Means string // what a value says, in a few words; docs/glossary_terms.go has more
	Head  string // what the values are, under the head of an axis; empty where the unit says it
	// Names says that a number names something: each value stands for itself,
	// as a line or a thread does, and has no place between two others.
	Names bool
	Axis  Axis // whether it is shown without being asked for
	// Asked says that most questions need the column: it comes first where
	// people choose which of their columns is which.
	Asked bool
}

// fields are the canonical columns in their order.
var fields = []Field{
	{Name: Time, Kind: table.Time, Unit: Nanoseconds, Label: "time", Means: "when the sample was taken", Asked: true, Axis: Usual},
	{Name: CPU, Label: "CPU", Means: "number of the CPU", Asked: true, Head: "by node", Names: true, Axis: Usual},
	{Name: Node, Label: "NUMA node", Means: "memory node of the CPU", Head: "memory node", Names: true, Axis: WhereEmpty},
	{Name: Rank, Label: "MPI rank", Means: "MPI rank", Names: true},
	{Name: Host, Kind: table.Category, Label: "host", Means: "machine of a cluster", Head: "machine", Axis: Usual},
	{Name: PID, Label: "process", Means: "process", Head: "process", Names: true},
	{Name: TID, Label: "thread", Means: "thread", Head: "thread", Names: true, Axis: WhereEmpty},
	{Name: IP, Kind: table.Address, Label: "instruction address", Means: "address of the instruction", Asked: true, Head: "instruction address"},
	{Name: Addr, Kind: table.Address, Label: "data address", Means: "address of the data", Asked: true, Head: "data address", Axis: WhereEmpty},
	{Name: Phys, Kind: table.Address, Label: "physical address", Means: "physical address"},
	{Name: Op, Kind: table.Category, Label: "operation", Means: "load or store", Asked: true, Head: "operation", Axis: WhereEmpty},
	{Name: Width, Unit: Bytes, Label: "access size", Means: "bytes of the access", Head: "bytes accessed", Names: true},
	{Name: Latency, Unit: Cycles, Label: "latency", Means: "how long the access took", Asked: true, Axis: Usual},
	{Name: Weight, Label: "weight", Means: "cost where there is no latency", Axis: WhereEmpty},
	{Name: Level, Kind: table.Category, Label: "level", Means: "what served it: L1, L2, L3, Local RAM …", Asked: true, Head: "served by", Axis: Usual},
	{Name: Hit, Kind: table.Category, Label: "hit or miss", Means: "hit or miss of the level", Head: "at the level"},
	{Name: Remote, Kind: table.Flag, Label: "remote access", Means: "served by another node: 0 or 1"},
	{Name: Hops, Label: "distance", Means: "distance of a remote access", Names: true},
	{Name: Snoop, Kind: table.Category, Label: "snoop result", Means: "what snooping found", Head: "other caches"},
	{Name: TLB, Kind: table.Category, Label: "translation", Means: "how the address was translated", Head: "translation", Axis: WhereEmpty},
	{Name: Lock, Kind: table.Flag, Label: "locked access", Means: "locked access: 0 or 1", Head: "locked access"},
	{Name: File, Kind: table.Category, Label: "source file", Means: "source file", Asked: true, Head: "source file"},
	{Name: Line, Label: "source line", Means: "source line", Asked: true, Head: "source line", Names: true, Axis: Usual},
	{Name: Function, Kind: table.Category, Label: "function", Means: "function", Asked: true, Head: "function", Axis: WhereEmpty},
	{Name: Instruction, Kind: table.Category, Label: "instruction", Means: "mnemonic of the instruction", Head: "mnemonic", Axis: WhereEmpty},
	{Name: Symbol, Kind: table.Category, Label: "data object", Means: "data object", Asked: true, Head: "data object", Axis: Usual},
	{Name: Index, Label: "index", Means: "index into the data object", Head: "element of the object", Axis: WhereEmpty},
	{Name: X, Label: "x index", Means: "first index", Head: "zone index"},
	{Name: Y, Label: "y index", Means: "second index", Head: "zone index"},
	{Name: Z, Label: "z index", Means: "third index", Head: "zone index", Axis: WhereRoom},
	{Name: Iteration, Label: "iteration", Means: "time step of the program", Head: "time step", Axis: WhereRoom},
}

var byName = func() map[string]Field {
	m := make(map[string]Field, len(fields))
	for _, f := range fields {
		m[f.Name] = f
	}
	return m
}()

// Fields returns the canonical columns in their order.
func Fields() []Field { return slices.Clone(fields) }

// Wanted returns the canonical columns as people ask for them: those that most
// questions need first.
func Wanted() []Field {
	out := Fields()
	slices.SortStableFunc(out, func(a, b Field) int {
		switch {
		case a.Asked == b.Asked:
			return 0
		case a.Asked:
			return -1
		}
		return 1
	})
	return out
}

// axisOrder is the order of axes that are shown first: causes left, effects
// right.
var axisOrder = []string{
	Iteration, Time, Symbol, Line, Latency, Level, Host, CPU, Z,
	Op, Function, Node, TID, Instruction, TLB, Addr, Index, Weight,
}

// AxisPlace is where a column stands among the axes that are shown first,
// counted from 1; 0 for one that has no place among them.
func AxisPlace(name string) int { return slices.Index(axisOrder, name) + 1 }

// Costs are the columns whose sums rank things, the best one first.
func Costs() []string { return []string{Latency, Weight} }

// Lookup returns what the canonical column of that name is; false for other
// names.
func Lookup(name string) (Field, bool) {
	f, ok := byName[name]
	return f, ok
}

// Column makes a canonical column of values in the form the column has. One
// without any value is absent, whatever its source promises.
func Column(name string, p table.Provenance, data any, valid table.Bits) *table.Column {
	f := byName[name]
	c := &table.Column{Name: name, Kind: f.Kind, Unit: f.Unit, Provenance: Said(valid, p), Data: data, Valid: valid}
	if valid != nil && valid.Count() == c.Len() {
		c.Valid = nil
	}
	return c
}

// Ints makes a canonical column of whole numbers, in 32 bits where they fit.
func Ints(name string, p table.Provenance, values []int64, valid table.Bits) *table.Column {
	return table.Ints(name, byName[name].Unit, Said(valid, p), values, valid)
}

// Said is the provenance of a column whose rows with a value are valid: absent
// if there are none. A nil valid means all rows.
func Said(valid table.Bits, p table.Provenance) table.Provenance {
	if valid != nil && valid.Count() == 0 {
		return table.Absent
	}
	return p
}
