// The scales of colours on a mesh. Physics spans decades, reaches zero and has a
// few cells far from all others, so that there are five; which one suits is
// decided by how the cells are spread over its colours.
import { logTicks, numberScale, placeOn, ticksOf, valueAt } from '../../base/scale';
import { exact } from '../../base/format';

export type ScaleName = 'linear' | 'log' | 'symlog' | 'clipped' | 'rank';
export type ScaleChoice = 'auto' | ScaleName;
export const SCALE_CHOICES: readonly ScaleChoice[] = ['auto', 'linear', 'log', 'symlog', 'clipped', 'rank'];

export interface ColourScale {
  readonly name: ScaleName;
  readonly min: number;
  readonly max: number;
  /** 0 … 1; below 0 and above 1 beyond the ends, NaN without a value. */
  place(v: number): number;
  value(t: number): number;
  ticks(most: number): readonly number[];
  /** What a reader must know besides the ticks; empty for linear and logarithmic. */
  readonly note: string;
  /** Of changes: 0 lies in the middle, and colours run both ways from it. */
  readonly signed?: boolean;
}

/** What is known about the values: their ends, and values between which lie equally many cells. */
export interface Spread {
  readonly min: number | null;
  readonly max: number | null;
  readonly spread: readonly number[];
  readonly change?: boolean; // values are changes
}

const BINS = 16; // of the ramp, in which cells are counted
const ENOUGH = 5; // colours among which the cells must be spread
const SQUEEZED = 2.5; // such parts of an axis: on fewer, cells lie at one end of it
const NEARLY = 0.6; // of the colours that ranks would use: as good as can be had

const BELOW = -1; // places beyond the ends
const ABOVE = 2;

/** Beyond the ends it says so; the ends themselves are inside. */
function bounded(min: number, max: number, inside: (v: number) => number): (v: number) => number {
  return (v) => (Number.isNaN(v) ? Number.NaN : v < min ? BELOW : v > max ? ABOVE : inside(v));
}

function plain(min: number, max: number, log: boolean, name: ScaleName, note = ''): ColourScale {
  const s = { min, max, log };
  return {
    name,
    min,
    max,
    note,
    place: bounded(min, max, (v) => placeOn(s, v)),
    value: (t) => valueAt(s, t),
    ticks: (most) => ticksOf(s, most),
  };
}

/** Linear within ± of a small value, logarithmic beyond it on both sides. */
function symlog(min: number, max: number, small: number): ColourScale {
  const bend = (v: number): number => Math.asinh(v / (2 * small));
  const [lo, span] = [bend(min), bend(max) - bend(min)];
  return {
    name: 'symlog',
    min,
    max,
    note: `linear within ± ${exact(Number(small.toPrecision(2)))}`,
    place: bounded(min, max, (v) => (bend(v) - lo) / span),
    value: (t) => 2 * small * Math.sinh(lo + t * span),
    ticks: (most) => {
      const side = Math.max(1, Math.floor((most - 1) / (min < 0 && max > 0 ? 2 : 1)));
      const up = max > 2 * small ? logTicks(2 * small, max, side) : [];
      const down = min < -2 * small ? logTicks(2 * small, -min, side) : [];
      return [...down.map((v) => -v).reverse(), ...(min <= 0 && max >= 0 ? [0] : []), ...up];
    },
  };
}

/** Equally many cells for every colour; equal values share the middle of their ranks. */
function ranked(spread: readonly number[], note: string): ColourScale {
  const last = spread.length - 1;
  const first = (ok: (v: number) => boolean): number => {
    let [lo, hi] = [0, spread.length];
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (ok(spread[mid]!)) hi = mid;
      else lo = mid + 1;
    }
    return lo;
  };
  const place = (v: number): number => {
    const [from, to] = [first((s) => s >= v), first((s) => s > v)];
    if (to > from)
      return (
        (from === 0 && to - from < 2 ? 0 : to > last && to - from < 2 ? last : (from + to - 1) / 2) / last
      );
    const [a, b] = [spread[from - 1]!, spread[from]!];
    return (from - 1 + (v - a) / (b - a)) / last;
  };
  const [min, max] = [spread[0]!, spread[last]!];
  return {
    name: 'rank',
    min,
    max,
    note,
    place: bounded(min, max, place),
    value: (t) => {
      const at = Math.max(0, Math.min(1, t)) * last;
      const i = Math.min(last - 1, Math.floor(at));
      return spread[i]! + (at - i) * (spread[i + 1]! - spread[i]!);
    },
    ticks: (most) => {
      const every = last / Math.max(2, Math.min(4, most - 1));
      const all = Array.from(
        { length: Math.round(last / every) + 1 },
        (_, i) => spread[Math.round(i * every)]!,
      );
      return [...new Set(all)];
    },
  };
}

/** Among how many of the ramp's colours the cells are spread: 2 to the power of the entropy. */
export function coloursUsed(s: ColourScale, spread: readonly number[]): number {
  const bins = new Array<number>(BINS).fill(0);
  for (const v of spread) {
    const t = Math.max(0, Math.min(1, s.place(v)));
    bins[Math.min(BINS - 1, Math.floor(t * BINS))]! += 1 / spread.length;
  }
  return 2 ** bins.reduce((sum, p) => (p > 0 ? sum - p * Math.log2(p) : sum), 0);
}

/** The values between which all cells lie but a part at each end. */
function within(spread: readonly number[], part: number): readonly [number, number] {
  const last = spread.length - 1;
  return [spread[Math.round(part * last)]!, spread[Math.round((1 - part) * last)]!];
}

/** The value below which a symlog scale is linear: a tenth of the cells that are not zero are smaller. */
function smallOf(spread: readonly number[], min: number, max: number): number {
  const sizes = spread
    .map(Math.abs)
    .filter((v) => v > 0)
    .sort((a, b) => a - b);
  const large = Math.max(Math.abs(min), Math.abs(max));
  // Six decades can be told apart by colour; more of them would leave none for the rest.
  return Math.max(sizes[Math.floor(sizes.length / 10)] ?? large, large / 1e6) || 1;
}

function scaleOf(name: ScaleName, spread: readonly number[], min: number, max: number): ColourScale {
  switch (name) {
    case 'linear':
      return plain(min, max, false, 'linear');
    case 'log':
      return min > 0 ? plain(min, max, true, 'log') : symlog(min, max, smallOf(spread, min, max));
    case 'symlog':
      return symlog(min, max, smallOf(spread, min, max));
    case 'clipped': {
      const [from, to] = spread.length > 2 ? within(spread, 1 / 32) : [min, max];
      const [a, b] = [Math.max(min, from), Math.min(max, to)];
      return a < b
        ? plain(a, b, false, 'clipped', 'the middle 94 % of cells; dotted beyond')
        : plain(min, max, false, 'linear');
    }
    case 'rank': {
      // Many cells with the lowest or the highest value share its colour; the
      // others have the rest of the ramp.
      const inside = spread.filter((v) => v > min && v < max);
      if (inside.length === 0) return plain(min, max, false, 'linear');
      const share = (ok: (v: number) => boolean): number =>
        Math.round((100 * spread.filter(ok).length) / spread.length);
      const ends = [share((v) => v <= min), share((v) => v >= max)];
      const many = ends.flatMap((n, i) =>
        n > 3 ? [`${n} % of cells have the ${i === 0 ? 'first' : 'last'}`] : [],
      );
      return ranked([min, ...inside, max], ['equally many cells a colour', ...many].join('; '));
    }
    default:
      return name satisfies never;
  }
}

/** Scales of changes: as far down as up, so that no change has the colour of the middle. */
function changeScale(
  of: Spread,
  choice: ScaleChoice,
  low: string,
  high: string,
  enough: number,
): ColourScale {
  const typed = [low, high].map((t) => (t.trim() === '' ? Number.NaN : Math.abs(Number(t))));
  const ends = typed.some((v) => v > 0) ? typed.filter((v) => v > 0) : [of.min ?? 0, of.max ?? 0];
  const top = Math.max(...ends.map(Math.abs)) || 1;
  const sizes = of.spread.map(Math.abs).sort((a, b) => a - b);
  const made = (name: ScaleName): ColourScale => {
    if (name === 'symlog' || name === 'log') return symlog(-top, top, smallOf(of.spread, -top, top));
    const most = sizes[Math.floor((15 / 16) * (sizes.length - 1))] ?? top;
    if ((name === 'clipped' || name === 'rank') && most > 0 && most < top)
      return plain(-most, most, false, 'clipped', 'all but the largest 6 % of changes; dotted beyond');
    return plain(-top, top, false, 'linear');
  };
  const signed = (s: ColourScale): ColourScale => ({
    ...s,
    signed: true,
    note: ['no change in the middle', s.note].filter(Boolean).join('; '),
  });
  if (choice !== 'auto') return signed(made(choice));
  const names: readonly ScaleName[] = ['linear', 'clipped', 'symlog'];
  const readable = (s: ColourScale): boolean => coloursUsed(s, of.spread) >= enough;
  const scales = names.map(made);
  return signed(scales.find(readable) ?? scales[of.spread.length < 3 ? 0 : 1]!);
}

/**
 * The scale that was chosen, or else the first on which the cells are spread
 * among enough colours. Ends that were typed win.
 */
export function colourScale(of: Spread, choice: ScaleChoice, low = '', high = ''): ColourScale {
  return suited(of, choice, low, high, ENOUGH);
}

function suited(of: Spread, choice: ScaleChoice, low: string, high: string, enough: number): ColourScale {
  if (of.change) return changeScale(of, choice, low, high, enough);
  const { min, max, log } = numberScale(of.min ?? 0, of.max ?? 1, 'auto', low, high);
  const make = (name: ScaleName): ColourScale => scaleOf(name, of.spread, min, max);
  if (choice !== 'auto') return make(choice);
  const first = make(log ? 'log' : 'linear');
  if (of.spread.length < 3) return first;
  const best = coloursUsed(make('rank'), of.spread);
  const readable = (s: ColourScale): boolean => coloursUsed(s, of.spread) >= Math.min(enough, NEARLY * best);
  const others: readonly ScaleName[] = min > 0 ? ['log', 'clipped', 'rank'] : ['symlog', 'clipped', 'rank'];
  return [first, ...others.map(make)].find(readable) ?? make('rank');
}

/** The scale of an axis: places tell more apart than colours do, and clusters stay clusters. */
export function plotScale(of: Spread): ColourScale {
  return wholeScale(of, SQUEEZED);
}

/** The scale that suits and leaves no value out, for what cannot be dotted: plots and thresholds. */
export function wholeScale(of: Spread, enough = ENOUGH): ColourScale {
  const s = suited(of, 'auto', '', '', enough);
  return s.name === 'clipped' ? colourScale(of, of.change ? 'symlog' : 'rank') : s;
}

/** The edges of so many equal parts of a scale; the ends are exact. */
export function edgesOf(s: ColourScale, parts: number): number[] {
  const out = [s.min];
  for (let i = 1; i < parts; i++) out.push(Math.min(s.max, Math.max(out.at(-1)!, s.value(i / parts))));
  return [...out, s.max];
}

/** Where each value lies, for what draws them. */
export function placesOf(values: Float64Array, s: ColourScale): Float32Array {
  const out = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) out[i] = s.place(values[i]!);
  return out;
}

/** The scale in words: "symlog scale, linear within ± 0.5". */
export function scaleWords(s: ColourScale): string {
  return `${s.name} scale${s.note ? `, ${s.note}` : ''}`;
}

/** Whether two scales give every value the same place. */
export function sameScale(a: ColourScale, b: ColourScale): boolean {
  return (
    a === b ||
    (a.name === b.name &&
      a.signed === b.signed &&
      a.min === b.min &&
      a.max === b.max &&
      a.note === b.note &&
      [0.25, 0.5, 0.75].every((t) => a.value(t) === b.value(t)))
  );
}
