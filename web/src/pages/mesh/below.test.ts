import { describe, expect, it } from 'vitest';
import { LineView } from './lineview';
import { OverTimeView, type OverTimeRow } from './overtimeview';
import { readPoint } from './words';

const row = (label: string, values: (number | null)[], region = true): OverTimeRow => ({
  label,
  low: Number(label),
  high: Number(label),
  values,
  samples: values.map((v) => (v === null ? 0 : 3)),
  region,
});

describe('regions over time', () => {
  const view = new OverTimeView({
    rows: [row('all cells', [10, 20], false), row('1', [10, null]), row('2', [null, 20])],
    dumps: ['dump 60', 'dump 180'],
    iterations: [60, 180],
    by: 'region',
    field: 'latency, average',
    unit: 'cycles',
    now: 1,
    size: { w: 132 + 200 + 84, h: 22 + 90 + 6 }, // a plot of 200 × 90
    brushed: undefined,
    cursor: undefined,
  });
  it('hits the region and the dump under the pointer', () => {
    expect(view.hitTest({ x: 132 + 150, y: 22 + 40 })).toEqual({ x: 1, y: 1 });
    expect(view.hitTest({ x: 100, y: 60 })).toBeUndefined();
    expect(view.binAt({ x: 0, y: 1000 })).toEqual({ x: 0, y: 2 }); // a drag may leave the plot
  });
  it('is walked by keys from the dump that is shown, and stays inside', () => {
    expect(view.step(undefined, 'left')).toEqual({ x: 1, y: 0 });
    expect(view.step({ x: 1, y: 0 }, 'down')).toEqual({ x: 1, y: 1 });
    expect(view.step({ x: 1, y: 2 }, 'down')).toEqual({ x: 1, y: 2 });
  });
  it('says what a part is worth, and that another has no samples', () => {
    expect(view.describe({ x: 1, y: 2 })).toEqual({
      name: 'region 2',
      more: '· dump 180 · latency, average 20 cycles, 3 samples',
    });
    expect(view.describe({ x: 1, y: 1 }).more).toContain('no samples');
    expect(view.rows().rows).toContainEqual(['1', '180', '', '0']);
    expect(view.scale).toMatchObject({ min: 10, max: 20 });
  });
});

describe('a line', () => {
  const view = new LineView({
    line: {
      length: 4,
      unit: 'cycles',
      pieces: [
        { cell: 3, from: 0.25, to: 0.5, value: 7, samples: 1, against: 1.5 },
        { cell: 9, from: 0.5, to: 1, value: null, samples: 0, against: 2.5 },
      ],
    },
    field: 'latency, average',
    variable: 'e',
    size: { w: 64 + 200 + 16, h: 160 },
    cursor: undefined,
  });
  it('hits the cell under the pointer; before the mesh there is none', () => {
    expect(view.hitTest({ x: 64 + 60, y: 60 })).toBe(0);
    expect(view.hitTest({ x: 64 + 20, y: 60 })).toBeUndefined();
  });
  it('says lengths in the coordinates of the mesh', () => {
    expect(view.describe(0)).toEqual({
      name: 'Cell 3',
      more: '· 1 to 2 from the start · latency, average 7 cycles, 1 sample · e 1.5',
    });
    expect(view.describe(1).more).toContain('no samples');
    expect(view.rows().rows[1]).toEqual(['9', '2', '4', '', '0', '2.5']);
  });
  it('has ends of three numbers', () => {
    expect(readPoint('0, -1.5,2e3')).toEqual([0, -1.5, 2000]);
    for (const text of ['', '1,2', '1,2,', '1,2,3,4', 'a,b,c', '1,2,Infinity'])
      expect(readPoint(text)).toBeUndefined();
  });
});
