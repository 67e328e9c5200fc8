// What a link keeps about the cycles page, in the options of the page's state
// under keys that begin with "c.".
import { codec, real, lines, oneOf, span, whole, type Options } from '../../state/link';
import type { CyclesAsk } from '../../api/wire';
import type { LoopOrder } from './loops';
import { MAX_ZOOM, NO_ZOOM, type Zoom } from './plane';

export type CyclesView = 'spiral' | 'circle' | 'torus' | 'projection' | 'loops';
export type Colouring = 'line' | 'function' | 'object' | 'op' | 'stride' | 'miss' | 'coordinate';

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
  readonly order: LoopOrder; // of that table
  readonly before: readonly string[]; // the run it is compared with, if any: see state/before.ts
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
const SYMBOLS = ['', 'pc', 'line', 'addr', 'op+addr', 'pc+addr', 'cacheline', 'object'] as const;

function readZoom(text: string): Zoom | undefined {
  const [k = 0, x = 2, y = 2] = text.split(',').map(Number);
  return k > 1 && k <= MAX_ZOOM && Math.abs(x) <= 1 && Math.abs(y) <= 1 ? { k, x, y } : undefined;
}

function writeZoom({ k, x, y }: Zoom): string {
  return k > 1 ? [k, x, y].map((v) => Number(v.toPrecision(7))).join(',') : '';
}

const LINK = codec('c.', {
  class: whole(0, { least: 0 }),
  other: whole(-1, { least: -1 }),
  part: real(0, { least: 0, most: 1 }),
  view: oneOf(['spiral', 'circle', 'torus', 'projection', 'loops'] as const, 'spiral'),
  colour: oneOf(['line', 'function', 'object', 'op', 'stride', 'miss', 'coordinate'] as const, 'line'),
  toggled: lines(),
  method: oneOf(['isomap', 'mds'] as const, 'isomap'),
  epsilon: whole(0, { least: 0 }),
  refs: span(),
  time: span(),
  order: oneOf(['tree', 'trips', 'references', 'bytes', 'lines', 'misses'] as const, 'tree'),
  before: lines(),
  zoom: { initial: NO_ZOOM, read: readZoom, write: writeZoom },
  symbol: oneOf(SYMBOLS, ''),
  window: whole(ASK.window, { least: 0 }),
  cap: whole(ASK.cap, { least: 0 }),
  every: whole(ASK.every, { least: 0 }),
  from: whole(ASK.from, { least: 0 }),
  to: whole(ASK.to, { least: 0 }),
  folds: whole(ASK.folds, { least: 0 }),
  thread: whole(ASK.thread, { least: -1 }),
});

export function readCycles(o: Options): CyclesState {
  const { refs, time, symbol, window, cap, every, from, to, folds, thread, ...rest } = LINK.read(o);
  return {
    ...rest,
    from: refs[0],
    to: refs[1],
    first: time[0],
    last: time[1],
    ask: { symbol, window, cap, every, from, to, folds, thread },
  };
}

export const INITIAL: CyclesState = readCycles({});

/** The options with a cycles state in place of the one they hold. */
export function writeCycles(s: CyclesState, options: Options): Record<string, string> {
  const { from, to, first, last, ask, ...rest } = s;
  return LINK.write({ ...rest, ...ask, refs: [from, to], time: [first, last] }, options);
}
