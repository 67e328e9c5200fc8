import { describe, expect, it } from 'vitest';
import type { ColumnInfo } from '../../../api/wire';
import { text, type Term } from '../../../state/selection';
import { HeatmapView, type HeatGrid, type HeatValue } from './heatmap';

const column = (name: string, kind: ColumnInfo['kind'], unit = ''): ColumnInfo =>
  ({ name, kind, unit, provenance: 'measured', distinct: 9, missing: 0, label: '' }) as unknown as ColumnInfo;
const row = (name: string, last = '', rest = false) => ({ name, last, rest, values: 1, samples: 3 });

// Three windows of 10 ns; the second row has samples in its last window only.
const grid: HeatGrid = {
  by: 'cpu',
  edges: new Float64Array([0, 10, 20, 30]),
  rows: [row('0'), row('4', '7')],
  samples: new Uint32Array([1, 2, 0, 0, 0, 4]),
  sums: new Float64Array([5, 30, 0, 0, 0, 400]),
  valued: new Uint32Array([1, 2, 0, 0, 0, 4]),
  levels: ['L1', 'Local RAM', ''],
  mix: [
    new Uint32Array([1, 1, 0, 0, 0, 1]),
    new Uint32Array([0, 1, 0, 0, 0, 2]),
    new Uint32Array([0, 0, 0, 0, 0, 1]),
  ],
  missing: 0,
  still: 'one',
};
const view = (value: HeatValue, by = column('cpu', 'number'), g = grid): HeatmapView =>
  new HeatmapView({
    grid: g,
    value,
    time: column('time', 'time', 'ns'),
    by,
    unit: 'cycles',
    modelled: false,
    size: { w: 410, h: 130 },
    gaps: [],
    brush: { time: [], rows: [] },
    map: 'viridis',
  });
const say = (t: Term | undefined): string => (t ? text([{ not: false, terms: [t] }]) : '');

describe('heat map', () => {
  it('gives a cell its samples, mean latency or share beyond L2, and an empty one nothing', () => {
    const cells = [0, 1, 2, 5];
    expect(cells.map((i) => view('samples').valueOf(i))).toEqual([1, 2, undefined, 4]);
    expect(cells.map((i) => view('mean').valueOf(i))).toEqual([5, 15, undefined, 100]);
    expect(cells.map((i) => view('deep').valueOf(i))).toEqual([0, 0.5, undefined, 2 / 3]);
  });

  it('selects by time and row; joined numbers as a range, the last window with its end', () => {
    const v = view('samples');
    expect(say(v.wanted({ row: 0, window: 0 }))).toBe('(time >= 0 & time < 10) & cpu = 0');
    expect(say(v.wanted({ row: 1, window: 2 }))).toBe('time in 20..30 & cpu in 4..7');
  });

  it('names several rows, but not those that have no row of their own', () => {
    const names = { ...grid, by: 'symbol', rows: [row('m_x'), row('3 more', '', true)] };
    const v = view('samples', column('symbol', 'category'), names);
    expect(v.rowTerms(0, 1).map(say)).toEqual(['symbol = m_x']);
    expect(v.wanted({ row: 1, window: 0 })).toBeUndefined();
  });

  it('finds the cell under the pointer, and the next one with samples by keys', () => {
    const v = view('samples');
    expect(v.hitTest({ x: v.plot.x + v.plot.w - 1, y: v.plot.y + v.plot.h - 1 })).toEqual({
      row: 1,
      window: 2,
    });
    expect(v.hitTest({ x: 2, y: 2 })).toBeUndefined();
    expect(v.step({ row: 0, window: 1 }, 'next')).toEqual({ row: 1, window: 2 });
    expect(v.step({ row: 0, window: 0 }, 'up')).toEqual({ row: 0, window: 0 });
  });

  it('knows nothing of a mark of a larger grid, and leads back from it', () => {
    const v = view('samples');
    for (const gone of [
      { row: 9, window: 0 },
      { row: 0, window: 9 },
    ]) {
      expect(v.describe(gone).more).toBe('· not in this picture');
      expect(v.wanted(gone)).toBeUndefined();
    }
    expect(v.step({ row: 9, window: 9 }, 'first')).toEqual({ row: 1, window: 0 });
    expect(v.step({ row: 9, window: 9 }, 'left')).toEqual({ row: 1, window: 1 });
  });

  it('lists every cell with samples, all digits, units in the head', () => {
    const { head, rows } = view('mean').rows();
    expect(head).toEqual([
      'cpu',
      'from ns',
      'to ns',
      'samples',
      'sum cycles',
      'mean cycles',
      'L1',
      'Local RAM',
      'not recorded',
    ]);
    expect(rows.map((r) => r.join())).toEqual([
      '0,0,10,1,5,5,1,0,0',
      '0,10,20,2,30,15,1,1,0',
      '4 – 7,20,30,4,400,100,1,2,1',
    ]);
  });
});
