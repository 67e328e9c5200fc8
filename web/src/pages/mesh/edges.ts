// How strongly edges are drawn. Where cells are thin on the screen, their edges
// would cover the colours, which then no longer match the legend: they fade.
import { axes, position, VIEW_ANGLE, type Eye } from './camera';
import type { Body } from './drawer';

export const FADES = 8; // steps from an edge that is not drawn, 0, to a whole one
const THIN = 2.5; // CSS pixels beside an edge, below which it is not drawn
const THICK = 8; // from which it is whole

/** The points that make a triangle with each line, two at most; -1: none. */
export function opposites(lines: Uint32Array, triangles: Uint32Array): Int32Array {
  const points = triangles.reduce((most, p) => Math.max(most, p), 0) + 1;
  const key = (a: number, b: number): number => (a < b ? a * points + b : b * points + a);
  const at = new Map<number, number>();
  for (let i = 0; i < lines.length; i += 2) at.set(key(lines[i]!, lines[i + 1]!), i);
  const out = new Int32Array(lines.length).fill(-1);
  for (let t = 0; t < triangles.length; t += 3) {
    for (let k = 0; k < 3; k++) {
      const found = at.get(key(triangles[t + k]!, triangles[t + ((k + 1) % 3)]!));
      if (found === undefined) continue;
      out[out[found]! < 0 ? found : found + 1] = triangles[t + ((k + 2) % 3)]!;
    }
  }
  return out;
}

/** The strength of each line, 0 … FADES, in a picture of a height in CSS pixels. */
export function fades(
  body: Body,
  lines: Uint32Array,
  beside: Int32Array,
  eye: Eye,
  height: number,
): Uint8Array {
  const { right, up, back } = axes(eye);
  const o = position(eye);
  const scale = height / (2 * Math.tan((VIEW_ANGLE * Math.PI) / 360));
  const { points } = body;
  const n = points.length / 3;
  const x = new Float32Array(n);
  const y = new Float32Array(n);
  for (let i = 0, k = 0; i < n; i++, k += 3) {
    const [px, py, pz] = [points[k]! - o[0], points[k + 1]! - o[1], points[k + 2]! - o[2]];
    const depth = Math.max(1e-3, -(px * back[0] + py * back[1] + pz * back[2]));
    x[i] = ((px * right[0] + py * right[1] + pz * right[2]) / depth) * scale;
    y[i] = ((px * up[0] + py * up[1] + pz * up[2]) / depth) * scale;
  }
  const out = new Uint8Array(lines.length / 2);
  for (let i = 0; i < lines.length; i += 2) {
    const [a, b] = [lines[i]!, lines[i + 1]!];
    const [ux, uy] = [x[b]! - x[a]!, y[b]! - y[a]!];
    const long = Math.hypot(ux, uy) || 1e-6;
    let room = 0;
    for (let s = i; s < i + 2; s++) {
      const c = beside[s]!;
      if (c < 0) continue;
      const wide = Math.abs(ux * (y[c]! - y[a]!) - uy * (x[c]! - x[a]!)) / long;
      room = room === 0 ? wide : Math.min(room, wide);
    }
    const whole = Math.max(0, Math.min(1, (room - THIN) / (THICK - THIN)));
    out[i / 2] = Math.round(FADES * whole);
  }
  return out;
}
