package query

import (
	"context"

	"github.com/isobath/isobath/internal/data/table"
)

// Engine answers the questions views ask about one table. The embedded kernel
// and ClickHouse implement it, and so does the naive evaluator that tests
// compare both with.
type Engine interface {
	// Answer answers every question of the request for all its layers in one
	// go. It returns ctx.Err() soon after the context is cancelled.
	Answer(ctx context.Context, r *Request) (*Answer, error)
	// Select returns the rows an expression selects; a nil expression selects
	// all. The set is not to be changed.
	Select(ctx context.Context, e Expr) (table.Bits, error)
}

// Preparer is an engine that can get ready for a brush being dragged.
type Preparer interface {
	// Prepare works out what makes Answer fast while a range of one axis is
	// dragged: r has the questions, and as Where the selection without the brush.
	// It returns when that is ready or ctx is done, so callers run it beside
	// their other work. Without it, or before it is done, answers are the same
	// but slower. A brush whose ends are edges of the axis is answered fastest.
	Prepare(ctx context.Context, r *Request, drag Axis) error
}

// Data is what an engine works on: a table, and the topology its samples are
// placed on, if there is one.
type Data struct {
	Table *table.Table
	// Placing says where on the topology each row was served; nil without a
	// topology or a cpu column.
	Placing *Placing
	// RowSets finds the rows of `rows NAME`; nil if no name is known.
	RowSets *RowSets
}

// Placing is how rows lie on the hardware tree. A place is a CPU together with
// the resource that served it, so every row of one place has the same path; the
// tree itself stays outside the engine, which only counts by place.
type Placing struct {
	Row   []uint32 // place of each row
	Count int      // number of places
	// Touching marks the places whose path touches the resource of that name
	// ("L3:1"); an unknown name gives an error that suggests a known one.
	Touching func(resource string) ([]bool, error)
}

// Request is one round of questions about the same rows.
type Request struct {
	Filter Expr // rows outside do not exist; nil: no filter
	Where  Expr // the selection; nil: everything
	Hover  Expr // the pre-selection; nil: none

	Axes   []Axis  // a histogram for each
	Pairs  []Pair  // cell counts for pairs of Axes, by index
	Groups []Group // ranked groups
	Stats  []Stat  // moments and order statistics of columns
	// Places asks for the topology aggregate.
	Places bool
	Rows   *Page // the rows themselves
}

// Layer is one of the three sets of rows every view shows, drawn in this
// order.
type Layer int

// The layers. Hovered is the intersection of hover and selection.
const (
	All Layer = iota
	Selected
	Hovered
	Layers int = iota
)

// Scale is how an axis maps values to bins.
type Scale string

// The scales. Appearance and Rank are for categories: by first appearance in
// the data, or most frequent first. Names sorts categories by name, numbers in
// names by value.
const (
	Linear     Scale = "linear"
	Log        Scale = "log"
	Quantile   Scale = "quantile"
	Appearance Scale = "appearance"
	Rank       Scale = "rank"
	Names      Scale = "names"
	// Natural takes a scale that fits the column: Log for latencies, Rank for
	// categories, Linear otherwise.
	Natural Scale = ""
)

// Axis asks for a column to be divided into bins.
type Axis struct {
	Column string  `json:"column"`
	Scale  Scale   `json:"scale,omitempty"`
	Bins   int     `json:"bins,omitempty"` // 0: 100, or the number of categories
	Lo     float64 `json:"lo,omitempty"`   // Lo = Hi = 0: a robust range of the data
	Hi     float64 `json:"hi,omitempty"`
}

// Binning is how an axis was divided in the end. Numbers and times have Edges,
// one more than bins; bin i holds Edges[i] <= v < Edges[i+1], the last bin also
// its upper edge. Categories have Labels; if there are more names than bins the
// last bin is "n more". Values beyond a robust range are counted in the first
// or last bin, and Below and Above say how many those are.
type Binning struct {
	Axis
	Edges   []float64 `json:"edges,omitempty"`
	Labels  []string  `json:"labels,omitempty"`
	More    int       `json:"more,omitempty"` // names folded into the last bin
	Missing bool      `json:"missing"`        // there is one more bin, the last, for rows without a value
	Below   int       `json:"below"`
	Above   int       `json:"above"`
	Min     float64   `json:"min"` // of all values, not of the range
	Max     float64   `json:"max"`
}

// Cells returns the number of bins counted, with the one for missing values.
func (b *Binning) Cells() int {
	n := b.Bins
	if b.Missing {
		n++
	}
	return n
}

// Pair asks for the joint counts of two axes, given by their index in
// Request.Axes.
type Pair struct{ Left, Right int }

// Group asks for rows grouped by the values of one or more columns.
type Group struct {
	By []string `json:"by"`
	// Sum is the number column summed, "latency" for most; empty counts only.
	Sum string `json:"sum,omitempty"`
	// Distinct is a column whose distinct values are counted in each group.
	Distinct string `json:"distinct,omitempty"`
	Order    Order  `json:"order,omitempty"`
	Top      int    `json:"top,omitempty"` // 0: all
}

// Order is what groups are ranked by, in the selected layer, largest first.
type Order string

// The orders. Equal groups are ordered by key.
const (
	BySum   Order = ""
	ByCount Order = "samples"
	ByMean  Order = "mean"
	ByKey   Order = "key"
)

// Stat asks for the distribution of a number column.
type Stat struct {
	Column    string    `json:"column"`
	Quantiles []float64 `json:"quantiles"`
}

// Page asks for selected rows.
type Page struct {
	Offset  int      `json:"offset"`
	Count   int      `json:"count"`
	Columns []string `json:"columns"` // nil: all
	Sort    string   `json:"sort"`    // empty: row order
	Down    bool     `json:"down"`    // largest first
}

// Answer holds the answers in the order of the questions. Its slices may be
// shared with other answers and are not to be changed.
type Answer struct {
	Counts   [Layers]int // rows in each layer
	HoverAll int         // rows of the hover, selected or not: "98 of its 566 selected"
	Axes     []Histogram
	Pairs    []Density
	Groups   []Groups
	Stats    []Stats
	Places   *Places
	Rows     *Rows
}

// Histogram is the counts of one axis per layer.
type Histogram struct {
	Binning *Binning
	Counts  [Layers][]uint32 // each Binning.Cells() long
}

// Density is the joint counts of two axes: only cells that are not empty in
// layer All, in order of left, then right bin.
type Density struct {
	Left, Right []uint16
	Counts      [Layers][]uint32
}

// Groups is the answer to a Group question.
type Groups struct {
	Total int // groups in all, before Top
	Rows  []GroupRow
}

// GroupRow is one group. Keys has a text for each column of Group.By; a row
// without a value has an empty text.
type GroupRow struct {
	Keys     []string
	Counts   [Layers]int
	Sums     [Layers]float64
	Squares  [Layers]float64 // sums of squares, for deviations
	Valued   [Layers]int     // rows that have a value to sum
	Distinct [Layers]int
}

// Stats is the distribution of a column in each layer, over rows that have a
// value. Quantiles are exact order statistics by the nearest-rank rule.
type Stats struct {
	Counts    [Layers]int
	Sums      [Layers]float64
	Squares   [Layers]float64
	Min, Max  [Layers]float64
	Quantiles [Layers][]float64
}

// Places is counts per place of Data.Placing.
type Places struct {
	Counts  [Layers][]uint64
	Sums    [Layers][]float64 // of latency; nil without such a column
	Squares [Layers][]float64 // sums of squares, for deviations
	Valued  [Layers][]uint64  // rows with a latency
}

// Rows is one page of the rows themselves, as text.
type Rows struct {
	Columns []string
	Index   []int // row numbers
	Cells   [][]string
}
