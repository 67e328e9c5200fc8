import { describe, expect, it } from 'vitest';
import { arrowsOf, arrowWords, longestOf, vectorWords, type Arrows } from './arrows';
import { firstEye, project, zoom } from './camera';
import { Body } from './drawer';

/** A square of n × n cells in the plane of x and y from −1 to 1, of two triangles each. */
function square(n: number): Body {
  const positions = new Float32Array(3 * (n + 1) ** 2);
  for (let j = 0; j <= n; j++)
    for (let i = 0; i <= n; i++) positions.set([(2 * i) / n - 1, (2 * j) / n - 1, 0], 3 * (j * (n + 1) + i));
  const triangles: number[] = [];
  const of: number[] = [];
  for (let c = 0; c < n * n; c++) {
    const a = Math.floor(c / n) * (n + 1) + (c % n);
    triangles.push(a, a + 1, a + n + 2, a, a + n + 2, a + n + 1);
    of.push(c, c);
  }
  const cells = Uint32Array.from({ length: n * n }, (_, i) => i);
  const none = new Uint32Array();
  const geometry = { key: '', took: 0, polygons: n * n, kept: n * n, edges: none, features: none };
  const lists = { positions, triangles: Uint32Array.from(triangles), of: Uint32Array.from(of), cells };
  return new Body({ ...geometry, ...lists }, [0, 0, 0], 1);
}

function vectors(of: readonly number[]): Arrows {
  const values = Float64Array.from(of);
  return { name: 'wind', values, longest: longestOf(values) };
}

const all = (n: number, v: readonly number[]): number[] => Array.from({ length: n }, () => v).flat();

describe('arrows', () => {
  const above = firstEye(true, 1);

  it('start in the middle of their cells, point along their vectors, as long as these', () => {
    const wind = vectors([0, 0, 0, 2, 0, 0, 0, -1, 0, Number.NaN, Number.NaN, Number.NaN]);
    const found = arrowsOf(square(2), wind, above, false, 800);
    expect(found.map((a) => a.cell)).toEqual([1, 2]); // not those that stand still or have no value
    const [east, south] = found;
    expect(east!.from.map((v) => Math.round(v * 1e6) / 1e6)).toEqual([0.5, -0.5, 0]);
    const along = (a: (typeof found)[number]): number[] => a.to.map((v, k) => v - a.from[k]!);
    const [e, s] = [along(east!), along(south!)];
    expect([e[1], e[2], s[0], s[2]].map((v) => Math.abs(v!))).toEqual([0, 0, 0, 0]);
    expect(e[0]).toBeGreaterThan(0);
    expect(s[1]! / e[0]!).toBeCloseTo(-0.5, 6);
  });

  it('stay apart where cells are small, and are more after zooming in', () => {
    const [body, wind] = [square(200), vectors(all(200 * 200, [1, 1, 0]))];
    const far = arrowsOf(body, wind, above, false, 800);
    const seen = far.map((a) => project(above, a.from, 1)!.map((v) => v * 400));
    let nearest = Infinity;
    for (const [i, p] of seen.entries())
      for (const q of seen.slice(i + 1))
        nearest = Math.min(nearest, Math.hypot(p[0]! - q[0]!, p[1]! - q[1]!));
    expect(nearest).toBeGreaterThan(20); // CSS pixels
    const near = arrowsOf(body, wind, zoom(above, 0.25), false, 800);
    expect(near.length / far.length).toBeCloseTo(16, 6);
  });

  it('are drawn on faces that look to the eye, or on both sides', () => {
    const below = { ...above, elevation: -89.9 };
    const wind = vectors(all(4, [1, 0, 0]));
    expect(arrowsOf(square(2), wind, below, false, 800)).toEqual([]);
    expect(arrowsOf(square(2), wind, below, true, 800)).toHaveLength(4);
    expect(arrowsOf(square(2), vectors(all(4, [0, 0, 0])), above, false, 800)).toEqual([]);
  });

  it('have words', () => {
    const wind = vectors([3, -4, 0, Number.NaN, 0, 0]);
    expect(arrowWords(wind)).toBe('arrows: wind, longest 5');
    expect(vectorWords(wind, 0)).toBe('wind (3, −4, 0)');
    expect(vectorWords(wind, 1)).toBe('wind no value');
  });
});
