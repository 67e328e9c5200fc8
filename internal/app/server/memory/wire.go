package memory

import (
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/memory/command"
)

// Ask is one round of questions: the body of POST runs/{id}/ask. Filter, Where
// and Hover are texts of the selection language; empty means everything, and
// for Hover nothing.
type Ask struct {
	Filter string        `json:"filter,omitempty"`
	Where  string        `json:"where,omitempty"`
	Hover  string        `json:"hover,omitempty"`
	Axes   []query.Axis  `json:"axes,omitempty"`
	Pairs  [][2]int      `json:"pairs,omitempty" ts:"(readonly [number, number])[]"` // indices into axes
	Groups []query.Group `json:"groups,omitempty"`
	Stats  []query.Stat  `json:"stats,omitempty"`
	Places bool          `json:"places,omitempty"`
	Rows   *query.Page   `json:"rows,omitempty"`
}

// Answer is the JSON header of the answer to an Ask; its columns follow it as
// binary data.
type Answer struct {
	Columns []frame.ColumnRef `json:"columns"`
	Where   string            `json:"where"`  // the selection in its standard form
	Filter  string            `json:"filter"` // and the filter
	// Counts is the rows in each layer; HoverAll those of the hover, selected
	// or not.
	Counts   [query.Layers]int `json:"counts" ts:"readonly [number, number, number]"`
	HoverAll int               `json:"hoverAll"`
	Took     float64           `json:"took"` // milliseconds the engine needed
	Axes     []AxisAnswer      `json:"axes"`
	Pairs    []PairAnswer      `json:"pairs"`
	Groups   []GroupAnswer     `json:"groups"`
	Stats    []StatAnswer      `json:"stats"`
	Places   *PlacesAnswer     `json:"places"`
	Rows     *RowsAnswer       `json:"rows"`
}

// AxisAnswer is the histogram of an axis. Numbers have Edges, one more than
// Bins; categories have Labels. Missing means that there is one more bin, the
// last, for rows without a value.
type AxisAnswer struct {
	Column string       `json:"column"`
	Scale  query.Scale  `json:"scale"`
	Bins   int          `json:"bins"`
	Lo     float64      `json:"lo"`
	Hi     float64      `json:"hi"`
	Edges  frame.Column `json:"edges"`
	Labels []string     `json:"labels"`
	More   int          `json:"more"` // names folded into the last label
	// Missing: see above. Below and Above are rows beyond Lo and Hi, counted in
	// the first and last bin.
	Missing bool           `json:"missing"`
	Below   int            `json:"below"`
	Above   int            `json:"above"`
	Min     *float64       `json:"min"` // of all values; null if there are none
	Max     *float64       `json:"max"`
	Counts  frame.PerLayer `json:"counts"` // u32
}

// PairAnswer is the cells of two axes that are not empty in layer All, by left,
// then right bin.
type PairAnswer struct {
	Left   frame.Column   `json:"left"`   // u16
	Right  frame.Column   `json:"right"`  // u16
	Counts frame.PerLayer `json:"counts"` // u32
}

// GroupAnswer is ranked groups. Keys[i] holds the texts of column By[i], one a
// group; an empty text is a row without a value.
type GroupAnswer struct {
	Total    int            `json:"total"` // groups before Top cut them
	Keys     [][]string     `json:"keys"`
	Counts   frame.PerLayer `json:"counts"`   // u32
	Sums     frame.PerLayer `json:"sums"`     // f64
	Squares  frame.PerLayer `json:"squares"`  // f64, sums of squares
	Valued   frame.PerLayer `json:"valued"`   // u32, rows that have a value to sum
	Distinct frame.PerLayer `json:"distinct"` // u32
}

// StatAnswer is the distribution of a column. Each column of Quantiles has the
// quantiles asked for; the others have one value for each layer. Values of an
// empty layer are NaN.
type StatAnswer struct {
	Counts    frame.Column   `json:"counts"`    // u32
	Sums      frame.Column   `json:"sums"`      // f64
	Squares   frame.Column   `json:"squares"`   // f64
	Min       frame.Column   `json:"min"`       // f64
	Max       frame.Column   `json:"max"`       // f64
	Quantiles frame.PerLayer `json:"quantiles"` // f64
}

// PlacesAnswer is the topology aggregate: a value for each resource, in the
// order of Topology.Resources. Samples, Latency and Valued are of all samples
// that belong to the resource, which is what `at NAME` selects: their path goes
// through it, or a CPU inside issued them. The Served ones are those it answered
// itself; caches and memory are coloured by these, what holds CPUs by the
// others. LinkSamples is the traffic between a resource and its parent.
type PlacesAnswer struct {
	Samples       frame.PerLayer `json:"samples"`       // u32
	Latency       frame.PerLayer `json:"latency"`       // f64
	Valued        frame.PerLayer `json:"valued"`        // u32, samples with a latency
	Served        frame.PerLayer `json:"served"`        // u32
	ServedLatency frame.PerLayer `json:"servedLatency"` // f64
	ServedValued  frame.PerLayer `json:"servedValued"`  // u32
	LinkSamples   frame.PerLayer `json:"linkSamples"`   // u32
	// Remote is traffic that left the CPU's own part of the machine: from the
	// last resource of its own to the one elsewhere, as resource indices.
	Remote RemoteAnswer `json:"remote"`
	// Unplaced are samples that have no place, with the reason.
	Unplaced []Unplaced `json:"unplaced"`
	// Hosts are those of a cluster, the one most unlike the others first.
	Hosts []HostDistance `json:"hosts"`
}

// HostDistance is how far a host is from the median host in all its samples, in
// deviations of hosts, and the measure in which it is farthest.
type HostDistance struct {
	Resource int     `json:"resource"`
	Distance float64 `json:"distance"`
	Measure  string  `json:"measure"`
}

// RemoteAnswer is one row for each pair of resources with such traffic.
type RemoteAnswer struct {
	From    frame.Column   `json:"from"`    // u32
	To      frame.Column   `json:"to"`      // u32
	Samples frame.PerLayer `json:"samples"` // u32
	Latency frame.PerLayer `json:"latency"` // f64
}

// Unplaced counts samples that cannot be placed on the topology.
type Unplaced struct {
	Reason string            `json:"reason"`
	Counts [query.Layers]int `json:"counts" ts:"readonly [number, number, number]"`
}

// RowsAnswer is a page of the selected rows as texts.
type RowsAnswer struct {
	Columns []string   `json:"columns"`
	Index   []int      `json:"index"` // row numbers
	Cells   [][]string `json:"cells"` // one list a row
}

// Prepare is the body of POST runs/{id}/prepare: the axis about to be brushed,
// and what will be asked while the brush moves. Where of the Ask is the
// selection without that brush.
type Prepare struct {
	Axis query.Axis `json:"axis"`
	Ask  Ask        `json:"ask"`
}

// Search is the body of POST runs/{id}/search: an input of command search.
// Shown are the columns on the axes, which decides between show and hide. An
// empty text asks what is worth a look.
type Search struct {
	Text  string   `json:"text"`
	Shown []string `json:"shown"`
	Most  int      `json:"most,omitempty"`
	// Filter is that of the page: counts are of the samples in it.
	Filter string `json:"filter,omitempty"`
	// Complete asks for every count, however long that takes.
	Complete bool `json:"complete,omitempty"`
}

// Found is the answer to a Search, best first. Complete is false while a count
// is missing.
type Found struct {
	Suggestions []command.Suggestion `json:"suggestions"`
	Complete    bool                 `json:"complete"`
}

// Why is the answer to GET runs/{id}/why?row=N: how the level of a sample was
// decided, in a sentence. With ?where=…&filter=… it is the first one that both
// match.
type Why struct {
	Row int    `json:"row"`
	Why string `json:"why"`
}
