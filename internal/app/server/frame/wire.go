package frame

import (
	"github.com/isobath/isobath/docs"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/tabular"
)

// The types of this file are the messages of /api/v1 that no kind of data owns.
// The page's types are made from them by TestWireTypes, which fails when the two
// differ; docs/formats.md describes the exchange.

// Home is the answer to GET /api/v1/runs: what is open, and what could be.
type Home struct {
	Version string       `json:"version"`
	Runs    []RunSummary `json:"runs"`
	Jobs    []Job        `json:"jobs"`   // imports under way
	Recent  []Recent     `json:"recent"` // files opened before, newest first
	// Examples are runs that are built in; a shared server has none.
	Examples []Example `json:"examples"`
	Record   string    `json:"record"`  // the command that records on this machine
	Formats  []string  `json:"formats"` // names of the formats that can be opened
	// UploadLimit is the size in bytes of the largest file that can be dropped.
	UploadLimit int64 `json:"uploadLimit"`
	// Shared says that the server shows only the runs it was started with:
	// nothing can be opened, dropped, closed, or searched for sources.
	Shared bool `json:"shared"`
	// Address is where others reach a shared server; empty if it was given no name.
	Address string `json:"address"`
	// Compare is the pair of runs to show first, as the id A,B; empty: the first run.
	// Two records of references are shown as B beside A, each as a run of its own.
	Compare string `json:"compare"`
}

// Example is a built-in run. Path is what opens it in place of a file.
type Example struct {
	Path  string `json:"path"`
	Name  string `json:"name"`
	About string `json:"about"`
}

// RunSummary names an open run. ID is a prefix of the hash of its content, so
// that a link opened on other data can be told from the right one.
type RunSummary struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Kind string `json:"kind"`
	Rows int    `json:"rows"`
	// Trace says that there is a message-passing trace, alone or with samples.
	Trace bool `json:"trace"`
	// Parts are the kinds of data in the run: memory, messages, references, mesh.
	Parts []string `json:"parts"`
}

// Recent is a file that was opened before.
type Recent struct {
	Path string `json:"path"`
	Name string `json:"name"`
}

// Info is what the page must know about a run before it asks anything.
type Info struct {
	RunSummary
	Path    string       `json:"path"`
	Format  string       `json:"format"`
	Columns []ColumnInfo `json:"columns"`
	// Topology is null when the run has none; TopologyNote says why.
	Topology     *Topology        `json:"topology"`
	TopologyNote string           `json:"topologyNote"`
	Sources      []Source         `json:"sources"`
	Warnings     []string         `json:"warnings"`
	Caveats      []string         `json:"caveats"` // what sampling hides or distorts in this run
	Origin       Origin           `json:"origin"`
	Selections   []NamedSelection `json:"selections"`
	// SelectionsVersion is the version of Selections; see PUT runs/{id}/selections.
	SelectionsVersion string `json:"selectionsVersion"`
	// L1Latency is the latency in cycles that is assumed for an L1 hit, -1 for
	// none; missing where the latency rests on no assumption.
	L1Latency *int `json:"l1Latency,omitempty"`
	// Gaps says that samples may be missing at times, Touches that the run knows
	// who touched pages first, Allocations what each place allocated; see the answers
	// of these names.
	Gaps        bool `json:"gaps"`
	Touches     bool `json:"touches"`
	Allocations bool `json:"allocations"`
	// Foreign says that the run was made of a file when it was opened, which can
	// be read again in another way.
	Foreign bool `json:"foreign"`
	// Saved is false where named selections live only as long as the server,
	// because the run cannot be written to.
	Saved bool `json:"saved"`
	// SavedIn says where they are kept: in the run, or with the settings of the
	// user who runs the server, because the data is no run of ours.
	SavedIn string `json:"savedIn" ts:"'run' | 'user' | ''"`
	// Mesh says that there is a mesh to show, with or without samples on it.
	Mesh bool `json:"mesh"`
	// Linked says that mesh viewers can connect and share the selection.
	Linked bool `json:"linked"`
	// Refs says that there is a trace of every reference, by itself or beside
	// samples.
	Refs bool `json:"refs"`
	// Live says that the run is a moment of a recording that goes on; see GET live.
	Live bool `json:"live,omitempty"`
	// Pair is set for two runs shown as one, whose id is A,B: a column "side" says
	// of which a sample is.
	Pair *Pair `json:"pair,omitempty"`
}

// Live is how far a recording is that is shown while it goes on.
type Live struct {
	// State is writing from the end of the recording until its run is open.
	State string `json:"state" ts:"'recording' | 'writing' | 'done' | 'failed'"`
	// Paused says that what is shown stays as it is; the recording goes on.
	Paused bool `json:"paused"`
	// Run is the id of what is shown: another one for each moment of the recording,
	// and in the end that of the run that was written. Empty: nothing yet.
	Run  string `json:"run"`
	Name string `json:"name"`
	// Samples are recorded, Shown of them are in Run.
	Samples int64   `json:"samples"`
	Shown   int64   `json:"shown"`
	Seconds float64 `json:"seconds"`
	// Failure says why there will be no run.
	Failure *Failure `json:"failure,omitempty"`
}

// The values of Live.State.
const (
	LiveRecording = "recording"
	LiveWriting   = "writing"
	LiveDone      = "done"
	LiveFailed    = "failed"
)

// LiveWish is what POST live wants of a recording.
type LiveWish struct {
	Do string `json:"do" ts:"'pause' | 'resume' | 'stop'"`
}

// The values of LiveWish.Do.
const (
	LivePause  = "pause"
	LiveResume = "resume"
	LiveStop   = "stop"
)

// Pair is the two runs of a comparison.
type Pair struct {
	A RunSummary `json:"a"`
	B RunSummary `json:"b"`
	// Unlike are the columns whose values in A and B do not compare.
	Unlike []Unlike `json:"unlike"`
	// Allowance is how much two runs of one program differ: a standard deviation of
	// the logarithm of what either costs. What is within it is no change.
	Allowance float64 `json:"allowance"`
	// Apart says how the machines of the runs differ, and is empty where they do
	// not: the topology then has a host A and a host B.
	Apart string `json:"apart,omitempty"`
	// Beside are the names of files for lines that only A has, each with the file of
	// B in whose text they stand.
	Beside map[string]string `json:"beside" ts:"Readonly<Record<string, string>>"`
	// Each is how many runs A is of, and B: pictures show their samples together,
	// means are of a run, and the column run says which.
	Each int `json:"each"`
}

// Unlike says why a column of two runs does not compare.
type Unlike struct {
	Column string `json:"column"`
	Why    string `json:"why"`
}

// The values of Info.SavedIn; it is empty where nothing is kept.
const (
	SavedInRun    = "run"
	SavedWithUser = "user"
)

// Link is a state of the page that is too long for an address: POST links keeps
// the fragment and gives it an ID, GET links/{id} returns it.
type Link struct {
	ID       string `json:"id"`
	Fragment string `json:"fragment"`
}

// ColumnInfo describes a column. Min and Max are missing when no row has a
// value and for categories; those of an address are texts of the form 0x….
type ColumnInfo struct {
	Name       string `json:"name"`
	Kind       string `json:"kind" ts:"'number' | 'category' | 'flag' | 'address' | 'time'"`
	Unit       string `json:"unit"`
	Provenance string `json:"provenance" ts:"'measured' | 'derived' | 'unknown' | 'modelled' | 'absent'"`
	Label      string `json:"label"` // the name for people; empty if Name is
	Title      string `json:"title"` // what the schema of samples calls it; empty for other columns
	Head       string `json:"head"`  // what the values are, under the head of an axis; empty if not known
	About      string `json:"about"` // before a number that rests on it: "≈ " if it was not measured
	// Names marks numbers that name things, such as lines: each value stands for
	// itself.
	Names bool `json:"names"`
	// Cost marks the columns whose sums rank things: 1 the best of them, 0 others.
	Cost int `json:"cost"`
	// Axis says when the column is among the axes shown first, AxisPlace where.
	Axis      string `json:"axis" ts:"'usual' | 'wide' | 'spare' | ''"`
	AxisPlace int    `json:"axisPlace"`
	Note      string `json:"note"`
	// Distinct is the number of different values, counted up to DistinctMost.
	Distinct int `json:"distinct"`
	Missing  int `json:"missing"` // rows without a value
	Min      any `json:"min" ts:"number | string | null"`
	Max      any `json:"max" ts:"number | string | null"`
	// IDLike marks columns that number their rows, such as sample ids: they are
	// poor axes and are left out by default.
	IDLike bool `json:"idLike"`
}

// Topology is the hardware tree, parents before children; the first resource
// is the machine. Columns of an answer's places are in this order.
type Topology struct {
	Resources []Resource `json:"resources"`
	// Levels are the types from the machine outward, each with its count.
	Levels []Level `json:"levels"`
	// Without are the types that a cluster has too many of to be sent.
	Without []string `json:"without"`
}

// Resource is a node of the topology.
type Resource struct {
	Name   string `json:"name"`   // as in the selection language: "L3:1"
	Type   string `json:"type"`   // "L3"
	ID     int    `json:"id"`     // 1
	Label  string `json:"label"`  // for people: the model of a package, otherwise the name
	Parent int    `json:"parent"` // index, -1 for the machine
	Size   int64  `json:"size"`   // bytes of a cache or memory; 0 if unknown
	CPUs   int    `json:"cpus"`   // CPUs below, itself included
	// Aside marks memory that is drawn beside the CPUs, not around them.
	Aside bool `json:"aside"`
	// Blocked marks a CPU the program was not allowed to run on.
	Blocked bool `json:"blocked"`
	// Virtual marks what the description does not have: it stands for a server
	// that the samples do not name. It is drawn only where samples are, and Note
	// says why it exists.
	Virtual bool   `json:"virtual"`
	Note    string `json:"note"`
}

// Level is a depth of the topology.
type Level struct {
	Type  string `json:"type"`
	Count int    `json:"count"`
}

// Source is a source file that samples name. Found says whether its text can be
// had; Tried are the places that were searched otherwise.
type Source struct {
	File  string   `json:"file"`
	Found bool     `json:"found"`
	Tried []string `json:"tried"`
}

// Origin says where a run was recorded. Unknown fields are empty.
type Origin struct {
	Host    string   `json:"host"`
	Command []string `json:"command"`
	Time    string   `json:"time"`
	Tool    string   `json:"tool"`
}

// NamedSelection is a selection kept in the run, by name.
type NamedSelection struct {
	Name  string `json:"name"`
	Where string `json:"where"`
}

// Column is a column of an answer by its index in Answer.Columns.
type Column int

// PerLayer is a column for each layer: all rows, the selected, the hovered. A
// layer that was not asked for is a column of length 0; layers with equal
// values may share a column.
type PerLayer [query.Layers]Column

// ColumnRef is where a column lies: Offset is in bytes from the first column,
// which follows the header at the next multiple of 8; Length is in values.
type ColumnRef struct {
	Type   string `json:"type" ts:"'u16' | 'u32' | 'u64' | 'f32' | 'f64'"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
}

// Reading is the body of POST runs/{id}/again and jobs/{job}/again: how to read
// a file. Map names the foreign column to take for a canonical one; L1Latency is
// the assumed latency of an L1 hit in cycles, -1 for none.
type Reading struct {
	Map       map[string]string `json:"map" ts:"Readonly<Record<string, string>>"`
	L1Latency *int              `json:"l1Latency,omitempty"`
	// AllOps keeps the micro-ops of an IBS file that are no memory operations.
	AllOps *bool `json:"allOps,omitempty"`
}

// Columns is the answer to GET runs/{id}/columns and jobs/{job}/columns: what a
// file has, and what samples want.
type Columns struct {
	Path    string              `json:"path"`
	Columns []foreign.Candidate `json:"columns"`
	Wanted  []WantedColumn      `json:"wanted"`
	Map     map[string]string   `json:"map" ts:"Readonly<Record<string, string>>"` // the mapping it was read with
	// Words are the columns whose words are counted by their spelling, of a run that
	// was read. A word is mapped as COLUMN:WORD.
	Words []tabular.Wording `json:"words"`
}

// WantedColumn is a canonical column.
type WantedColumn struct {
	Name    string `json:"name"`
	Meaning string `json:"meaning"`
}

// SourceText is the answer to GET runs/{id}/source.
type SourceText struct {
	File string `json:"file"`
	Path string `json:"path"` // where it was found
	Text string `json:"text"`
	// Truncated says that the file is longer than the server shows.
	Truncated bool `json:"truncated"`
}

// AddSources is the body of POST runs/{id}/sources: a folder on the server's
// machine in which to look for source files.
type AddSources struct {
	Folder string `json:"folder"`
}

// Open is the body of POST open.
type Open struct {
	Path string `json:"path"`
}

// Job is an import under way or finished. Exactly one of Run and Failure is set
// once State is no longer "running".
type Job struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	State    string   `json:"state" ts:"'running' | 'done' | 'failed' | 'cancelled'"`
	Progress Progress `json:"progress"`
	Run      string   `json:"run"` // id of the run
	Warnings []string `json:"warnings"`
	Failure  *Failure `json:"failure"`
	// Columns says that the file was refused and its columns can be chosen.
	Columns bool `json:"columns"`
}

// Progress is how far an import or an analysis is. Total and Left are 0 while unknown.
type Progress struct {
	Stage string  `json:"stage"` // what is being done, as a short phrase
	Done  int64   `json:"done"`  // bytes; of an analysis, what its stage counts
	Total int64   `json:"total"`
	Rows  int64   `json:"rows"`
	Rate  float64 `json:"rate"` // bytes a second
	Left  float64 `json:"left"` // seconds
}

// Failure is the body of every answer that is not a success.
type Failure struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"` // what to do about it
	// Field names the text a parse error is in: "filter", "where" or "hover";
	// Position is where in it, in characters from 0, and Length how many are
	// wrong.
	Field    string `json:"field,omitempty"`
	Position int    `json:"position,omitempty"`
	Length   int    `json:"length,omitempty"`
}

// Book is what the guide and its glossary say about some words.
type Book struct {
	Terms    []docs.Term    `json:"terms"`
	Sections []docs.Section `json:"sections"`
}
