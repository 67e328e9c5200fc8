// Outlines of where a picture is dense: the summary shape of a circle.
import type { Point } from '../../base/geometry';
import type { Segment } from '../../base/renderer';

/** A square grid over −extent … extent in both directions. */
export class Density {
  readonly values: Float64Array;

  constructor(
    readonly cells: number,
    readonly extent: number,
  ) {
    this.values = new Float64Array(cells * cells);
  }

  add(x: number, y: number, weight: number): void {
    const at = (v: number): number => Math.floor(((v + this.extent) / (2 * this.extent)) * this.cells);
    const [i, j] = [at(x), at(y)];
    if (i >= 0 && j >= 0 && i < this.cells && j < this.cells) this.values[j * this.cells + i]! += weight;
  }

  /** A Gaussian kernel of the given width, rows then columns. */
  smooth(width: number): void {
    const sigma = (width / (2 * this.extent)) * this.cells;
    const reach = Math.ceil(3 * sigma);
    const kernel = Float64Array.from({ length: 2 * reach + 1 }, (_, i) =>
      Math.exp(-((i - reach) ** 2) / (2 * sigma * sigma)),
    );
    const total = kernel.reduce((a, b) => a + b, 0);
    const n = this.cells;
    const pass = (from: Float64Array, to: Float64Array, step: number, across: number): void => {
      for (let line = 0; line < n; line++) {
        for (let i = 0; i < n; i++) {
          let sum = 0;
          for (let k = Math.max(-reach, -i); k <= Math.min(reach, n - 1 - i); k++)
            sum += kernel[k + reach]! * from[line * across + (i + k) * step]!;
          to[line * across + i * step] = sum / total;
        }
      }
    };
    const half = new Float64Array(n * n);
    pass(this.values, half, 1, n);
    pass(half, this.values, n, 1);
  }

  get most(): number {
    return this.values.reduce((a, b) => Math.max(a, b), 0);
  }

  /** Where the density crosses a level, by marching squares; points are mapped by place. */
  outline(level: number, place: (p: Point) => Point): Segment[] {
    const n = this.cells;
    const out: Segment[] = [];
    const value = (i: number, j: number): number => this.values[j * n + i]!;
    const middle = (v: number): number => ((v + 0.5) / n) * 2 * this.extent - this.extent;
    for (let j = 0; j + 1 < n; j++) {
      for (let i = 0; i + 1 < n; i++) {
        const corners = [
          [i, j],
          [i + 1, j],
          [i + 1, j + 1],
          [i, j + 1],
        ] as const;
        const crossed: Point[] = [];
        for (let e = 0; e < 4; e++) {
          const [a, b] = [corners[e]!, corners[(e + 1) % 4]!];
          const [va, vb] = [value(a[0], a[1]), value(b[0], b[1])];
          if (va >= level === vb >= level) continue;
          const f = (level - va) / (vb - va);
          crossed.push(place({ x: middle(a[0] + f * (b[0] - a[0])), y: middle(a[1] + f * (b[1] - a[1])) }));
        }
        for (let k = 0; k + 1 < crossed.length; k += 2)
          out.push({ to: 'move', ...crossed[k]! }, { to: 'line', ...crossed[k + 1]! });
      }
    }
    return out;
  }
}
