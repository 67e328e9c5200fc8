// What the trace page shows, worked out from the state of the page and the
// server's answers: one value that panes draw and the controller acts on.
import type { Operation, ReportGain, ReportInstance, Report, TraceMeasure } from '../../api/wire';
import { roundTop } from '../../base/scale';
import type { Picture, Timeline } from './picture';
import { NONE } from './picture';
import { change, measured, time, type Write } from './scale';
import { isKind, type Colour, type TraceState } from './state';
import type { TraceSnapshot } from './store';
import type { Disc, Partner } from './timeline';

export interface Scene {
  readonly trace: TraceSnapshot;
  readonly kept: TraceState; // as the link has it
  readonly now: TraceState; // while something moves
  readonly moving: boolean;
  readonly picture: Picture | undefined;
  readonly report: Report | undefined;
  readonly silent: boolean; // no communication: functions and counters are all there is
  readonly steps: number;
  readonly from: number; // steps in view
  readonly to: number;
  readonly timeFrom: number; // ns in view
  readonly timeTo: number;
  readonly span: number; // ns, of the run
  readonly colour: Colour;
  readonly measure: TraceMeasure | undefined;
  readonly signed: boolean; // values are differences from another run
  readonly write: Write;
  readonly word: string; // of the metric: "late"
  readonly top: number; // end of the scale
  readonly causes: readonly ReportGain[];
  readonly active: ReportGain | undefined;
  /** The member of the active cause that is looked at. */
  readonly instance: ReportInstance | undefined;
  readonly chain: Operation['chain'];
  readonly discs: readonly Disc[];
  readonly note: string; // at the active computation
}

const COLLECTIVE = 2; // kind of an operation
const MOST_DISCS = 5; // numbered in the picture; the list has them all

/** The entry of the ranking that a link names, or the first. */
export function activeCause(trace: TraceSnapshot, entry: number): ReportGain | undefined {
  const gains = trace.ranking?.gains ?? [];
  return gains.find((g) => g.rank === entry) ?? gains[0];
}

/** The member of an entry whose operation is selected, or its largest. */
export function instanceOf(g: ReportGain | undefined, op: number): ReportInstance | undefined {
  return g?.instances.find((i) => i.op === op && op >= 0) ?? g?.instances[0];
}

export function sceneOf(
  trace: TraceSnapshot,
  kept: TraceState,
  live: TraceState | undefined,
  against: boolean,
): Scene {
  const now = live ?? kept;
  const { info, picture } = trace;
  const report = info?.report;
  const steps = Math.max(1, report?.steps ?? 1);
  // Without steps of its own the logical timeline shows those of the time in view.
  const follows =
    now.to > now.from || now.timeTo <= now.timeFrom ? undefined : trace.picture?.logical?.window;
  const own = now.to > now.from;
  const open = now.timeTo > now.timeFrom;
  // A link may name a measure that this trace does not record.
  const measure = info?.measures.find((m) => `metric:${m.name}` === now.colour);
  const colour: Colour = now.colour.startsWith('metric:') && info && !measure ? 'lateness' : now.colour;
  const signed = against && !isKind(colour);
  const active = activeCause(trace, kept.entry);
  const instance = instanceOf(active, kept.op);
  return {
    trace,
    kept,
    now,
    moving: live !== undefined,
    picture,
    report,
    silent: report?.operations === 0,
    steps,
    from: own ? Math.min(now.from, steps - 1) : (follows?.from ?? 0),
    to: own ? Math.min(now.to, steps) : (follows?.to ?? steps),
    timeFrom: open ? now.timeFrom : (picture?.physical?.window.from ?? 0),
    timeTo: open ? now.timeTo : (picture?.physical?.window.to ?? 1),
    span: report?.span_ns ?? 1,
    colour,
    measure,
    signed,
    write: measure ? measured(measure.unit) : signed ? change : time,
    word: metricWord(colour, signed, measure !== undefined),
    top: scaleTop(picture, now.pixel, steps, measure ? undefined : (report?.threshold ?? 0)),
    causes: trace.ranking?.gains ?? [],
    active,
    instance,
    chain: trace.selected && kept.op >= 0 ? trace.selected.chain : [],
    discs: discsOf(trace, active, instance),
    note: active?.kind === 'compute' && instance ? noteOf(active, instance) : '',
  };
}

function metricWord(colour: Colour, signed: boolean, measure: boolean): string {
  if (measure) return '';
  if (signed) return colour === 'duration' ? 'longer' : 'later';
  return colour === 'duration' ? 'long' : 'late';
}

/**
 * Where the colours end. How late the last collective lets ranks go delays
 * nobody, so it does not stretch the scale of times: what is above is drawn in
 * the colour of its end. The scale stays above what counts as late, lest noise is
 * shown in all colours.
 */
export function scaleTop(
  picture: Picture | undefined,
  pixel: 'most' | 'mean',
  steps: number,
  late: number | undefined, // ns; undefined for measures, of which nothing is left out
): number {
  const of = (before: number): number =>
    Math.max(largest(picture?.logical, pixel, before), largest(picture?.ghost?.logical, pixel, before));
  const all = of(Infinity);
  return roundTop(late === undefined ? all : Math.min(all, Math.max(of(steps - 1), late)));
}

/** The largest amount of the operations before a step. */
function largest(t: Timeline | undefined, pixel: 'most' | 'mean', step: number): number {
  let most = 0;
  const larger = (v: number): void => {
    const size = Math.abs(v);
    if (size > most) most = size; // false without a value
  };
  const { ops, cells } = t ?? {};
  ops?.step.forEach((at, i) => {
    larger(ops.before[i]!); // the computation before the last collective is no part of it
    if (at < step || ops.kind[i] !== COLLECTIVE) larger(ops.value[i]!);
  });
  if (t && cells) {
    const width = (t.window.to - t.window.from) / cells.count;
    (pixel === 'mean' ? cells.mean : cells.most).forEach((v, i) => {
      // A column that reaches beyond the step has it in it.
      if (t.window.from + ((i % cells.count) + 1) * width <= step + 1e-9) larger(v);
    });
  }
  return most;
}

/** What a computation took, and what the numbers of its entry compare it with. */
function noteOf(g: ReportGain, i: ReportInstance): string {
  const waited = i.ready_ns > 0 ? ` and ${time(i.ready_ns)} without a processor` : '';
  return `computing ${time(i.took_ns)}${waited}; ${time(i.took_ns - i.amount_ns)} is usual ${g.evidence.compared_to}`;
}

function discsOf(
  trace: TraceSnapshot,
  active: ReportGain | undefined,
  instance: ReportInstance | undefined,
): Disc[] {
  return (trace.ranking?.gains ?? []).slice(0, MOST_DISCS).flatMap((g) => {
    const at = g === active ? instance : g.instances[0];
    if (!at || at.op < 0) return [];
    const known = g === active && trace.cause?.id === at.op ? trace.cause : undefined;
    return [
      {
        op: at.op,
        process: at.process,
        step: at.step,
        number: g.rank,
        active: g === active,
        time: known ? (g.kind === 'compute' ? known.began : known.enter) : -1,
        computation: g.kind === 'compute',
      },
    ];
  });
}

/** Messages of an operation, to be drawn where the picture has no lines of its own. */
export function messagesOf(o: Operation | undefined, hover: boolean): Partner[] {
  if (!o) return [];
  return [
    ...o.senders.map((from) => ({ from, to: o, hover })),
    ...o.receivers.map((to) => ({ from: o, to, hover })),
  ];
}

/** The largest value, in view or not, if the scale does not reach it. */
export function outsideText(s: Scene): string {
  const o = s.picture?.overview;
  if (!o) return '';
  let [best, at] = [0, -1];
  o.most.forEach((v, i) => {
    if (o.op[i] !== NONE && v > best) [best, at] = [v, Math.floor((i * s.steps) / o.most.length)];
  });
  return at >= 0 && best > s.top ? `max ${s.write(best)} at step ${at}` : '';
}
