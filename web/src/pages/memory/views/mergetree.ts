// The upper part of a merge tree: cutting it into clusters as the engine does,
// and drawing it over the axis it divides.
import { clamp, type Rect } from '../../../base/geometry';
import type { Renderer } from '../../../base/renderer';
import type { NodeAnswer, TreeAnswer } from '../../../api/wire';

export class MergeTree {
  private readonly byId: ReadonlyMap<number, NodeAnswer>;
  /** Every node that is there by its number: leaves, then one for each merge. */
  readonly total: number;

  constructor(readonly answer: TreeAnswer) {
    this.byId = new Map((answer.nodes ?? []).map((n) => [n.node, n]));
    this.total = 2 * answer.leaves - 1;
  }

  node(id: number): NodeAnswer | undefined {
    return this.byId.get(id);
  }

  get root(): NodeAnswer | undefined {
    return this.answer.nodes?.[0];
  }

  /** The most clusters that the nodes at hand can be cut into. */
  get most(): number {
    return (this.answer.nodes ?? []).filter((n) => n.a < 0).length;
  }

  /** The farthest merge of all that have a value. */
  get height(): number {
    return (this.answer.nodes ?? []).reduce((most, n) => Math.max(most, n.height ?? 0), 0);
  }

  /** The height at which a node is drawn: leaves at the bottom, merges of parts without a value at the top. */
  level(n: NodeAnswer): number {
    return n.node < this.answer.leaves ? 0 : (n.height ?? this.height);
  }

  /** The last k - 1 merges undone. */
  cutCount(k: number): NodeAnswer[] {
    const made = this.total - (Math.max(1, Math.min(k, this.answer.leaves)) - 1);
    return this.cut((n) => n.node < made);
  }

  /** The largest nodes within which no merge was farther than h; the height of a node without a value is infinite. */
  cutHeight(h: number): NodeAnswer[] {
    return this.cut((n) => n.node < this.answer.leaves || (n.height !== null && n.height <= h));
  }

  private cut(keep: (n: NodeAnswer) => boolean): NodeAnswer[] {
    const { root } = this;
    if (!root) return [];
    const out: NodeAnswer[] = [];
    const stack = [root];
    for (let n = stack.pop(); n; n = stack.pop()) {
      const [a, b] = [this.byId.get(n.a), this.byId.get(n.b)];
      if (keep(n) || !a || !b) out.push(n);
      else stack.push(b, a);
    }
    return out;
  }

  /** The height between the clusters and the merges above them; undefined where no single height separates them. */
  heightOf(clusters: readonly NodeAnswer[]): number | undefined {
    const inside = Math.max(0, ...clusters.map((c) => this.level(c)));
    const kept = new Set(clusters.map((c) => c.node));
    let above = Infinity;
    for (const n of this.above(kept)) above = Math.min(above, this.level(n));
    if (above === Infinity) return clusters.length === 1 ? inside : undefined;
    return above > inside ? (above + inside) / 2 : undefined;
  }

  /** Merges that a cut has undone. */
  private above(kept: ReadonlySet<number>): NodeAnswer[] {
    const out: NodeAnswer[] = [];
    const stack = this.root && !kept.has(this.root.node) ? [this.root] : [];
    for (let n = stack.pop(); n; n = stack.pop()) {
      out.push(n);
      for (const id of [n.a, n.b]) {
        const part = this.byId.get(id);
        if (part && !kept.has(id)) stack.push(part);
      }
    }
    return out;
  }
}

/** Where the nodes of a tree stand over an axis. */
export interface TreePlaces {
  readonly area: Rect;
  readonly x: (n: NodeAnswer) => number;
  /** By the square root: the first merges are near, the last far apart. */
  readonly y: (height: number) => number;
  readonly heightAt: (y: number) => number;
}

export function placeTree(tree: MergeTree, area: Rect, positionOf: (v: number) => number): TreePlaces {
  const x = new Map<number, number>();
  // A node stands over the middle of its parts; what is not divided further
  // over the middle of its range. Parts come after their node.
  for (const n of [...(tree.answer.nodes ?? [])].reverse()) {
    const [a, b] = [x.get(n.a), x.get(n.b)];
    x.set(
      n.node,
      area.x +
        (a !== undefined && b !== undefined
          ? (a + b) / 2 - area.x
          : (positionOf(n.from) + positionOf(n.to)) / 2),
    );
  }
  const most = tree.height || 1;
  const [base, room] = [area.y + area.h, area.h - 10];
  return {
    area,
    x: (n) => x.get(n.node) ?? area.x,
    y: (h) => base - room * Math.sqrt(clamp(h / most, 0, 1)),
    heightAt: (y) => tree.height * clamp((base - y) / room, 0, 1) ** 2,
  };
}

/** Draws the brackets of all merges, each part in the colour of the cluster it belongs to. */
export function drawTree(
  r: Renderer,
  tree: MergeTree,
  at: TreePlaces,
  colorOf: (n: NodeAnswer) => { color: string; width: number },
): void {
  const base = at.area.y + at.area.h;
  for (const n of tree.answer.nodes ?? []) {
    const parts = [tree.node(n.a), tree.node(n.b)].flatMap((p) => p ?? []);
    const y = at.y(tree.level(n));
    const { color, width } = colorOf(n);
    if (parts.length < 2) {
      // What is below is not told: a line to the axis stands for it.
      r.line(at.x(n), y, at.x(n), base, { stroke: color, width });
      continue;
    }
    r.line(at.x(parts[0]!), y, at.x(parts[1]!), y, { stroke: color, width });
    for (const part of parts) {
      const below = colorOf(part);
      r.line(at.x(part), y, at.x(part), at.y(tree.level(part)), { stroke: below.color, width: below.width });
    }
  }
}
