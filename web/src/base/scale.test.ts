import { describe, expect, it } from 'vitest';
import { numberScale, placeOn, roundTop, ticksOf, valueAt } from './scale';

describe('a scale', () => {
  it('places values, and back', () => {
    for (const log of ['linear', 'log'] as const) {
      const s = numberScale(2, 5000, log);
      expect(s.log).toBe(log === 'log');
      expect([placeOn(s, 2), placeOn(s, 5000), placeOn(s, 1), placeOn(s, 9999)]).toEqual([0, 1, 0, 1]);
      for (const t of [0, 0.2, 0.5, 0.99, 1]) expect(placeOn(s, valueAt(s, t))).toBeCloseTo(t, 12);
    }
    expect(placeOn(numberScale(0, 1, 'linear'), Number.NaN)).toBeNaN();
  });

  it('is logarithmic by itself above 30 : 1 only, and never with values of 0 or less', () => {
    expect(numberScale(1, 30, 'auto').log).toBe(false);
    expect(numberScale(1, 31, 'auto').log).toBe(true);
    expect(numberScale(0, 1e6, 'auto').log).toBe(false);
    expect(numberScale(-5, 10, 'log').log).toBe(false);
    expect(numberScale(0, 10, 'log', '0.1').log).toBe(true);
  });

  it('survives one value, no value and ends that are swapped', () => {
    expect(placeOn(numberScale(7, 7, 'auto'), 7)).toBe(0);
    expect(placeOn(numberScale(0, 0, 'auto'), 0)).toBe(0);
    expect(numberScale(Number.NaN, Number.NaN, 'auto')).toEqual({ min: 0, max: 1, log: false });
    expect(numberScale(0, 1, 'linear', '9', '3')).toEqual({ min: 3, max: 9, log: false });
  });

  it('has round ticks inside, as many as asked for at most', () => {
    expect(ticksOf(numberScale(4, 820, 'log'))).toEqual([10, 30, 100, 300]);
    expect(ticksOf(numberScale(4, 820, 'log'), 8)).toEqual([5, 10, 20, 50, 100, 200, 500]);
    expect(ticksOf(numberScale(0, 10, 'linear'))).toEqual([0, 2, 4, 6, 8, 10]);
    expect(ticksOf(numberScale(2.1, 2.4, 'log'))).toEqual([2.1, 2.2, 2.3, 2.4]);
    const decades = ticksOf(numberScale(1e-3, 1e9, 'log'));
    expect(decades.length).toBeGreaterThan(3);
    expect(decades.length).toBeLessThanOrEqual(6);
    for (const t of decades) expect(Math.log10(t) % 1).toBeCloseTo(0, 9);
  });

  it('ends at a round value', () => {
    expect([0, 0.9, 1, 2.1, 3.64, 4.1, 7.5, 9].map(roundTop)).toEqual([1, 1, 1, 2.4, 4, 5, 8, 10]);
    for (let v = 1; v < 1e9; v *= 1.07) expect(roundTop(v) / v).toBeLessThan(1.34);
  });
});
