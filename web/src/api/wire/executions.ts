// Made from the Go types of the messages by
// `go test ./internal/app/server -run WireTypes -update`. Do not edit.

// TrialAnswer is a trial of two commands: what it found, and every pair.
export interface TrialAnswer {
  readonly sentence: string;
  readonly noise: string; // in words; empty if not known
  readonly hints: readonly string[];
  readonly metric: string; // the lane that decides
  readonly stopped: string;
  readonly seed: number;
  readonly most: number; // pairs
  readonly a: readonly string[]; // command
  readonly b: readonly string[];
  readonly lanes: readonly TrialLane[];
  readonly bounds: readonly TrialLook[]; // every look that was planned, as far as it was taken
  readonly values: readonly TrialPair[];
}

// TrialLane is one measured quantity. Change, Low and High are fractions.
export interface TrialLane {
  readonly lane: string;
  readonly provenance: string;
  readonly a: string;
  readonly b: string;
  readonly change: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly verdict: string;
}

// TrialLook is one look at the pairs so far. Only of a look that was taken is
// more known than its bound.
export interface TrialLook {
  readonly pairs: number;
  readonly bound: number;
  readonly taken: boolean;
  readonly score: number;
  readonly change: number;
  readonly low: number;
  readonly high: number;
  readonly verdict: string;
}

// TrialPair is one pair: seconds of the lane that decides, and the score of all
// pairs up to it.
export interface TrialPair {
  readonly first: 'a' | 'b';
  readonly a: number;
  readonly b: number;
  readonly wallA: number;
  readonly wallB: number;
  readonly score: number;
  // PathA and PathB are the recordings; empty if there are none.
  readonly pathA: string;
  readonly pathB: string;
}

// StudyAsk says along what to look for changes: a parameter, "given" for the order
// of the runs, or nothing for what the study was made with.
export interface StudyAsk {
  readonly order: string;
}

// StudyAnswer is many runs as rows.
export interface StudyAnswer {
  readonly runs: readonly StudyRun[];
  readonly columns: readonly StudyColumn[];
  readonly order: string;
  readonly orders: readonly string[]; // that can be asked for
  readonly series: readonly number[]; // the runs in that order
  readonly laws: readonly StudyLaw[];
  readonly changes: readonly StudyChange[];
  readonly notes: readonly string[];
}

// StudyRun is one run; Odd are the metrics in which it stands apart.
export interface StudyRun {
  readonly name: string;
  readonly path: string; // empty for a line of a table
  readonly odd: readonly string[];
}

// StudyColumn is one parameter or metric of all runs: numbers, or texts where not
// all are numbers.
export interface StudyColumn {
  readonly name: string;
  readonly parameter: boolean;
  readonly numbers: ReadonlyArray<number | null>;
  readonly texts: readonly string[];
}

// StudyLaw is how a metric grows with a parameter.
export interface StudyLaw {
  readonly metric: string;
  readonly parameter: string;
  readonly fixed: string; // values of other parameters, in words
  readonly law: string;
  readonly exponent: number;
  readonly low: number;
  readonly high: number;
  readonly error: number; // of a prediction, as a fraction
  readonly others: readonly string[];
  readonly x: readonly number[]; // of the curve
  readonly y: readonly number[];
}

// StudyChange is a step along the order. At is the place in the series of the
// first run after it.
export interface StudyChange {
  readonly metric: string;
  readonly at: number;
  readonly before: string;
  readonly after: string;
  readonly step: number;
  readonly low: number;
  readonly high: number;
  readonly p: number;
  readonly drift: boolean;
}
