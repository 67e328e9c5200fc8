// The hardware tree as both topology drawings need it: which ring each
// resource is on, and which part of the breadth it takes.
import type { Resource } from '../../../api/wire';

export type { Resource };

export interface Node {
  readonly index: number;
  readonly parent: number;
  readonly ring: number; // 0 is the root
  readonly from: number; // share of the breadth, 0 … 1
  readonly till: number;
}

export interface Tree {
  readonly root: number;
  readonly nodes: readonly Node[]; // parents before children
  readonly rings: readonly string[]; // type of each ring, the root's first
  readonly byIndex: ReadonlyMap<number, Node>;
}

/**
 * Lays out the subtree under root. A ring belongs to a type, so that a branch
 * that lacks a level (a core without L3) leaves its ring empty instead of
 * shifting inward. Breadth goes by leaves.
 */
export function layTree(
  resources: readonly Resource[],
  root: number,
  levels: readonly string[],
  drawn: (i: number) => boolean = () => true,
): Tree {
  const children = childLists(resources).map((list) => list.filter(drawn));
  const leaves = leafCounts(resources, drawn);
  const rank = new Map(levels.map((type, i) => [type, i]));
  const ringOf = new Map<number, number>([[root, rank.get(resources[root]!.type) ?? 0]]);
  const spans = new Map<number, readonly [number, number]>([[root, [0, 1]]]);
  const order: number[] = [];
  const queue = [root];
  for (let i = queue.shift(); i !== undefined; i = queue.shift()) {
    order.push(i);
    let [at, till] = spans.get(i)!;
    const width = (till - at) / Math.max(1, leaves[i]!);
    for (const c of children[i]!) {
      ringOf.set(c, Math.max(rank.get(resources[c]!.type) ?? 0, ringOf.get(i)! + 1));
      spans.set(c, [at, (at += width * leaves[c]!)]);
      queue.push(c);
    }
  }
  return finish(resources, root, order, ringOf, spans);
}

function finish(
  resources: readonly Resource[],
  root: number,
  order: readonly number[],
  ringOf: ReadonlyMap<number, number>,
  spans: ReadonlyMap<number, readonly [number, number]>,
): Tree {
  const used = [...new Set(order.map((i) => ringOf.get(i)!))].sort((a, b) => a - b);
  const dense = new Map(used.map((r, i) => [r, i]));
  const rings = used.map((r) => resources[order.find((i) => ringOf.get(i) === r)!]!.type);
  const nodes = order.map((index): Node => {
    const [from, till] = spans.get(index)!;
    const parent = index === root ? -1 : resources[index]!.parent;
    return { index, parent, ring: dense.get(ringOf.get(index)!)!, from, till };
  });
  return { root, nodes, rings, byIndex: new Map(nodes.map((n) => [n.index, n])) };
}

export function childLists(resources: readonly Resource[]): number[][] {
  const lists: number[][] = resources.map(() => []);
  resources.forEach((r, i) => {
    if (r.parent >= 0) lists[r.parent]!.push(i);
  });
  return lists;
}

function leafCounts(resources: readonly Resource[], drawn: (i: number) => boolean): number[] {
  const leaves = resources.map(() => 0);
  const parents = new Set(resources.map((r) => r.parent));
  for (let i = resources.length - 1; i >= 0; i--) {
    if (!drawn(i)) continue;
    if (!parents.has(i)) leaves[i] = 1;
    const p = resources[i]!.parent;
    if (p >= 0) leaves[p]! += leaves[i]!;
  }
  return leaves;
}

/** "CPU 7", "L3 #1", "NUMA 0": how people say a resource. */
export function sayResource(r: Resource): string {
  if (r.virtual) return r.label; // it has no number
  if (/^L\d/.test(r.type)) return `${r.type} #${r.id}`;
  if (r.parent < 0 || r.type === 'Host') return r.label || r.type;
  return `${r.type} ${r.id}`;
}

/**
 * Where a resource lies: "core 11, L3 #1, NUMA 1". On a machine file without
 * cores, CPUs that share an L1 are a core, and it has the cache's number.
 */
export function sayPath(resources: readonly Resource[], index: number): string {
  const above: string[] = [];
  let core = resources[index]!.type === 'Core';
  for (let i = resources[index]!.parent; i > 0; i = resources[i]!.parent) {
    const r = resources[i]!;
    if (r.type === 'Core' || (r.type === 'L1' && resources[index]!.type === 'CPU' && !hasCores(resources))) {
      above.push(`core ${r.id}`);
      core = true;
    } else if (!(core && /^L[12]/.test(r.type))) {
      above.push(sayResource(r));
    }
  }
  return above.join(', ');
}

function hasCores(resources: readonly Resource[]): boolean {
  return resources.some((r) => r.type === 'Core');
}

export function pathOf(resources: readonly Resource[], index: number): number[] {
  const path: number[] = [];
  for (let i = index; i >= 0; i = resources[i]!.parent) path.push(i);
  return path;
}
