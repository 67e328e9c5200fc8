import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SvgRenderer } from '../../../base/svg';
import { roughMeasure } from '../../../base/text';
import { parseTokens } from '../../../base/theme';
import type {
  GuideInfo,
  InsightAnswer,
  NodeAnswer,
  StripAnswer,
  TreeAnswer,
  WindowAnswer,
} from '../../../api/wire';
import { column, LOPSIDED, machine, numbers, pair, places } from '../../../api/fixture';
import { glyph, sharedAmounts, type GlyphStyle } from './glyph';
import { GuidedView, type GuidedInput, type GuidedMark } from './guided';
import {
  emphasis,
  InsightsView,
  kindText,
  reason,
  stakeBar,
  stakeText,
  whereTerm,
  wrapText,
} from './insights';
import { MergeTree } from './mergetree';
import { allMetrics, defaultMetrics, metricSaid, metricTitle, readMetric, readMetrics } from './metrics';
import { ParallelView } from './parallel';
import { Strip } from './strip';

const tokens = readFileSync(new URL('../../../base/tokens.css', import.meta.url), 'utf8');
const theme = parseTokens(tokens, 'light');
const INFO: GuideInfo = {
  metrics: [
    { name: 'latency', title: '', unit: 'cycles', perDepth: true },
    { name: 'imbalance', title: '', unit: 'σ', perDepth: true },
    { name: 'mean', title: '', unit: 'cycles', perDepth: false },
  ],
  depths: ['NUMA', 'L2', 'CPU'],
  axes: ['time', 'latency'],
  minSamples: 50,
};

function window(
  from: number,
  to: number,
  samples: number,
  value: number | null,
  closed = false,
): WindowAnswer {
  const where = closed ? `time in ${from}..${to}` : `time >= ${from} & time < ${to}`;
  return { from, to, samples, value, resources: 2, few: samples < 50, where };
}

const STRIP: StripAnswer = {
  axis: 'time',
  metric: 'latency',
  depth: 'L2',
  unit: 'cycles',
  windows: [
    window(0, 25, 60, 40),
    window(25, 50, 3, 900),
    window(50, 75, 80, 100),
    window(75, 100, 70, 70, true),
  ],
};

function node(
  id: number,
  begin: number,
  end: number,
  value: number | null,
  a = -1,
  b = -1,
  height: number | null = null,
): NodeAnswer {
  return {
    node: id,
    begin,
    end,
    from: begin,
    to: end - 1,
    samples: end - begin,
    value,
    where: `time in ${begin}..${end - 1}`,
    a,
    b,
    height,
  };
}

// Four leaves of 30 samples every 20; 4 joins the first two, 5 the last two, 6 all.
const NODES = [
  node(6, 0, 100, 60, 4, 5, 30),
  node(5, 40, 100, 80, 2, 3, 8),
  node(4, 0, 50, 41, 0, 1, 2),
  node(3, 60, 100, 84),
  node(2, 40, 70, 76),
  node(1, 20, 50, 42),
  node(0, 0, 30, 40),
];
const TREE: TreeAnswer = {
  axis: 'time',
  metric: 'latency',
  depth: 'L2',
  unit: 'cycles',
  window: 30,
  slide: 20,
  samples: 100,
  leaves: 4,
  merges: [],
  clusters: [],
  nodes: NODES,
};
const TIME = column('time', { kind: 'time', unit: 'ns', min: 0, max: 100 });

const histogram = {
  axis: {
    column: TIME,
    answer: numbers('time', [0, 20, 40, 60, 80, 100], [10, 20, 30, 25, 15]),
    subtitle: 'ns',
  },
  size: { w: 1184, h: 420 },
  brushes: [],
};

function view(more: Partial<GuidedInput> = {}): GuidedView {
  return new GuidedView({
    histogram,
    strips: [STRIP, { ...STRIP, metric: 'imbalance', depth: 'CPU', unit: 'σ' }],
    notes: [],
    least: 50,
    tree: TREE,
    cut: { count: 2 },
    upper: 'histogram',
    ...more,
  });
}

function svg(v: {
  size: { w: number; h: number };
  draw(r: SvgRenderer): void;
  drawHover(r: SvgRenderer): void;
}): string {
  const r = new SvgRenderer(theme, roughMeasure);
  v.draw(r);
  v.drawHover(r);
  return r.document(v.size, '');
}

describe('metrics', () => {
  it('reads what the data supports, and says it in words', () => {
    expect(readMetric('latency:L2', INFO)).toEqual({ name: 'latency', depth: 'L2' });
    expect(readMetric('latency:L9', INFO)).toBeUndefined();
    expect(readMetric('tlb', INFO)).toBeUndefined();
    expect(readMetric('mean:L2', INFO)).toEqual({ name: 'mean', depth: '' });
    expect(defaultMetrics(INFO).map(metricTitle)).toEqual(['average latency · L2', 'imbalance · CPU']);
    expect(defaultMetrics({ ...INFO, depths: [], metrics: INFO.metrics.slice(2) }).map(metricTitle)).toEqual([
      'mean latency',
    ]);
    expect(readMetrics('none', INFO)).toEqual([]);
    expect(allMetrics(INFO)).toHaveLength(7);
  });
  it('writes values in their unit, and a missing one as a dash', () => {
    expect(metricSaid(79.312, 'cycles')).toBe('79.3 cycles');
    expect(metricSaid(2.118, 'σ')).toBe('2.12 σ');
    expect(metricSaid(0.259, 'share')).toBe('25.9\u202f%');
    expect(metricSaid(null, 'cycles')).toBe('–');
  });
});

describe('a strip', () => {
  const axis = { length: 200, positionOf: (v: number) => 2 * v, say: String, unit: 'ns' };
  it('leaves windows with few samples out of its scale', () => {
    const s = new Strip(STRIP, 50, axis);
    expect([s.scale!.lo, s.scale!.hi]).toEqual([40, 100]);
    expect(s.fill(STRIP.windows[1]!, false)).toBeUndefined();
    expect(s.fill(STRIP.windows[2]!, false)!.t).toBe(1);
    expect(new Strip(STRIP, 0, axis).scale!.hi).toBe(900);
  });
  it('selects exactly the samples of a window', () => {
    const s = new Strip(STRIP, 50, axis);
    expect(s.term(0)).toEqual({ kind: 'range', column: 'time', lo: 0, hi: 25, open: true });
    expect(s.term(3)).toEqual({ kind: 'range', column: 'time', lo: 75, hi: 100 });
  });
  it('lies where the axis is, and not beyond a zoom', () => {
    const zoomed = new Strip(STRIP, 50, {
      ...axis,
      positionOf: (v) => Math.max(0, Math.min(200, (v - 50) * 4)),
    });
    expect(zoomed.blocks.map((b) => b.window)).toEqual([2, 3]);
    expect(new Strip(STRIP, 50, axis).at(130)!.window).toBe(2);
  });
  it('says all numbers of a window, and when they are too few', () => {
    const s = new Strip(STRIP, 50, axis);
    expect(s.describe(0).more).toBe(
      '· time 0–25 ns · 60 samples · average latency at L2 40.0 cycles · 2 L2 with samples · ' +
        'between 40.0 cycles and 100.0 cycles on this axis',
    );
    expect(s.describe(1).more).toContain('fewer than 50: not compared');
  });
});

describe('a merge tree', () => {
  const tree = new MergeTree(TREE);
  const ids = (list: readonly NodeAnswer[]): number[] => list.map((n) => n.node);
  it('is cut by number and by height as the engine cuts it', () => {
    expect(ids(tree.cutCount(1))).toEqual([6]);
    expect(ids(tree.cutCount(2))).toEqual([4, 5]);
    expect(ids(tree.cutCount(3))).toEqual([4, 2, 3]);
    expect(ids(tree.cutCount(99))).toEqual([0, 1, 2, 3]);
    expect(ids(tree.cutHeight(30))).toEqual([6]);
    expect(ids(tree.cutHeight(8))).toEqual([4, 5]);
    expect(ids(tree.cutHeight(7.9))).toEqual([4, 2, 3]);
    expect(ids(tree.cutHeight(0))).toEqual([0, 1, 2, 3]);
    expect(tree.most).toBe(4);
  });
  it('knows the height between two cuts, where there is one', () => {
    expect(tree.heightOf(tree.cutCount(2))).toBe(19);
    expect(tree.heightOf(tree.cutCount(3))).toBe(5);
    // Unions are measured anew: the later merge 5 may be nearer than merge 4.
    const odd = new MergeTree({ ...TREE, nodes: NODES.map((n) => (n.node === 4 ? { ...n, height: 9 } : n)) });
    expect(odd.heightOf(odd.cutCount(3))).toBeUndefined();
  });
  it('merges parts without a value last', () => {
    const partly = new MergeTree({
      ...TREE,
      nodes: NODES.map((n) => (n.node === 6 ? { ...n, height: null } : n)),
    });
    expect(ids(partly.cutHeight(1e9))).toEqual([4, 5]);
    expect(partly.level(partly.root!)).toBe(8);
    expect(new MergeTree({ ...TREE, leaves: 0, nodes: [] }).cutCount(3)).toEqual([]);
  });
});

describe('one axis with its guides', () => {
  const at = (v: GuidedView, value: number, y: number): GuidedMark | undefined =>
    v.hitTest({ x: v.plot.x + v.histogram.layout.positionOf(value), y });
  it('finds each part under the pointer', () => {
    const v = view();
    expect(at(v, 50, v.axisY - 5)).toEqual({ bin: 2 });
    expect(at(v, 60, v.axisY + 40)).toEqual({ strip: 0, window: 2 });
    expect(at(v, 60, v.axisY + 77)).toEqual({ strip: 1, window: 2 });
    const marker = v.anchor(1)!;
    expect(v.hitTest({ x: marker.x, y: v.axisY + 31 + 2 * 37 + 24 })).toEqual({ cluster: 1 });
    expect(v.hitTest({ x: 20, y: v.axisY + 40 })).toBeUndefined();
  });
  it('describes a cluster with what it shares', () => {
    expect(view().describe({ cluster: 1 })).toEqual({
      name: 'Cluster 2 of 2',
      more: '· time 40 – 99 ns · 60 samples (60.0\u202f%), 10 shared with the one before · average latency at L2 80.0 cycles',
      counted: 60,
    });
    expect(view({ cut: { count: 4 } }).describe({ cluster: 1 }).more).toContain(
      '10 shared with each neighbour',
    );
  });
  it('walks by keys: along a row, and from row to row at the same place', () => {
    const v = view();
    expect(v.step(undefined, 'right')).toEqual({ bin: 0 });
    const down = v.step({ bin: 3 }, 'down');
    expect(down).toEqual({ strip: 0, window: 2 });
    expect(v.step(down, 'right')).toEqual({ strip: 0, window: 3 });
    expect(v.step(down, 'last')).toEqual({ strip: 0, window: 3 });
    const second = v.step(down, 'down');
    expect(second).toEqual({ strip: 1, window: 2 });
    const cluster = v.step(second, 'down');
    expect(cluster).toEqual({ cluster: 1 });
    expect(v.step(cluster, 'left')).toEqual({ cluster: 0 });
    expect(v.step(cluster, 'down')).toEqual(cluster);
    expect(v.step(v.step(cluster, 'up'), 'up')).toEqual({ strip: 0, window: 2 });
  });
  it('selects the range of a mark, and finds the mark of a hover again', () => {
    const v = view();
    const marks: GuidedMark[] = [{ cluster: 1 }, { strip: 0, window: 2 }];
    for (const m of marks) expect(v.markOf(v.wanted(m))).toEqual(m);
    expect(v.wanted({ cluster: 1 })).toEqual({ kind: 'range', column: 'time', lo: 40, hi: 99 });
    expect(v.markOf({ kind: 'range', column: 'time', lo: 1, hi: 2 })).toBeUndefined();
    const tree = view({ upper: 'tree' });
    expect(tree.markOf(tree.wanted({ merge: 6 }))).toEqual({ merge: 6 });
  });
  it('draws the merge tree over the axis, and a height under the pointer cuts it', () => {
    const v = view({ upper: 'tree' });
    const top = v.heightAt({ x: v.plot.x + 9, y: v.plot.y })!;
    expect(top).toBe(30);
    expect(v.heightAt({ x: v.plot.x + 9, y: v.axisY })).toBe(0);
    expect(v.heightAt({ x: 5, y: v.plot.y + 20 })).toBeUndefined();
    expect(view().heightAt({ x: v.plot.x + 9, y: v.plot.y })).toBeUndefined();
    const [m] = [v.step({ strip: 0, window: 0 }, 'up')];
    expect(m).toEqual({ merge: 6 });
    expect(v.describe(m!).more).toContain('joins 41.0 cycles and 80.0 cycles to 60.0 cycles');
    expect(svg(v)).toContain('merge tree');
    expect(view({ upper: 'tree', cut: { height: 9 } }).clusters!.list.map((c) => c.node)).toEqual([4, 5]);
  });
  it('gives each cluster a glyph, which stands for it', () => {
    const drawn: number[] = [];
    const v = view({ upper: 'glyphs', glyph: (i) => ({ draw: () => drawn.push(i) }) });
    svg(v);
    expect(drawn).toEqual([0, 1]);
    const [, second] = v.glyphBoxes();
    expect(v.hitTest({ x: second!.x + 10, y: second!.y + 10 })).toEqual({ cluster: 1 });
    for (const b of v.glyphBoxes()) expect(b.y + b.h).toBeLessThan(v.axisY);
  });
  it('hides what a zoom leaves out', () => {
    const answer = numbers('time', [60, 70, 80, 90, 100], [10, 20, 30, 25]);
    const v = view({
      histogram: { axis: { column: TIME, answer, subtitle: 'ns' }, size: { w: 1184, h: 420 }, brushes: [] },
      cut: { count: 4 },
    });
    expect(v.clusters!.markers.map((m) => m.hidden)).toEqual([true, true, false, false]);
    expect(v.strips[0]!.blocks.map((b) => b.window)).toEqual([2, 3]);
  });
  it('says names, scales and values in the picture, and all numbers in the table', () => {
    const text = svg(view({ notes: ['a note'] }));
    for (const t of [
      'average latency · L2',
      'imbalance · CPU',
      'clusters',
      '2, by latency · L2',
      '41.0',
      '80.0',
      'a note',
      'samples',
    ])
      expect(text).toContain(t);
    const table = view().rows();
    expect(table.rows[0]).toEqual([
      ...['Cluster 1 of 2', '', '0', '49', '50', ''],
      ...['41', 'cycles', 'average latency · L2'],
    ]);
    expect(table.rows.find((r) => r[0] === 'average latency · L2' && r[2] === '25')).toEqual([
      ...['average latency · L2', '', '25', '50', '3', ''],
      ...['900', 'cycles', 'too few to compare'],
    ]);
    expect(table.rows).toHaveLength(2 + 8 + 5);
    for (const r of table.rows) expect(r).toHaveLength(table.head.length);
    expect(view().summary()).toContain('2 clusters by average latency · L2: 41.0 cycles, 80.0 cycles');
  });
  it('marks the hovered window in every strip, and the hovered cluster', () => {
    expect(svg(view({ hover: { strip: 0, window: 2 } })).match(/stroke-dasharray="5/g)).toHaveLength(2);
    expect(svg(view({ hover: { cluster: 1 } }))).toContain(theme.hover);
  });
  it('leaves the strips out where the merge tree or glyphs would have no room, but not out of the table', () => {
    const low = (upper: 'histogram' | 'tree'): GuidedView =>
      view({ upper, histogram: { ...histogram, size: { w: 1184, h: 212 } } });
    expect(low('histogram').strips).toHaveLength(2);
    expect(low('tree').strips).toHaveLength(0);
    expect(low('tree').plot.h).toBeGreaterThanOrEqual(100);
    expect(low('tree').rows()).toEqual(low('histogram').rows());
    expect(low('tree').step({ cluster: 1 }, 'up')).toEqual({ merge: 6 });
  });
  it('stands without strips and clusters', () => {
    const v = view({ strips: [], tree: undefined });
    expect(v.axisY).toBeGreaterThan(view().axisY);
    expect(v.step({ bin: 1 }, 'down')).toEqual({ bin: 1 });
    expect(svg(v)).not.toContain('clusters');
  });
});

describe('strips beside parallel axes', () => {
  const latency = { ...STRIP, axis: 'latency' };
  const v = new ParallelView({
    axes: [
      { column: TIME, answer: numbers('time', [0, 50, 100], [4, 6]), subtitle: '' },
      {
        column: column('latency', { unit: 'cycles' }),
        answer: numbers('latency', [0, 50, 100], [4, 6]),
        subtitle: '',
      },
    ],
    pairs: [
      pair([
        [0, 0, 4, 4, 0],
        [1, 1, 6, 6, 0],
      ]),
    ],
    size: { w: 900, h: 300 },
    measure: roughMeasure,
    selected: false,
    lines: true,
    strength: 'pair',
    ownHoverScale: false,
    restAlpha: 1,
    brushes: new Map(),
    strips: {
      answers: new Map([
        ['time', STRIP],
        ['latency', latency],
      ]),
      least: 50,
    },
  });
  const [time, second] = v.columns;
  it('are hit at the right edge of their column', () => {
    expect(v.hitTest({ x: time!.x + time!.w - 4, y: v.top + 0.6 * v.height })).toEqual({
      kind: 'window',
      axis: 0,
      window: 2,
    });
    expect(v.hitTest({ x: time!.axisX + 3, y: v.top + 0.6 * v.height })).toEqual({
      kind: 'bin',
      axis: 0,
      bin: 1,
    });
    expect(v.wanted({ kind: 'window', axis: 0, window: 2 })).toEqual({
      kind: 'range',
      column: 'time',
      lo: 50,
      hi: 75,
      open: true,
    });
  });
  it('run with their axis: amounts upward', () => {
    const first = second!.strip!.blocks.find((b) => b.window === 0)!;
    expect(first.till).toBeGreaterThan(v.height * 0.9);
  });
  it('are reached by keys between the axes', () => {
    const w = v.step({ kind: 'bin', axis: 0, bin: 1 }, 'right');
    expect(w).toMatchObject({ kind: 'window', axis: 0 });
    expect(v.step(w, 'down')).toMatchObject({ kind: 'window', axis: 0 });
    expect(v.step(w, 'left')).toMatchObject({ kind: 'bin', axis: 0 });
    expect(v.step(w, 'right')).toMatchObject({ kind: 'bin', axis: 1 });
    expect(v.describe(w!).name).toMatch(/^Window \d of 4/);
    const { head, rows } = v.rows();
    const window = rows.find((r) => r[0] === 'average latency · L2' && r[2] === 'window 2')!;
    expect(window.slice(3, 5)).toEqual(['25', '50']);
    expect(head.slice(-3)).toEqual(['metric', 'metric unit', 'note']);
    expect(window.slice(-3)).toEqual(['900', 'cycles', 'too few samples']);
    for (const r of rows) expect(r).toHaveLength(head.length);
  });
});

describe('glyphs', () => {
  const style: GlyphStyle = { topology: LOPSIDED, metric: 'mean', unit: 'cycles' };
  it('share a scale for means, and have their own for amounts', () => {
    const [a, b] = [places([100, 0, 30, 40, 20, 60, 10, 0, 30]), places([10, 0, 3, 4, 2, 6, 1, 0, 3])];
    expect(sharedAmounts({ ...style, metric: 'samples' }, [a, b])).toBeUndefined();
    const shared = sharedAmounts(style, [a, undefined, b])!;
    // CPU 0 of a, its only mean of 50 samples or more, and those of b, which has none.
    expect(shared.get('CPU')).toHaveLength(4);
    const g = glyph(style, a, { w: 60, h: 60 }, { x: 100, y: 50 }, shared);
    expect(svg(g)).toMatch(/1[0-5]\d\.?\d*/);
    expect(g.size).toEqual({ w: 60, h: 60 });
  });
  it('work on a machine of one core', () => {
    const one = machine([
      ['Machine', 0, -1],
      ['CPU', 0, 0],
    ]);
    expect(() => svg(glyph({ ...style, topology: one }, places([5, 5]), { w: 40, h: 40 }))).not.toThrow();
  });
});

describe('insights', () => {
  const insight = (more: Partial<InsightAnswer> = {}): InsightAnswer => ({
    kind: 'hot-line',
    text: 'Line a.c:10 has ≈ 30.0 % of the latency in 25.9 % of the samples',
    score: 0.074,
    where: 'file = a.c & line = 10',
    stake: 0.3,
    uncertainty: 0.006,
    surprise: 0.99,
    weight: 0.25,
    view: 'code',
    of: 'latency',
    own: 0.3,
    ...more,
  });
  it('set one number in bold', () => {
    expect(emphasis(insight().text)).toEqual([
      'Line a.c:10 has ',
      '≈ 30.0 %',
      ' of the latency in 25.9 % of the samples',
    ]);
    expect(emphasis('CPU 6 issued 768 samples, 1.7 times')[1]).toBe('768 samples');
    expect(emphasis('Core #0 (CPUs 0,16) issued 9 177 samples')[1]).toBe('9 177 samples');
    expect(emphasis('of 1 234 567 cycles')[1]).toBe('1 234 567 cycles');
    const odd = (unit: string): string =>
      `CPU 3 is unlike the other 7: mean latency 440.1${unit} of 78 samples`;
    expect(emphasis(odd(' ns'))[1]).toBe('440.1 ns');
    expect(emphasis(odd(''))[1]).toBe('440.1');
    // A time says where, not how much.
    expect(emphasis('Phase 1 of 2 along time (≈ 0.003 to 5.114 ms; fill has 99.6 % of its samples)')[1]).toBe(
      '99.6 %',
    );
    expect(emphasis('nothing to count')).toEqual(['nothing to count', '', '']);
  });
  it('say what is at stake, and why they stand where they do', () => {
    expect(stakeText(insight()).replaceAll('\u202f', ' ')).toBe('30.0 ± 0.6 %');
    expect(reason(insight()).replaceAll('\u202f', ' ')).toBe(
      '30.0 ± 0.6 % of the latency is at stake (± one standard deviation); ordered by 0.074 = stake × ' +
        '0.99 surprise (0 is chance, 1 as far as can be) × weight 0.25 (only says where the cost is)',
    );
    const { uncertainty: _, ...sure } = insight();
    expect(reason(sure).replaceAll('\u202f', ' ')).toMatch(/^30\.0 % of the latency is at stake; ordered by/);
  });
  it('have bars of the stake, whatever orders them', () => {
    const { bar, from, to } = stakeBar(insight({ score: 0.2 }), 100);
    expect([bar, from, to].map((v) => v.toFixed(3))).toEqual(['30.000', '29.400', '30.600']);
    expect(stakeBar(insight({ stake: 0.001, uncertainty: 0.01 }), 100)).toMatchObject({ bar: 1, from: 0 });
  });
  it('say whose story they are a part of, and what they add to it', () => {
    const part = insight({ partOf: 'hot-object', own: 0.02 });
    expect(kindText(part)).toBe('hot-line · part of hot-object');
    expect(reason(part).replaceAll('\u202f', ' ')).toMatch(
      /at most that of hot-object, whose samples these are: 2\.0 % of the latency is counted in no finding above$/,
    );
  });
  it('preview their selection as one term', () => {
    expect(whereTerm('time in 0..5')).toEqual({ kind: 'range', column: 'time', lo: 0, hi: 5 });
    expect(whereTerm('level = L2 & cpu = 3')).toMatchObject({ kind: 'all' });
    expect(whereTerm('level = & ')).toBeUndefined();
    expect(whereTerm('')).toBeUndefined();
  });
  it('are a table and a picture', () => {
    const v = new InsightsView(
      [
        insight(),
        insight({
          kind: 'phase',
          score: 0.01,
          where: 'time in 0..5',
          view: 'axis',
          axis: 'time',
          metric: 'mean',
        }),
      ],
      'everything',
      320,
      roughMeasure,
    );
    expect(v.rows().rows[1]).toEqual([
      '2',
      'phase',
      '0.3',
      '0.006',
      'latency',
      '0.3',
      '0.99',
      '0.25',
      '0.01',
      insight().text,
      'time in 0..5',
      'axis time mean',
      '',
    ]);
    const text = svg(v);
    expect(text).toContain('over everything');
    expect(text.replaceAll('\u202f', ' ')).toContain('30.0 ± 0.6 % of the latency');
    expect(v.step(v.step(undefined, 'down'), 'down')).toEqual({ insight: 1 });
    expect(v.hitTest({ x: 50, y: v.size.h - 5 })).toEqual({ insight: 1 });
    expect(svg(new InsightsView([], 'everything', 320, roughMeasure))).toContain('Nothing stands out');
  });
  it('wrap sentences at words', () => {
    const lines = wrapText('one two three four five six seven', 90, { size: 12 }, roughMeasure);
    expect(lines.join(' ')).toBe('one two three four five six seven');
    for (const l of lines) expect(roughMeasure(l, { size: 12 })).toBeLessThanOrEqual(90);
  });
});
