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
}

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
