import { describe, expect, it } from 'vitest';
import { colourScale, coloursUsed, edgesOf, SCALE_CHOICES, type Spread } from './scales';

const spreadOf = (values: readonly number[]): Spread => {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    min: sorted[0]!,
    max: sorted.at(-1)!,
    spread: Array.from({ length: 65 }, (_, i) => sorted[Math.round((i / 64) * (sorted.length - 1))]!),
  };
};
const many = (f: (t: number) => number): number[] => Array.from({ length: 2000 }, (_, i) => f(i / 1999));

describe('the scale that suits', () => {
  it.each([
    ['linear', 'evenly spread', many((t) => t)],
    ['linear', 'of one value', [5, 5, 5]],
    ['log', 'over decades', many((t) => 10 ** (5 * t))],
    ['symlog', 'over decades from zero', many((t) => (t < 0.3 ? 0 : 10 ** (7 * t - 4)))],
    [
      'symlog',
      'over decades on both sides',
      many((t) => (t < 0.5 ? -1 : 1) * 10 ** (14 * Math.abs(t - 0.5))),
    ],
    ['clipped', 'with a few far away', many((t) => (t > 0.995 ? 1e4 * t : t < 0.001 ? -1e4 : t))],
  ])('is %s for values %s', (name, _, values) => {
    expect(colourScale(spreadOf(values), 'auto').name).toBe(name);
  });

  it('is one on which cells can be told apart, if there is one', () => {
    for (const values of [
      many((t) => t ** 40),
      many((t) => Math.exp(-40 * t)),
      many((t) => Math.tan(3 * (t - 0.5)) ** 9),
    ]) {
      const of = spreadOf(values);
      const best = coloursUsed(colourScale(of, 'rank'), of.spread);
      expect(coloursUsed(colourScale(of, 'auto'), of.spread)).toBeGreaterThanOrEqual(Math.min(5, 0.6 * best));
    }
  });
});

describe('every scale', () => {
  const of = spreadOf(many((t) => 1000 * t ** 5 - 3));
  for (const name of SCALE_CHOICES) {
    const s = colourScale(of, name);
    it(`${name}: rises, and finds the value at a place again`, () => {
      let last = -Infinity;
      for (let i = 0; i <= 50; i++) {
        const v = s.value(i / 50);
        expect(v).toBeGreaterThanOrEqual(last);
        last = v;
        expect(s.place(v)).toBeCloseTo(i / 50, name === 'rank' ? 1 : 6);
      }
      expect(s.place(s.min - 1)).toBeLessThan(0);
      expect(s.place(s.max + 1)).toBeGreaterThan(1);
      expect(s.place(Number.NaN)).toBeNaN();
      for (const t of s.ticks(6)) expect(t >= s.min && t <= s.max).toBe(true);
      const edges = edgesOf(s, 40);
      expect(edges.length).toBe(41);
      expect(edges).toEqual(edges.toSorted((a, b) => a - b));
    });
  }

  it('ranks say how many cells share the colour of an end', () => {
    const half = colourScale(spreadOf(many((t) => Math.max(0, t - 0.5))), 'rank');
    expect(half.note).toMatch(/^equally many cells a colour; (49|50|51) % of cells have the first$/);
    expect(half.place(0)).toBe(0);
    expect(half.place(0.25)).toBeCloseTo(0.5, 1);
  });

  it('typed ends win', () => {
    expect(colourScale(of, 'linear', '1', '10')).toMatchObject({ min: 1, max: 10 });
    expect(colourScale(of, 'rank', '1', '10')).toMatchObject({ min: 1, max: 10 });
  });
});

describe('the scale of changes', () => {
  const change = (values: readonly number[]): Spread => ({ ...spreadOf(values), change: true });

  it('has no change in the middle, and reaches as far down as up', () => {
    for (const choice of SCALE_CHOICES) {
      const s = colourScale(change(many((t) => 30 * t - 10)), choice);
      expect([s.signed, s.place(0), s.min]).toEqual([true, 0.5, -s.max]);
      expect(s.place(-5)).toBeCloseTo(1 - s.place(5), 12);
      expect(s.note).toContain('no change in the middle');
    }
    expect(colourScale(change(many((t) => 30 * t - 10)), 'auto')).toMatchObject({ name: 'linear', max: 20 });
  });

  it('is clipped where a few cells change much more than all others, and a typed end wins', () => {
    const of = change(many((t) => (t > 0.99 ? 1e4 : t - 0.5)));
    const s = colourScale(of, 'auto');
    expect(s.name).toBe('clipped');
    expect([s.place(1e4), s.place(-1e4)]).toEqual([2, -1]); // dotted
    expect(colourScale(of, 'linear', '', '100')).toMatchObject({ min: -100, max: 100 });
    expect(colourScale(change([0, 0, 0]), 'auto').place(0)).toBe(0.5);
  });
});
