// Lines between two neighbouring axes: one for each pair of bins that share
// samples. Luminance says how strong a cell is within its pair, width how many
// samples it has; the weakest are drawn first.
import { mix, parseColor } from '../base/color';
import type { Rect } from '../base/geometry';
import type { Strokes } from '../base/renderer';
import type { Theme } from '../base/theme';
import { ALL, HOVERED, SELECTED, type PairAnswer } from '../model/decode';

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
  /** Opacity of the rest, 0 … 1. */
  readonly restAlpha: number;
}

const STEPS = 64; // of a colour ramp; more are not told apart

/** Counts of a layer by cell: the rest is what is not selected. */
export function layerCounts(p: PairAnswer, layer: LineLayer): Uint32Array {
  if (layer === 'selection') return p.counts[SELECTED];
  if (layer === 'hover') return p.counts[HOVERED];
  const [all, selected] = [p.counts[ALL], p.counts[SELECTED]];
  return all.map((n, i) => n - (selected[i] ?? 0));
}

/** Smallest and largest count, over all cells or by the bin of one side. */
class Limits {
  private readonly lo: Float64Array;
  private readonly hi: Float64Array;

  constructor(
    counts: Uint32Array,
    private readonly of: Uint16Array | undefined,
  ) {
    const n = of ? of.reduce((m, b) => Math.max(m, b + 1), 1) : 1;
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
    const [lo, hi] = [this.lo[at]!, this.hi[at]!];
    if (hi === 0) return 1;
    return Math.sqrt(Math.max(0, Math.min(1, (count - lo + 0.35) / (hi - lo + 0.35))));
  }
}

export function largestCell(pairs: readonly (PairAnswer | undefined)[]): number {
  let most = 1;
  for (const p of pairs) if (p) for (const n of p.counts[SELECTED]) if (n > most) most = n;
  return most;
}

/** The strokes of one layer of one pair, weakest first. */
export function densityStrokes(input: DensityInput, layer: LineLayer, theme: Theme): Strokes {
  const { pair, area } = input;
  const counts = layerCounts(pair, layer);
  const by = input.strength === 'left' ? pair.left : input.strength === 'right' ? pair.right : undefined;
  const own = layer !== 'hover' || input.ownHoverScale;
  const limits = new Limits(own ? counts : pair.counts[SELECTED], by);
  const cells: { i: number; t: number }[] = [];
  for (let i = 0; i < counts.length; i++) if (counts[i]! > 0) cells.push({ i, t: limits.t(counts[i]!, i) });
  cells.sort((a, b) => a.t - b.t || counts[a.i]! - counts[b.i]!);
  const out = emptyStrokes(cells.length, area);
  const ramp = colorRamp(layer, theme, input.restAlpha);
  let k = 0;
  for (const { i, t } of cells) {
    const [y0, y1] = [input.leftY(pair.left[i]!), input.rightY(pair.right[i]!)];
    if (Number.isNaN(y0) || Number.isNaN(y1)) continue;
    out.x0[k] = area.x;
    out.x1[k] = area.x + area.w;
    out.y0[k] = y0;
    out.y1[k] = y1;
    out.width[k] = lineWidth(layer, Math.min(1, counts[i]! / input.most));
    out.rgb[k] = ramp[Math.round(t * (STEPS - 1))]!;
    out.alpha[k] = layer === 'selection' ? 0.55 + 0.45 * t : 1;
    k++;
  }
  return { ...out, n: k };
}

function emptyStrokes(n: number, area: Rect): Strokes {
  const f = (): Float32Array => new Float32Array(n);
  return { n, x0: f(), y0: f(), x1: f(), y1: f(), width: f(), rgb: new Uint32Array(n), alpha: f(), area };
}

export function lineWidth(layer: LineLayer, share: number): number {
  const root = Math.sqrt(share);
  return layer === 'rest' ? 0.5 + 0.9 * root : layer === 'selection' ? 0.7 + 5.3 * root : 0.55 + 7 * root;
}

export function lineColor(layer: LineLayer, t: number, theme: Theme, restAlpha = 1): string {
  switch (layer) {
    case 'rest': return mix(theme.bg, theme.rest, (0.14 + 0.4 * t) * restAlpha);
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

function colorRamp(layer: LineLayer, theme: Theme, restAlpha: number): Uint32Array {
  return Uint32Array.from({ length: STEPS }, (_, i) => {
    const [r, g, b] = parseColor(lineColor(layer, i / (STEPS - 1), theme, restAlpha));
    return (Math.round(r) << 16) | (Math.round(g) << 8) | Math.round(b);
  });
}

/**
 * Mutual information of the two sides of a pair in bits, from its cells: how
 * much knowing one bin says about the other.
 */
export function mutualInformation(pair: PairAnswer, layer: 0 | 1 | 2 = SELECTED): number {
  const counts = pair.counts[layer];
  const left = new Map<number, number>();
  const right = new Map<number, number>();
  let n = 0;
  counts.forEach((c, i) => {
    n += c;
    left.set(pair.left[i]!, (left.get(pair.left[i]!) ?? 0) + c);
    right.set(pair.right[i]!, (right.get(pair.right[i]!) ?? 0) + c);
  });
  let bits = 0;
  counts.forEach((c, i) => {
    if (c > 0) bits += (c / n) * Math.log2((c * n) / (left.get(pair.left[i]!)! * right.get(pair.right[i]!)!));
  });
  return bits;
}
