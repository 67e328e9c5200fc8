import { describe, expect, it } from 'vitest';
import { column } from '../../../api/fixture';
import { bars, describeLatency, describeLevels, groupName, segments, spreadOf } from './spread';

const latency = {
  samples: 4,
  sum: 83,
  min: 4,
  p50: 4,
  p90: 70,
  p99: 70,
  max: 70,
  bins: [0, 0, 0, 3, 0, 0, 0, 1],
};

describe('spread', () => {
  it('has what the run has, and says what that lacks', () => {
    const both = [column('level', { kind: 'category' }), column('latency', {})];
    expect(spreadOf(both)).toEqual({ levels: true, latency: true, lacks: '' });
    const absent = [column('level', { kind: 'category', provenance: 'absent' }), column('cpu', {})];
    expect(spreadOf(absent)).toMatchObject({ levels: false, latency: false });
    expect(spreadOf(absent).lacks).toBe('samples have no latency and no level');
  });

  it('orders levels from the nearest and fills the bar', () => {
    const s = segments([
      { name: 'Remote Cache', samples: 1 },
      { name: '', samples: 1 },
      { name: 'L1', samples: 2 },
    ]);
    expect(s.map((x) => x.name)).toEqual(['L1', 'Remote Cache', '']);
    expect(s[0]!.from).toBe(0);
    expect(s.at(-1)!.to).toBe(1);
    expect(s[1]).toMatchObject({ from: 0.5, to: 0.75 });
    expect(segments([])).toEqual([]);
  });

  it('keeps powers of two between the first and the last', () => {
    const b = bars(latency);
    expect(b.map((x) => [x.lo, x.hi, x.samples])).toEqual([
      [4, 8, 3],
      [8, 16, 0],
      [16, 32, 0],
      [32, 64, 0],
      [64, 128, 1],
    ]);
    expect(b[0]!.height).toBe(1);
    expect(bars(null)).toEqual([]);
  });

  it('says the same in words', () => {
    expect(
      describeLevels([
        { name: 'L1', samples: 3 },
        { name: '', samples: 1 },
      ]).replaceAll('\u202f', ' '),
    ).toBe('L1 75.0 %, not recorded 25.0 %');
    expect(describeLevels([])).toBe('no levels recorded');
    expect(describeLatency(latency, 'cycles')).toBe(
      'half below 4, 90 % below 70, 99 % below 70, at most 70 cycles',
    );
    expect(describeLatency(null, '')).toBe('no latency recorded');
  });

  it('names groups', () => {
    const g = { samples: 1, levels: [], distribution: null };
    expect(groupName(['file', 'line'], { ...g, label: ['/src/heat.c', '12'] })).toBe('heat.c:12');
    expect(groupName(['symbol', 'field'], { ...g, label: ['cells', ''] })).toBe('cells.?');
    expect(groupName(['symbol'], { ...g, label: [''] })).toBe('(not recorded)');
  });
});
