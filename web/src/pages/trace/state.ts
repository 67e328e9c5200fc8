// What a link keeps about the trace page. It lives in the options of the page's
// state, under keys that begin with "t.".
import { codec, real, flag, oneOf, span, whole, words, type Options } from '../../state/link';
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
  readonly entry: number; // of the ranked causes, 0 for the first
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
  readonly changes: readonly string[]; // of the what-if
  readonly run: 'recorded' | 'predicted' | 'both'; // shown while something is changed
  readonly find: string; // what is looked for, empty for nothing
  readonly pane: (typeof PANES)[number];
}

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
const PANES = ['operation', 'code', 'window', 'functions', 'processes', 'structure'] as const;
const FLAGS = ['coalesce', 'waitall', 'calls', 'leaps', 'force', 'mergeGlobal', 'reorder'] as const;

export const RANKS: RowOrder = { by: 'rank', open: [], process: 0, k: 0 };

function readOrder(text: string): RowOrder | undefined {
  const [by, rest = '', groups = ''] = text.split(':');
  const k = /^\d+$/.test(groups) ? Number(groups) : 0;
  if (by === 'cluster')
    return { by, open: rest.split(',').filter(Boolean).map(Number).filter(Number.isInteger), process: 0, k };
  if (by === 'host' || by === 'communicator' || by === 'thread') return { ...RANKS, by };
  if (by === 'neighbours' && /^\d+$/.test(rest)) return { by, open: [], process: Number(rest), k: 0 };
  return undefined;
}

function writeOrder(o: RowOrder): string {
  if (o.by === 'cluster') return `cluster:${o.open.join(',')}${o.k > 0 ? `:${o.k}` : ''}`;
  if (o.by === 'host' || o.by === 'communicator' || o.by === 'thread') return o.by;
  return o.by === 'neighbours' ? `neighbours:${o.process}` : '';
}

const RATIO = real(10);

// Options are the names of what is on, then the ratio, then the phases.
function readOptions(text: string): TraceOptions {
  const [flags = '', ratio = '10', ...phases] = text.split('|');
  const on = flags.split(',');
  const set = Object.fromEntries(FLAGS.map((f) => [f, on.includes(f)])) as Record<
    (typeof FLAGS)[number],
    boolean
  >;
  return { ...set, ratio: RATIO.read(ratio) ?? RATIO.initial, phases: phases.join('|') };
}

function writeOptions(o: TraceOptions): string {
  return [FLAGS.filter((f) => o[f]).join(','), o.ratio, o.phases].join('|');
}

function readColour(text: string): Colour | undefined {
  if (text.startsWith('metric:')) return text as Colour;
  return COLOURS.find((c) => c === text);
}

const NOTHING: readonly string[] = [];

const LINK = codec('t.', {
  steps: span(),
  time: span(),
  rows: span(),
  op: whole(-1, { least: -1 }),
  entry: whole(0, { least: 0 }),
  colour: { initial: 'lateness' as Colour, read: readColour, write: String },
  order: { initial: RANKS, read: readOrder, write: writeOrder },
  messages: oneOf(['none', 'selected', 'in view'] as const, 'in view'),
  computation: flag(true, 'folded'),
  structure: {
    initial: undefined as TraceOptions | undefined,
    read: readOptions,
    write: (o: TraceOptions | undefined) => (o ? writeOptions(o) : ''),
  },
  threshold: real(0, { least: 0 }),
  function: words(),
  against: words(),
  stacks: flag(false, 'on'),
  pixel: oneOf(['most', 'mean'] as const, 'most'),
  changes: {
    initial: NOTHING,
    read: (t: string) =>
      t === ''
        ? NOTHING
        : t
            .split(';')
            .map((c) => c.trim())
            .filter(Boolean),
    write: (c: readonly string[]) => c.join(';'),
  },
  find: words(),
  run: oneOf(['recorded', 'predicted', 'both'] as const, 'both'),
  pane: oneOf(PANES, 'operation'),
});

export function readTrace(o: Options): TraceState {
  const { steps, time, rows, structure, ...rest } = LINK.read(o);
  const [[from, to], [timeFrom, timeTo], [rowFrom, rowTo]] = [steps, time, rows];
  return { ...rest, from, to, timeFrom, timeTo, rowFrom, rowTo, options: structure };
}

export const INITIAL: TraceState = readTrace({});

/** The options with a trace state in place of the one they hold. */
export function writeTrace(s: TraceState, options: Options): Record<string, string> {
  const { from, to, timeFrom, timeTo, rowFrom, rowTo, options: structure, ...rest } = s;
  const spans = { steps: [from, to], time: [timeFrom, timeTo], rows: [rowFrom, rowTo] } as const;
  return LINK.write({ ...rest, ...spans, structure }, options);
}
