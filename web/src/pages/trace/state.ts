// What a link keeps about the trace page. It lives in the options of the page's
// state, under keys that begin with "t.".
import type { Metric, RowOrder, TraceOptions } from '../../api/wire';

/** What operations are coloured by; "metric:" is one that the trace records. */
export type Colour = Metric | 'partition' | 'function' | 'group' | `metric:${string}`;

/** Colours that tell kinds apart; the others are amounts. */
export function isKind(c: Colour): boolean {
  return c === 'partition' || c === 'function' || c === 'group';
}

export interface TraceState {
  /** Steps in view; the whole trace if the two are equal. */
  readonly from: number;
  readonly to: number;
  /** Times in view, ns; those of the steps if the two are equal. */
  readonly timeFrom: number;
  readonly timeTo: number;
  /** Rows in view; all if the two are equal. */
  readonly rowFrom: number;
  readonly rowTo: number;
  readonly op: number; // selected operation, -1 for none
  readonly cause: number; // operation of the active cause, -1 for the first
  readonly colour: Colour;
  readonly order: RowOrder;
  readonly messages: 'none' | 'selected' | 'in view';
  readonly computation: boolean; // shown between operations
  readonly options: TraceOptions | undefined; // undefined: chosen for the trace
  readonly threshold: number; // ns; 0: chosen for the trace
  readonly function: string; // the one that stands out; empty for none
  readonly against: string; // run that is compared with; empty for none
  readonly stacks: boolean; // call stacks in the physical timeline
  readonly pixel: 'most' | 'mean'; // what a pixel of several operations shows
  readonly pane: 'operation' | 'code' | 'functions' | 'processes' | 'structure';
}

export const INITIAL: TraceState = {
  from: 0,
  to: 0,
  timeFrom: 0,
  timeTo: 0,
  rowFrom: 0,
  rowTo: 0,
  op: -1,
  cause: -1,
  colour: 'lateness',
  order: { by: 'rank', open: [], process: 0, k: 0 },
  messages: 'in view',
  computation: true,
  options: undefined,
  threshold: 0,
  function: '',
  against: '',
  stacks: false,
  pixel: 'most',
  pane: 'operation',
};

const COLOURS: readonly Colour[] = [
  'lateness',
  'differential',
  'partition-lateness',
  'partition-differential',
  'duration',
  'partition',
  'function',
  'group',
];
const PANES = ['operation', 'code', 'functions', 'processes', 'structure'] as const;
const FLAGS = ['coalesce', 'waitall', 'calls', 'leaps', 'force', 'mergeGlobal', 'reorder'] as const;

type Options = Readonly<Record<string, string>>;

function range(text: string | undefined): readonly [number, number] {
  const m = /^(-?[\d.e+]+)\.\.(-?[\d.e+]+)$/.exec(text ?? '');
  const [a, b] = [Number(m?.[1] ?? 0), Number(m?.[2] ?? 0)];
  return a < b ? [Math.max(0, a), b] : [0, 0];
}

function number(text: string | undefined, initial: number): number {
  const n = Number(text ?? initial);
  return Number.isFinite(n) ? n : initial;
}

function readOrder(text: string | undefined): RowOrder {
  const [by, rest = '', groups = ''] = (text ?? '').split(':');
  const k = /^\d+$/.test(groups) ? Number(groups) : 0;
  if (by === 'cluster')
    return { by, open: rest.split(',').filter(Boolean).map(Number).filter(Number.isInteger), process: 0, k };
  if (by === 'neighbours' && /^\d+$/.test(rest)) return { by, open: [], process: Number(rest), k: 0 };
  return INITIAL.order;
}

function writeOrder(o: RowOrder): string {
  if (o.by === 'cluster') return `cluster:${o.open.join(',')}${o.k > 0 ? `:${o.k}` : ''}`;
  return o.by === 'neighbours' ? `neighbours:${o.process}` : '';
}

// Options are the names of what is on, then the ratio, then the phases.
function readOptions(text: string | undefined): TraceOptions | undefined {
  if (text === undefined) return undefined;
  const [flags = '', ratio = '10', ...phases] = text.split('|');
  const on = flags.split(',');
  const set = Object.fromEntries(FLAGS.map((f) => [f, on.includes(f)])) as Record<
    (typeof FLAGS)[number],
    boolean
  >;
  return { ...set, ratio: number(ratio, 10), phases: phases.join('|') };
}

function writeOptions(o: TraceOptions): string {
  return [FLAGS.filter((f) => o[f]).join(','), o.ratio, o.phases].join('|');
}

function readColour(text: string | undefined): Colour {
  if (text?.startsWith('metric:')) return text as Colour;
  return COLOURS.find((c) => c === text) ?? INITIAL.colour;
}

export function readTrace(o: Options): TraceState {
  const [from, to] = range(o['t.steps']);
  const [timeFrom, timeTo] = range(o['t.time']);
  const [rowFrom, rowTo] = range(o['t.rows']);
  return {
    from,
    to,
    timeFrom,
    timeTo,
    rowFrom,
    rowTo,
    op: number(o['t.op'], -1),
    cause: number(o['t.cause'], -1),
    colour: readColour(o['t.colour']),
    order: readOrder(o['t.order']),
    messages:
      (['none', 'selected', 'in view'] as const).find((m) => m === o['t.messages']) ?? INITIAL.messages,
    computation: o['t.computation'] !== 'folded',
    options: readOptions(o['t.structure']),
    threshold: Math.max(0, number(o['t.threshold'], 0)),
    function: o['t.function'] ?? '',
    against: o['t.against'] ?? '',
    stacks: o['t.stacks'] === 'on',
    pixel: o['t.pixel'] === 'mean' ? 'mean' : 'most',
    pane: PANES.find((p) => p === o['t.pane']) ?? INITIAL.pane,
  };
}

/** The options with a trace state in place of the one they hold. */
export function writeTrace(s: TraceState, options: Options): Record<string, string> {
  const out = Object.fromEntries(Object.entries(options).filter(([k]) => !k.startsWith('t.')));
  const put = (key: string, value: string, initial = ''): void => {
    if (value !== initial) out[`t.${key}`] = value;
  };
  const span = (a: number, b: number): string => (a < b ? `${a}..${b}` : '');
  put('steps', span(s.from, s.to));
  put('time', span(s.timeFrom, s.timeTo));
  put('rows', span(s.rowFrom, s.rowTo));
  put('op', String(s.op), '-1');
  put('cause', String(s.cause), '-1');
  put('colour', s.colour, INITIAL.colour);
  put('order', writeOrder(s.order));
  put('messages', s.messages, INITIAL.messages);
  put('computation', s.computation ? '' : 'folded');
  if (s.options) put('structure', writeOptions(s.options));
  put('threshold', String(s.threshold), '0');
  put('function', s.function);
  put('against', s.against);
  put('stacks', s.stacks ? 'on' : '');
  put('pixel', s.pixel, INITIAL.pixel);
  put('pane', s.pane, INITIAL.pane);
  return out;
}
