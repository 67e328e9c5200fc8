// Places the merges of clusters as a tree beside their rows.
import type { ReportJoin } from '../../api/wire';

export interface Bracket {
  /** From the nearer to the farther child, and how deep the joint lies, 0 … 1. */
  readonly top: number;
  readonly bottom: number;
  readonly x: number;
  readonly from: readonly [number, number]; // depths at which the children end
  readonly leaves: readonly number[]; // clusters below
}

export interface Tree {
  readonly order: readonly number[]; // clusters from top to bottom, such that no branches cross
  readonly brackets: readonly Bracket[]; // y in rows of the order
}

/** The tree over n clusters; joins come nearest first, as the report has them. */
export function tree(n: number, joins: readonly ReportJoin[]): Tree {
  const children = (id: number): readonly [number, number] | undefined => {
    const j = joins[id - n];
    return j && id >= n ? [j.a, j.b] : undefined;
  };
  const below = (id: number): number[] => {
    const c = children(id);
    return c ? [...below(c[0]), ...below(c[1])] : [id];
  };
  const root = n + joins.length - 1;
  const order = joins.length > 0 ? below(root) : Array.from({ length: n }, (_, i) => i);
  const row = new Map(order.map((c, i) => [c, i]));
  const far = Math.max(...joins.map((j) => j.distance), 1e-9);
  const middle = (id: number): number => {
    const c = children(id);
    return c ? (middle(c[0]) + middle(c[1])) / 2 : (row.get(id) ?? 0);
  };
  const depth = (id: number): number => (id < n ? 0 : joins[id - n]!.distance / far);
  const brackets = joins.map((j, i) => {
    const ends = [j.a, j.b].sort((a, b) => middle(a) - middle(b)) as [number, number];
    return {
      top: middle(ends[0]),
      bottom: middle(ends[1]),
      x: depth(n + i),
      from: [depth(ends[0]), depth(ends[1])] as const,
      leaves: below(n + i),
    };
  });
  return { order, brackets };
}
