// Shapes shared by every view. Lengths are CSS pixels unless a type says
// otherwise; only a surface (canvas.ts) knows device pixels.

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly w: number;
  readonly h: number;
}

export interface Rect extends Point, Size {}

export type Dir = 'left' | 'right' | 'up' | 'down' | 'first' | 'last' | 'next' | 'previous';

// Marks thinner than this are hit within it on both sides.
export const HIT_SLOP = 3;

export function clamp(v: number, lo: number, hi: number): number {
  return Math.max(lo, Math.min(hi, v));
}

export function contains(r: Rect, p: Point, slop = 0): boolean {
  return p.x >= r.x - slop && p.x <= r.x + r.w + slop && p.y >= r.y - slop && p.y <= r.y + r.h + slop;
}

/** Moves an index within 0 … n-1, from outside onto the nearer end; a step over all goes to an end from anywhere. */
export function stepIndex(from: number | undefined, by: number, n: number): number | undefined {
  if (n === 0) return undefined;
  if (Math.abs(by) >= n) return by < 0 ? 0 : n - 1;
  if (from === undefined) return by < 0 ? n - 1 : 0;
  return clamp(from + by, 0, n - 1);
}
