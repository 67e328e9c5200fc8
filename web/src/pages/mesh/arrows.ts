// Vectors of the simulation as arrows on the mesh: one a cell, or where cells are small
// one for several, so that arrows stay apart and do not swim while the mesh is turned.
import { exact } from '../../base/format';
import { position, VIEW_ANGLE, type Eye, type Vec } from './camera';
import type { Body } from './drawer';
import { faces } from './pick';

/** Vectors on the cells that are drawn. */
export interface Arrows {
  readonly name: string;
  readonly values: Float64Array; // x, y, z of each cell; NaN without
  readonly longest: number;
}

export interface Arrow {
  readonly cell: number; // place in the geometry
  readonly from: Vec;
  readonly to: Vec;
}

const APART = 26; // CSS pixels between arrows at least
const LONG = 0.9; // of the distance between arrows has the longest

export function lengthOf({ values }: Pick<Arrows, 'values'>, cell: number): number {
  return Math.hypot(values[3 * cell]!, values[3 * cell + 1]!, values[3 * cell + 2]!);
}

export function longestOf(values: Float64Array): number {
  let most = 0;
  for (let c = 0; 3 * c < values.length; c++) {
    const n = lengthOf({ values }, c);
    if (n > most) most = n;
  }
  return most;
}

/** The vector of a cell in words: "VEL (0, 1.5, −2)". */
export function vectorWords({ name, values }: Arrows, cell: number): string {
  const parts = Array.from(values.subarray(3 * cell, 3 * cell + 3));
  return parts.some(Number.isNaN) ? `${name} no value` : `${name} (${parts.map(exact).join(', ')})`;
}

/** What the arrows are, for legends. */
export function arrowWords({ name, longest }: Arrows): string {
  return `arrows: ${name}, longest ${exact(Number(longest.toPrecision(4)))}`;
}

/**
 * The arrows that are seen from an eye in a picture of that height, from the middle of
 * what is seen of each cell. Space is divided into cubes whose edges are powers of two,
 * and the cell nearest to the middle of a cube has its arrow.
 */
export function arrowsOf(
  body: Body,
  { values, longest }: Arrows,
  eye: Eye,
  bothSides: boolean,
  height: number,
): Arrow[] {
  if (!(longest > 0)) return [];
  const { sums, area } = seenMiddles(body, eye, bothSides);
  const pixel = (2 * eye.distance * Math.tan((VIEW_ANGLE * Math.PI) / 360)) / height;
  const edge = 2 ** Math.ceil(Math.log2(APART * pixel));
  const best = new Map<string, { cell: number; at: Vec; far: number }>();
  for (let cell = 0; 4 * cell < sums.length; cell++) {
    const weight = sums[4 * cell + 3]!;
    if (weight === 0 || !(lengthOf({ values }, cell) > 0)) continue;
    const at = [0, 1, 2].map((k) => sums[4 * cell + k]! / weight) as unknown as Vec;
    const cube = at.map((v) => Math.floor(v / edge));
    const far = Math.hypot(...at.map((v, k) => v - (cube[k]! + 0.5) * edge));
    const key = cube.join();
    if (!(far >= (best.get(key)?.far ?? Infinity))) best.set(key, { cell, at, far });
  }
  const scale = (LONG * Math.sqrt(area / Math.max(1, best.size))) / longest;
  return Array.from(best.values(), ({ cell, at }) => ({
    cell,
    from: at,
    to: at.map((v, k) => v + scale * values[3 * cell + k]!) as unknown as Vec,
  }));
}

/** Of each drawn cell its visible triangles' middles times areas, and areas; and all areas. */
function seenMiddles(body: Body, eye: Eye, bothSides: boolean): { sums: Float64Array; area: number } {
  const { of, cells } = body.geometry;
  const c = body.corners;
  const o = position(eye);
  const sums = new Float64Array(4 * cells.length);
  let area = 0;
  for (let t = 0, i = 0; t < of.length; t++, i += 9) {
    if (!bothSides && !faces(c, i, o)) continue;
    const ux = c[i + 3]! - c[i]!,
      uy = c[i + 4]! - c[i + 1]!,
      uz = c[i + 5]! - c[i + 2]!;
    const vx = c[i + 6]! - c[i]!,
      vy = c[i + 7]! - c[i + 1]!,
      vz = c[i + 8]! - c[i + 2]!;
    const own = Math.hypot(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx) / 2;
    const at = 4 * of[t]!;
    for (let k = 0; k < 3; k++) sums[at + k]! += (own * (c[i + k]! + c[i + 3 + k]! + c[i + 6 + k]!)) / 3;
    sums[at + 3]! += own;
    area += own;
  }
  return { sums, area };
}
