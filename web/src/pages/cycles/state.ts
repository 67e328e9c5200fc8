// What a link keeps about the cycles page, in the options of the page's state
// under keys that begin with "c.".
import type { CyclesAsk } from '../../api/wire';
import { MAX_ZOOM, NO_ZOOM, type Zoom } from './plane';

export type CyclesView = 'spiral' | 'circle' | 'torus' | 'projection';
export type Colouring = 'line' | 'function' | 'object' | 'op' | 'coordinate';

export interface CyclesState {
  readonly class: number;
  readonly other: number; // class to morph to; -1: the next one
  readonly part: number; // of the morph, 0 … 1
  readonly view: CyclesView;
  readonly colour: Colouring;
  readonly toggled: readonly string[]; // functions folded or opened by hand
  readonly method: 'isomap' | 'mds';
  readonly epsilon: number; // 0: where the class was found
  /** Selected references, half open; none if equal. */
  readonly from: number;
  readonly to: number;
  /** Windows that the views show, half open; all if equal. */
  readonly first: number;
  readonly last: number;
  readonly zoom: Zoom;
  readonly ask: CyclesAsk;
}

export const ASK: CyclesAsk = {
  symbol: '',
  window: 0,
  cap: 0,
  every: 0,
  from: 0,
  to: 0,
  folds: 0,
  thread: -1,
};
export const INITIAL: CyclesState = {
  class: 0,
  other: -1,
  part: 0,
  view: 'spiral',
  colour: 'line',
  toggled: [],
  method: 'isomap',
  epsilon: 0,
  from: 0,
  to: 0,
  first: 0,
  last: 0,
  zoom: NO_ZOOM,
  ask: ASK,
};

const SYMBOLS = ['pc', 'line', 'addr', 'op+addr', 'pc+addr', 'cacheline', 'object'] as const;
const NUMBERS = ['window', 'cap', 'every', 'from', 'to', 'folds', 'thread'] as const;

type Options = Readonly<Record<string, string>>;

function whole(text: string | undefined, initial: number): number {
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : initial;
}

function one<T extends string>(text: string | undefined, known: readonly T[], initial: T): T {
  return known.find((k) => k === text) ?? initial;
}

function range(text: string | undefined): readonly [number, number] {
  const m = /^(\d+)\.\.(\d+)$/.exec(text ?? '');
  return m && Number(m[1]) < Number(m[2]) ? [Number(m[1]), Number(m[2])] : [0, 0];
}

function readZoom(text: string | undefined): Zoom {
  const [k, x, y] = (text ?? '').split(',').map(Number);
  return k !== undefined && k > 1 && k <= MAX_ZOOM && Math.abs(x ?? 2) <= 1 && Math.abs(y ?? 2) <= 1
    ? { k, x: x!, y: y! }
    : NO_ZOOM;
}

export function readCycles(o: Options): CyclesState {
  const [from, to] = range(o['c.refs']);
  const [first, last] = range(o['c.time']);
  const numbers = Object.fromEntries(NUMBERS.map((k) => [k, whole(o[`c.${k}`], ASK[k])])) as Omit<
    CyclesAsk,
    'symbol'
  >;
  return {
    class: Math.max(0, whole(o['c.class'], 0)),
    other: whole(o['c.other'], -1),
    part: Math.max(0, Math.min(1, Number(o['c.part'] ?? 0) || 0)),
    view: one(o['c.view'], ['spiral', 'circle', 'torus', 'projection'], INITIAL.view),
    colour: one(o['c.colour'], ['line', 'function', 'object', 'op', 'coordinate'], INITIAL.colour),
    toggled: (o['c.toggled'] ?? '').split('\n').filter(Boolean),
    method: one(o['c.method'], ['isomap', 'mds'], INITIAL.method),
    epsilon: Math.max(0, whole(o['c.epsilon'], 0)),
    from,
    to,
    first,
    last,
    zoom: readZoom(o['c.zoom']),
    ask: { ...numbers, symbol: one(o['c.symbol'], SYMBOLS, '' as never) },
  };
}

/** The options with a cycles state in place of the one they hold. */
export function writeCycles(s: CyclesState, options: Options): Record<string, string> {
  const out = Object.fromEntries(Object.entries(options).filter(([k]) => !k.startsWith('c.')));
  const put = (key: string, value: string | number, initial: string | number): void => {
    if (value !== initial) out[`c.${key}`] = String(value);
  };
  put('class', s.class, 0);
  put('other', s.other, -1);
  put('part', s.part, 0);
  put('view', s.view, INITIAL.view);
  put('colour', s.colour, INITIAL.colour);
  put('toggled', s.toggled.join('\n'), '');
  put('method', s.method, INITIAL.method);
  put('epsilon', s.epsilon, 0);
  if (s.to > s.from) out['c.refs'] = `${s.from}..${s.to}`;
  if (s.last > s.first) out['c.time'] = `${s.first}..${s.last}`;
  if (s.zoom.k > 1)
    out['c.zoom'] = [s.zoom.k, s.zoom.x, s.zoom.y].map((v) => Number(v.toPrecision(7))).join(',');
  put('symbol', s.ask.symbol, '');
  for (const k of NUMBERS) put(k, s.ask[k], ASK[k]);
  return out;
}
