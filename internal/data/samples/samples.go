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

// Field is what a canonical column is.
type Field struct {
	Name  string
	Kind  table.Kind
	Unit  string
	Label string // for people, where there is room for words
	Means string // what a value says, for a glossary
	// Asked says that most questions need the column: it comes first where
	// people choose which of their columns is which.
	Asked bool
}

// fields are the canonical columns in their order.
var fields = []Field{
	{Name: Time, Kind: table.Time, Unit: Nanoseconds, Label: "time", Means: "when the sample was taken", Asked: true},
	{Name: CPU, Label: "CPU", Means: "number of the CPU", Asked: true},
	{Name: Node, Label: "NUMA node", Means: "memory node of the CPU"},
	{Name: Rank, Label: "MPI rank", Means: "MPI rank"},
	{Name: PID, Label: "process", Means: "process"},
	{Name: TID, Label: "thread", Means: "thread"},
	{Name: IP, Kind: table.Address, Label: "instruction address", Means: "address of the instruction", Asked: true},
	{Name: Addr, Kind: table.Address, Label: "data address", Means: "address of the data", Asked: true},
	{Name: Phys, Kind: table.Address, Label: "physical address", Means: "physical address"},
	{Name: Op, Kind: table.Category, Label: "operation", Means: "load or store", Asked: true},
	{Name: Width, Unit: Bytes, Label: "access size", Means: "bytes of the access"},
	{Name: Latency, Unit: Cycles, Label: "latency", Means: "cycles the access took", Asked: true},
	{Name: Weight, Label: "weight", Means: "cost where there is no latency"},
	{Name: Level, Kind: table.Category, Label: "level", Means: "what served it: L1, L2, L3, Local RAM …", Asked: true},
	{Name: Hit, Kind: table.Category, Label: "hit or miss", Means: "hit or miss of the level"},
	{Name: Remote, Kind: table.Flag, Label: "remote access", Means: "served by another node: 0 or 1"},
	{Name: Hops, Label: "distance", Means: "distance of a remote access"},
	{Name: Snoop, Kind: table.Category, Label: "snoop result", Means: "what snooping found"},
	{Name: TLB, Kind: table.Category, Label: "translation", Means: "how the address was translated"},
	{Name: Lock, Kind: table.Flag, Label: "locked access", Means: "locked access: 0 or 1"},
	{Name: File, Kind: table.Category, Label: "source file", Means: "source file", Asked: true},
	{Name: Line, Label: "source line", Means: "source line", Asked: true},
	{Name: Function, Kind: table.Category, Label: "function", Means: "function", Asked: true},
	{Name: Instruction, Kind: table.Category, Label: "instruction", Means: "mnemonic of the instruction"},
	{Name: Symbol, Kind: table.Category, Label: "data object", Means: "data object", Asked: true},
	{Name: Index, Label: "index", Means: "index into the data object"},
	{Name: X, Label: "x index", Means: "first index"},
	{Name: Y, Label: "y index", Means: "second index"},
	{Name: Z, Label: "z index", Means: "third index"},
	{Name: Iteration, Label: "iteration", Means: "time step of the program"},
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
