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

// Home is the answer to GET /api/v1/runs: what is open, and what could be.
export interface Home {
  readonly version: string;
  readonly runs: readonly RunSummary[];
  readonly jobs: readonly Job[]; // imports under way
  readonly recent: readonly Recent[]; // files opened before, newest first
  readonly record: string; // the command that records on this machine
  readonly formats: readonly string[]; // names of the formats that can be opened
  // UploadLimit is the size in bytes of the largest file that can be dropped.
  readonly uploadLimit: number;
  // Shared says that the server shows only the runs it was started with:
  // nothing can be opened, dropped, closed, or searched for sources.
  readonly shared: boolean;
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
  // who touched pages first; see the answers of these names.
  readonly gaps: boolean;
  readonly touches: boolean;
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
  readonly provenance: 'measured' | 'derived' | 'modelled' | 'absent';
  readonly label: string; // the name for people; empty if Name is
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

// Ask is one round of questions: the body of POST runs/{id}/ask. Filter, Where
// and Hover are texts of the selection language; empty means everything, and
// for Hover nothing.
export interface Ask {
  readonly filter?: string;
  readonly where?: string;
  readonly hover?: string;
  readonly axes?: readonly Axis[];
  readonly pairs?: readonly (readonly [number, number])[]; // indices into axes
  readonly groups?: readonly Group[];
  readonly stats?: readonly Stat[];
  readonly places?: boolean;
  readonly rows?: Page;
}

// Answer is the JSON header of the answer to an Ask; its columns follow it as
// binary data.
export interface Answer {
  readonly columns: readonly ColumnRef[];
  readonly where: string; // the selection in its standard form
  readonly filter: string; // and the filter
  // Counts is the rows in each layer; HoverAll those of the hover, selected
  // or not.
  readonly counts: readonly [number, number, number];
  readonly hoverAll: number;
  readonly took: number; // milliseconds the engine needed
  readonly axes: readonly AxisAnswer[];
  readonly pairs: readonly PairAnswer[];
  readonly groups: readonly GroupAnswer[];
  readonly stats: readonly StatAnswer[];
  readonly places: PlacesAnswer | null;
  readonly rows: RowsAnswer | null;
}

// AxisAnswer is the histogram of an axis. Numbers have Edges, one more than
// Bins; categories have Labels. Missing means that there is one more bin, the
// last, for rows without a value.
export interface AxisAnswer {
  readonly column: string;
  readonly scale: Scale;
  readonly bins: number;
  readonly lo: number;
  readonly hi: number;
  readonly edges: Column;
  readonly labels: readonly string[];
  readonly more: number; // names folded into the last label
  // Missing: see above. Below and Above are rows beyond Lo and Hi, counted in
  // the first and last bin.
  readonly missing: boolean;
  readonly below: number;
  readonly above: number;
  readonly min: number | null; // of all values; null if there are none
  readonly max: number | null;
  readonly counts: PerLayer; // u32
}

// PairAnswer is the cells of two axes that are not empty in layer All, by left,
// then right bin.
export interface PairAnswer {
  readonly left: Column; // u16
  readonly right: Column; // u16
  readonly counts: PerLayer; // u32
}

// GroupAnswer is ranked groups. Keys[i] holds the texts of column By[i], one a
// group; an empty text is a row without a value.
export interface GroupAnswer {
  readonly total: number; // groups before Top cut them
  readonly keys: readonly (readonly string[])[];
  readonly counts: PerLayer; // u32
  readonly sums: PerLayer; // f64
  readonly squares: PerLayer; // f64, sums of squares
  readonly valued: PerLayer; // u32, rows that have a value to sum
  readonly distinct: PerLayer; // u32
}

// StatAnswer is the distribution of a column. Each column of Quantiles has the
// quantiles asked for; the others have one value for each layer. Values of an
// empty layer are NaN.
export interface StatAnswer {
  readonly counts: Column; // u32
  readonly sums: Column; // f64
  readonly squares: Column; // f64
  readonly min: Column; // f64
  readonly max: Column; // f64
  readonly quantiles: PerLayer; // f64
}

// PlacesAnswer is the topology aggregate: a value for each resource, in the
// order of Topology.Resources. Samples, Latency and Valued are of all samples
// that belong to the resource, which is what `at NAME` selects: their path goes
// through it, or a CPU inside issued them. The Served ones are those it answered
// itself; caches and memory are coloured by these, what holds CPUs by the
// others. LinkSamples is the traffic between a resource and its parent.
export interface PlacesAnswer {
  readonly samples: PerLayer; // u32
  readonly latency: PerLayer; // f64
  readonly valued: PerLayer; // u32, samples with a latency
  readonly served: PerLayer; // u32
  readonly servedLatency: PerLayer; // f64
  readonly servedValued: PerLayer; // u32
  readonly linkSamples: PerLayer; // u32
  // Remote is traffic that left the CPU's own part of the machine: from the
  // last resource of its own to the one elsewhere, as resource indices.
  readonly remote: RemoteAnswer;
  // Unplaced are samples that have no place, with the reason.
  readonly unplaced: readonly Unplaced[];
}

// RemoteAnswer is one row for each pair of resources with such traffic.
export interface RemoteAnswer {
  readonly from: Column; // u32
  readonly to: Column; // u32
  readonly samples: PerLayer; // u32
  readonly latency: PerLayer; // f64
}

// Unplaced counts samples that cannot be placed on the topology.
export interface Unplaced {
  readonly reason: string;
  readonly counts: readonly [number, number, number];
}

// RowsAnswer is a page of the selected rows as texts.
export interface RowsAnswer {
  readonly columns: readonly string[];
  readonly index: readonly number[]; // row numbers
  readonly cells: readonly (readonly string[])[]; // one list a row
}

// Prepare is the body of POST runs/{id}/prepare: the axis about to be brushed,
// and what will be asked while the brush moves. Where of the Ask is the
// selection without that brush.
export interface Prepare {
  readonly axis: Axis;
  readonly ask: Ask;
}

// Search is the body of POST runs/{id}/search: an input of command search.
// Shown are the columns on the axes, which decides between show and hide. An
// empty text asks what is worth a look.
export interface Search {
  readonly text: string;
  readonly shown: readonly string[];
  readonly most?: number;
  // Filter is that of the page: counts are of the samples in it.
  readonly filter?: string;
  // Complete asks for every count, however long that takes.
  readonly complete?: boolean;
}

// Found is the answer to a Search, best first. Complete is false while a count
// is missing.
export interface Found {
  readonly suggestions: readonly Suggestion[];
  readonly complete: boolean;
}

// Why is the answer to GET runs/{id}/why?row=N: how the level of a sample was
// decided, in a sentence. With ?where=…&filter=… it is the first one that both
// match.
export interface Why {
  readonly row: number;
  readonly why: string;
}

// GuideInfo is what guided analysis can do for a run: metrics that its data
// supports, depths of its topology, and columns that can be an axis.
export interface GuideInfo {
  readonly metrics: readonly MetricInfo[];
  readonly depths: readonly string[];
  readonly axes: readonly string[];
  // MinSamples is the number of samples below which windows are not compared.
  readonly minSamples: number;
}

// MetricInfo describes a metric.
export interface MetricInfo {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly perDepth: boolean;
}

// AskStrip is the body of POST runs/{id}/metrics. Lo and Hi bound windows of
// equal width; both 0: all values of the column.
export interface AskStrip {
  readonly filter?: string;
  readonly where?: string;
  readonly axis: string;
  readonly metric: string;
  readonly depth?: string;
  readonly windows: number;
  readonly equalCount?: boolean;
  readonly lo?: number;
  readonly hi?: number;
}

// StripAnswer is a metric over windows of an axis.
export interface StripAnswer {
  readonly axis: string;
  readonly metric: string;
  readonly depth: string; // empty for a metric without
  readonly unit: string;
  readonly windows: readonly WindowAnswer[];
}

// WindowAnswer is one window; Value is null where no sample has one. Resources is
// how many resources of the depth have samples, and Few marks windows with too
// few samples to be compared.
export interface WindowAnswer {
  readonly from: number;
  readonly to: number;
  readonly samples: number;
  readonly value: number | null;
  readonly resources: number;
  readonly few: boolean;
  readonly where: string; // selects the window
}

// AskTree is the body of POST runs/{id}/clusters. The tree is cut into Cut
// clusters, or by Height, or Level merges below the root, where these are given.
export interface AskTree {
  readonly filter?: string;
  readonly where?: string;
  readonly axis: string;
  readonly metric: string;
  readonly depth?: string;
  readonly window?: number; // 0: the default
  readonly slide?: number; // 0: the default
  readonly cut?: number;
  readonly height?: number;
  readonly level?: number;
  // Top asks for the nodes that the last Top merges joined, in place of all
  // merges: enough to draw the upper part of a tree and to cut it again.
  readonly top?: number;
}

// TreeAnswer is a merge tree and its clusters. Leaves are numbered from 0 along
// the axis; merge i makes node Leaves+i.
export interface TreeAnswer {
  readonly axis: string;
  readonly metric: string;
  readonly depth: string;
  readonly unit: string;
  readonly window: number;
  readonly slide: number;
  readonly samples: number;
  readonly leaves: number;
  readonly merges: readonly MergeAnswer[];
  readonly clusters: readonly ClusterAnswer[];
  readonly nodes?: readonly NodeAnswer[]; // of the upper part, the root first
}

// NodeAnswer is a node of the upper part of a tree. A and B are the nodes it was
// merged from, -1 below that part; Height is null for leaves and where a part
// has no value.
export interface NodeAnswer extends ClusterAnswer {
  readonly a: number;
  readonly b: number;
  readonly height: number | null;
}

// MergeAnswer joins two neighbouring nodes. Distance is null where one has no
// value; Height is the largest distance in the subtree and never falls.
export interface MergeAnswer {
  readonly a: number;
  readonly b: number;
  readonly distance: number | null;
  readonly height: number | null;
}

// ClusterAnswer is one cluster: From and To are values of the axis, Begin and End
// positions in the sorted samples, End not included.
export interface ClusterAnswer {
  readonly from: number;
  readonly to: number;
  readonly samples: number;
  readonly value: number | null;
  readonly begin: number;
  readonly end: number;
  readonly node: number;
  readonly where: string;
}

// AskInsights is the body of POST runs/{id}/insights.
export interface AskInsights {
  readonly filter?: string;
  readonly where?: string;
}

// InsightsAnswer is what is worth a look, best first.
export interface InsightsAnswer {
  readonly insights: readonly InsightAnswer[];
}

// InsightAnswer is one finding. Score is stake × surprise × the weight of its
// kind. View shows the evidence, set up by Axis, Metric and Depth.
export interface InsightAnswer {
  readonly kind: string;
  readonly text: string;
  readonly score: number;
  readonly where: string;
  readonly stake: number;
  readonly surprise: number;
  readonly weight: number;
  readonly view: 'topology' | 'code' | 'offenders' | 'axis' | 'parallel';
  readonly axis?: string;
  readonly metric?: string;
  readonly depth?: string;
}

// Report is what `isobath steps --json` prints. Times are nanoseconds.
export interface Report {
  readonly processes: number;
  readonly events: number;
  readonly operations: number;
  readonly messages: number;
  readonly unmatched: number;
  readonly collectives: number;
  readonly partitions: number;
  readonly steps: number;
  readonly span_ns: number;
  readonly options: ReportOptions;
  readonly notes: readonly string[];
  readonly merges: readonly ReportMerge[];
  readonly warnings: readonly string[];
  readonly threshold: number;
  readonly late: number;
  readonly lateness: number;
  readonly cases: ReportCases;
  readonly top: readonly ReportCause[];
  readonly patterns: readonly ReportPattern[];
  readonly critical_path?: ReportCritical;
  readonly clusters?: ReportClusters;
  readonly profile?: ReportProfile;
  readonly compare?: ReportCompare;
}

// ReportMerge is what one way of merging did: coalesce to operations, the others
// (messages, waitall, calls, cycles, phases, leaps, merge_global) to partitions.
export interface ReportMerge {
  readonly name: string;
  readonly before: number;
  readonly after: number;
}

// ReportOptions are the options as they were used.
export interface ReportOptions {
  readonly coalesce: boolean;
  readonly waitall: boolean;
  readonly waitall_guessed: boolean;
  readonly calls: boolean;
  readonly leaps: boolean;
  readonly force: boolean;
  readonly ratio: number;
  readonly merge_global: boolean;
  readonly reorder: boolean;
  readonly phases: boolean;
}

// ReportCases counts late operations by how they became late.
export interface ReportCases {
  readonly compute: number;
  readonly message: number;
  readonly call: number;
  readonly inherited_by_message: number;
  readonly inherited_in_process: number;
}

// ReportCause is one injected delay.
export interface ReportCause {
  readonly op: number; // number of the operation, by process and time
  readonly process: number;
  readonly kind: string; // compute, message or call
  readonly operation: string;
  readonly step: number;
  readonly partition: number;
  readonly time: number; // when the operation began, after the trace's origin
  readonly amount: number; // new here
  readonly lateness: number; // in all
  readonly operations: number;
  readonly processes: number;
  readonly share: number;
  readonly waiting: number;
  readonly waited: number;
  readonly startup: boolean;
  readonly region?: string;
  readonly file?: string;
  readonly line?: number;
  // Of a late computation: how long it lasted, what is usual, and for whom.
  readonly computation?: number;
  readonly usual?: number;
  readonly compared_to?: string;
  readonly text: string;
}

// ReportPattern is a recognised exchange.
export interface ReportPattern {
  readonly name: string;
  readonly stages: number;
  readonly messages: number;
  readonly first_step: number;
}

// ReportCritical is the critical path in short: from the first event to the
// last. Length is the sum of the rest.
export interface ReportCritical {
  readonly length: number;
  readonly startup: number; // before its first process began
  readonly compute: number;
  readonly calls: number;
  readonly processes: readonly ReportShare[];
  readonly regions: readonly ReportShare[];
}

// ReportShare is a part of the critical path.
export interface ReportShare {
  readonly process?: number;
  readonly region?: string;
  readonly kind?: string; // compute or call
  readonly time: number;
  readonly share: number;
}

// ReportClusters are the groups of processes.
export interface ReportClusters {
  readonly silhouette: number;
  readonly list: readonly ReportCluster[];
  // Merges join the groups two at a time, the nearest first: a and b are
  // groups of the list, or from its length on earlier merges.
  readonly merges: readonly ReportJoin[];
}

// ReportJoin is a node of the dendrogram of the groups; Distance is in ns.
export interface ReportJoin {
  readonly a: number;
  readonly b: number;
  readonly distance: number;
}

// ReportCluster is one group of processes.
export interface ReportCluster {
  readonly medoid: number;
  readonly size: number;
  readonly mean_lateness: number;
  readonly spread: number;
  readonly members: readonly number[];
}

// ReportProfile is the profile of the trace.
export interface ReportProfile {
  readonly regions: readonly ReportRegion[];
  readonly matrix: readonly ReportPair[];
  readonly sizes: readonly ReportSize[];
  readonly waits: ReportWaits;
}

// ReportRegion is the time spent in a region.
export interface ReportRegion {
  readonly name: string;
  readonly file?: string;
  readonly line?: number;
  readonly locations: number;
  readonly calls: number;
  readonly inclusive: number;
  readonly exclusive: number;
  readonly least: number;
  readonly most: number;
}

// ReportPair is a cell of the communication matrix.
export interface ReportPair {
  readonly from: number;
  readonly to: number;
  readonly messages: number;
  readonly bytes: number;
}

// ReportSize is a bar of the histogram of message sizes.
export interface ReportSize {
  readonly from: number;
  readonly to: number;
  readonly messages: number;
  readonly bytes: number;
}

// ReportWaits are the waiting times by cause.
export interface ReportWaits {
  readonly late_sender: number;
  readonly late_sender_operations: number;
  readonly late_receiver: number;
  readonly late_receiver_operations: number;
  readonly collective: number;
  readonly collective_operations: number;
}

// ReportCompare is how a run differs from another run of the same program.
// Amounts are here minus there, in nanoseconds.
export interface ReportCompare {
  readonly with: string;
  readonly ranks: number;
  readonly matched: number;
  readonly only_here: number;
  readonly only_there: number;
  readonly moved: number; // pairs at different steps
  readonly span: number;
  readonly compute: number; // before paired operations, all ranks
  readonly calls: number; // in paired operations
  readonly lateness: number;
  readonly top: readonly ReportChange[];
}

// ReportChange is a place where the runs drift apart: a computation that took
// longer or shorter, or a call that became late by itself.
export interface ReportChange {
  readonly op: number;
  readonly other: number; // its partner there
  readonly process: number;
  readonly kind: string; // compute or call
  readonly operation: string;
  readonly step: number;
  readonly partition: number;
  readonly amount: number;
  readonly here: number;
  readonly there: number;
  readonly text: string;
}

// Metric is what operations are coloured by.
export type Metric = 'lateness' | 'differential' | 'partition-lateness' | 'partition-differential' | 'duration';

// Row is a line of the picture: one process, or the most typical one of a
// cluster that stands for its members.
export interface Row {
  readonly process: number; // index, not rank
  readonly rank: number;
  // Cluster is -1 outside the order by cluster. Members counts the processes
  // a collapsed cluster's row stands for; 1 for a process of its own.
  readonly cluster: number;
  readonly members: number;
}

// RowOrder says how rows are made: "rank", "cluster" with the clusters of Open
// expanded, or "neighbours" of a process.
export interface RowOrder {
  readonly by: 'rank' | 'cluster' | 'neighbours';
  readonly open: readonly number[]; // expanded clusters
  readonly process: number; // whose neighbours
  readonly k: number; // clusters; 0: as many as the data says
}

// Window is a part of the plane of rows and steps, or rows and time, and the
// pixels it is to be drawn on.
export interface Window {
  // From and To are steps, or nanoseconds after the first event.
  readonly from: number;
  readonly to: number;
  // Rows RowFrom to RowTo-1 of the order; RowTo 0 is the end.
  readonly rowFrom: number;
  readonly rowTo: number;
  // Columns and Lines are how many cells the picture has room for.
  readonly columns: number;
  readonly lines: number;
}

// Line is a drawn line: Count rows of the order from First on.
export interface Line extends Row {
  readonly first: number;
  readonly count: number;
}

// Place is an operation in short: where it is and how late.
export interface Place {
  readonly id: number;
  readonly process: number;
  readonly rank: number;
  readonly name: string;
  readonly kind: string; // send, recv or collective
  readonly step: number;
  readonly partition: number;
  readonly enter: number; // ns after the first event
  readonly exit: number;
  readonly lateness: number; // of its exit, against all at the step
  readonly new: number; // the part of it that is new here
}

// Operation is everything known about an operation. Lateness is in nanoseconds,
// against all operations of the step (global) or of its partition too.
export interface Operation extends Place {
  readonly began: number; // when the computation before it began
  readonly beforeLate: number;
  readonly beforeNew: number;
  readonly partitionLateness: number;
  readonly partitionNew: number;
  readonly case: '' | 'compute' | 'message' | 'call' | 'sender' | 'process';
  readonly origin: number; // operation at which its chain ends, -1 if on time
  readonly moved: boolean; // a receive that was put into its ideal place
  readonly calls: number; // of the program, if several were joined
  readonly senders: readonly Place[];
  readonly receivers: readonly Place[];
  readonly participants: number; // of a collective
  readonly bytes: number;
  // Chain runs from the origin of the lateness to the operation; more than
  // MaxChain operations are cut in the middle, and Skipped counts them.
  readonly chain: readonly Place[];
  readonly skipped: number;
  readonly previous: number; // on the process; -1 if there is none
  readonly next: number;
  // Peers are how long the other operations of the step computed before it:
  // the longest of them.
  readonly peersCompute: number;
  readonly region: string; // function around the call
  // File and Line are where the call is, if the trace says so (Site), and
  // otherwise where the function around it begins.
  readonly file: string;
  readonly line: number;
  readonly site: boolean;
  // Other is its partner in the run that is compared with; null if there is
  // none.
  readonly other: Counterpart | null;
}

// Counterpart is the same operation in another run; Compute is how long the
// computation before it took, in ns.
export interface Counterpart extends Place {
  readonly compute: number;
}

// TraceOptions choose how a trace is partitioned; see logical.Options. Phases
// says where phases begin, as logical.Phases reads it.
export interface TraceOptions {
  readonly coalesce: boolean;
  readonly waitall: boolean;
  readonly calls: boolean;
  readonly leaps: boolean;
  readonly force: boolean;
  readonly ratio: number;
  readonly mergeGlobal: boolean;
  readonly reorder: boolean;
  readonly phases: string;
}

// TraceAsk says which analysis of the trace a question is about. Options is
// null for those that suit a trace nobody has said anything about.
export interface TraceAsk {
  readonly options: TraceOptions | null;
  // Threshold in ns says what is late; 0 lets the trace decide. From and To
  // are the steps whose causes count; To 0 is the end.
  readonly threshold: number;
  readonly from: number;
  readonly to: number;
  // Against is the run that values are compared with; empty for none.
  readonly against: string;
}

// TraceInfo describes a trace and why its operations are late. Report is what
// `isobath steps --json` prints.
export interface TraceInfo {
  readonly report: Report;
  readonly options: TraceOptions;
  readonly processes: readonly TraceProcess[];
  readonly names: readonly string[]; // of calls and functions, by the index in pictures
  // Groups are kinds of work; GroupOf has that of each name.
  readonly groups: readonly string[];
  readonly groupOf: readonly number[];
  readonly measures: readonly TraceMeasure[];
  // Linked says that the run has samples of the same ranks by the same clock;
  // LinkNote why not, if it has samples.
  readonly linked: boolean;
  readonly linkNote: string;
}

// TraceMeasure is a metric that the trace records, to be asked for as
// "metric:" and its name.
export interface TraceMeasure {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly kind: 'counter' | 'value' | 'change';
}

// TraceProcess is a timeline of the trace.
export interface TraceProcess {
  readonly rank: number;
  readonly name: string;
  readonly host: string;
}

// PictureAsk asks for what is to be drawn. A window that is null is not wanted;
// one without from and to is that of the whole trace, or what the other shows.
// Overview is its number of columns, 0 for none. Origin is the operation whose
// reach is marked, -1 for none.
export interface PictureAsk extends TraceAsk {
  readonly metric: string;
  readonly order: RowOrder;
  readonly origin: number;
  readonly logical: Window | null;
  readonly physical: Window | null;
  readonly overview: number;
  // Stacks asks for call stacks in the physical timeline. Where are the
  // samples to be marked there, null for none; it needs a linked run.
  readonly stacks: boolean;
  readonly where: string | null;
}

// PictureAnswer is the head of a picture; Took is in ms.
export interface PictureAnswer {
  readonly columns: readonly ColumnRef[];
  readonly took: number;
  readonly logical: TimelineAnswer | null;
  readonly physical: TimelineAnswer | null;
  readonly overview: TimelineOverview | null;
}

// TimelineAnswer is one of the two timelines. Either ops or cells is set; an
// operation or line that is none is 0xffffffff.
export interface TimelineAnswer {
  readonly window: Window;
  readonly rows: number; // of the order, in all
  readonly lines: readonly Line[];
  readonly ops: TimelineOps | null;
  readonly cells: TimelineCells | null;
  readonly messages: TimelineMessages | null;
  readonly flow: Column; // messages that arrive in each column, where there are too many to list
  readonly sent: number; // messages of the window
  readonly ribbon: Column; // of cells by steps: the partition of each column
  readonly stack: TimelineStack | null;
  readonly marks: TimelineMarks | null;
}

// TimelineStack are nested regions; depth 0 is the outermost.
export interface TimelineStack {
  readonly levels: number;
  readonly line: Column;
  readonly depth: Column;
  readonly region: Column;
  readonly enter: Column;
  readonly exit: Column;
}

// TimelineMarks count the samples of a selection, by line and column of the
// window. Cells without any are left out.
export interface TimelineMarks {
  readonly samples: number; // in the window
  // All are the samples of the selection, taken from First to Last, in ns
  // after the first event.
  readonly all: number;
  readonly first: number;
  readonly last: number;
  readonly line: Column;
  readonly at: Column;
  readonly count: Column;
}

// TimelineOps are operations. Times are in ns after the first event, values of
// the metric in ns. Bands are the pieces of partitions, four numbers each:
// line, partition, first step, number of steps.
export interface TimelineOps {
  readonly id: Column;
  readonly line: Column;
  readonly step: Column;
  readonly part: Column;
  readonly kind: Column;
  readonly name: Column;
  readonly value: Column;
  readonly before: Column;
  readonly began: Column;
  readonly enter: Column;
  readonly exit: Column;
  readonly reach: Column;
  readonly bands: Column;
}

// TimelineCells are pixels, line by line; most and mean are NaN where there is
// no operation.
export interface TimelineCells {
  readonly count: number; // columns of a line
  readonly most: Column;
  readonly mean: Column;
  readonly op: Column; // the operation of most
  readonly part: Column;
  readonly name: Column;
}

// TimelineMessages are the messages of a window.
export interface TimelineMessages {
  readonly from: Column;
  readonly to: Column;
  readonly fromLine: Column;
  readonly toLine: Column;
  readonly fromStep: Column;
  readonly toStep: Column;
  readonly fromExit: Column;
  readonly toExit: Column;
  readonly late: Column; // 1 for a message that made its receiver late
}

// TimelineOverview is the metric over all steps.
export interface TimelineOverview {
  readonly most: Column;
  readonly mean: Column;
  readonly op: Column;
}

// OperationAsk asks for all about an operation.
export interface OperationAsk extends TraceAsk {
  readonly op: number;
}

// SamplesAsk asks for the samples taken while something happened: an operation
// (-1 for none), and a stretch of time in ns after the first event.
export interface SamplesAsk extends TraceAsk {
  readonly op: number;
  readonly timeFrom: number;
  readonly timeTo: number;
}

// SamplesAnswer has the selections; call and before are null without an
// operation.
export interface SamplesAnswer {
  readonly call: SampleCount | null; // of the rank, in the call
  readonly before: SampleCount | null; // of the rank, in the computation before it
  readonly window: SampleCount; // of all ranks
}

// SampleCount is a selection and how many samples it has.
export interface SampleCount {
  readonly where: string;
  readonly samples: number;
}

// ReportAsk asks for the parts of the report that take time.
export interface ReportAsk extends TraceAsk {
  readonly profile: boolean;
  readonly critical: boolean;
  readonly clusters: boolean;
  readonly k: number; // clusters; 0: as many as the data says
}

// Colour stands for a group of references: a source line, a function whose
// lines are folded into it, an object, or an operation.
export interface Colour {
  readonly label: string;
  readonly file: string;
  readonly line: number;
  readonly function: string; // set where lines are folded into it
  readonly count: number; // references
  readonly in: string; // function of a line
}

// Structure is a function of the program that can be folded to one colour or
// opened to its lines.
export interface Structure {
  readonly label: string;
  readonly function: string;
  readonly file: string;
  readonly count: number; // references
  readonly lines: number;
  readonly folded: boolean;
  readonly own: boolean; // in a file of the user's
}

// Reference is one record of the trace.
export interface Reference {
  readonly record: number; // among those that are analysed
  readonly order: number; // in the whole trace
  readonly op: string;
  readonly address: string;
  readonly size: number;
  readonly pc: string;
  readonly function: string;
  readonly file: string;
  readonly line: number;
  readonly object: string;
  readonly offset: number; // into the object
}

// CyclesAsk says which analysis of a reference trace a question is about. Zero
// values are the defaults of `isobath cycles`; an empty symbol is chosen for
// the trace, and thread -1 is the busiest.
export interface CyclesAsk {
  readonly symbol: '' | 'pc' | 'line' | 'addr' | 'op+addr' | 'pc+addr' | 'cacheline' | 'object';
  readonly window: number;
  readonly cap: number;
  readonly every: number;
  readonly from: number; // records, half open; to 0 is the end
  readonly to: number;
  readonly folds: number; // innermost loops folded to one turn
  readonly thread: number;
}

// CyclesInfo describes the cycles of one thread of a reference trace.
export interface CyclesInfo {
  readonly records: number;
  readonly windows: number;
  readonly unique: number;
  readonly symbols: number;
  readonly symbol: string;
  readonly window: number;
  readonly cap: number;
  readonly thread: number;
  readonly threads: readonly CyclesThread[];
  readonly bars: readonly CyclesBars[];
  readonly classes: readonly CyclesClass[];
  readonly lines: readonly Colour[]; // every line, and functions of libraries
  readonly preamble: number;
  readonly postamble: number;
  readonly notes: readonly string[];
  readonly hasLines: boolean;
  readonly named: readonly CyclesNamed[];
}

// CyclesNamed is a structure with a name of its own: what the turns of a class
// are, under which settings. Class is -1 if this analysis does not have them.
export interface CyclesNamed {
  readonly name: string;
  readonly symbol: string;
  readonly window: number;
  readonly class: number;
}

// CyclesThread is a thread that can be chosen.
export interface CyclesThread {
  readonly id: number;
  readonly records: number;
}

// CyclesBars are the bars of one birth and death.
export interface CyclesBars {
  readonly birth: number;
  readonly death: number;
  readonly alive: boolean;
  readonly count: number;
}

// CyclesClass is one circle and the walk around it.
export interface CyclesClass {
  readonly birth: number;
  readonly death: number;
  readonly alive: boolean;
  readonly epsilon: number;
  readonly turns: number;
  readonly exact: boolean;
  readonly combination: boolean;
  readonly name: string; // role in the nest of loops
  readonly parent: number;
  readonly passes: number;
  readonly dual: number;
  readonly whole: number;
  readonly sentence: string;
  readonly place: string;
  readonly turnAt: number; // windows of the shortest turn
  readonly turnLength: number;
  readonly residual: number;
  readonly lines: readonly CyclesLine[];
}

// CyclesLine is a line's share of a turn.
export interface CyclesLine {
  readonly file: string;
  readonly line: number;
  readonly share: number;
}

// ClassAsk asks for a class in colours, or for the morph from it to another:
// part 0 is the one, 1 the other.
export interface ClassAsk extends CyclesAsk {
  readonly class: number;
  readonly other: number; // -1 for none
  readonly part: number;
  readonly epsilon: number; // 0: where the class was found
  readonly colour: '' | 'line' | 'function' | 'object' | 'op';
  readonly toggled: readonly string[]; // functions that are folded or opened by hand
}

// SpiralAsk asks for the drawing of a class. Windows from First to Last-1 are
// drawn; Last 0 is the end. Radii and Angles are the pixels there are, Columns
// those of the strip.
export interface SpiralAsk extends ClassAsk {
  readonly first: number;
  readonly last: number;
  readonly radii: number;
  readonly angles: number;
  readonly columns: number;
}

// SectorAsk asks for a part of a drawing in more detail: windows from First to
// Last-1 at angles from From on, over Span turns.
export interface SectorAsk extends ClassAsk {
  readonly first: number;
  readonly last: number;
  readonly from: number;
  readonly span: number;
  readonly radii: number;
  readonly angles: number;
}

// Walked is the windows of a drawing one by one, if they can be told apart;
// otherwise polar is set.
export interface Walked {
  readonly first: number;
  readonly last: number;
  readonly whole: boolean;
  readonly lift: Column;
  readonly otherLift: Column; // of the class to morph to
  readonly colour: Column;
  readonly point: Column;
  readonly polar: SpiralPolar | null;
}

// SectorAnswer is a part of a drawing.
export interface SectorAnswer extends Walked {
  readonly columns: readonly ColumnRef[];
  readonly took: number;
}

// SpiralAnswer is a drawing.
export interface SpiralAnswer extends Walked {
  readonly columns: readonly ColumnRef[];
  readonly took: number;
  readonly turns: Column; // windows at which turns begin
  readonly every: number; // turns between two of them
  readonly passes: Column;
  readonly byPass: readonly number[]; // turns in each pass; empty if they cannot be counted
  readonly teeth: boolean;
  readonly strips: readonly SpiralStrip[]; // of the class and the others with turns
  readonly ribbon: Column;
  readonly ring: Column; // windows in the loop by angle
  readonly ringColour: Column; // and their most frequent colour
  readonly colours: readonly Colour[];
  readonly groups: readonly Colour[]; // all, those without a colour too
  readonly structures: readonly Structure[];
}

// SpiralPolar are pixels of radius and angle: colours, 0xffff for none. Angles
// begin at From and span Span turns.
export interface SpiralPolar {
  readonly from: number;
  readonly span: number;
  readonly radii: number;
  readonly angles: number;
  readonly colour: Column;
}

// SpiralStrip is the lift of a class over the whole trace.
export interface SpiralStrip {
  readonly class: number;
  readonly low: Column;
  readonly high: Column;
}

// ReferencesAsk asks for records of the trace.
export interface ReferencesAsk extends CyclesAsk {
  readonly first: number;
  readonly last: number;
}

// ProjectionAsk asks for the cloud of points in the plane.
export interface ProjectionAsk extends ClassAsk {
  readonly method: 'isomap' | 'mds';
}

// ProjectionAnswer is the cloud: a place, the coordinate of the class in turns
// and the number of visits for every distinct window.
export interface ProjectionAnswer {
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly theta: readonly number[];
  readonly visits: readonly number[];
  readonly colour: readonly number[];
  readonly edges: readonly (readonly number[])[]; // steps of the trace: from, to, how often
  readonly note: string;
}

// Mode says which iterations a field takes.
export type Mode = 'all' | 'upto' | 'only';

// Counts says what became of the selected samples. Selected is the sum of the
// others.
export interface Counts {
  readonly selected: number;
  readonly used: number;
  readonly no_cell: number;
  readonly out_of_range: number;
  readonly no_iteration: number;
  readonly no_level: number;
}

// Correlation relates a performance field to a variable of the simulation over
// the cells that have both. The p-values come from permutations, which treat
// cells as independent; neighbours are alike, so they are optimistic.
export interface Correlation {
  readonly cells: number; // cells used
  readonly min_samples: number;
  readonly pearson: number;
  readonly spearman: number;
  readonly spearman_p: number;
  readonly mutual_information: number; // bits
  readonly mutual_information_p: number;
  readonly permutations: number; // 0: the p-values are not computed and 1
}

// CategoryStats is the spread of the performance field in one category, such
// as a material, a region or a refinement level.
export interface CategoryStats {
  readonly value: number;
  readonly cells: number;
  readonly p10: number;
  readonly median: number;
  readonly p90: number;
  readonly correlation?: Correlation;
}

// Density counts pairs in a grid of bins: Counts[y*NX+x], x the performance
// field. Axes are logarithmic when both ranges exceed 30 : 1.
export interface Density {
  readonly x: readonly number[]; // NX+1 edges
  readonly y: readonly number[];
  readonly log: boolean;
  readonly counts: readonly number[];
}

// MeshAsk asks about one dump of a mesh.
export interface MeshAsk {
  readonly step: number; // -1 for the last
}

// MeshInfo describes a mesh and one of its dumps.
export interface MeshInfo {
  readonly name: string;
  readonly format: string;
  readonly step: number;
  readonly steps: readonly MeshStep[];
  readonly cells: number;
  readonly points: number;
  readonly levels: number; // of refinement; 1 for other meshes
  readonly parts: readonly MeshPart[];
  readonly low: readonly number[]; // corner of the bounds
  readonly high: readonly number[];
  readonly flat: boolean; // no cell is solid: nothing to slice
  readonly values: readonly MeshVariable[];
  // Fields are the performance fields that are offered; empty without
  // samples. Any other COLUMN_AGGREGATE can be asked for too.
  readonly fields: readonly string[];
  readonly samples: number;
  readonly placing: readonly string[]; // columns that decide a sample's cell
  // Iterations are the samples by iteration; null if they have none.
  readonly iterations: MeshIterations | null;
  readonly notes: readonly string[];
}

// MeshStep is one dump. From says where its iteration comes from.
export interface MeshStep {
  readonly iteration: number;
  readonly from: 'file' | 'name' | 'ordinal';
  readonly time: number | null;
}

// MeshPart is a block or a refinement level.
export interface MeshPart {
  readonly name: string;
  readonly domain: number;
  readonly level: number;
  readonly first: number;
  readonly cells: number;
  readonly dims: readonly number[]; // cells per axis; empty if they are not in rows
}

// MeshVariable is a variable of the simulation. Its range is that of cells.
export interface MeshVariable {
  readonly name: string;
  readonly min: number | null;
  readonly max: number | null;
  readonly few: boolean; // whole numbers, few of them: categories
}

// MeshIterations counts samples in equal ranges of iterations.
export interface MeshIterations {
  readonly column: string;
  readonly low: number;
  readonly high: number;
  readonly counts: readonly number[];
}

// MeshFieldAsk asks for a number per cell: a performance field of the selected
// samples, or a variable of the simulation if one is named.
export interface MeshFieldAsk {
  readonly step: number;
  readonly field: string;
  readonly variable: string;
  readonly mode: Mode;
  readonly where: string;
  readonly filter: string;
  // Picked is a selection whose cells are listed besides; empty for none.
  readonly picked: string;
}

// MeshFieldAnswer is a field: of all cells, or of those of a picture, and then
// Picked are places in its list of cells. Cells without a value are NaN.
export interface MeshFieldAnswer {
  readonly columns: readonly ColumnRef[]; // empty in a picture, which has its own
  readonly took: number;
  readonly name: string;
  readonly unit: string;
  readonly provenance: string;
  readonly values: Column;
  readonly samples: Column; // of each cell; empty for variables
  readonly picked: Column; // cells
  readonly min: number | null;
  readonly max: number | null;
  readonly sum: number;
  readonly covered: number;
  readonly counts: Counts | null; // null for variables
  // PickedCells counts all picked cells, also those that are not drawn.
  readonly picked_cells: number;
}

// MeshGeometryAsk asks for what is drawn of a dump: its surface, a slice across
// an axis at a part of the bounds, or the surface of the cells whose value lies
// between low and high.
export interface MeshGeometryAsk {
  readonly step: number;
  readonly view: 'surface' | 'slice' | 'threshold';
  readonly axis: number;
  readonly at: number;
  readonly level: number; // of refinement; -1 for all
  readonly by?: MeshFieldAsk;
  readonly low: number;
  readonly high: number;
}

// MeshPictureAsk asks for what is drawn: a geometry and the fields on it. The
// step is that of the geometry.
export interface MeshPictureAsk {
  readonly geometry: MeshGeometryAsk;
  readonly have: string; // key of the geometry that the page has
  readonly performance?: MeshFieldAsk;
  readonly physics?: MeshFieldAsk;
}

// MeshPicture is the answer; geometry is null if the page has it.
export interface MeshPicture {
  readonly columns: readonly ColumnRef[];
  readonly took: number;
  readonly key: string; // of the geometry
  readonly geometry: MeshGeometry | null;
  readonly performance: MeshFieldAnswer | null;
  readonly physics: MeshFieldAnswer | null;
}

// MeshGeometry are triangles that know their cell, and lines.
export interface MeshGeometry {
  readonly took: number;
  readonly positions: Column; // x, y, z of each vertex
  readonly triangles: Column; // three vertices each
  readonly of: Column; // each triangle's place in cells
  readonly cells: Column; // that are drawn, rising
  readonly edges: Column; // two vertices each
  readonly features: Column;
  readonly polygons: number;
  readonly kept: number; // cells that pass threshold and level
}

// MeshSummaryAsk asks what there is to say in numbers about the fields of a
// picture. Picked is the selection whose cells are described besides.
export interface MeshSummaryAsk {
  readonly performance?: MeshSummedAsk;
  readonly physics?: MeshSummedAsk;
  readonly relate?: MeshRelateAsk;
  readonly picked: string;
  readonly filter: string;
}

// MeshSummedAsk is a field and the scale on which its cells are counted.
export interface MeshSummedAsk extends MeshFieldAsk {
  readonly low: number;
  readonly high: number;
  readonly log: boolean;
  readonly parts: number;
}

// MeshSummary is the answer; what was not asked for is null.
export interface MeshSummary {
  readonly performance: MeshSummed | null;
  readonly physics: MeshSummed | null;
  readonly relation: MeshRelation | null;
}

// MeshSummed describes a field.
export interface MeshSummed {
  readonly histogram: readonly number[]; // cells in equal parts of the scale
  readonly all: MeshStats;
  readonly picked: MeshStats | null;
  readonly highest: readonly MeshValue[];
  readonly marks: readonly number[]; // values of selected cells, some of them if there are many
}

// MeshStats are order statistics over cells that have a value.
export interface MeshStats {
  readonly cells: number;
  readonly valued: number;
  readonly samples: number;
  readonly min: number | null;
  readonly median: number | null;
  readonly p90: number | null;
  readonly max: number | null;
}

// MeshValue is the value of a cell.
export interface MeshValue {
  readonly cell: number;
  readonly value: number;
}

// MeshCellsAsk asks which cells of a geometry have samples of a selection.
export interface MeshCellsAsk {
  readonly geometry: MeshGeometryAsk;
  readonly where: string;
  readonly filter: string;
}

// MeshCells is the answer: how many there are, and the places of those that are
// drawn.
export interface MeshCells {
  readonly cells: number;
  readonly drawn: readonly number[];
}

// MeshBrushAsk asks for the cells in a rectangle of the plot of a relation, ends
// included, or for those of a category.
export interface MeshBrushAsk extends MeshRelateAsk {
  readonly category?: number; // value of by; takes the place of the ends
  readonly low: number; // of the performance field
  readonly high: number;
  readonly against_low: number;
  readonly against_high: number;
}

// MeshBrush is the selection of their samples; empty if there are no cells.
export interface MeshBrush {
  readonly cells: number;
  readonly where: string;
}

// MeshCellAsk asks for the samples of a cell.
export interface MeshCellAsk {
  readonly step: number;
  readonly cell: number;
}

// MeshCell is a cell: where it is, and which selection has its samples.
export interface MeshCell {
  readonly cell: number;
  readonly part: string;
  readonly index: readonly number[]; // in its part; empty if cells are not in rows
  readonly where: string; // empty without samples
  readonly samples: number;
}

// MeshRelateAsk asks how a performance field and a variable go together, and
// how the field spreads over the values of another one.
export interface MeshRelateAsk extends MeshFieldAsk {
  readonly against: string;
  readonly by: string;
  readonly bins: number;
  readonly least: number; // samples a cell must have
  // Permute asks for p-values too, which take a while.
  readonly permute: boolean;
}

// MeshRelation is the answer: what could not be computed is null and problem
// says why.
export interface MeshRelation {
  readonly correlation: Correlation | null;
  readonly density: Density | null;
  readonly categories: readonly CategoryStats[];
  // Picked are x and y of selected cells, some of them if there are many.
  readonly picked: readonly MeshPoint[];
  readonly problem: string;
}

// MeshPoint is a place in the plot of a relation; y is the performance field.
export interface MeshPoint {
  readonly x: number;
  readonly y: number;
}

// MeshAttach puts a mesh under the samples of this run: that of another run, or
// dumps on the server's machine.
export interface MeshAttach {
  readonly mesh: string; // run that has it
  readonly paths: readonly string[]; // files, patterns or folders
}

// MeshLink is where viewers connect to, and the file that tells them so.
export interface MeshLink {
  readonly address: string;
  readonly file: string;
}

// MeshSelect is what a page has selected, for viewers and other pages.
export interface MeshSelect {
  readonly where: string;
  readonly filter: string;
  readonly origin: string; // name of the page, so that it knows its own changes
}

// MeshViewers is who is connected, and the selection that all share.
export interface MeshViewers {
  readonly viewers: readonly string[]; // programs
  readonly where: string;
  readonly rev: number;
  readonly origin: string; // who made the selection
}

// Action is what a suggestion does.
export type Action = 'select' | 'show' | 'hide' | 'correlate' | 'view' | 'color' | 'bins' | 'undo' | 'redo' | 'invert' | 'filter' | 'exclude' | 'export' | 'help' | 'open' | 'save' | 'link' | 'theme' | 'columns' | 'arrange';

// Suggestion is one thing to do.
export interface Suggestion {
  readonly text: string; // the command in full, as it could be typed
  readonly action: Action; // see Action
  readonly where: string; // what is selected, in the selection language; empty: everything, or nothing is selected
  readonly axes: readonly string[]; // the columns it is about
  readonly score: number; // 0 to 1
  readonly does: string; // a sentence of what will happen
  // Target is what a page action is about: a view, a metric, a number of
  // bins, a file format.
  readonly target?: string;
  // Selects says that running it changes the selection to Where.
  readonly selects: boolean;
  // Samples is how many samples Where selects; nil if it selects nothing or
  // they are not counted yet.
  readonly samples: number | null;
  // Missing says why the data cannot answer; such a suggestion does nothing.
  readonly missing?: string;
}

// Sharing says in which way a line is shared.
export type Sharing = 'private' | 'read only' | 'true' | 'false' | 'undecided';

// CacheLine is one cache line. Numbers count samples, not accesses.
export interface CacheLine {
  readonly addr: string; // of its first byte, as 0x…
  readonly pid: number | null; // null where addresses are physical or of one process
  readonly samples: number;
  readonly loads: number;
  readonly stores: number;
  readonly hitm: number; // loads that found the line modified elsewhere
  readonly remote: number; // served by another node
  readonly valued: number; // samples that have a latency
  readonly latency: number;
  // Contended counts the samples of all threads but the busiest one, if
  // several use the line and one of them writes.
  readonly contended: number;
  readonly cpus: readonly number[];
  readonly readers: readonly number[]; // threads
  readonly writers: readonly number[];
  readonly sharing: Sharing;
  readonly symbols: readonly string[];
  readonly offsets: readonly LineOffset[];
}

// LineOffset is the samples at one place in a line.
export interface LineOffset {
  readonly offset: number;
  readonly width: number; // 0 if not known
  readonly samples: number;
  readonly loads: number;
  readonly stores: number;
  readonly hitm: number;
  readonly threads: readonly number[];
  readonly symbol?: string;
  readonly field?: string;
  readonly places: readonly string[]; // file:line of the code, most samples first
}

// CacheLines is the lines of a selection, the most contended first.
export interface CacheLines {
  readonly line_bytes: number;
  readonly physical: boolean; // addresses are physical
  readonly samples: number; // with an address
  readonly line_count: number;
  readonly shared: number; // lines that several threads use
  readonly hitm: number;
  readonly has_snoop: boolean; // HITM was recorded
  readonly has_op: boolean; // loads and stores are told apart
  readonly lines: readonly CacheLine[];
}

// Spread is the distribution of one group.
export interface Spread {
  readonly key: readonly string[]; // one text a column; empty where a row has no value
  readonly samples: number;
  readonly levels: readonly LevelCount[]; // most samples first; none if none was recorded
  readonly latency: Latencies | null; // null where no sample has one
}

// LevelCount is the samples with one name. Without a name none was recorded.
export interface LevelCount {
  readonly name: string;
  readonly samples: number;
}

// Latencies is a distribution. Quantiles are values of samples, never between
// two.
export interface Latencies {
  readonly samples: number;
  readonly sum: number;
  readonly min: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
  // Bins[k] counts latencies from 2^(k-1) up to but not including 2^k; the
  // first counts those below 1.
  readonly bins: readonly number[];
}

// Calls is what calls a function and what it calls, counted in samples. A
// function that is on a stack twice counts once.
export interface Calls {
  readonly function: string;
  // Total counts the samples in the function or in what it calls, Self those
  // in itself.
  readonly total: number;
  readonly self: number;
  readonly callers: readonly Call[];
  readonly callees: readonly Call[];
}

// Call is one of them. Function is empty at the bottom of the stack.
export interface Call {
  readonly function: string;
  readonly samples: number;
  readonly latency: number;
}

// Gap is a stretch of time, or several close to each other.
export interface Gap {
  readonly kind: string; // lost, throttled, trace cut, multiplexed
  readonly from: number; // on the time axis of the samples
  readonly to: number;
  // Times is how often it happened; of a shared counter, how many samples say so.
  readonly times: number;
  // Records is how many were lost; 0 where that is not known.
  readonly records: number;
  readonly cpus: readonly number[]; // none if not said
  // Counting is the least share of the time in which a shared counter ran.
  readonly counting: number;
}

// Touched is how the pages of one data object came into memory.
export interface Touched {
  readonly symbol: string;
  readonly pages: number;
  // Nodes and Threads count its pages by who touched them first.
  readonly nodes: readonly PageCount[];
  readonly threads: readonly PageCount[];
  // Samples are accesses to the object; Known those whose page was seen to
  // be touched, and Away those of them on another node than its page.
  readonly samples: number;
  readonly known: number;
  readonly away: number;
}

// PageCount is a number of pages.
export interface PageCount {
  readonly id: number;
  readonly pages: number;
}

// AskLines asks for the cache lines of a selection, most contended first:
// POST runs/{id}/cachelines.
export interface AskLines {
  readonly filter?: string;
  readonly where?: string;
  readonly top?: number;
}

// AskSpread asks how groups spread over levels and latencies: POST
// runs/{id}/spread, answered by Spreads.
export interface AskSpread {
  readonly filter?: string;
  readonly where?: string;
  readonly by: readonly string[];
  readonly top?: number;
}

// Spreads is the answer to AskSpread. Provenance is that of the latencies.
export interface Spreads {
  readonly by: readonly string[];
  readonly unit: string;
  readonly provenance: string;
  readonly groups: readonly Spread[];
}

// AskCalls asks who calls a function and what it calls: POST runs/{id}/calls.
// Without a function it is the one with the most samples of its own.
export interface AskCalls {
  readonly filter?: string;
  readonly where?: string;
  readonly function?: string;
}

// AskAssembly asks for the machine code around a source line: POST
// runs/{id}/assembly.
export interface AskAssembly {
  readonly filter?: string;
  readonly where?: string;
  readonly file: string;
  readonly line: number;
  readonly function?: string; // of those that the line is in
}

// ObjectNames is the sentences that say what objects are: GET and PUT
// runs/{id}/names.
export interface ObjectNames {
  readonly text: string;
  // Saved is false where they cannot be kept.
  readonly saved: boolean;
}

// Gaps is the answer to GET runs/{id}/gaps: when samples are missing or stand
// for more than they count, in order of time.
export interface Gaps {
  readonly gaps: readonly Gap[];
}

// Touches is the answer to GET runs/{id}/touches: who touched the pages of each
// data object first, those with most pages first. Of the whole run, whatever is
// selected.
export interface Touches {
  readonly pages: number;
  readonly objects: readonly Touched[];
}

// Assembly is the code of one function. Functions are all that the line is in:
// it may have been inlined into several. Partial says that only sampled
// instructions are known, because the program was not at hand at import.
export interface Assembly {
  readonly function: string;
  readonly functions: readonly string[];
  readonly module: string;
  readonly partial: boolean;
  readonly instructions: readonly Instruction[];
}

// Instruction is one line of assembly. Samples and Latency are of the
// selection.
export interface Instruction {
  readonly addr: string;
  readonly text: string;
  readonly file: string;
  readonly line: number; // 0 if not known
  readonly samples: number;
  readonly latency: number;
}

// Candidate is a column of a foreign file.
export interface Candidate {
  readonly name: string;
  readonly values: readonly string[]; // a few different ones, in order of appearance
  // ReadAs is the canonical column it is taken for without being told; empty
  // if it keeps its own name.
  readonly readAs: string;
}
