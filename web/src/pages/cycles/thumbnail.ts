// A spiral the size of a button: the lift of a class, column by column.
import type { Renderer, Segment } from '../../base/renderer';
import { HOLE, TAU } from './plane';

export function drawThumbnail(r: Renderer, lift: Float32Array, side: number, colour: string): void {
  const n = lift.length;
  const R = side / 2 - 3;
  const path: Segment[] = [];
  for (let i = 0; i < n; i++) {
    const before = lift[Math.max(0, i - 1)]!;
    const steps = Math.max(1, Math.min(24, Math.ceil(Math.abs(lift[i]! - before) * 24)));
    for (let s = 1; s <= steps; s++) {
      const f = s / steps;
      const a = TAU * (before + f * (lift[i]! - before));
      const d = R * (HOLE + (1 - HOLE) * ((i - 1 + f) / Math.max(1, n - 1)));
      path.push({
        to: path.length === 0 ? 'move' : 'line',
        x: side / 2 + d * Math.sin(a),
        y: side / 2 - d * Math.cos(a),
      });
    }
  }
  const turns = Math.max(1, Math.abs((lift[n - 1] ?? 0) - (lift[0] ?? 0)));
  r.path(path, { stroke: colour, width: Math.max(0.6, Math.min(2, (0.5 * R) / turns)) });
}
