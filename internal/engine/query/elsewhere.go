package query

import (
	"context"

	"github.com/isobath/isobath/internal/data/table"
)

// Distant is an engine whose rows are not here. Analyses that look at the rows of
// a table themselves ask it instead: for counts where those are enough, and for
// rows in an order, a piece at a time, where they are not.
type Distant interface {
	Engine
	// Extent is the least and greatest finite value of a column; false if it has
	// none.
	Extent(column string) (lo, hi float64, any bool, err error)
	// Tally counts rows by window and code.
	Tally(ctx context.Context, q Tally) ([]TallyRow, error)
	// Firsts returns the different values of some columns, and the first row that
	// has them.
	Firsts(ctx context.Context, columns ...string) ([]First, error)
	// InOrder hands over the selected rows that have a value in a column by that
	// value, equal ones by row, a bounded number at a time. A piece is not to be
	// kept.
	InOrder(ctx context.Context, q Ordered, piece func(Piece) error) error
	// InRows hands over columns of the selected rows in the order of rows, a bounded
	// number at a time.
	InRows(ctx context.Context, where Expr, columns []string, piece func(*table.Table) error) error
	// Condense returns the selected rows as groups of rows that are alike.
	Condense(ctx context.Context, q Condensing) (*Condensed, error)
	// Cut finds the rows at some positions of an order: the selected rows that have a
	// value in a column by that value, equal ones by row.
	Cut(ctx context.Context, axis string, where Expr, positions []int) (*Cuts, error)
}

// Condensing asks for groups of rows. Rows of a group are alike in everything that is
// named here.
type Condensing struct {
	Where   Expr
	Lines   *Lines   // rows on these alone; nil: all
	Columns []string // their values
	Places  bool     // their place, or only what Slots says of it
	Slots   []uint32 // of each place; nil: the place itself
	Cuts    *Cuts    // between which cuts they are; rows without a value on its axis are left out
	Blocks  *Blocks
	Tests   []Test // which of these hold
	Octave  string // the octave of a column of numbers
	// Extent is a column of numbers whose least and greatest value is told of each
	// group, Sum one that is summed; empty: none.
	Extent, Sum string
}

// Condensed is groups of rows, in the order of their first rows.
type Condensed struct {
	Table        *table.Table // the columns, a row for each group
	Places       []uint32     // one of the group, nil unless asked for
	Window       []int        // how many cuts are not behind them
	Block        []int
	Holds        [][]bool // by group, of each test
	Octave       []int    // -1: no value
	Least, Most  *table.Column
	First        []int // row
	Count        []int
	Valued       []int // of them, those that have a value to sum
	Sum, Squares []float64
}

// Cuts are rows of an order. A row is before a cut or not.
type Cuts struct {
	Axis   string
	Values *table.Column // of the rows
	Rows   []int
	// Tied says that others have the same value, so that it does not say who is before.
	Tied []bool
}

// At is the value at a cut.
func (c *Cuts) At(i int) float64 { return c.Values.Float(i) }

// Lines are stretches of memory of one size.
type Lines struct {
	Column string // of addresses
	Size   uint64
	Of     []uint64 // addresses divided by the size
}

// Blocks divide a column of whole numbers, by the name that a row has in another one:
// the block of a row is (value - Lo) / Size of its name. Rows without a value, or of
// a name whose size is 0, are left out.
type Blocks struct {
	Column, By string
	Lo         []int64
	Size       []int64
}

// Test is whether a row is selected, is in slot 0 of all of some slots, and is on one of
// some lines.
type Test struct {
	Where Expr
	Slots []SlotTest
	Lines []LineTest // nil: wherever it is
}

// SlotTest is whether the place or the name of a row has slot 0.
type SlotTest struct {
	By    Codes
	Slots []uint32
}

// LineTest is whether a selected row is on one of some lines.
type LineTest struct {
	Where Expr
	Lines Lines
}

// MostCondensed bounds the groups of rows that are alike.
const MostCondensed = 4 << 20

// Tally asks for counts along a column of numbers.
type Tally struct {
	Where Expr
	Axis  string
	// Edges are one more than windows and rise; the last window has its upper
	// edge. Rows outside them, or without a value, are left out.
	Edges []float64
	By    Codes
	// Slots joins codes of places or names that count as one; nil: none do.
	Slots []uint32
	Sum   string // a column of numbers; empty: only count
}

// Codes say what rows are told apart by: their places, or the values of a column,
// or nothing.
type Codes struct {
	Places bool
	Column string
}

// MostTallied bounds the windows times codes of a tally.
const MostTallied = 1 << 20

// TallyRow is the rows of one window and code.
type TallyRow struct {
	Window int
	Code   uint32  // of a place or a name, or its slot
	Value  float64 // of a column of numbers
	Has    bool    // whether the column has a value
	Count  int
	Valued int // of them, those that have a value to sum
	Sum    float64
}

// First is a combination of values and the first row that has it. A column
// without a value there has an empty text.
type First struct {
	Keys []string
	Row  int
}

// Ordered asks for rows by the value of a column.
type Ordered struct {
	Axis    string
	Where   Expr
	Columns []string // beside the axis
	Places  bool
}

// Piece is some rows: the columns asked for, and the places of the rows.
type Piece struct {
	Table  *table.Table
	Places []uint32 // nil unless asked for
}
