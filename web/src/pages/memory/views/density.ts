// Lines between two neighbouring axes: one for each pair of bins that share
// samples. Luminance says how strong a cell is within its pair, width how many
// samples it has; the weakest are drawn first.
import { mix, parseColor } from '../../../base/color';
import type { Rect } from '../../../base/geometry';
import { columnWidth } from '../../../base/raster';
import type { Strokes } from '../../../base/renderer';
import type { Theme } from '../../../base/theme';
import { ALL, HOVERED, SELECTED, type PairAnswer } from '../../../api/decode';

export type Strength = 'pair' | 'left' | 'right';
export type LineLayer = 'rest' | 'selection' | 'hover';

export interface DensityInput {
  readonly pair: PairAnswer;
  readonly area: Rect; // between the two columns
  readonly leftY: (bin: number) => number;
  readonly rightY: (bin: number) => number;
  readonly strength: Strength;
  /** Largest cell of all pairs in the selection: the width of a line is on this scale. */
  readonly most: number;
  /** The hover's strength on its own scale instead of the selection's. */
  readonly ownHoverScale: boolean;
}

const STEPS = 64; // of a colour ramp; more are not told apart

/**
 * Counts of a layer by cell. Behind the selection lie the lines of all samples,
 * as its bars lie before those of all: they stay as they are, whatever is
 * selected, and need not be drawn again.
 */
function layerCounts(p: PairAnswer, layer: LineLayer): Uint32Array {
  return p.counts[layer === 'rest' ? ALL : layer === 'selection' ? SELECTED : HOVERED];
}

/** Smallest and largest count, over all cells or by the bin of one side. */
class Limits {
  private readonly lo: Float64Array;
  private readonly hi: Float64Array;

  constructor(
    counts: Uint32Array,
    private readonly of: Uint16Array | undefined,
  ) {
    const n = of ? bins(of) : 1;
    this.lo = new Float64Array(n).fill(Infinity);
    this.hi = new Float64Array(n);
    for (let i = 0; i < counts.length; i++) {
      const c = counts[i]!;
      if (c === 0) continue;
      const at = of ? of[i]! : 0;
      if (c < this.lo[at]!) this.lo[at] = c;
      if (c > this.hi[at]!) this.hi[at] = c;
    }
  }

  /** Strength 0 … 1 of a count in cell i. */
  t(count: number, i: number): number {
    const at = this.of ? this.of[i]! : 0;
    const lo = this.lo[at]!;
    const hi = this.hi[at]!;
    if (hi === 0) return 1;
    const share = (count - lo + 0.35) / (hi - lo + 0.35);
    return share >= 1 ? 1 : share <= 0 ? 0 : Math.sqrt(share);
  }
}

function bins(of: Uint16Array): number {
  let most = 0;
  for (let i = 0; i < of.length; i++) if (of[i]! > most) most = of[i]!;
  return most + 1;
}

export function largestCell(pairs: readonly (PairAnswer | undefined)[], layer: 0 | 1): number {
  let most = 1;
  for (const p of pairs) if (p) for (const n of p.counts[layer]) if (n > most) most = n;
  return most;
}

/** How many columns of pixels the lines of some pairs are drawn with as one, at most: the rest's lines count where they are drawn. */
export function linesWide(pairs: Iterable<PairAnswer>, rest: boolean): number {
  let wide = 1;
  for (const { counts } of pairs) {
    // Every selected cell is one of all.
    wide = Math.max(
      wide,
      columnWidth(counts[rest ? ALL : SELECTED].reduce((n, c) => (c > 0 ? n + 1 : n), 0)),
    );
  }
  return wide;
}

/** A layer and its colours, weakest first. */
export interface Ink {
  readonly layer: LineLayer;
  readonly ramp: Uint32Array;
}

export function inkOf(layer: LineLayer, theme: Theme, restAlpha: number): Ink {
  const ramp = Uint32Array.from({ length: STEPS }, (_, i) => {
    const [r, g, b] = parseColor(lineColor(layer, i / (STEPS - 1), theme, restAlpha));
    return (Math.round(r) << 16) | (Math.round(g) << 8) | Math.round(b);
  });
  return { layer, ramp };
}

/** Cells of a layer by strength: step of each cell, and how many have each. */
interface Graded {
  readonly counts: Uint32Array;
  readonly step: Uint8Array; // STEPS: no samples
  readonly many: Uint32Array;
}

function grade(input: DensityInput, layer: LineLayer): Graded {
  const { pair, strength } = input;
  const counts = layerCounts(pair, layer);
  const by = strength === 'left' ? pair.left : strength === 'right' ? pair.right : undefined;
  const own = layer !== 'hover' || input.ownHoverScale;
  const limits = new Limits(own ? counts : pair.counts[SELECTED], by);
  const step = new Uint8Array(counts.length).fill(STEPS);
  const many = new Uint32Array(STEPS + 1);
  for (let i = 0; i < counts.length; i++) {
    if (counts[i]! > 0) step[i] = Math.round(limits.t(counts[i]!, i) * (STEPS - 1));
    many[step[i]!]!++;
  }
  return { counts, step, many };
}

/**
 * The strokes of a layer of one pair, from the weakest to the strongest.
 * Strengths are told apart in as many steps as there are colours, so that putting
 * them in order takes one pass.
 */
export function densityStrokes(input: DensityInput, { layer, ramp }: Ink): Strokes {
  const { pair, area, most } = input;
  const { counts, step, many } = grade(input, layer);
  const out = emptyStrokes(counts.length - many[STEPS]!, area);
  const [leftY, rightY] = [positions(pair.left, input.leftY), positions(pair.right, input.rightY)];
  const next = new Uint32Array(STEPS);
  for (let t = 1; t < STEPS; t++) next[t] = next[t - 1]! + many[t - 1]!;
  for (let i = 0; i < counts.length; i++) {
    const t = step[i]!;
    if (t === STEPS) continue;
    const at = next[t]!++;
    // A bin that has no place on its axis leaves a stroke without width.
    const y0 = leftY[pair.left[i]!]!;
    const y1 = rightY[pair.right[i]!]!;
    const placed = y0 === y0 && y1 === y1;
    out.y0[at] = placed ? y0 : 0;
    out.y1[at] = placed ? y1 : 0;
    out.width[at] = placed ? lineWidth(layer, Math.min(1, counts[i]! / most)) : 0;
    out.rgb[at] = ramp[t]!;
    out.alpha[at] = !placed ? 0 : layer === 'selection' ? 0.55 + (0.45 * t) / (STEPS - 1) : 1;
  }
  return out;
}

/** What strokes are made of, copied: answers and layouts come and go. */
interface Made {
  readonly strokes: Strokes;
  readonly from: readonly (ArrayLike<number> | string)[];
}

const KEPT = 3; // of two runs: A, B and their difference

/**
 * Strokes that most answers have in common, the lines of all samples: as long as
 * nothing about them changes they are the same object, whose pixels a renderer
 * keeps. One gap between axes has a few places for each layer, so that a picture
 * that comes back after another is there.
 */
export class KeptLines {
  private readonly made = new Map<string, readonly Made[]>();

  strokes(gap: number, input: DensityInput, ink: Ink): Strokes {
    const { pair, area, strength, most } = input;
    const from = [
      [area.x, area.y, area.w, area.h, most].join(),
      strength,
      layerCounts(pair, ink.layer),
      pair.left,
      pair.right,
      ink.ramp,
      positions(pair.left, input.leftY),
      positions(pair.right, input.rightY),
    ];
    return this.keep(`${gap} ${ink.layer}`, from, () => densityStrokes(input, ink));
  }

  /** The strokes that were made from the same, or new ones. */
  keep(place: string, from: Made['from'], make: () => Strokes): Strokes {
    const made = this.made.get(place) ?? [];
    const known = made.find(
      (m) => m.from.length === from.length && m.from.every((x, i) => sameNumbers(x, from[i]!)),
    );
    const newest = known ?? { strokes: { ...make(), kept: true }, from };
    this.made.set(place, [newest, ...made.filter((m) => m !== known)].slice(0, KEPT));
    return newest.strokes;
  }
}

function sameNumbers(a: ArrayLike<number> | string, b: ArrayLike<number> | string): boolean {
  if (a === b) return true;
  if (typeof a === 'string' || typeof b === 'string') return false;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false;
  return true;
}

export function positions(of: Uint16Array, y: (bin: number) => number): Float64Array {
  return Float64Array.from({ length: bins(of) }, (_, bin) => y(bin));
}

function emptyStrokes(n: number, area: Rect): Strokes {
  const f = (): Float32Array => new Float32Array(n);
  return {
    n,
    x0: f().fill(area.x),
    y0: f(),
    x1: f().fill(area.x + area.w),
    y1: f(),
    width: f(),
    rgb: new Uint32Array(n),
    alpha: f(),
    area,
  };
}

export function lineWidth(layer: LineLayer, share: number): number {
  const root = Math.sqrt(share);
  return layer === 'rest' ? 0.5 + 0.9 * root : layer === 'selection' ? 0.7 + 5.3 * root : 0.55 + 7 * root;
}

export function lineColor(layer: LineLayer, t: number, theme: Theme, restAlpha = 1): string {
  switch (layer) {
    case 'rest':
      return mix(theme.bg, theme.rest, (0.14 + 0.4 * t) * restAlpha);
    case 'selection': {
      if (t < 0.7) return mix(theme.bg, theme.selected, 0.14 + 1.23 * t);
      const strong = mix(theme.selected, theme['strong-end'], theme.dark ? 0.28 : 0.2);
      return mix(theme.selected, strong, (t - 0.7) / 0.3);
    }
    case 'hover': {
      const full = theme.dark ? mix(theme.hover, '#ffffff', 0.25) : theme.hover;
      return mix(theme.bg, full, 0.6 + 0.4 * Math.min(1, 2 * t));
    }
  }
}
