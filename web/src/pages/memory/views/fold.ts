// Folding of axes with many names to as many slots as fit on screen. The engine
// counts up to 256 names or one bin for each line number; which of them are
// shown depends on the height of the picture, so it is decided here, without
// asking again.
import { ALL, HOVERED, SELECTED, type AxisAnswer, type Layered, type PairAnswer } from '../../../api/decode';
import { valueOfBin } from './axis';

export interface Folded {
  readonly answer: AxisAnswer;
  /** New bin of each old one, that of missing values included. */
  readonly map: Uint16Array;
}

/**
 * Keeps the `most` heaviest names (the last slot is "n more") in order of their
 * weight, which is given by label; without weights, by rows.
 */
export function foldAxis(
  a: AxisAnswer,
  weights: ReadonlyMap<string, number> | undefined,
  most: number,
): Folded {
  const labels =
    a.labels.length > 0 ? a.labels : Array.from({ length: a.bins }, (_, i) => String(valueOfBin(a, i)));
  const beyond = a.more > 0 ? a.bins - 1 : -1; // the engine's own "n more"
  // Of two runs the samples of both, whichever is shown.
  const other = a.beside?.[ALL];
  const rows = other ? a.counts[ALL].map((n, i) => n + (other[i] ?? 0)) : a.counts[ALL];
  const present = labels.map((_, i) => i).filter((i) => i !== beyond && i < a.bins && (rows[i] ?? 0) > 0);
  const weight = (i: number): number => weights?.get(labels[i]!) ?? (weights ? 0 : rows[i]!);
  present.sort((p, q) => weight(q) - weight(p) || rows[q]! - rows[p]! || p - q);
  const all = present.length + a.more;
  const shown = present.slice(0, all > most ? Math.max(1, most - 1) : most);
  const more = all - shown.length;
  const bins = shown.length + (more > 0 ? 1 : 0);
  const map = new Uint16Array(a.bins + 1).fill(Math.max(0, bins - 1));
  shown.forEach((old, i) => (map[old] = i));
  map[a.bins] = bins;
  const names = shown.map((i) => labels[i]!);
  if (more > 0) names.push(`${more} more`);
  return {
    answer: {
      ...a,
      ...(a.still !== undefined && { still: `${a.still}\n${names.join('\n')}` }), // which were folded decides the rest
      labels: names,
      more,
      bins,
      counts: layered((l) => foldCounts(a.counts[l], map, bins + 1)),
      ...(a.beside && { beside: layered((l) => foldCounts(a.beside![l], map, bins + 1)) }),
    },
    map,
  };
}

function layered(f: (layer: 0 | 1 | 2) => Uint32Array): Layered<Uint32Array> {
  return [f(ALL), f(SELECTED), f(HOVERED)];
}

export function foldCounts(counts: Uint32Array, map: Uint16Array, n: number): Uint32Array {
  const out = new Uint32Array(counts.length === 0 ? 0 : n);
  counts.forEach((c, i) => (out[map[i]!]! += c));
  return out;
}

// Fold is a pair whose cells were joined, and how.
interface Fold {
  readonly of: string | undefined; // the answer it was made of
  readonly left: Uint16Array | undefined; // new bins of the axes
  readonly right: Uint16Array | undefined;
  readonly at: Uint32Array | undefined; // new cell of each old one; without it they are the same
  readonly pair: PairAnswer;
}

const MOST_FOLDS = 64; // gaps between axes, of two runs

/**
 * Joins the cells of pairs whose bins were folded on either side. A hover changes
 * one layer of an answer: what the others were joined to is kept, and so are the
 * arrays, by which others know that they have seen them.
 */
export class KeptFolds {
  private readonly kept = new Map<string, Fold>();

  /** Place says which pair of the picture it is, and of which run. */
  pair(
    place: string,
    p: PairAnswer,
    left: Uint16Array | undefined,
    right: Uint16Array | undefined,
  ): PairAnswer {
    const known = this.kept.get(place);
    const same =
      known?.of !== undefined &&
      known.of === p.still &&
      sameBins(known.left, left) &&
      sameBins(known.right, right);
    if (same) {
      const { pair, at } = known;
      const hovered = joined(p.counts[HOVERED], at, pair.left.length);
      return { ...pair, counts: [pair.counts[ALL], pair.counts[SELECTED], hovered] };
    }
    if (!known && this.kept.size >= MOST_FOLDS) this.kept.clear();
    const fold = foldCells(p, left, right);
    this.kept.set(place, fold);
    return fold.pair;
  }
}

function foldCells(p: PairAnswer, left: Uint16Array | undefined, right: Uint16Array | undefined): Fold {
  const of = p.still;
  if (!left && !right) return { of, left, right, at: undefined, pair: p };
  // Folded axes have few bins: a table of all cells is quicker than a map.
  const columns = 1 + largest(p.right, right);
  const cell = new Int32Array((1 + largest(p.left, left)) * columns).fill(-1);
  const at = new Uint32Array(p.left.length);
  const lefts: number[] = [];
  const rights: number[] = [];
  for (let i = 0; i < p.left.length; i++) {
    const l = left ? left[p.left[i]!]! : p.left[i]!;
    const r = right ? right[p.right[i]!]! : p.right[i]!;
    let k = cell[l * columns + r]!;
    if (k < 0) {
      k = cell[l * columns + r] = lefts.length;
      lefts.push(l);
      rights.push(r);
    }
    at[i] = k;
  }
  const sum = (counts: Uint32Array): Uint32Array => joined(counts, at, lefts.length);
  const all = sum(p.counts[ALL]);
  const selected = p.counts[SELECTED] === p.counts[ALL] ? all : sum(p.counts[SELECTED]);
  const pair = {
    ...(of !== undefined && { still: [of, left ?? '', right ?? ''].join('\n') }),
    left: Uint16Array.from(lefts),
    right: Uint16Array.from(rights),
    counts: [all, selected, sum(p.counts[HOVERED])] as const,
  };
  return { of, left, right, at, pair };
}

function joined(counts: Uint32Array, at: Uint32Array | undefined, cells: number): Uint32Array {
  if (!at) return counts;
  const out = new Uint32Array(counts.length === 0 ? 0 : cells);
  for (let i = 0; i < counts.length; i++) out[at[i]!]! += counts[i]!;
  return out;
}

function sameBins(a: Uint16Array | undefined, b: Uint16Array | undefined): boolean {
  return a === b || (a?.length === b?.length && a !== undefined && a.every((bin, i) => bin === b![i]));
}

function largest(of: Uint16Array, map: Uint16Array | undefined): number {
  let most = 0;
  for (let i = 0; i < of.length; i++) most = Math.max(most, map ? map[of[i]!]! : of[i]!);
  return most;
}
