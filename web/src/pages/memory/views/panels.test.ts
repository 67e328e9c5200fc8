import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SvgRenderer } from '../../../base/svg';
import { roughMeasure } from '../../../base/text';
import { parseTokens } from '../../../base/theme';
import { tracks } from '../layout';
import { tar } from '../../../base/tar';
import { CategoriesView } from './categories';
import type { Code } from '../../../frame/code/code';
import { codeOf, heatOf, topFile, type Heat } from './heat';
import { column, groups, names, numbers } from '../../../api/fixture';
import type { Answers } from '../../../state/questions';
import { OffendersView, wholeOf, type OffendersInput } from './offenders';
import { distinctOf, StatisticsView } from './statistics';

const theme = parseTokens(
  readFileSync(new URL('../../../base/tokens.css', import.meta.url), 'utf8'),
  'light',
);

const LINES = groups(
  [
    ['a.cc', 'b.cc', 'a.cc', ''],
    ['10', '5', '12', ''],
  ],
  [6, 3, 1, 2],
  [600, 300, 50, 100],
  [1, 0, 0, 0],
);

function offenders(more: Partial<OffendersInput> = {}): OffendersView {
  return new OffendersView({
    lists: [
      {
        title: 'source line',
        groups: LINES,
        keys: 'line',
        column: 'file',
        empty: '',
        nameless: 'no debug info · fix',
      },
      {
        title: 'data object',
        groups: groups([['m_x', 'm_y']], [8, 4], [900, 150]),
        keys: 'name',
        column: 'symbol',
        empty: '',
        nameless: '',
      },
    ],
    by: 'latency',
    unit: 'cycles',
    size: { w: 360, h: 200 },
    scroll: [0, 0],
    chosen: [],
    whole: { latency: 1050, samples: 12 },
    modelled: false,
    ...more,
  });
}

describe('offenders', () => {
  it('groups lines under their files, hottest first; what has no name comes last', () => {
    expect(offenders().lists[0]!.map((r) => `${r.kind} ${r.text}`)).toEqual([
      'file a.cc',
      'group 10',
      'group 12',
      'file b.cc',
      'group 5',
      'nameless no debug info · fix',
    ]);
  });
  it('selects exactly the line, the object or the file', () => {
    const v = offenders();
    expect(v.wanted({ list: 0, row: 1 })).toEqual({ kind: 'line', file: 'a.cc', line: 10 });
    expect(v.wanted({ list: 0, row: 0 })).toEqual({ kind: 'values', column: 'file', values: ['a.cc'] });
    expect(v.wanted({ list: 1, row: 0 })).toEqual({ kind: 'values', column: 'symbol', values: ['m_x'] });
    expect(v.wanted({ list: 0, row: 5 })).toEqual({ kind: 'missing', column: 'file', not: false });
  });
  it('keeps the row without a name in sight when the list is longer than the pane', () => {
    const v = offenders({ size: { w: 360, h: 90 } });
    expect(v.visibleRows()).toBe(3);
    expect(v.row(v.hitTest({ x: 20, y: 22 + 2 * 21 + 5 })!)!.kind).toBe('nameless');
  });
  it('hits rows, not heads, and describes them exactly', () => {
    const v = offenders();
    expect(v.hitTest({ x: 20, y: 8 })).toBeUndefined();
    expect(v.hitTest({ x: 20, y: 22 + 21 + 3 })).toEqual({ list: 0, row: 1 });
    expect(v.describe({ list: 0, row: 1 }).name).toBe('a.cc:10');
    expect(v.describe({ list: 0, row: 1 }).more.replaceAll('\u202f', ' ')).toBe(
      '· 6 of its 6 samples selected · 600 cycles · 57.1 % of the selection',
    );
    expect(offenders({ modelled: true }).describe({ list: 0, row: 1 }).more).toContain('≈');
  });
  it('walks by keys within and between the lists', () => {
    const v = offenders();
    expect(v.step(undefined, 'down')).toEqual({ list: 0, row: 0 });
    expect(v.step({ list: 0, row: 5 }, 'right')).toEqual({ list: 1, row: 1 });
    expect(v.step({ list: 1, row: 0 }, 'up')).toEqual({ list: 1, row: 0 });
  });
});

describe('code', () => {
  it('knows the heat of lines and where to look first', () => {
    const heat = heatOf(LINES, 'a.cc');
    expect(heat.top).toBe(10);
    expect(heat.topHover).toBe(10);
    expect(heat.lines.get(12)!.share).toBeCloseTo(50 / 600);
    expect(topFile(LINES, 1)).toBe('a.cc');
    expect(heatOf(LINES, 'c.cc').top).toBeUndefined();
  });
  it('has cycles beside its lines, and samples where nothing was measured', () => {
    const code = (heat: Heat): Code =>
      codeOf({
        source: { file: 'a.cc', path: 'a.cc', text: '\n'.repeat(20), truncated: false },
        heat,
        current: 10,
        unit: 'cycles',
        provenance: 'modelled',
        places: false,
        counted: '',
      });
    const gutter = (c: Code): string[] => c.columns.filter((x) => !x.tableOnly).map((x) => x.head);
    const measured = code(heatOf(LINES, 'a.cc'));
    expect(gutter(measured)).toEqual(['cycles']);
    expect(measured.columns.at(-1)!.values).toEqual(
      new Map([
        [10, 600],
        [12, 50],
      ]),
    );
    expect(measured.term!(10)).toEqual({ kind: 'line', file: 'a.cc', line: 10 });
    expect(measured.summary).toBe('a.cc: 2 lines with samples; the most is on line 10');
    const counted = code(heatOf(groups([['a.cc'], ['10']], [6], [0]), 'a.cc'));
    expect(gutter(counted)).toEqual(['samples']);
    expect(counted.describe(10)).toMatchObject({ name: 'a.cc:10', counted: 6 });
    expect(counted.describe(11)).toBeUndefined();
  });
});

describe('statistics', () => {
  const stat = {
    counts: Uint32Array.of(8, 4, 0),
    sums: Float64Array.of(800, 600, 0),
    squares: new Float64Array(3),
    min: Float64Array.of(1, 1, NaN),
    max: Float64Array.of(300, 300, NaN),
    quantiles: [Float64Array.of(1, 2, 3), Float64Array.of(4, 5, 6), Float64Array.of(NaN, NaN, NaN)] as const,
  };
  const level = {
    column: column('level', { kind: 'category' }),
    answer: names('level', ['L2', 'L1'], [5, 3], [4, 0]),
  };
  const view = new StatisticsView({
    counts: [8, 4, 0],
    column: column('latency', { unit: 'cycles' }),
    stat,
    spark: undefined,
    level,
    distinct: [{ name: 'lines', counts: [3, 2, 0] }],
    selected: true,
    hoverName: undefined,
    size: { w: 308, h: 266 },
  });
  it('sets the selection against everything', () => {
    const rows = view.rows().rows.map((r) => r.join('|'));
    expect(rows).toContain('samples|4||8');
    expect(rows).toContain('mean cycles|150||100');
    expect(rows).toContain('p90 cycles|5||2');
    expect(rows).toContain('max cycles|300||300');
    expect(rows).toContain('lines|2||3');
    expect(rows).toContain('served by L1|0|0|3');
  });
  it('says one value of all as such, and a large mean as it says quantiles', () => {
    const all = numbers('weight', [1e6, 1e6 + 1], [8]);
    const weight = new StatisticsView({
      counts: [8, 4, 0],
      column: column('weight', { unit: 'ns', distinct: 1, min: 1e6, max: 1e6 }),
      stat: { ...stat, sums: Float64Array.of(8e6, 4e6, 0) },
      spark: all,
      level: undefined,
      distinct: [],
      selected: true,
      hoverName: undefined,
      size: { w: 308, h: 420 },
    });
    const r = new SvgRenderer(theme, roughMeasure);
    weight.draw(r);
    const svg = r.document({ w: 308, h: 420 }, '');
    expect(svg).toMatch(/constant: 1\u202f000\u202f000 ns/);
    expect(svg).not.toContain('√ samples');
    expect(svg).toContain('>1.00');
    expect(svg).not.toContain('1\u202f000\u202f000.0');
  });
  it('shows a dash, not 0, for a layer without a value', () => {
    const hovering = new StatisticsView({
      counts: [8, 4, 1],
      column: column('latency', { unit: 'cycles' }),
      stat,
      spark: undefined,
      level: undefined,
      distinct: [],
      selected: true,
      hoverName: 'm_x',
      size: { w: 308, h: 266 },
    });
    expect(hovering.describe({ row: 2 }).more).toContain('– in m_x');
  });
  it('counts distinct values only when none are folded', () => {
    expect(distinctOf(numbers('cpu', [0, 1, 2, 3], [4, 0, 1]))).toEqual([2, 2, 0]);
    expect(distinctOf(names('s', ['a', '2 more'], [1, 2], undefined, 2))).toBeUndefined();
  });
});

describe('categories', () => {
  const axis = {
    column: column('symbol', { kind: 'category' as const }),
    answer: names('symbol', ['m_x', 'm_y', 'other'], [5, 3, 1]),
    subtitle: '',
  };
  it('finds names and selects them', () => {
    const v = new CategoriesView({
      axis,
      size: { w: 600, h: 60 },
      find: 'm_',
      scroll: 0,
      chosen: [],
    });
    expect(v.shown).toEqual([0, 1]);
    expect(v.hitTest({ x: 20, y: 30 })).toEqual({ bin: 1 });
    expect(v.wanted({ bin: 1 })).toEqual({ kind: 'values', column: 'symbol', values: ['m_y'] });
    expect(v.step({ bin: 0 }, 'down')).toEqual({ bin: 1 });
  });
});

describe('layout', () => {
  it('has the sizes of the look at three window sizes', () => {
    expect(tracks(1440, 900, {})).toMatchObject({ left: 360, statistics: 298 });
    expect(tracks(1440, 900, {}).right).toBeCloseTo(309.6);
    expect(tracks(1280, 720, {})).toMatchObject({ left: 320, right: 320, bottom: 244, statistics: 160 });
    expect(tracks(1280, 720, {}, true, true).statistics).toBe(244); // of two runs
    expect(tracks(2560, 1440, {})).toMatchObject({ left: 480, right: 420, statistics: 382 });
    expect(tracks(1440, 900, { sides: false })).toMatchObject({ left: 0, right: 0 });
    const bare = tracks(1440, 900, {}, false); // the middle has a sentence only
    expect(1440 - bare.left - bare.right).toBeCloseTo(252);
    expect(tracks(1440, 900, { left: 300 }, false).left).toBe(300);
  });
});

describe('tar', () => {
  it('writes entries that tar programs read: name, size, checksum, padding', async () => {
    const bytes = new Uint8Array(
      await tar([{ path: 'run/data/samples.out', content: new Blob(['abc']) }]).arrayBuffer(),
    );
    const text = (from: number, n: number): string =>
      new TextDecoder().decode(bytes.slice(from, from + n)).replace(/\0.*$/, '');
    expect(bytes.length).toBe(512 + 512 + 1024);
    expect(text(0, 100)).toBe('run/data/samples.out');
    expect(Number.parseInt(text(124, 12), 8)).toBe(3);
    const header = bytes.slice(0, 512);
    header.fill(32, 148, 156);
    expect(Number.parseInt(text(148, 6), 8)).toBe(header.reduce((s, b) => s + b, 0));
    expect(text(512, 3)).toBe('abc');
  });
});

describe('the whole that shares are of', () => {
  const list = (total: number) => ({
    title: '',
    groups: { ...LINES, total },
    keys: 'line' as const,
    column: 'file',
    empty: '',
    nameless: '',
  });
  const totals = (stale: boolean) => ({ stale, stats: [{ sums: [5000, 4000, 0] }] }) as unknown as Answers;

  it('is the sum of the selection', () => expect(wholeOf([list(4)], totals(false))).toBe(4000));
  it('is added up while the sum is that of another selection', () =>
    expect(wholeOf([list(4)], totals(true))).toBe(1050));
  it('is unknown if no list has every group, and then no share is said', () => {
    expect(wholeOf([list(5)], totals(true))).toBeUndefined();
    const view = offenders({ whole: { latency: undefined, samples: 12 } });
    expect(view.summary()).toContain('…');
    expect(view.describe({ list: 1, row: 0 }).more).not.toContain('%');
  });
});
