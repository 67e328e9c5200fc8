package references

import (
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/locality/answer"
	"github.com/isobath/isobath/internal/locality/views"
)

// ReuseAsk asks for reuse distances, as `isobath reuse` does. What is empty or 0
// is as the command has it.
type ReuseAsk struct {
	Where   string `json:"where"`
	By      string `json:"by" ts:"'' | 'line' | 'function' | 'object' | 'field' | 'loop' | 'pc' | 'thread' | 'class'"`
	Machine string `json:"machine"`
	Set     string `json:"set"`
	Line    int    `json:"line"`
	Page    int    `json:"page"`
	Shared  bool   `json:"shared"`
	Top     int    `json:"top"`
}

// WhatIfAsk asks for the references on another machine or with another layout,
// as `isobath whatif` does.
type WhatIfAsk struct {
	Where    string `json:"where"`
	By       string `json:"by" ts:"'' | 'line' | 'function' | 'object' | 'field' | 'loop' | 'pc' | 'thread'"`
	Base     string `json:"base"`
	Topology string `json:"topology"`
	Set      string `json:"set"`
	NUMA     string `json:"numa"`
	Map      string `json:"map"`
	Warm     bool   `json:"warm"`
	Top      int    `json:"top"`
}

// AdviseAsk asks what to change, as `isobath advise` does.
type AdviseAsk struct {
	Machine     string   `json:"machine"`
	Set         string   `json:"set"`
	Object      string   `json:"object"`
	Kinds       []string `json:"kinds"`
	Least       float64  `json:"least"` // 0 is the default
	Reassociate bool     `json:"reassociate"`
}

// SharingAsk asks which lines threads fight for, as `isobath sharing` does.
type SharingAsk struct {
	Where   string `json:"where"`
	Latency int64  `json:"latency"`
	Top     int    `json:"top"`
}

// MachineAsk says what references are replayed on: the machine that is there and
// the one asked about, with a change of layout or order.
type MachineAsk struct {
	Machine string `json:"machine"` // empty: that of the run, else this one
	Line    int    `json:"line"`    // bytes of every line; 0: those of the machine
	Other   string `json:"other"`   // empty: the same
	Set     string `json:"set"`     // changes of the other machine
	Map     string `json:"map"`     // change of layout or order; see 'isobath advise --show map'
}

// LocalityAsk asks for what the locality page shows. Level counts from 0.
type LocalityAsk struct {
	MachineAsk
	Where string   `json:"where"`
	Pair  []string `json:"pair"`  // objects: which lost a line, and to which; empty for none
	Loops bool     `json:"loops"` // whether rows of loops are wanted: they take another look at the trace
	Level int      `json:"level"`
	Stack string   `json:"stack" ts:"'object' | 'line' | 'function' | 'none'"`
}

// LocalityAnswer is what the locality page shows of one selection.
type LocalityAnswer struct {
	Took    float64        `json:"took"`
	Machine answer.Machine `json:"machine"`
	Whole   bool           `json:"whole"` // these are all references of the trace
	Threads int            `json:"threads"`
	Notes   []string       `json:"notes"`
	// Presets are the machines built in.
	Presets   []string         `json:"presets"`
	Now       views.MissCounts `json:"now"`
	Loops     []views.MissRow  `json:"loops"` // every reference with its innermost loop; empty unless asked for
	ByThread  []views.MissRow  `json:"byThread"`
	Evictions views.Evictions  `json:"evictions"`
	Struct    *views.StructUse `json:"struct"` // of the one selected object; null if it has no known fields
	Sets      views.SetUse     `json:"sets"`
	Then      *LocalityThen    `json:"then"` // null without a what if
}

// LocalityThen is the same references on the other machine or with the change.
type LocalityThen struct {
	Machine answer.Machine    `json:"machine"`
	Levels  []views.MissLevel `json:"levels"`
	// Placements is the least and most misses of each level over the places where
	// changed objects may come to lie.
	Placements [][2]uint64      `json:"placements" ts:"ReadonlyArray<readonly [number, number]>"`
	Total      []uint64         `json:"total"` // at the sizes of the curve
	Needs      []views.SizeNeed `json:"needs"`
	ReusedFrom uint64           `json:"reused_from"`
	Struct     *views.StructUse `json:"struct"`
	Sets       *views.SetUse    `json:"sets"`
}

// LocalityMapAsk asks for misses over time and addresses. Rows are slices of
// addresses for the objects named, in the same order.
type LocalityMapAsk struct {
	LocalityAsk
	Columns int      `json:"columns"`
	Objects []string `json:"objects"`
	Rows    []int    `json:"rows"`
	Window  int      `json:"window"` // references of the set in use
}

// LocalityMap is misses over time and addresses.
type LocalityMap struct {
	Columns   []frame.ColumnRef `json:"columns"`
	Took      float64           `json:"took"`
	Width     int               `json:"width"` // columns of cells
	Window    int               `json:"window"`
	Lanes     []LocalityLane    `json:"lanes"`
	Set       frame.Column      `json:"set"`    // distinct lines at the end of each column
	Chosen    frame.Column      `json:"chosen"` // of the selection
	Functions frame.Column      `json:"functions"`
	Names     []string          `json:"names"`
}

// LocalityLane is one object: misses by row and column, row by row.
type LocalityLane struct {
	Object   string       `json:"object"`
	Bytes    uint64       `json:"bytes"`
	Rows     int          `json:"rows"`
	All      frame.Column `json:"all"`
	Selected frame.Column `json:"selected"`
}

// MachinesAsk asks for the misses on several machines, with and without a
// change.
type MachinesAsk struct {
	Machines []string `json:"machines"`
	Map      string   `json:"map"`
}

// MachineMisses is one machine.
type MachineMisses struct {
	Name   string          `json:"name"`
	Model  string          `json:"model"` // what its numbers rest on
	Levels []MachineLevels `json:"levels"`
}

// MachineLevels is the misses of a level, recorded and with the change; equal
// without one.
type MachineLevels struct {
	Level string `json:"level"`
	Bytes int    `json:"bytes"`
	Line  int    `json:"line_bytes"`
	Now   uint64 `json:"now"`
	Then  uint64 `json:"then"`
	// The least and most with pages in random frames, and misses with an ideal
	// prefetcher and with none.
	NowFrames    [2]uint64 `json:"nowFrames" ts:"readonly [number, number]"`
	NowPrefetch  [2]uint64 `json:"nowPrefetch" ts:"readonly [number, number]"`
	ThenFrames   [2]uint64 `json:"thenFrames" ts:"readonly [number, number]"`
	ThenPrefetch [2]uint64 `json:"thenPrefetch" ts:"readonly [number, number]"`
}

// PairedAsk asks which rows of two runs are of the same place: A is an earlier
// run, and the run that is asked is B.
type PairedAsk struct {
	Before string     `json:"before"` // the run A
	A      []PlaceKey `json:"a"`
	B      []PlaceKey `json:"b"`
}

// PlaceKey is what a row is about: a line, else a function, else an object. Other
// is what two rows of one such place must have alike, as the name of a field.
type PlaceKey struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"`
	Object   string `json:"object"`
	Other    string `json:"other"`
}

// Paired is for each row of A the index of the row of B that it is, −1 for none.
type Paired struct {
	Rows []int `json:"rows"`
	// Unmatched are files whose lines could not be compared by their text.
	Unmatched []string `json:"unmatched"`
}
