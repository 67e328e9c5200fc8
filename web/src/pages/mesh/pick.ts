// Which triangle a ray meets first, and the outlines of cells.
import type { Vec } from './camera';

/**
 * The index of the nearest triangle that a ray meets, −1 for none. Corners
 * holds nine numbers a triangle. Möller and Trumbore's test; every triangle is
 * tried: 100 000 take some 2 ms.
 */
export function pick(corners: Float32Array, origin: Vec, direction: Vec): number {
  const [ox, oy, oz] = origin;
  const [dx, dy, dz] = direction;
  let best = -1;
  let nearest = Infinity;
  for (let i = 0; i < corners.length; i += 9) {
    const ax = corners[i]!,
      ay = corners[i + 1]!,
      az = corners[i + 2]!;
    const e1x = corners[i + 3]! - ax,
      e1y = corners[i + 4]! - ay,
      e1z = corners[i + 5]! - az;
    const e2x = corners[i + 6]! - ax,
      e2y = corners[i + 7]! - ay,
      e2z = corners[i + 8]! - az;
    const px = dy * e2z - dz * e2y,
      py = dz * e2x - dx * e2z,
      pz = dx * e2y - dy * e2x;
    const det = e1x * px + e1y * py + e1z * pz;
    if (det > -1e-14 && det < 1e-14) continue;
    const inv = 1 / det;
    const tx = ox - ax,
      ty = oy - ay,
      tz = oz - az;
    const u = (tx * px + ty * py + tz * pz) * inv;
    if (u < 0 || u > 1) continue;
    const qx = ty * e1z - tz * e1y,
      qy = tz * e1x - tx * e1z,
      qz = tx * e1y - ty * e1x;
    const v = (dx * qx + dy * qy + dz * qz) * inv;
    if (v < 0 || u + v > 1) continue;
    const t = (e2x * qx + e2y * qy + e2z * qz) * inv;
    if (t > 0 && t < nearest) {
      nearest = t;
      best = i / 9;
    }
  }
  return best;
}

/**
 * The edges around a set of drawn cells, as pairs of vertices: those that only
 * one visible triangle of the set has. A face that looks away from the eye is
 * left out, unless both of its sides can be seen.
 */
export function outline(
  triangles: Uint32Array,
  of: Uint32Array,
  corners: Float32Array,
  wanted: (drawn: number) => boolean,
  eye: Vec,
  bothSides: boolean,
): Uint32Array {
  const seen = new Map<number, [number, number, number]>();
  for (let t = 0; t < of.length; t++) {
    if (!wanted(of[t]!) || (!bothSides && !faces(corners, 9 * t, eye))) continue;
    for (let k = 0; k < 3; k++) {
      const a = triangles[3 * t + k]!;
      const b = triangles[3 * t + ((k + 1) % 3)]!;
      const key = Math.min(a, b) * 67_108_864 + Math.max(a, b); // 2^26 vertices
      const e = seen.get(key);
      if (e) e[2]++;
      else seen.set(key, [a, b, 1]);
    }
  }
  const out: number[] = [];
  for (const [a, b, n] of seen.values()) if (n === 1) out.push(a, b);
  return Uint32Array.from(out);
}

/** Whether the triangle at a place of the corners looks to the eye. */
export function faces(c: Float32Array, i: number, eye: Vec): boolean {
  const ux = c[i + 3]! - c[i]!,
    uy = c[i + 4]! - c[i + 1]!,
    uz = c[i + 5]! - c[i + 2]!;
  const vx = c[i + 6]! - c[i]!,
    vy = c[i + 7]! - c[i + 1]!,
    vz = c[i + 8]! - c[i + 2]!;
  const n: Vec = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
  return n[0] * (eye[0] - c[i]!) + n[1] * (eye[1] - c[i + 1]!) + n[2] * (eye[2] - c[i + 2]!) > 0;
}
