// Made from the Go types of the messages by
// `go test ./internal/app/server -run WireTypes -update`. Do not edit.
import type { Column, ColumnRef } from './frame';

// Report is what `isobath steps --json` prints. Times are nanoseconds.
export interface Report {
  readonly processes: number;
  readonly events: number;
  readonly operations: number;
  readonly messages: number;
  readonly signals?: number; // of epochs, locks and neighbours; not among the messages
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
  readonly also_slow: number; // of all but compute: after a computation that took longer than usual too
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

// OpColumn is a column that a caller adds to the operation list, such as what a
// replay found: nanoseconds, and whether they are known.
export interface OpColumn {
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

// Ranking is what the causes and a change add to the report of a trace. Times
// are nanoseconds, shares fractions; everything but the recorded run is modelled.
export interface Ranking {
  readonly run: RankedRun | null;
  readonly coverage: Coverage;
  readonly gains: readonly ReportGain[];
  readonly then: readonly ReportThen[];
  readonly closing?: ReportClosing;
  readonly whatif?: ReportWhatIf;
}

// RankedRun is the recorded run as the replay sees it.
export interface RankedRun {
  readonly span_ns: number;
  readonly undisturbed_ns: number; // 0 for traces of over a million calls
  readonly waiting_ns: number;
  readonly idle_ns: number;
  readonly eager_bytes: number; // -1 if nothing tells
  readonly rendezvous_bytes: number; // the same
  readonly replay_difference_ns: number;
  readonly efficiency: Efficiency;
  readonly inferred: Inferred;
  readonly replays: number;
  readonly text: string;
  // Ready is what processes waited for a processor, which the span is without;
  // null if the recording does not say, or none waited.
  readonly ready: ReportReady | null;
  // Slack is null where tasks may change hands, or nothing computes.
  readonly slack: ReportSlack | null;
}

// ReportAmount is what the members of an entry took beyond the usual.
export interface ReportAmount {
  readonly sum_ns: number;
  readonly median_ns: number;
  readonly p90_ns: number;
  readonly max_ns: number;
  readonly on_path_ns: number;
}

// ReportEvidence is what an entry rests on: the largest of its computations (or
// calls, or messages), and what is usual for it.
export interface ReportEvidence {
  readonly took_ns: number;
  readonly usual_ns: number;
  readonly compared_to: string;
  readonly ready_ns: number; // what a computation besides waited for a processor
}

// ReportInstance is one member of an entry; Op is None if no operation belongs to
// its call.
export interface ReportInstance {
  readonly process: number;
  readonly op: number;
  readonly step: number;
  readonly time: number; // enter of the call, after the trace's origin
  readonly amount_ns: number;
  readonly took_ns: number;
  readonly ready_ns: number; // what a computation besides waited for a processor
  // Slack is how much later a computation could end without delaying the run;
  // null for calls and messages, and where it is unknown.
  readonly slack_ns: number | null;
}

// ReportLimit names an entry in short, in words that no other entry of the report
// has.
export interface ReportLimit {
  readonly rank: number;
  readonly kind: string;
  readonly operation?: string;
  readonly region?: string; // the function around the call
  readonly file?: string;
  readonly line?: number;
  readonly processes: readonly number[];
  readonly text: string;
}

// ReportGain is an entry of the ranking.
export interface ReportGain {
  readonly rank: number;
  readonly kind: string;
  readonly class: string;
  readonly operation?: string;
  readonly region?: string; // the function around the call, in short
  readonly name?: string; // and in full
  readonly file?: string;
  readonly line?: number;
  readonly processes: readonly number[];
  readonly count: number;
  readonly steps?: readonly number[]; // first and last
  readonly ops: readonly number[];
  readonly amount: ReportAmount;
  readonly evidence: ReportEvidence;
  readonly instances: readonly ReportInstance[];
  readonly gain_ns: number;
  readonly gain: number;
  readonly replayed: boolean;
  readonly undisturbed_gain_ns: number;
  readonly gains_after?: readonly number[]; // entries that must be gone before this one gains
  readonly waiting_ns: number;
  readonly waiting: number;
  readonly ranks_waiting_less: number;
  readonly limited_by?: ReportLimit;
  readonly provenance: string;
  readonly text: string;
}

// ReportThen is the run after the first entries are gone.
export interface ReportThen {
  readonly remove: readonly number[];
  readonly span_ns: number;
  readonly gain: number;
  readonly waiting: number;
  readonly next?: ReportLimit;
  readonly text: string; // which are gone: by their number if they are listed
}

// ReportClosing is how long the last collective took to let everyone go.
export interface ReportClosing {
  readonly operation: string;
  readonly processes: number;
  readonly max_ns: number;
  readonly sum_ns: number;
  readonly text: string;
}

// ReportWhatIf compares the recorded run, without the time that processes waited
// for a processor, with a changed one.
export interface ReportWhatIf {
  readonly changes: readonly string[];
  readonly span_ns: number;
  readonly recorded_ns: number;
  readonly gain_ns: number;
  readonly gain: number;
  readonly low_ns: number;
  readonly high_ns: number;
  readonly undisturbed_ns: number;
  readonly waiting_ns: number;
  readonly recorded_waiting_ns: number;
  readonly processes: readonly ReportProcess[];
  readonly order_changes: number;
  readonly assumptions: readonly string[];
  readonly provenance: string;
  readonly gains: readonly ReportGain[];
  readonly text: string;
}

// ReportProcess is a process in the changed run. End is after the trace's
// origin.
export interface ReportProcess {
  readonly process: number;
  readonly end_ns: number;
  readonly recorded_end_ns: number;
  readonly waiting_ns: number;
  readonly recorded_waiting_ns: number;
}

// Coverage says how much of the time in MPI the answers rest on.
export interface Coverage {
  readonly mpi_ns: number;
  readonly analysed_ns: number;
  readonly share: number;
  readonly missing: readonly Missing[];
  readonly locations: number; // of the trace
  readonly not_analysed: number; // locations without a row: threads, streams, devices
  // Threads have a row besides the first of their rank. What they wait for from
  // each other, such as a join, is in no record.
  readonly threads: number;
  // Unrecorded are calls of threads that the recorder left out.
  readonly unrecorded_calls: number;
  readonly clocks: Clocks;
  readonly low: boolean; // say it before anything else
  readonly text: string;
}

// Missing is time in MPI of which is not known what it was spent waiting for.
export interface Missing {
  readonly what: string;
  readonly calls: number;
  readonly time_ns: number;
  readonly why: string;
}

// ReportSlack is how tight a run is: how much later computations could end
// without delaying it, each alone.
export interface ReportSlack {
  readonly computations: number;
  readonly none: number; // on the critical path: any delay of them delays the run
  readonly median_ns: number;
  readonly near: number; // share of the time in computation with less slack than
  readonly near_ns: number; // a hundredth of the run
  readonly text: string;
}

// ReportReady is how long processes waited for a processor while others had them:
// other programs, or more ranks than there are processors. Measured by the kernel.
export interface ReportReady {
  readonly sum_ns: number;
  readonly times: number; // in so many computations and calls
  readonly max_ns: number;
  readonly processes: number;
  readonly most: number; // the process that waited longest in all
  readonly most_ns: number;
  // Recorded is how long the run took; without the waiting it would have taken
  // the span that gains are compared with.
  readonly recorded_ns: number;
  readonly text: string;
}

// Clocks says how well the clocks of the processes agree.
export interface Clocks {
  readonly checked: number; // messages and collectives between processes
  readonly violations: number; // that end before what they wait for
  readonly largest_ns: number; // by how much at most
  // Within is by how much no clock can differ from those it exchanges messages
  // with unseen: one that differs by more ends a message before its beginning.
  // Unchecked processes have no messages in one of the two directions.
  readonly within_ns: number;
  readonly unchecked: number;
  readonly repaired: boolean;
  readonly moved_ns: number; // the largest change of a time by the repair
}

// Inferred counts dependencies that no record names.
export interface Inferred {
  readonly rendezvous: number;
  readonly progress: number;
  readonly tree: number;
  readonly probe: number;
  readonly polls: number;
  readonly fences: number;
  readonly communicators: number;
  readonly epochs: number;
}

// Efficiency divides what a run loses: by processes that have less to do than
// others, by waiting for each other's order, by transfers. The product is the
// share of the run that is computation.
export interface Efficiency {
  readonly parallel: number;
  readonly load_balance: number;
  readonly serialisation: number;
  readonly transfer: number;
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
  // Group is what the row has in common with its neighbours in an order by
  // groups: the name of a host or of a communicator.
  readonly group: string;
  // Thread is 0 for a process; for one of its threads, streams or devices that
  // take no part in messages, the number of it among all of them, from 1 on.
  readonly thread: number;
  // Name is that of the thread, also of one that takes part in messages besides
  // the first of its rank.
  readonly name: string;
}

// RowOrder says how rows are made: "rank", "cluster" with the clusters of Open
// expanded, "neighbours" of a process, ranks grouped by "host" or by
// "communicator" (the first one that does not hold everybody), or "thread":
// ranks, each followed by its threads and streams.
export interface RowOrder {
  readonly by: 'rank' | 'cluster' | 'neighbours' | 'host' | 'communicator' | 'thread';
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
  readonly last: number; // rank of the last of them
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
  // Slack is how much later the computation before it could end without delaying
  // the run, in ns; null where that is not known.
  readonly slack: number | null;
  // Other is its partner in the run that is compared with; null if there is
  // none.
  readonly other: Counterpart | null;
}

// Counterpart is the same operation in another run; Compute is how long the
// computation before it took, in ns.
export interface Counterpart extends Place {
  readonly compute: number;
}

// Finder is what a text such as "rank 20 MPI_Waitall late > 10ms" means: every
// part must hold.
export interface Finder {
}

// FoundOperation is what a search found: how many operations, and which of them is next.
export interface FoundOperation {
  readonly text: string; // as it was understood
  readonly count: number; // operations in all
  readonly at: number; // number of the one that is next, from 1 on; 0 if there is none
  readonly place: Place | null; // the next; null if there is none
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
  readonly threads: number; // threads, streams and devices that take no part in messages
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
  // Changes ask for the changed run in the same windows, as
  // `isobath steps --whatif` takes them.
  readonly changes: readonly string[];
}

// PictureAnswer is the head of a picture; Took is in ms.
export interface PictureAnswer {
  readonly columns: readonly ColumnRef[];
  readonly took: number;
  readonly logical: TimelineAnswer | null;
  readonly physical: TimelineAnswer | null;
  readonly overview: TimelineOverview | null;
  readonly ghost: GhostAnswer | null;
}

// GhostAnswer is the run with changes, in the windows of the recorded one. Its
// lines are the same; lateness is that of the changed run.
export interface GhostAnswer {
  readonly logical: TimelineAnswer | null;
  readonly physical: TimelineAnswer | null;
  // Recorded and Span are how long the two runs take, in ns after the first
  // event.
  readonly recorded: number;
  readonly span: number;
}

// TimelineAnswer is one of the two timelines. Either ops or cells is set; an
// operation or line that is none is 0xffffffff.
export interface TimelineAnswer {
  readonly window: Window;
  readonly rows: number; // of the order, in all
  readonly lines: readonly Line[];
  readonly lineOf: Column; // by process
  readonly ops: TimelineOps | null;
  readonly cells: TimelineCells | null;
  readonly messages: TimelineMessages | null;
  readonly flow: Column; // messages that arrive in each column, where there are too many to list
  readonly sent: number; // messages of the window
  readonly ribbon: Column; // of cells by steps: the partition of each column
  readonly stack: TimelineStack | null;
  readonly marks: TimelineMarks | null;
  readonly others: TimelineOthers | null;
  readonly track: Column; // of a recorded measure, line by line; empty without one
}

// TimelineOthers are calls that are no operations.
export interface TimelineOthers {
  readonly line: Column;
  readonly name: Column;
  readonly enter: Column;
  readonly exit: Column;
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
// (-1 for none), and a stretch of time in ns after the first event; and for those
// of a source file, whenever they were taken.
export interface SamplesAsk extends TraceAsk {
  readonly op: number;
  readonly timeFrom: number;
  readonly timeTo: number;
  readonly file: string; // empty for none
}

// SamplesAnswer has the selections; call and before are null without an
// operation.
export interface SamplesAnswer {
  readonly call: SampleCount | null; // of the rank, in the call
  readonly before: SampleCount | null; // of the rank, in the computation before it
  readonly window: SampleCount; // of all ranks
  readonly lines: readonly LineCount[]; // of the file
}

// LineCount is a line of a source file and its samples.
export interface LineCount extends SampleCount {
  readonly line: number;
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

// GainsAsk asks for the causes ranked by what removing them gains, and for the
// run with changes, as `isobath steps --whatif` takes them.
export interface GainsAsk extends TraceAsk {
  readonly top: number; // 0 for as many as the page lists
  readonly changes: readonly string[];
}

// GainsAnswer is the ranking, and in it the run with the changes. Refused says
// why a change cannot be made, as people write them; empty if all can.
export interface GainsAnswer {
  readonly ranking: Ranking;
  readonly refused: string;
}

// FindAsk looks for operations by a text such as "rank 20", "MPI_Waitall" or
// "late > 10ms": the next one after From in time (-1 for the first), or the one
// before it.
export interface FindAsk extends TraceAsk {
  readonly text: string;
  readonly from: number;
  readonly back: boolean;
}

// FindAnswer is what was found; Refused says why the text means nothing here.
export interface FindAnswer {
  readonly found: FoundOperation | null;
  readonly refused: string;
}

// TraceWindowAsk asks for the numbers of a stretch of time, in ns after the first
// event.
export interface TraceWindowAsk extends TraceAsk {
  readonly timeFrom: number;
  readonly timeTo: number;
}

// TraceWindow is how all processes together spent a window, in ns: functions, calls
// of MPI, messages that were sent by size, and waiting by what was waited for.
export interface TraceWindow {
  readonly computing: number;
  readonly mpi: number;
  readonly calls: readonly WindowCall[];
  // Functions are those of the program, by themselves; null where there are more
  // processes than are looked into.
  readonly functions: WindowCall[] | null;
  readonly sizes: readonly WindowSize[];
  readonly lateSender: WindowWait;
  readonly lateReceiver: WindowWait;
  readonly collective: WindowWait;
}

// WindowCall is a call of MPI or a function in a window.
export interface WindowCall {
  readonly name: string;
  readonly calls: number;
  readonly time: number;
}

// WindowSize counts messages of from to to-1 bytes.
export interface WindowSize {
  readonly from: number;
  readonly to: number;
  readonly messages: number;
  readonly bytes: number;
}

// WindowWait is waiting of one pattern.
export interface WindowWait {
  readonly operations: number;
  readonly time: number;
}
