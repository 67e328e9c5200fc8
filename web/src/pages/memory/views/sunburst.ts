// The shape of a sunburst: radii of rings and the outline of each block. Blocks
// have parallel sides, so gaps are as wide outside as inside; ring names stand
// in a slot at 12 o'clock that no block enters.
import { clamp, type Point } from '../../../base/geometry';
import type { Path, Segment } from '../../../base/renderer';
import type { Node, Tree } from './tree';

const TOP = -Math.PI / 2;
const GAP = 3; // between blocks
const SMALL_GAP = 1.2; // of small pictures
const HALF_GAP = 6; // between the first level's blocks
const NARROW_RING = 18; // below this, gaps between rings shrink before blocks do

export interface Ring {
  readonly inner: number;
  readonly outer: number;
  readonly gap: number; // inside this ring, to the one below
}

/** A side of a block: the ray at this angle, moved outward by `off` pixels. */
interface Side {
  readonly angle: number;
  readonly off: number;
}

export interface Block {
  readonly node: Node;
  readonly from: Side;
  readonly till: Side;
  readonly ring: Ring;
}

export interface Sunburst {
  readonly center: Point;
  readonly radius: number;
  readonly disc: number;
  readonly slot: number;
  readonly rings: readonly Ring[]; // of ring 1 … n; index 0 is ring 1
  readonly blocks: readonly Block[];
}

export function laySunburst(tree: Tree, center: Point, radius: number, named: boolean): Sunburst {
  const n = tree.rings.length - 1;
  const disc = 0.205 * radius;
  const rings = layRings(n, disc, radius);
  const slot = named ? clamp(0.17 * radius, 34, 44) : 6;
  const edge = Math.asin(slot / 2 / radius);
  const angle = (share: number): number => TOP + edge + share * (2 * Math.PI - 2 * edge);
  const blocks: Block[] = [];
  for (const node of tree.nodes) {
    const ring = rings[node.ring - 1];
    if (!ring) continue;
    const middle = (ring.inner + ring.outer) / 2;
    const width = (node.till - node.from) * 2 * Math.PI * middle;
    const side = (share: number): Side =>
      share < 1e-9
        ? { angle: TOP, off: slot / 2 }
        : share > 1 - 1e-9
          ? { angle: TOP + 2 * Math.PI, off: slot / 2 }
          : { angle: angle(share), off: sideGap(tree, share, width, named ? GAP : SMALL_GAP) / 2 };
    blocks.push({ node, from: side(node.from), till: side(node.till), ring });
  }
  return { center, radius, disc, slot, rings, blocks };
}

function layRings(n: number, disc: number, radius: number): Ring[] {
  const u = (radius - disc) / Math.max(1, n);
  const gap = u >= NARROW_RING ? 0.3 * u : Math.min(0.3 * u, Math.max(3, u - 0.7 * NARROW_RING));
  return Array.from({ length: n }, (_, i) => ({ inner: disc + i * u + gap, outer: disc + (i + 1) * u, gap }));
}

/** Pixels between blocks at this border; a gap never takes more than a quarter of a narrow block. */
function sideGap(tree: Tree, share: number, width: number, gap: number): number {
  const half = tree.nodes.some(
    (n) => n.parent === tree.root && (Math.abs(n.from - share) < 1e-9 || Math.abs(n.till - share) < 1e-9),
  );
  return Math.min(half ? HALF_GAP : gap, width / 4);
}

/** Angle at which a side meets radius r. */
function meet(side: Side, r: number, direction: 1 | -1): number {
  return side.angle + direction * Math.asin(clamp(side.off / r, -1, 1));
}

export function spanAt(b: Block, r: number): readonly [number, number] {
  const from = meet(b.from, r, 1);
  const till = meet(b.till, r, -1);
  return from <= till ? [from, till] : [(from + till) / 2, (from + till) / 2];
}

export function middleAngle(b: Block): number {
  const [from, till] = spanAt(b, (b.ring.inner + b.ring.outer) / 2);
  return (from + till) / 2;
}

export function arcLength(b: Block): number {
  const r = (b.ring.inner + b.ring.outer) / 2;
  const [from, till] = spanAt(b, r);
  return (till - from) * r;
}

/** Outline of a block, grown by `by` pixels on all sides. */
export function outline(s: Sunburst, b: Block, by = 0): Path {
  const inner = Math.max(1, b.ring.inner - by);
  const outer = b.ring.outer + by;
  const grown: Block = {
    ...b,
    from: { ...b.from, off: b.from.off - by },
    till: { ...b.till, off: b.till.off - by },
  };
  const [i0, i1] = spanAt(grown, inner);
  const [o0, o1] = spanAt(grown, outer);
  const c = s.center;
  const segments: Segment[] = [
    { to: 'arc', c, r: outer, from: o0, till: o1 },
    { to: 'arc', c, r: inner, from: i1, till: i0 },
    { to: 'close' },
  ];
  return segments;
}

export function at(s: Sunburst, r: number, angle: number): Point {
  return { x: s.center.x + r * Math.cos(angle), y: s.center.y + r * Math.sin(angle) };
}

/** The block under a point; the disc gives the root. */
export function blockAt(s: Sunburst, tree: Tree, p: Point): number | undefined {
  const [dx, dy] = [p.x - s.center.x, p.y - s.center.y];
  const r = Math.hypot(dx, dy);
  if (r <= s.disc) return tree.root;
  if (r > s.radius + 3) return undefined;
  let angle = Math.atan2(dy, dx);
  if (angle < TOP) angle += 2 * Math.PI;
  for (const b of s.blocks) {
    if (r < b.ring.inner - 1 || r > b.ring.outer + 1) continue;
    // Gaps between blocks belong to the nearer one.
    const half = GAP / 2 / r;
    const [from, till] = spanAt(b, r);
    if (angle >= from - half && angle <= till + half) return b.node.index;
  }
  return undefined;
}
