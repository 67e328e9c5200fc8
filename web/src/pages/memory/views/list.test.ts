import { describe, expect, it } from 'vitest';
import { roughMeasure } from '../../../base/text';
import { SvgRenderer } from '../../../base/svg';
import { parseTokens } from '../../../base/theme';
import { readFileSync } from 'node:fs';
import { drawGaps } from './gaps';
import { sayGap } from './gapwords';
import { AxisLayout } from './axis';
import { column, numbers } from '../../../api/fixture';
import type { CacheLine, ColumnInfo } from '../../../api/wire';
import { HistogramView } from './histogram';
import { ListView, type ListInput } from '../../../frame/list';
import { termText } from '../../../state/selection';
import { lineTerm } from '../lineterm';
import { sayAll, sayTouched } from '../touches';

const theme = parseTokens(
  readFileSync(new URL('../../../base/tokens.css', import.meta.url), 'utf8'),
  'light',
);
const plain = (s: string): string => s.replaceAll('\u202f', ' ');

interface Row {
  readonly name: string;
  readonly n: number;
}
const input: ListInput<Row> = {
  name: 'Fruits',
  rows: [
    { name: 'apple', n: 12345 },
    { name: 'pear', n: 2 },
  ],
  samples: (r) => r.n,
  term: (r) => (r.n > 2 ? { kind: 'values', column: 'fruit', values: [r.name] } : undefined),
  columns: [
    { head: 'fruit', link: true, text: (r) => r.name },
    { head: 'samples', right: true, text: (r) => `${Math.floor(r.n / 1000)}\u202f${r.n % 1000}` },
    {
      head: 'bar',
      text: (r) => `${r.n} of them`,
      picture: {
        size: { w: 20, h: 10 },
        draw: (r, row, at) => r.rect({ ...at, w: row.n > 5 ? 20 : 1, h: 10 }, { fill: '#123456' }),
      },
    },
  ],
};

describe('a list', () => {
  const v = new ListView(input, roughMeasure);
  it('is drawn, listed and described from the same columns', () => {
    const r = new SvgRenderer(theme, roughMeasure);
    v.draw(r);
    const svg = r.document(v.size, 'x');
    for (const word of ['fruit', 'samples', 'apple', 'pear', '#123456']) expect(svg).toContain(word);
    expect(v.rows()).toEqual({
      head: ['fruit', 'samples', 'bar'],
      rows: [
        ['apple', '12345', '12345 of them'],
        ['pear', '02', '2 of them'],
      ],
    });
    expect(plain(v.describe(0).more)).toBe('· 12 345 samples · 12345 of them');
    expect(v.describe(0).name).toBe('apple');
    expect(v.summary()).toBe('Fruits: 2 rows of fruit, samples, bar');
  });
  it('is walked, hit and selects what can be selected', () => {
    expect(v.step(undefined, 'down')).toBe(0);
    expect(v.step(0, 'down')).toBe(1);
    expect(v.step(1, 'first')).toBe(0);
    expect(v.hitTest({ x: 30, y: 45 })).toBe(1);
    expect(v.hitTest({ x: 30, y: 5 })).toBeUndefined();
    expect(v.wanted(0)).toEqual({ kind: 'values', column: 'fruit', values: ['apple'] });
    expect(v.wanted(1)).toBeUndefined();
  });
});

describe('gaps on a time axis', () => {
  const lost = { kind: 'lost', from: 40, to: 60, times: 2, records: 1234, cpus: [1, 3], counting: 0 };
  const shared = { kind: 'multiplexed', from: 0, to: 100, times: 7, records: 0, cpus: [], counting: 0.25 };
  const time = column('time', { kind: 'time', unit: 'ns' });
  const axis = {
    column: time,
    answer: numbers('time', [0, 25, 50, 75, 100], [1, 2, 3, 4]),
    subtitle: '',
    gaps: [{ ...lost, says: sayGap(lost) }],
  };

  it('says how much and why', () => {
    expect(plain(sayGap(lost))).toBe('1 234 records lost (the ring buffer was full, CPU 1, 3)');
    expect(plain(sayGap(shared))).toBe(
      '7 samples of counters that ran 25.0 % of the time or more (events shared a counter)',
    );
    expect(sayGap({ ...lost, kind: 'throttled', cpus: [] })).toBe(
      'throttled 2 times (the kernel slowed sampling down)',
    );
  });
  it('are said of the bins they lie in and of the whole', () => {
    const v = new HistogramView({ axis, size: { w: 600, h: 200 }, brushes: [], below: 0 });
    expect(plain(v.describe({ bin: 1 }).more)).toContain('1 234 records lost');
    expect(v.describe({ bin: 0 }).more).not.toContain('lost');
    expect(plain(v.summary())).toContain('samples are missing: 1 234 records lost');
  });
  it('are hatched where they lie, on lying and standing axes', () => {
    for (const lying of [true, false]) {
      const r = new SvgRenderer(theme, roughMeasure);
      drawGaps(r, new AxisLayout(axis, 400, lying), { x: 10, y: 20, w: 400, h: 400 }, lying);
      const svg = r.document({ w: 420, h: 420 }, 'x');
      expect(svg).toContain(
        lying ? 'x="170" y="20" width="80" height="400"' : 'x="10" y="180" width="400" height="80"',
      );
      expect(svg).toContain('<pattern');
    }
    const zoomed = { ...axis, answer: numbers('time', [70, 80, 90], [1, 1]) };
    const r = new SvgRenderer(theme, roughMeasure);
    drawGaps(r, new AxisLayout(zoomed, 400, true), { x: 0, y: 0, w: 400, h: 9 }, true);
    expect(r.document({ w: 1, h: 1 }, '')).not.toContain('<pattern');
  });
});

describe('first touch', () => {
  it('names who, where, how much and from what', () => {
    const o = {
      symbol: 'u',
      pid: null,
      pages: 8,
      nodes: [{ id: 0, pages: 8 }],
      threads: [
        { id: 7, pages: 6 },
        { id: 9, pages: 2 },
      ],
      samples: 10,
      known: 10,
      away: 5,
    };
    const said =
      '8 pages first touched by thread 7 (75.0 %) on node 0 (all), 50.0 % of accesses from another node, measured';
    expect(plain(sayTouched(o))).toBe(said);
    expect(plain(sayAll([o]))).toBe(said);
    expect(
      plain(
        sayAll([
          { ...o, pid: 7 },
          { ...o, pid: 8 },
        ]),
      ),
    ).toBe(`process 7: ${said}; 1 other process has one, too`);
  });
});

describe('a cache line', () => {
  const of1 = (name: string, distinct: number): ColumnInfo => column(name, { distinct });
  const line = { addr: '0x1000', pid: 7, host: 'a' } as CacheLine;
  const of = { physical: false, line_bytes: 64 };
  it.each([
    ['of the only process', [of1('pid', 1)], of, 'addr in 0x1000..0x103f'],
    ['of one of several', [of1('pid', 2)], of, 'pid = 7 & addr in 0x1000..0x103f'],
    [
      'of one on several hosts',
      [of1('pid', 2), of1('host', 2)],
      of,
      'pid = 7 & host = a & addr in 0x1000..0x103f',
    ],
  ])('%s', (_, columns, found, want) => {
    expect(termText(lineTerm(columns, found, line))).toBe(want);
  });
  it('of physical memory, which processes share and hosts do not', () => {
    const columns = [of1('pid', 2), of1('host', 2)];
    expect(termText(lineTerm(columns, { ...of, physical: true }, { ...line, pid: null }))).toBe(
      'host = a & phys in 0x1000..0x103f',
    );
  });
});
