// Made from the Go types of the messages by
// `go test ./internal/app/server -run WireTypes -update`. Do not edit.

// Scale is how an axis maps values to bins.
export type Scale = 'linear' | 'log' | 'quantile' | 'appearance' | 'rank' | 'names' | '';

// Axis asks for a column to be divided into bins.
export interface Axis {
  readonly column: string;
  readonly scale?: Scale;
  readonly bins?: number; // 0: 100, or the number of categories
  readonly lo?: number; // Lo = Hi = 0: a robust range of the data
  readonly hi?: number;
}

// Group asks for rows grouped by the values of one or more columns.
export interface Group {
  readonly by: readonly string[];
  // Sum is the number column summed, "latency" for most; empty counts only.
  readonly sum?: string;
  // Distinct is a column whose distinct values are counted in each group.
  readonly distinct?: string;
  readonly order?: Order;
  readonly top?: number; // 0: all
}

// Order is what groups are ranked by, in the selected layer, largest first.
export type Order = '' | 'samples' | 'mean' | 'key';

// Stat asks for the distribution of a number column.
export interface Stat {
  readonly column: string;
  readonly quantiles: readonly number[];
}

// Page asks for selected rows.
export interface Page {
  readonly offset: number;
  readonly count: number;
  readonly columns: readonly string[]; // nil: all
  readonly sort: string; // empty: row order
  readonly down: boolean; // largest first
}

// Term is a word that the program shows beside numbers: a column, a metric or
// the head of a table.
export interface Term {
  readonly name: string;
  readonly kind: string; // column, metric or word
  readonly also: readonly string[]; // other names that it is shown under
  readonly unit: string;
  readonly means: string;
  readonly equation: string; // how it is worked out; empty for what was recorded
  readonly advice: string; // what to do about it
  readonly chapter: string; // of the guide, with a heading behind #
  readonly anchor: string; // in the chapter of the glossary
}

// Section is a part of a chapter below one heading.
export interface Section {
  readonly chapter: string;
  readonly heading: string;
  readonly line: string; // the first line that has the words
  readonly found: number; // how often
  readonly anchor: string; // of the heading in the chapter
}

// Home is the answer to GET /api/v1/runs: what is open, and what could be.
export interface Home {
  readonly version: string;
  readonly runs: readonly RunSummary[];
  readonly jobs: readonly Job[]; // imports under way
  readonly recent: readonly Recent[]; // files opened before, newest first
  // Examples are runs that are built in; a shared server has none.
  readonly examples: readonly Example[];
  readonly record: string; // the command that records on this machine
  readonly formats: readonly string[]; // names of the formats that can be opened
  // UploadLimit is the size in bytes of the largest file that can be dropped.
  readonly uploadLimit: number;
  // Shared says that the server shows only the runs it was started with:
  // nothing can be opened, dropped, closed, or searched for sources.
  readonly shared: boolean;
  // Address is where others reach a shared server; empty if it was given no name.
  readonly address: string;
  // Compare is the pair of runs to show first, as the id A,B; empty: the first run.
  // Two records of references are shown as B beside A, each as a run of its own.
  readonly compare: string;
}

// Example is a built-in run. Path is what opens it in place of a file.
export interface Example {
  readonly path: string;
  readonly name: string;
  readonly about: string;
}

// RunSummary names an open run. ID is a prefix of the hash of its content, so
// that a link opened on other data can be told from the right one.
export interface RunSummary {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly rows: number;
  // Trace says that there is a message-passing trace, alone or with samples.
  readonly trace: boolean;
  // Parts are the kinds of data in the run: memory, messages, references, mesh.
  readonly parts: readonly string[];
}

// Recent is a file that was opened before.
export interface Recent {
  readonly path: string;
  readonly name: string;
}

// Info is what the page must know about a run before it asks anything.
export interface Info extends RunSummary {
  readonly path: string;
  readonly format: string;
  readonly columns: readonly ColumnInfo[];
  // Topology is null when the run has none; TopologyNote says why.
  readonly topology: Topology | null;
  readonly topologyNote: string;
  readonly sources: readonly Source[];
  readonly warnings: readonly string[];
  readonly caveats: readonly string[]; // what sampling hides or distorts in this run
  readonly origin: Origin;
  readonly selections: readonly NamedSelection[];
  // SelectionsVersion is the version of Selections; see PUT runs/{id}/selections.
  readonly selectionsVersion: string;
  // L1Latency is the latency in cycles that is assumed for an L1 hit, -1 for
  // none; missing where the latency rests on no assumption.
  readonly l1Latency?: number;
  // Gaps says that samples may be missing at times, Touches that the run knows
  // who touched pages first, Allocations what each place allocated; see the answers
  // of these names.
  readonly gaps: boolean;
  readonly touches: boolean;
  readonly allocations: boolean;
  // Foreign says that the run was made of a file when it was opened, which can
  // be read again in another way.
  readonly foreign: boolean;
  // Saved is false where named selections live only as long as the server,
  // because the run cannot be written to.
  readonly saved: boolean;
  // SavedIn says where they are kept: in the run, or with the settings of the
  // user who runs the server, because the data is no run of ours.
  readonly savedIn: 'run' | 'user' | '';
  // Mesh says that there is a mesh to show, with or without samples on it.
  readonly mesh: boolean;
  // Linked says that mesh viewers can connect and share the selection.
  readonly linked: boolean;
  // Refs says that there is a trace of every reference, by itself or beside
  // samples.
  readonly refs: boolean;
  // Live says that the run is a moment of a recording that goes on; see GET live.
  readonly live?: boolean;
  // Pair is set for two runs shown as one, whose id is A,B: a column "side" says
  // of which a sample is.
  readonly pair?: Pair;
}

// Live is how far a recording is that is shown while it goes on.
export interface Live {
  // State is writing from the end of the recording until its run is open.
  readonly state: 'recording' | 'writing' | 'done' | 'failed';
  // Paused says that what is shown stays as it is; the recording goes on.
  readonly paused: boolean;
  // Run is the id of what is shown: another one for each moment of the recording,
  // and in the end that of the run that was written. Empty: nothing yet.
  readonly run: string;
  readonly name: string;
  // Samples are recorded, Shown of them are in Run.
  readonly samples: number;
  readonly shown: number;
  readonly seconds: number;
  // Failure says why there will be no run.
  readonly failure?: Failure;
}

// LiveWish is what POST live wants of a recording.
export interface LiveWish {
  readonly do: 'pause' | 'resume' | 'stop';
}

// Pair is the two runs of a comparison.
export interface Pair {
  readonly a: RunSummary;
  readonly b: RunSummary;
  // Unlike are the columns whose values in A and B do not compare.
  readonly unlike: readonly Unlike[];
  // Allowance is how much two runs of one program differ: a standard deviation of
  // the logarithm of what either costs. What is within it is no change.
  readonly allowance: number;
  // Apart says how the machines of the runs differ, and is empty where they do
  // not: the topology then has a host A and a host B.
  readonly apart?: string;
  // Beside are the names of files for lines that only A has, each with the file of
  // B in whose text they stand.
  readonly beside: Readonly<Record<string, string>>;
  // Each is how many runs A is of, and B: pictures show their samples together,
  // means are of a run, and the column run says which.
  readonly each: number;
}

// Unlike says why a column of two runs does not compare.
export interface Unlike {
  readonly column: string;
  readonly why: string;
}

// Link is a state of the page that is too long for an address: POST links keeps
// the fragment and gives it an ID, GET links/{id} returns it.
export interface Link {
  readonly id: string;
  readonly fragment: string;
}

// ColumnInfo describes a column. Min and Max are missing when no row has a
// value and for categories; those of an address are texts of the form 0x….
export interface ColumnInfo {
  readonly name: string;
  readonly kind: 'number' | 'category' | 'flag' | 'address' | 'time';
  readonly unit: string;
  readonly provenance: 'measured' | 'derived' | 'unknown' | 'modelled' | 'absent';
  readonly label: string; // the name for people; empty if Name is
  readonly title: string; // what the schema of samples calls it; empty for other columns
  readonly head: string; // what the values are, under the head of an axis; empty if not known
  readonly about: string; // before a number that rests on it: "≈ " if it was not measured
  // Names marks numbers that name things, such as lines: each value stands for
  // itself.
  readonly names: boolean;
  // Cost marks the columns whose sums rank things: 1 the best of them, 0 others.
  readonly cost: number;
  // Axis says when the column is among the axes shown first, AxisPlace where.
  readonly axis: 'usual' | 'wide' | 'spare' | '';
  readonly axisPlace: number;
  readonly note: string;
  // Distinct is the number of different values, counted up to DistinctMost.
  readonly distinct: number;
  readonly missing: number; // rows without a value
  readonly min: number | string | null;
  readonly max: number | string | null;
  // IDLike marks columns that number their rows, such as sample ids: they are
  // poor axes and are left out by default.
  readonly idLike: boolean;
}

// Topology is the hardware tree, parents before children; the first resource
// is the machine. Columns of an answer's places are in this order.
export interface Topology {
  readonly resources: readonly Resource[];
  // Levels are the types from the machine outward, each with its count.
  readonly levels: readonly Level[];
  // Without are the types that a cluster has too many of to be sent.
  readonly without: readonly string[];
}

// Resource is a node of the topology.
export interface Resource {
  readonly name: string; // as in the selection language: "L3:1"
  readonly type: string; // "L3"
  readonly id: number; // 1
  readonly label: string; // for people: the model of a package, otherwise the name
  readonly parent: number; // index, -1 for the machine
  readonly size: number; // bytes of a cache or memory; 0 if unknown
  readonly cpus: number; // CPUs below, itself included
  // Aside marks memory that is drawn beside the CPUs, not around them.
  readonly aside: boolean;
  // Blocked marks a CPU the program was not allowed to run on.
  readonly blocked: boolean;
  // Virtual marks what the description does not have: it stands for a server
  // that the samples do not name. It is drawn only where samples are, and Note
  // says why it exists.
  readonly virtual: boolean;
  readonly note: string;
}

// Level is a depth of the topology.
export interface Level {
  readonly type: string;
  readonly count: number;
}

// Source is a source file that samples name. Found says whether its text can be
// had; Tried are the places that were searched otherwise.
export interface Source {
  readonly file: string;
  readonly found: boolean;
  readonly tried: readonly string[];
}

// Origin says where a run was recorded. Unknown fields are empty.
export interface Origin {
  readonly host: string;
  readonly command: readonly string[];
  readonly time: string;
  readonly tool: string;
}

// NamedSelection is a selection kept in the run, by name.
export interface NamedSelection {
  readonly name: string;
  readonly where: string;
}

// Column is a column of an answer by its index in Answer.Columns.
export type Column = number;

// PerLayer is a column for each layer: all rows, the selected, the hovered. A
// layer that was not asked for is a column of length 0; layers with equal
// values may share a column.
export type PerLayer = readonly [Column, Column, Column];

// ColumnRef is where a column lies: Offset is in bytes from the first column,
// which follows the header at the next multiple of 8; Length is in values.
export interface ColumnRef {
  readonly type: 'u16' | 'u32' | 'u64' | 'f32' | 'f64';
  readonly offset: number;
  readonly length: number;
}

// Reading is the body of POST runs/{id}/again and jobs/{job}/again: how to read
// a file. Map names the foreign column to take for a canonical one; L1Latency is
// the assumed latency of an L1 hit in cycles, -1 for none.
export interface Reading {
  readonly map: Readonly<Record<string, string>>;
  readonly l1Latency?: number;
  // AllOps keeps the micro-ops of an IBS file that are no memory operations.
  readonly allOps?: boolean;
}

// Columns is the answer to GET runs/{id}/columns and jobs/{job}/columns: what a
// file has, and what samples want.
export interface Columns {
  readonly path: string;
  readonly columns: readonly Candidate[];
  readonly wanted: readonly WantedColumn[];
  readonly map: Readonly<Record<string, string>>; // the mapping it was read with
  // Words are the columns whose words are counted by their spelling, of a run that
  // was read. A word is mapped as COLUMN:WORD.
  readonly words: readonly Wording[];
}

// WantedColumn is a canonical column.
export interface WantedColumn {
  readonly name: string;
  readonly meaning: string;
}

// SourceText is the answer to GET runs/{id}/source.
export interface SourceText {
  readonly file: string;
  readonly path: string; // where it was found
  readonly text: string;
  // Truncated says that the file is longer than the server shows.
  readonly truncated: boolean;
}

// AddSources is the body of POST runs/{id}/sources: a folder on the server's
// machine in which to look for source files.
export interface AddSources {
  readonly folder: string;
}

// Open is the body of POST open.
export interface Open {
  readonly path: string;
}

// Job is an import under way or finished. Exactly one of Run and Failure is set
// once State is no longer "running".
export interface Job {
  readonly id: string;
  readonly name: string;
  readonly state: 'running' | 'done' | 'failed' | 'cancelled';
  readonly progress: Progress;
  readonly run: string; // id of the run
  readonly warnings: readonly string[];
  readonly failure: Failure | null;
  // Columns says that the file was refused and its columns can be chosen.
  readonly columns: boolean;
}

// Progress is how far an import or an analysis is. Total and Left are 0 while unknown.
export interface Progress {
  readonly stage: string; // what is being done, as a short phrase
  readonly done: number; // bytes; of an analysis, what its stage counts
  readonly total: number;
  readonly rows: number;
  readonly rate: number; // bytes a second
  readonly left: number; // seconds
}

// Failure is the body of every answer that is not a success.
export interface Failure {
  readonly error: string;
  readonly hint?: string; // what to do about it
  // Field names the text a parse error is in: "filter", "where" or "hover";
  // Position is where in it, in characters from 0, and Length how many are
  // wrong.
  readonly field?: string;
  readonly position?: number;
  readonly length?: number;
}

// Book is what the guide and its glossary say about some words.
export interface Book {
  readonly terms: readonly Term[];
  readonly sections: readonly Section[];
}

// Candidate is a column of a foreign file.
export interface Candidate {
  readonly name: string;
  readonly values: readonly string[]; // a few different ones, in order of appearance
  // ReadAs is the canonical column it is taken for without being told; empty
  // if it keeps its own name.
  readonly readAs: string;
}

// Wording is a column whose words are counted by their spelling.
export interface Wording {
  readonly column: string;
  readonly unknown: readonly string[]; // its words that mean nothing known, and so count as nothing
  readonly known: readonly string[]; // what they may be mapped to
}
