// A spiral with more turns than pixels: every pixel has the most frequent colour
// of the windows that fall onto it. Drawn again for every frame of a zoom, so
// the loop over pixels calls nothing.
import { parseColor } from '../../base/color';
import type { Rect } from '../../base/geometry';
import type { Cells } from '../../base/renderer';
import { isLit, type Lit } from './colours';
import { EMPTY, type Pixels } from './picture';
import { TAU, type Plane } from './plane';

export interface PolarPaint {
  readonly colours: readonly string[]; // by colour of the windows
  /** Colours of the coordinate in place of those, around the circle. */
  readonly phases: readonly string[] | undefined;
  readonly rest: string;
  /** Windows that are selected, half open; all if equal. */
  readonly from: number;
  readonly to: number;
  readonly only: Lit;
}

export function pack(colour: string): number {
  const [red, green, blue] = parseColor(colour);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** Cells that are drawn in a frame of a zoom: more become coarser ones. */
const QUICK = 90_000;

/**
 * The pixels of a sector on the visible part of the plane; first and last are the
 * windows of the radii. While it moves, cells are larger where there are many.
 */
export function polarCells(
  plane: Plane,
  first: number,
  last: number,
  p: Pixels,
  paint: PolarPaint,
  moving = false,
): Cells | undefined {
  const area = visibleDisc(plane);
  if (!area) return undefined;
  const grain = moving ? Math.max(1, Math.ceil(Math.sqrt((area.w * area.h) / QUICK))) : 1;
  const [columns, rows] = [Math.ceil(area.w / grain), Math.ceil(area.h / grain)];
  const rgba = new Uint8ClampedArray(4 * columns * rows);
  const out = new Uint32Array(rgba.buffer);
  const { c, R, r0 } = plane;
  // Radii of the sector's own windows within the whole.
  const scale = (last - first) / ((R - r0) * Math.max(1, p.last - p.first));
  const shift = (p.first - first) / Math.max(1, p.last - p.first);
  const inner = Math.max(0, r0);
  const table = colourTable(p, paint);
  const rest = pack(paint.rest);
  const phases = paint.phases?.map(pack);
  const { radii, angles, colour, from, span } = p;
  const perTurn = angles / span;
  const circle = phases?.length ?? 0;
  // A set is slow to ask for every pixel.
  const shown = Uint8Array.from({ length: 256 }, (_, k) => (isLit(paint.only, k) ? 1 : 0));
  const { colours, lit } = table;
  const [outer2, inner2] = [R * R, inner * inner];
  for (let y = 0; y < rows; y++) {
    const dy = c.y - (area.y + (y + 0.5) * grain);
    // Only the part of the row that lies on the disc.
    const half = outer2 - dy * dy;
    if (half <= 0) continue;
    const reach = Math.sqrt(half);
    const x0 = Math.max(0, Math.floor((c.x - reach - area.x) / grain - 0.5));
    const x1 = Math.min(columns, Math.ceil((c.x + reach - area.x) / grain + 0.5));
    let at = y * columns + x0;
    for (let x = x0; x < x1; x++, at++) {
      const dx = area.x + (x + 0.5) * grain - c.x;
      const d2 = dx * dx + dy * dy;
      if (d2 < inner2 || d2 >= outer2) continue;
      const row = ((Math.sqrt(d2) - r0) * scale - shift) * radii;
      if (row < 0 || row >= radii) continue;
      const turn = turnOf(dx, dy);
      let part = turn - from;
      part -= Math.floor(part);
      if (part >= span) continue;
      const i = row | 0;
      const k = colour[i * angles + Math.min(angles - 1, (part * perTurn) | 0)]!;
      if (k === EMPTY) continue;
      out[at] = lit[i] !== 1 || shown[k] === 0 ? rest : phases ? phases[(turn * circle) | 0]! : colours[k]!;
    }
  }
  return { columns, rows, rgba, area: { ...area, w: columns * grain, h: rows * grain } };
}

/** Colours by number, and which radii are selected. */
function colourTable(
  p: Pixels,
  paint: PolarPaint,
): { readonly colours: Uint32Array; readonly lit: Uint8Array } {
  const lit = new Uint8Array(p.radii).fill(1);
  if (paint.to > paint.from) {
    for (let i = 0; i < p.radii; i++) {
      const t = p.first + ((i + 0.5) / p.radii) * (p.last - p.first);
      lit[i] = t >= paint.from && t < paint.to ? 1 : 0;
    }
  }
  return { colours: Uint32Array.from(paint.colours, pack), lit };
}

/**
 * Clockwise turns from the top, 0 … 1. A polynomial for the arc tangent of 0 … 1,
 * at most 2 · 10⁻⁶ of a turn off, in place of Math.atan2, which takes three times
 * as long (minimax, odd, ninth degree; Abramowitz and Stegun 4.4.47).
 */
export function turnOf(dx: number, dy: number): number {
  const ax = Math.abs(dx);
  const ay = Math.abs(dy);
  const q = ax < ay ? ax / ay : ay === ax ? 1 : ay / ax;
  const s = q * q;
  let a = (q * (0.999866 + s * (-0.3302995 + s * (0.180141 + s * (-0.085133 + s * 0.0208351))))) / TAU;
  if (ax >= ay) a = 0.25 - a;
  if (dy < 0) a = 0.5 - a;
  return dx < 0 ? (a === 0 ? 0 : 1 - a) : a;
}

/** Whole pixels of the pane that the disc may cover. */
function visibleDisc(plane: Plane): Rect | undefined {
  const { c, R, size } = plane;
  const [x0, y0] = [Math.max(0, Math.floor(c.x - R)), Math.max(0, Math.floor(c.y - R))];
  const [x1, y1] = [Math.min(size.w, Math.ceil(c.x + R)), Math.min(size.h, Math.ceil(c.y + R))];
  return x1 > x0 && y1 > y0 ? { x: x0, y: y0, w: x1 - x0, h: y1 - y0 } : undefined;
}
