import { describe, expect, it } from 'vitest';
import { fit, roughMeasure } from '../../../base/text';
import type { Term } from '../../../state/selection';
import {
  axisQuestion,
  correlate,
  defaultAxes,
  isConstant,
  moveAxis,
  orderByCorrelation,
} from '../../../state/axes';
import { AxisLayout, rangeOfBins, subtitle } from './axis';
import { chipOf, pageTitle } from '../../../frame/chips';
import type { PairAnswer } from '../../../api/decode';
import { changeBar } from '../../../base/change';
import { rasterize } from '../../../base/raster';
import {
  densityStrokes,
  inkOf,
  KeptLines,
  lineColor,
  lineWidth,
  linesWide,
  type DensityInput,
  type LineLayer,
} from './density';
import { mutualInformation } from '../../../state/arrange';
import { column, info, machine, names, numbers, pair } from '../../../api/fixture';
import { foldAxis, KeptFolds } from './fold';
import { HistogramView } from './histogram';
import { binOf, resourceOf } from './link';
import { ChangeHistogramView } from '../compare/axis';
import { ChangeParallelView } from '../compare/parallel';
import { VERDICT_HEAD } from '../compare/verdict';
import { brushOf, ParallelView, type ParallelInput } from './parallel';
import { SvgRenderer } from '../../../base/svg';
import { parseTokens } from '../../../base/theme';
import { readFileSync } from 'node:fs';
import { csv } from '../../../frame/view';

const theme = parseTokens(
  readFileSync(new URL('../../../base/tokens.css', import.meta.url), 'utf8'),
  'light',
);
const LATENCY = column('latency', { unit: 'cycles', min: 10, max: 1000 });
const latency = numbers('latency', [10, 100, 1000], [5, 3], { scale: 'log', max: 1000 });
const layout = (c = LATENCY, a = latency, length = 200): AxisLayout =>
  new AxisLayout({ column: c, answer: a, subtitle: '' }, length);

describe('axis', () => {
  it('maps values to positions and back, amounts upward', () => {
    const l = layout();
    expect(l.up).toBe(true);
    expect(l.positionOf(10)).toBeCloseTo(200);
    expect(l.positionOf(1000)).toBeCloseTo(0);
    expect(l.positionOf(100)).toBeCloseTo(100);
    for (const v of [11, 37, 250, 999]) expect(l.valueAt(l.positionOf(v))).toBeCloseTo(v, 6);
  });
  it('runs time downward and writes it in a unit that suits', () => {
    const time = column('time', { kind: 'time', unit: 'ticks' });
    const l = layout(time, numbers('time', [0, 50e9, 100e9], [1, 1]));
    expect(l.positionOf(0)).toBe(0);
    expect(l.scale.unit).toBe('Gticks');
    expect(l.ticks(33).map((t) => t.label)).toEqual(['0', '20', '40', '60', '80', '100']);
    expect(subtitle(time, numbers('time', [0, 50e9, 100e9], [1, 1]))).toBe('Gticks from start');
  });
  it('says that CPUs are by node only where there are nodes', () => {
    const cpu = column('cpu', { kind: 'number', head: 'by node' });
    const answer = numbers('cpu', [0, 1, 2], [1, 1]);
    expect(subtitle(cpu, answer, [[0], [1]])).toBe('by node');
    expect(subtitle(cpu, answer, [[0, 1]])).toBe('number');
    expect(subtitle(cpu, answer)).toBe('number');
  });
  it('selects exactly the rows of a bin: half open, the last closed, the ends unbounded when values lie beyond', () => {
    const l = layout();
    expect(l.binTerm(0)).toEqual({ kind: 'range', column: 'latency', lo: 10, hi: 100, open: true });
    expect(l.binTerm(1)).toEqual({ kind: 'range', column: 'latency', lo: 100, hi: 1000 });
    expect(rangeOfBins('a', { ...latency, below: 1, above: 2 }, 0, 1)).toEqual({
      kind: 'range',
      column: 'a',
    });
  });
  it('brushes to round values, and to the last value past the end', () => {
    const [t] = layout().brushTerms(-5, 100);
    expect(t).toMatchObject({ kind: 'range', hi: 1000 });
    expect((t as { lo: number }).lo).toBe(100);
  });
  it('gives names slots, and rows without a value their own', () => {
    const symbol = column('symbol', { kind: 'category' });
    const l = layout(symbol, names('symbol', ['m_x', 'm_y', '3 more'], [9, 5, 4, 2], undefined, 3));
    expect(l.slots.map((s) => s.kind)).toEqual(['name', 'name', 'more', 'absent']);
    expect(l.binTerm(0)).toEqual({ kind: 'values', column: 'symbol', values: ['m_x'] });
    expect(l.binTerm(3)).toEqual({ kind: 'missing', column: 'symbol', not: false });
    expect(l.binTerm(2)).toEqual({
      kind: 'all',
      clauses: [
        { not: true, terms: [{ kind: 'values', column: 'symbol', values: ['m_x', 'm_y'] }] },
        { not: false, terms: [{ kind: 'missing', column: 'symbol', not: true }] },
      ],
    });
    expect(l.brushTerms(0, 110)).toEqual([{ kind: 'values', column: 'symbol', values: ['m_x', 'm_y'] }]);
  });
  it('shows CPUs in the order of the topology and levels by distance', () => {
    const cpu = column('cpu', { min: 0, max: 3 });
    const a = numbers('cpu', [0, 1, 2, 3, 4], [1, 1, 1, 1]);
    const l = new AxisLayout(
      {
        column: cpu,
        answer: a,
        subtitle: '',
        groups: [
          [0, 2],
          [1, 3],
        ],
      },
      206,
    );
    expect(l.slots.map((s) => s.value)).toEqual([0, 2, 1, 3]);
    expect(l.slots[2]!.from - l.slots[1]!.till).toBeCloseTo(6);
    const level = layout(
      column('level', { kind: 'category' }),
      names('level', ['L2', 'L1', 'Beyond L3', 'LFB'], [4, 3, 2, 1]),
    );
    expect(level.slots.map((s) => s.label)).toEqual(['L1', 'LFB', 'L2', 'Beyond L3']);
  });
});

describe('folding', () => {
  const a = names('symbol', ['a', 'b', 'c', 'd'], [10, 9, 8, 7, 1]);
  it('keeps the heaviest names and loses no row', () => {
    const { answer, map } = foldAxis(
      a,
      new Map([
        ['c', 50],
        ['a', 5],
        ['b', 1],
        ['d', 0],
      ]),
      3,
    );
    expect(answer.labels).toEqual(['c', 'a', '2 more']);
    expect([...answer.counts[0]]).toEqual([8, 10, 16, 1]);
    expect([...map]).toEqual([1, 2, 0, 2, 3]);
  });
  it('joins the cells of pairs', () => {
    const { map } = foldAxis(a, undefined, 2);
    const p = new KeptFolds().pair(
      'a b',
      pair([
        [0, 0, 1, 1, 0],
        [1, 0, 2, 1, 1],
        [2, 0, 4, 0, 0],
        [2, 1, 8, 8, 0],
      ]),
      map,
      undefined,
    );
    expect([...p.left]).toEqual([0, 1, 1]);
    expect([...p.counts[0]]).toEqual([1, 6, 8]);
    expect([...p.counts[2]]).toEqual([0, 1, 0]);
  });
  it('joins the cells of another hover alone, and all of another answer, fold or place', () => {
    const { map } = foldAxis(a, undefined, 2);
    const three = Uint16Array.from([0, 1, 2, 3]);
    const folds = new KeptFolds();
    // Cells of one still answer: a hover has another third number of each.
    const answer = (still: string | undefined, hovered: readonly number[], more = 0): PairAnswer => ({
      ...pair([
        [0, 0, 1 + more, 1, hovered[0]!],
        [1, 0, 2, 1, hovered[1]!],
        [2, 0, 4, 0, hovered[2]!],
        [2, 1, 8, 8, hovered[3]!],
      ]),
      ...(still !== undefined && { still }),
    });
    const fresh = (p: PairAnswer, m: Uint16Array | undefined) => new KeptFolds().pair('', p, m, undefined);
    const cases: [name: string, place: string, p: PairAnswer, map: Uint16Array | undefined, same: boolean][] =
      [
        ['the first', 'a b', answer('x', [0, 1, 0, 0]), map, false],
        ['another hover', 'a b', answer('x', [1, 1, 0, 5]), map, true],
        ['no hover', 'a b', answer('x', [0, 0, 0, 0]), map, true],
        ['another fold', 'a b', answer('x', [0, 1, 0, 0]), three, false],
        ['no fold', 'a b', answer('x', [0, 1, 0, 0]), undefined, false],
        ['no fold, another hover', 'a b', answer('x', [0, 0, 1, 0]), undefined, true],
        ['another answer', 'a b', answer('y', [0, 0, 1, 0], 7), undefined, false],
        ['another place', 'a b A', answer('y', [0, 0, 1, 0], 7), undefined, false],
        ['an answer without a name', 'a b', answer(undefined, [0, 0, 1, 0]), map, false],
        ['another without a name', 'a b', answer(undefined, [0, 0, 1, 0], 3), map, false],
      ];
    let before: PairAnswer | undefined;
    for (const [name, place, p, m, same] of cases) {
      const got = folds.pair(place, p, m, undefined);
      expect(got, name).toEqual(fresh(p, m));
      expect(got.counts[1] === before?.counts[1], name).toBe(same);
      before = got;
    }
  });
  it('gives numbers that name things their labels', () => {
    const { answer } = foldAxis(
      numbers('line', [698, 699, 700, 701], [5, 0, 9]),
      new Map([
        ['698', 1],
        ['700', 7],
      ]),
      5,
    );
    expect(answer.labels).toEqual(['700', '698']);
  });
});

describe('lines', () => {
  const cells = pair([
    [0, 0, 100, 50, 0],
    [0, 1, 4, 4, 2],
    [1, 1, 30, 0, 0],
  ]);
  const input = {
    pair: cells,
    area: { x: 0, y: 0, w: 100, h: 50 },
    leftY: (b: number) => b * 10,
    rightY: (b: number) => b * 10,
    strength: 'pair' as const,
    most: 50,
    ownHoverScale: false,
  };
  const ink = (layer: LineLayer) => inkOf(layer, theme, 1);
  it('are drawn weakest first, wider with more samples', () => {
    const s = densityStrokes(input, ink('selection'));
    expect(s.n).toBe(2);
    expect(s.width[0]!).toBeLessThan(s.width[1]!);
    expect(s.width[1]!).toBeCloseTo(6);
    expect(s.alpha[1]!).toBeCloseTo(1);
  });
  it('of the rest are those of all samples', () => {
    expect(densityStrokes(input, ink('rest')).n).toBe(3);
    expect(densityStrokes(input, ink('hover')).n).toBe(1);
  });
  it('of all samples stay the same object until something about them changes', () => {
    const kept = new KeptLines();
    const again = (patch: Partial<DensityInput>, of = ink('rest'), gap = 0) =>
      kept.strokes(gap, { ...input, ...patch }, of);
    const first = again({});
    expect(first).toEqual({ ...densityStrokes(input, ink('rest')), kept: true });
    const otherSelection = pair([
      [0, 0, 100, 7, 1],
      [0, 1, 4, 0, 0],
      [1, 1, 30, 30, 0],
    ]);
    expect(again({ pair: otherSelection })).toBe(first);
    expect(again({}, ink('selection'))).not.toBe(first);
    expect(again({}, ink('rest'), 1)).not.toBe(first);
    expect(again({})).toBe(first);
    const changes: Partial<DensityInput>[] = [
      {
        pair: pair([
          [0, 0, 101, 50, 0],
          [0, 1, 4, 4, 2],
          [1, 1, 30, 0, 0],
        ]),
      },
      {
        pair: pair([
          [0, 0, 100, 50, 0],
          [0, 1, 4, 4, 2],
          [1, 0, 30, 0, 0],
        ]),
      },
      { area: { ...input.area, w: 99 } },
      { leftY: (b: number) => b * 11 },
      { rightY: () => NaN },
      { strength: 'left' },
      { most: 51 },
    ];
    for (const change of changes) {
      const made = again(change);
      expect(made).toEqual({ ...densityStrokes({ ...input, ...change }, ink('rest')), kept: true });
      expect(again({})).not.toBe(made);
    }
    expect(again({}, inkOf('rest', theme, 0.5)).rgb).not.toEqual(first.rgb);
  });
  it('of three pictures in turn stay, of more than that the newest', () => {
    const kept = new KeptLines();
    const of = (most: number) => kept.strokes(0, { ...input, most }, ink('rest'));
    const three = [50, 51, 52].map(of);
    expect([50, 51, 52].map(of)).toEqual(three);
    [50, 51, 52].forEach((most, i) => expect(of(most)).toBe(three[i]));
    of(53);
    expect(of(52)).toBe(three[2]);
    expect(of(50)).not.toBe(three[0]);
  });
  it('of a difference stay the same object until a side changes', () => {
    const kept = new KeptLines();
    const a = pair([[0, 0, 4, 4, 0]]);
    const lines = (b: PairAnswer, more: Partial<ParallelInput> = {}) => {
      const bars = { a: new Uint32Array(4), b: new Uint32Array(4) };
      const v = new ChangeParallelView({
        ...parallelInput({ kept, ...more }),
        bars: [bars, bars, bars],
        cells: [[a, b], undefined],
        totals: [100, 100],
        allowance: 0,
      });
      largest.push(v.largest);
      return [...v.lines('selection', theme)][0]!;
    };
    const largest: number[] = [];
    const b = pair([[0, 0, 90, 90, 0]]);
    const first = lines(b);
    expect(first.n).toBe(1);
    expect(lines(b)).toBe(first);
    expect(lines(pair([[0, 0, 80, 80, 0]]))).not.toBe(first);
    expect(lines(b, { size: { w: 1000, h: 260 } })).not.toBe(first);
    expect(lines(b)).toBe(first);
    expect(lines(b, { selected: true }).kept).toBeUndefined(); // one of many brushes
    expect(largest.slice(0, 3)).toEqual([86_000, 86_000, 76_000]); // of each 100 000
  });
  it('of a difference have a sign and a side where colours are grey', () => {
    const bars = { a: Uint32Array.of(90, 10), b: Uint32Array.of(10, 90) };
    const v = new ChangeParallelView({
      ...parallelInput(),
      bars: [bars, bars, bars],
      cells: [undefined, undefined],
      totals: [100, 100],
      allowance: 0,
    });
    const said = (bin: number): string => v.describe({ kind: 'bin', axis: 0, bin }).more ?? '';
    expect(said(0)).toMatch(/B − A −80/);
    expect(said(1)).toMatch(/B − A \+80/);
    const table = v.rows();
    const change = table.head.indexOf('change');
    expect(table.rows.map((r) => Math.sign(Number(r[change])))).toEqual([-1, 1, -1, 1, -1]);
    const r = new SvgRenderer(theme, roughMeasure);
    const drawn: { x: number; w: number }[] = [];
    const bar = [changeBar(theme, -1), changeBar(theme, 1)];
    r.rect = (box, paint) => void (bar.includes(paint.fill ?? '') && drawn.push(box));
    v.draw(r);
    const [less, more] = drawn;
    expect(less!.x + less!.w).toBeLessThan(more!.x); // on either side of the centre line
  });
  it('whose bin has no place are not seen', () => {
    const s = densityStrokes({ ...input, leftY: (b) => (b === 0 ? NaN : 5) }, ink('selection'));
    expect([...s.alpha]).toEqual([0, 0]);
  });
  it('says how coarsely so many lines are drawn', () => {
    const cells = (n: number, selected: number): PairAnswer => {
      const counts = (f: (i: number) => number): Uint32Array =>
        Uint32Array.from({ length: n }, (_, i) => f(i));
      return {
        left: new Uint16Array(n),
        right: new Uint16Array(n),
        counts: [counts(() => 2), counts((i) => (i < selected ? 1 : 0)), counts(() => 0)],
      };
    };
    expect(linesWide([cells(3000, 3000)], false)).toBe(1);
    expect(linesWide([cells(3001, 10)], false)).toBe(1);
    expect(linesWide([cells(3001, 10)], true)).toBe(2);
    expect(linesWide([cells(10, 10), cells(12_001, 12_001)], false)).toBe(3);
    const drawn = densityStrokes({ ...input, pair: cells(4000, 1500) }, ink('rest'));
    expect(rasterize(drawn, 1).wide).toBe(linesWide([cells(4000, 1500)], true));
  });
  it('take their strength from the pair, or from one side', () => {
    const byLeft = densityStrokes(
      {
        ...input,
        pair: pair([
          [0, 0, 9, 9, 0],
          [1, 0, 1, 1, 0],
        ]),
        strength: 'left',
      },
      ink('selection'),
    );
    expect(byLeft.rgb[0]).toBe(byLeft.rgb[1]); // each is all of its left bin
    const whole = densityStrokes(
      {
        ...input,
        pair: pair([
          [0, 0, 9, 9, 0],
          [1, 0, 1, 1, 0],
        ]),
      },
      ink('selection'),
    );
    expect(whole.rgb[0]).not.toBe(whole.rgb[1]);
  });
  it('have the widths and colours of the look', () => {
    expect(lineWidth('rest', 1)).toBeCloseTo(1.4);
    expect(lineWidth('hover', 1)).toBeCloseTo(7.55);
    expect(lineColor('selection', 0.7, theme)).toBe(theme.selected);
    expect(lineColor('hover', 1, theme)).toBe(theme.hover);
  });
  it('say how much one side tells of the other', () => {
    expect(
      mutualInformation(
        pair([
          [0, 0, 5, 5, 0],
          [1, 1, 5, 5, 0],
        ]),
      ),
    ).toBeCloseTo(1);
    expect(
      mutualInformation(
        pair([
          [0, 0, 5, 5, 0],
          [0, 1, 5, 5, 0],
          [1, 0, 5, 5, 0],
          [1, 1, 5, 5, 0],
        ]),
      ),
    ).toBeCloseTo(0);
  });
});

const AXES: ParallelInput['axes'] = [
  { column: LATENCY, answer: latency, subtitle: 'cycles · log' },
  {
    column: column('symbol', { kind: 'category' }),
    answer: names('symbol', ['m_x', 'm_y'], [5, 3]),
    subtitle: 'data object',
  },
  { column: column('z', { distinct: 1, min: 4, max: 4 }), answer: numbers('z', [4, 5], [8]), subtitle: '' },
];

function parallelInput(more: Partial<ParallelInput> = {}): ParallelInput {
  return {
    axes: AXES,
    pairs: [
      pair([
        [0, 0, 5, 5, 0],
        [1, 1, 3, 3, 0],
      ]),
      undefined,
    ],
    size: { w: 1440, h: 260 },
    measure: roughMeasure,
    selected: false,
    lines: true,
    strength: 'pair',
    ownHoverScale: false,
    restAlpha: 1,
    brushes: new Map(),
    ...more,
  };
}

function parallel(more: Partial<ParallelInput> = {}): ParallelView {
  return new ParallelView(parallelInput(more));
}

describe('parallel view', () => {
  it('leaves the lines of a selection in view when all of it is hovered', () => {
    const drawn = (selectionHovered: boolean): number => {
      const v = parallel({
        selected: true,
        selectionHovered,
        pairs: [
          pair([
            [0, 0, 5, 5, 5],
            [1, 1, 3, 0, 0],
          ]),
          undefined,
        ],
      });
      const r = new SvgRenderer(theme, roughMeasure);
      let strokes = 0;
      r.strokes = (s) => void (strokes += s.n);
      v.drawHover(r);
      return strokes;
    };
    expect(drawn(true)).toBe(0);
    expect(drawn(false)).toBe(1);
  });
  it('never lets columns overlap and gives the rest to the gaps', () => {
    const v = parallel();
    for (let i = 1; i < v.columns.length; i++)
      expect(v.columns[i]!.x).toBeGreaterThan(v.columns[i - 1]!.x + v.columns[i - 1]!.w + 20);
    const last = v.columns[2]!;
    expect(last.x + last.w).toBeLessThanOrEqual(1440);
    const many = parallel({
      axes: Array.from({ length: 16 }, () => ({ column: LATENCY, answer: latency, subtitle: '' })),
      pairs: [],
    });
    for (let i = 1; i < 16; i++)
      expect(many.columns[i]!.x).toBeGreaterThan(many.columns[i - 1]!.x + many.columns[i - 1]!.w);
  });
  it('has room for the ticks of times, whatever their unit', () => {
    const time = column('time', { kind: 'time', unit: 'ns' });
    const answer = numbers('time', [0, 2e6, 3_987_878], [1, 1]);
    const v = parallel({ axes: [{ column: time, answer, subtitle: '' }], pairs: [] });
    const c = v.columns[0]!;
    const labels = c.layout.ticks(26).map((t) => t.label);
    expect(labels.at(-1)).toMatch(/^3.000$|^4.000$/);
    for (const l of labels)
      expect(fit(l, c.axisX - c.x - 8, { size: 11.5 }, roughMeasure), 'as drawn').toBe(l);
  });
  it('cuts names so that they stay apart, and less where there is room', () => {
    const calls = [
      'libgomp.so.1.0.0+0x1f7e3',
      'libgomp.so.1.0.0+0x1f62b',
      'CalcPressureForElems._clone',
      'main',
    ];
    const of = column('function', { kind: 'category' });
    const axis = { column: of, answer: names('function', calls, [4, 3, 2, 1]), subtitle: '' };
    const labels = (w: number): string[] => {
      const v = parallel({
        axes: [axis, { column: LATENCY, answer: latency, subtitle: '' }],
        pairs: [],
        size: { w, h: 200 },
      });
      const r = new SvgRenderer(theme, roughMeasure);
      v.draw(r);
      const texts = [...r.document({ w, h: 200 }, '').matchAll(/>([^<]*)<\/text>/g)].map((m) => m[1]!);
      return texts.filter((t) => /gomp|Calc|main/.test(t));
    };
    expect(new Set(labels(1280)).size, labels(1280).join()).toBe(4);
    expect(labels(1280).find((l) => l.startsWith('Calc'))).toMatch(/^CalcPressure.*…$/);
    expect(labels(2560)).toEqual(calls);
  });
  it('finds bins and heads, and nothing between columns', () => {
    const v = parallel();
    const c = v.columns[1]!;
    expect(v.hitTest({ x: c.axisX + 4, y: v.top + 10 })).toEqual({ kind: 'bin', axis: 1, bin: 0 });
    expect(v.hitTest({ x: c.x + 4, y: 10 })).toEqual({ kind: 'head', axis: 1 });
    expect(v.hitTest({ x: c.x - 30, y: v.top + 10 })).toBeUndefined();
    expect(v.describe({ kind: 'bin', axis: 1, bin: 0 })).toMatchObject({
      name: 'm_x',
      more: '· 5 of its 5 samples selected',
      counted: 5,
    });
  });
  it('shows a constant axis as such', () => {
    const v = parallel();
    expect(v.isConstant(2)).toBe(true);
    expect(v.hitTest({ x: v.columns[2]!.x + 3, y: v.top + 150 })).toBeUndefined();
  });
  it('walks from axis to axis and over bins to the head', () => {
    const v = parallel();
    expect(v.step({ kind: 'bin', axis: 1, bin: 0 }, 'down')).toEqual({ kind: 'bin', axis: 1, bin: 1 });
    expect(v.step({ kind: 'bin', axis: 1, bin: 0 }, 'up')).toEqual({ kind: 'head', axis: 1 });
    expect(v.step({ kind: 'bin', axis: 0, bin: 1 }, 'right')).toMatchObject({ axis: 1 });
  });
  it('draws brushes where their terms lie, never too thin to grab', () => {
    const term: Term = { kind: 'range', column: 'latency', lo: 100, hi: 1000 };
    const v = parallel({ brushes: new Map([['latency', [term]]]) });
    const [b] = v.columns[0]!.brushes;
    expect(b).toMatchObject({ from: 0 });
    expect(v.brushAt({ x: v.columns[0]!.x + 5, y: v.top + b!.till })).toEqual({
      axis: 0,
      index: 0,
      part: 'low',
    });
    const [thin] = brushOf(v.columns[0]!.layout, { kind: 'range', column: 'latency', lo: 300, hi: 300 });
    expect(thin!.till - thin!.from).toBeGreaterThanOrEqual(12);
  });
  it('makes room for an axis that is moved', () => {
    const v = parallel();
    expect(v.placeFor(5000, 0)).toBe(2);
    expect(v.placeFor(0, 2)).toBe(0);
    expect(moveAxis(['a', 'b', 'c'], 0, 2)).toEqual(['b', 'c', 'a']);
  });
  it('lists every bin and every line with numbers a program reads', () => {
    const { head, rows } = parallel().rows();
    const of = (part: string): Record<string, string>[] =>
      rows.filter((r) => r[0] === part).map((r) => Object.fromEntries(head.map((name, i) => [name, r[i]!])));
    expect(of('bin')).toHaveLength(5);
    const { edges, counts } = latency;
    expect(of('bin')[0]).toMatchObject({
      axis: 'latency',
      from: String(edges[0]),
      to: String(edges[1]),
      unit: 'cycles',
      all: String(counts[0][0]),
      'next axis': '',
    });
    expect(of('bin').find((r) => r['value'] === 'm_y')).toMatchObject({ from: '', to: '', unit: '' });
    expect(of('bin').at(-1)).toMatchObject({ axis: 'z', from: '4', all: '8' });
    expect(of('line')).toHaveLength(2);
    expect(of('line')[1]).toMatchObject({
      axis: 'latency',
      from: String(edges[1]),
      to: String(edges[2]),
      all: '3',
      selected: '3',
      'next axis': 'symbol',
      'next value': 'm_y',
    });
    for (const r of rows) expect(r).toHaveLength(head.length);
  });
  it('lists the values at the ends where some lie beyond the axis', () => {
    const beyond = { below: 1, above: 1, min: 2, max: 99 };
    const v = new HistogramView({
      axis: {
        column: column('time', { kind: 'time', unit: 'ns' }),
        answer: numbers('time', [10, 20.5, 30], [4, 6], beyond),
        subtitle: '',
      },
      size: { w: 600, h: 200 },
      brushes: [],
      below: 0,
    });
    expect(v.rows()).toEqual({
      head: ['time', 'from ns', 'to ns', 'all', 'selected', 'hovered'],
      rows: [
        [expect.any(String), '2', '20.5', '4', '4', '0'],
        [expect.any(String), '20.5', '99', '6', '6', '0'],
      ],
    });
  });
  it('lists the bins of two runs by their ends, as numbers', () => {
    const time = { column: column('time', { kind: 'time', unit: 'ns' }), subtitle: '' };
    const answer = numbers('time', [10, 20.5, 30], [4, 600]);
    const before = { answer: numbers('time', [10, 20.5, 30], [6, 100]), strips: [], allowance: 0 };
    const size = { w: 600, h: 200 };
    const bins = new ChangeHistogramView({
      axis: { ...time, answer },
      size,
      brushes: [],
      below: 0,
      before: { ...before, shown: 'diff' },
    }).rows();
    expect(bins.head).toEqual(['time', 'from ns', 'to ns', ...VERDICT_HEAD]);
    expect(bins.rows.map((r) => [r[1], r[2], r[3], r[4], r[5], r[8]])).toEqual([
      ['10', '20.5', '6', '4', '-2', 'unsure'],
      ['20.5', '30', '100', '600', '500', 'more'],
    ]);
    for (const r of bins.rows) expect(r).toHaveLength(bins.head.length);
  });
  it('writes tables as CSV', () => {
    expect(csv({ head: ['a'], rows: [['x,"y"']] })).toBe('a\n"x,""y"""\n');
  });
});

describe('one axis', () => {
  it('finds, describes and walks bins', () => {
    const v = new HistogramView({
      axis: { column: LATENCY, answer: latency, subtitle: '' },
      size: { w: 800, h: 200 },
      brushes: [],
      below: 0,
    });
    expect(v.hitTest({ x: v.plot.x + 3, y: 50 })).toEqual({ bin: 0 });
    expect(v.step({ bin: 0 }, 'right')).toEqual({ bin: 1 });
    expect(v.describe({ bin: 1 }).name.replaceAll('\u202f', ' ')).toBe('latency 100–1 000 cycles');
  });
});

describe('names for people', () => {
  it('are said of marks; tooltips have the name in the file', () => {
    const miss = column('ibs_dc_miss', { kind: 'flag', label: 'data cache miss' });
    const l = layout(miss, numbers('ibs_dc_miss', [0, 1, 2], [5, 3]));
    expect(l.saySamples(1)).toMatchObject({ name: 'data cache miss yes', raw: 'ibs_dc_miss', counted: 3 });
    expect(l.binTerm(1)).toEqual({ kind: 'values', column: 'ibs_dc_miss', values: [1] });
    const open = column('ibs_op_dc_miss_open_mem_reqs', { label: 'open misses' });
    expect(layout(open, numbers('x', [0, 8, 16], [5, 3])).saySamples(0).name).toBe('open misses 0–8');
    expect(layout(LATENCY, latency).saySamples(0).raw).toBeUndefined();
  });
});

describe('choice of axes', () => {
  const run = info([
    column('time', { kind: 'time' }),
    LATENCY,
    column('row', { idLike: true }),
    column('op', { kind: 'category', distinct: 1 }),
    column('cpu', { min: 0, max: 3 }),
    column('addr', { kind: 'address', min: '0x1', max: '0x2' }),
  ]);
  it('leaves out what is constant or numbers its rows', () => {
    expect(defaultAxes(run, 1440)).toEqual(['time', 'latency', 'cpu', 'addr']);
    expect(isConstant(run.columns[3]!)).toBe(true);
  });
  it('shows constants where there is nothing else, as in a run of one sample', () => {
    const one = info([
      column('op', { kind: 'category', distinct: 1 }),
      column('cpu', { min: 3, max: 3, distinct: 1 }),
    ]);
    expect(one.columns.every(isConstant)).toBe(true);
    expect(defaultAxes(one, 1440).sort()).toEqual(['cpu', 'op']);
  });
  it('asks for one bin a CPU, and for names in full', () => {
    expect(axisQuestion(run.columns[4]!, 100)).toEqual({
      column: 'cpu',
      scale: 'linear',
      bins: 4,
      lo: 0,
      hi: 4,
    });
    expect(axisQuestion(column('symbol', { kind: 'category' }), 100)).toEqual({
      column: 'symbol',
      scale: 'rank',
      bins: 256,
    });
    expect(axisQuestion(LATENCY, 200, { scale: 'linear' })).toEqual({
      column: 'latency',
      scale: 'linear',
      bins: 200,
    });
  });
  it('brings axes together and orders them by what they say of each other', () => {
    expect(correlate(['a', 'b', 'c'], 'a', 'c')).toEqual(['a', 'c', 'b']);
    const bits = (a: string, b: string): number =>
      ({ 'a c': 3, 'b c': 2, 'b d': 1 })[[a, b].sort().join(' ')] ?? 0;
    expect(orderByCorrelation(['a', 'b', 'c', 'd'], bits)).toEqual(['a', 'c', 'b', 'd']);
  });
});

describe('one thing in many views', () => {
  const topology = machine([
    ['Machine', 0, -1],
    ['NUMA', 1, 0],
    ['CPU', 7, 1],
  ]);
  it('knows the resource of a CPU bin and the bin of a resource', () => {
    expect(resourceOf({ kind: 'values', column: 'cpu', values: [7] }, topology)).toBe(2);
    expect(resourceOf({ kind: 'resource', id: 'NUMA:1' }, topology)).toBe(1);
    expect(resourceOf({ kind: 'values', column: 'cpu', values: [7, 8] }, topology)).toBeUndefined();
    const cpu = layout(column('cpu', { min: 7, max: 8 }), numbers('cpu', [7, 8, 9], [1, 1]));
    expect(binOf({ kind: 'resource', id: 'CPU:7' }, cpu)).toBe(0);
    expect(binOf(layout().binTerm(0), layout())).toBe(0);
    expect(binOf(layout().binTerm(1), layout())).toBe(1);
  });
});

describe('chips', () => {
  it('are read like sentences', () => {
    const say = (t: Term): string => {
      const c = chipOf({ not: false, terms: [t] }, [LATENCY]);
      return `${c.name} ${c.value} ${c.unit}`.trim().replaceAll('\u202f', ' ');
    };
    expect(say({ kind: 'range', column: 'latency', lo: 100, hi: 1790 })).toBe('latency 100 – 1 790 cycles');
    expect(say({ kind: 'line', file: '/a/b/LULESH_OMP.cc', line: 2035 })).toBe('LULESH_OMP.cc:2035');
    expect(say({ kind: 'resource', id: 'L3:1' })).toBe('at L3 #1');
    expect(say({ kind: 'missing', column: 'file', not: false })).toBe('file absent');
    expect(chipOf({ not: true, terms: [{ kind: 'values', column: 'cpu', values: [1, 2] }] }, []).name).toBe(
      'not cpu',
    );
    const miss = column('ibs_dc_miss', { kind: 'flag', label: 'data cache miss' });
    const chip = chipOf({ not: false, terms: [{ kind: 'values', column: 'ibs_dc_miss', values: [1] }] }, [
      miss,
    ]);
    expect([chip.name, chip.value, chip.title]).toEqual(['data cache miss', 'yes', 'ibs_dc_miss = 1']);
    expect(pageTitle([], [], 'lulesh')).toBe('lulesh · Isobath');
  });
});
