import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ReportGain } from '../../api/wire';
import { roughMeasure } from '../../base/text';
import { SvgRenderer } from '../../base/svg';
import { parseTokens } from '../../base/theme';
import { difference, LogicalView, reachSpans, tickEvery } from './logical';
import { tree } from './dendrogram';
import { timelineLegend } from './legend';
import { OverviewView } from './overview';
import { NONE, type Picture, type Timeline } from './picture';
import { PhysicalView } from './physical';
import { change as writeChange, latenessColor, time } from './scale';
import { scaleTop } from './scene';
import { changeColor } from '../../base/change';
import { INITIAL, readTrace, writeTrace, type TraceState } from './state';
import { lineLabel, panned, zoomed, type TimelineInput } from './timeline';
import { clauses, gainWords, percent } from './words';

const theme = parseTokens(readFileSync(new URL('../../base/tokens.css', import.meta.url), 'utf8'), 'light');

/** Two processes, three steps: 0 sends to 1, both meet in a collective. */
const picture: Timeline = {
  window: { from: 0, to: 3, rowFrom: 0, rowTo: 2, columns: 600, lines: 50 },
  rows: 2,
  lines: [0, 1].map((p) => ({
    first: p,
    count: 1,
    last: p,
    process: p,
    rank: p,
    cluster: -1,
    members: 1,
    group: '',
    thread: 0,
    name: '',
  })),
  lineOf: Uint32Array.of(0, 1),
  track: new Float32Array(0),
  others: undefined,
  ops: {
    id: Uint32Array.of(0, 1, 2, 3),
    line: Uint32Array.of(0, 0, 1, 1),
    step: Uint32Array.of(0, 2, 1, 2),
    part: Uint32Array.of(0, 1, 0, 1),
    kind: Uint16Array.of(0, 2, 1, 2),
    name: Uint16Array.of(0, 2, 1, 2),
    value: Float64Array.of(0, 0, 4e6, 0),
    before: Float64Array.of(0, 0, 0, 4e6),
    began: Float64Array.of(0, 10, 0, 60),
    enter: Float64Array.of(0, 40, 10, 70),
    exit: Float64Array.of(10, 90, 60, 90),
    reach: Uint16Array.of(0, 0, 1, 1),
    bands: Uint32Array.of(0, 0, 0, 2, 0, 1, 2, 1, 1, 0, 0, 2, 1, 1, 2, 1),
  },
  cells: undefined,
  messages: {
    from: Uint32Array.of(0),
    to: Uint32Array.of(2),
    fromLine: Uint32Array.of(0),
    toLine: Uint32Array.of(1),
    fromStep: Uint32Array.of(0),
    toStep: Uint32Array.of(1),
    fromExit: Float64Array.of(10),
    toExit: Float64Array.of(60),
    late: Uint16Array.of(1),
  },
  flow: new Uint32Array(0),
  sent: 1,
  ribbon: new Uint32Array(0),
  stack: undefined,
  marks: undefined,
};

function input(patch: Partial<TimelineInput> = {}): TimelineInput {
  return {
    picture,
    from: 0,
    to: 3,
    size: { w: 670, h: 76 }, // rows of 20 px by steps
    colour: 'lateness',
    top: 4e6,
    names: ['MPI_Send', 'MPI_Recv', 'MPI_Barrier'],
    selected: -1,
    hovered: -1,
    chain: [],
    senders: [],
    discs: [],
    ghost: undefined,
    ends: undefined,
    predicted: false,
    messages: 'in view',
    computation: true,
    steps: [0, 3],
    note: '',
    morph: 0,
    signed: false,
    write: time,
    unit: '',
    word: 'late',
    groups: ['computing', 'point to point', 'collective'],
    groupOf: [1, 1, 2],
    pixel: 'most',
    marked: -1,
    partners: [],
    ...patch,
  };
}

describe('the legend of a difference of two traces', () => {
  const coloured = {
    colour: 'duration',
    top: 4e6,
    unit: '',
    word: 'longer',
    groups: [],
    groupOf: [],
  } as const;
  it.each(['light', 'dark'] as const)('has the colours of all differences and signs, %s', (name) => {
    const t = parseTokens(readFileSync(new URL('../../base/tokens.css', import.meta.url), 'utf8'), name);
    const { ramp } = timelineLegend(t, { ...coloured, signed: true })!;
    expect([ramp!.stops[0], ramp!.stops.at(-1)]).toEqual([changeColor(t, -1), changeColor(t, 1)]);
    const labels = ramp!.ticks.map((tick) => tick.label);
    expect(labels).toEqual(['−4', '0', '+4']);
  });
  it('has no signs where there is no difference', () => {
    const { ramp } = timelineLegend(theme, { ...coloured, signed: false })!;
    expect(ramp!.ticks.some((tick) => /^[+−-]/.test(tick.label))).toBe(false);
  });
});

describe('timelines', () => {
  it('find an operation where it is drawn, in both planes', () => {
    const logical = new LogicalView(input());
    // Step 1 of rank 1: its cell lies at 0.40 to 0.92 of the second third of 600 px.
    expect(logical.hitTest({ x: 56 + 200 + 120, y: 34 + 30 })).toBe(2);
    expect(logical.hitTest({ x: 56 + 200 + 30, y: 34 + 30 })).toBeUndefined();
    const physical = new PhysicalView(input({ from: 0, to: 100 }));
    expect(physical.hitTest({ x: 56 + 6 * 30, y: 2 + 27 })).toBe(2);
    expect(physical.hitTest({ x: 56 + 6 * 65, y: 2 + 27 })).toBeUndefined();
  });

  it('meet at the end of the morph', () => {
    // At its end the physical timeline has every operation where the logical one has it.
    const end = new PhysicalView(input({ from: 0, to: 100, morph: 1 }));
    expect(end.hitTest({ x: 56 + 200 + 120, y: 2 + 27 })).toBe(2);
    expect(end.hitTest({ x: 56 + 200 + 30, y: 2 + 27 })).toBeUndefined();
  });

  it('walk by keys along a process and across', () => {
    const v = new LogicalView(input());
    expect(v.step(undefined, 'right')).toBe(0);
    expect(v.step(0, 'right')).toBe(1);
    expect(v.step(1, 'down')).toBe(3);
    expect(v.step(3, 'first')).toBe(2);
    expect(v.step(2, 'up')).toBe(0);
  });

  it('describe an operation exactly, partners included', () => {
    expect(new LogicalView(input()).describe(2)).toEqual({
      name: 'Rank 1',
      more: 'step 1, MPI_Recv · 4.00\u202fms late · 10\u202fns – 60\u202fns · from rank 0 · partition 0',
    });
  });

  it('draw the pixels of cells where their window lies', () => {
    const cells: Timeline = {
      ...picture,
      ops: undefined,
      messages: undefined,
      cells: {
        count: 2,
        most: Float32Array.of(0, 4e6, NaN, 1),
        mean: Float32Array.of(0, 1, NaN, 1),
        op: Uint32Array.of(0, 1, NONE, 3),
        part: new Uint32Array(4),
        name: new Uint16Array(4),
      },
    };
    const v = new LogicalView(input({ picture: cells }));
    expect(v.hitTest({ x: 56 + 150, y: 34 + 10 })).toBe(0);
    expect(v.hitTest({ x: 56 + 150, y: 34 + 30 })).toBeUndefined();
    expect(v.hitTest({ x: 56 + 450, y: 34 + 30 })).toBe(3);
    const r = new SvgRenderer(theme, roughMeasure);
    v.draw(r);
    expect(r.document(v.size, '')).toContain(latenessColor(theme, 1));
  });

  it('list themselves as a table', () => {
    expect(new PhysicalView(input()).rows().rows).toHaveLength(4);
  });
});

describe('names of rows', () => {
  it('says a range only where ranks follow each other', () => {
    const line = { count: 4, rank: 3, members: 1, thread: 0, name: '' };
    expect(lineLabel({ ...line, last: 6 })).toBe('3–6');
    expect(lineLabel({ ...line, last: 51 })).toBe('3 … 51');
    expect(lineLabel({ ...line, count: 1, last: 3 })).toBe('3');
    expect(lineLabel({ ...line, count: 1, last: 3, name: 'thread 1' })).toBe('thread 1');
  });
});

describe('what differs', () => {
  const change = (v: number): Timeline => ({
    ...picture,
    ops: { ...picture.ops!, value: Float64Array.of(v, NaN, -v, 0), before: new Float64Array(4) },
  });
  const drawn = (p: Partial<TimelineInput>): string => {
    const r = new SvgRenderer(theme, roughMeasure);
    new LogicalView(input({ signed: true, ...p })).draw(r);
    return r.document({ w: 670, h: 200 }, '');
  };
  it('is purple where it is more here, green where it is less, and empty without a partner', () => {
    const svg = drawn({ picture: change(4e6) });
    expect(svg).toContain(changeColor(theme, 1));
    expect(svg).toContain(changeColor(theme, -1));
    expect(svg).toContain('stroke-dasharray="2 2"');
    expect(drawn({ picture: change(0) })).not.toContain(changeColor(theme, 1));
    expect(changeColor(theme, 0)).toBe(theme.foot);
  });
  it('says so', () => {
    const v = new LogicalView(input({ picture: change(4e6), signed: true, write: writeChange }));
    expect(v.describe(0).more.replaceAll('\u202f', ' ')).toContain('+4.00 ms later than in the other run');
    expect(v.describe(1).more).toContain('no partner');
  });
});

describe('pixels of many operations', () => {
  const cells: Timeline = {
    ...picture,
    ops: undefined,
    messages: undefined,
    ribbon: Uint32Array.of(0, 0, 1, 2),
    cells: {
      count: 4,
      most: Float32Array.of(4e6, 0, NaN, 1, 0, 0, 0, 0),
      mean: Float32Array.of(0, 0, NaN, 1, 0, 0, 0, 0),
      op: new Uint32Array(8),
      part: new Uint32Array(8),
      name: new Uint16Array(8),
    },
  };
  it('have their partitions as a ribbon on the axis', () => {
    const r = new SvgRenderer(theme, roughMeasure);
    new LogicalView(input({ picture: cells, colour: 'partition' })).draw(r);
    const ribbon = r.document({ w: 670, h: 200 }, '').match(/<rect[^>]*y="11"[^>]*height="3"[^>]*>/g) ?? [];
    expect(
      ribbon.map((b) => [Number(/x="([\d.]+)"/.exec(b)![1]), Number(/width="([\d.]+)"/.exec(b)![1])]),
    ).toEqual([
      [56, 300],
      [356, 150],
      [506, 150],
    ]);
  });
  it('show the largest or the mean', () => {
    const first = (pixel: 'most' | 'mean'): readonly number[] => {
      let rgba: ArrayLike<number> = [];
      const r = new SvgRenderer(theme, roughMeasure);
      r.cells = (c) => (rgba = c.rgba);
      new LogicalView(input({ picture: cells, pixel })).draw(r);
      return Array.from(rgba).slice(0, 4);
    };
    expect(first('most')).toEqual([0x44, 0x01, 0x54, 255]);
    expect(first('mean')).not.toEqual(first('most'));
  });
});

describe('call stacks', () => {
  const stack = {
    levels: 2,
    line: Uint32Array.of(0, 0, 1),
    depth: Uint32Array.of(0, 1, 0),
    region: Uint16Array.of(0, 1, 2),
    enter: Float64Array.of(0, 20, 0),
    exit: Float64Array.of(100, 90, 100),
  };
  const draw = (h: number): string => {
    const r = new SvgRenderer(theme, roughMeasure);
    new PhysicalView(input({ from: 0, to: 100, size: { w: 670, h }, picture: { ...picture, stack } })).draw(
      r,
    );
    return r.document({ w: 670, h: 200 }, '');
  };
  it('are nested by depth, with names where there is room, and left out where rows are low', () => {
    expect(draw(200)).toContain('MPI_Recv');
    expect(draw(40)).not.toContain('MPI_Recv');
  });
  it('leave the operations under the pointer', () => {
    const v = new PhysicalView(
      input({ from: 0, to: 100, size: { w: 670, h: 200 }, picture: { ...picture, stack } }),
    );
    expect(v.stacked).toBe(true);
    expect(v.hitTest({ x: 56 + 6 * 30, y: 60 })).toBe(2);
  });
});

describe('what stands out', () => {
  const draw = (patch: Partial<TimelineInput>): string => {
    const r = new SvgRenderer(theme, roughMeasure);
    new LogicalView(input(patch)).draw(r);
    return r.document({ w: 670, h: 120 }, '');
  };
  const lines = (svg: string): string[] => svg.match(/<line [^>]*stroke-width="1.25"[^>]*>/g) ?? [];
  it('are late messages', () => {
    expect(lines(draw({}))).toHaveLength(1);
    const calm = { ...picture, messages: { ...picture.messages!, late: Uint16Array.of(0) } };
    expect(lines(draw({ picture: calm }))).toHaveLength(0);
    expect(lines(draw({ messages: 'none' }))).toHaveLength(0);
  });
  it('is a function that was clicked: other operations are grey', () => {
    expect(draw({ marked: 2 })).toContain(theme['hair-strong']);
    expect(draw({ marked: 2 })).not.toContain(latenessColor(theme, 1) + '" rx'); // MPI_Recv was the late one
  });
});

describe('the dendrogram', () => {
  it('has every cluster once, no crossing branches, and the farthest joint at the end', () => {
    const t = tree(4, [
      { a: 0, b: 2, distance: 10 },
      { a: 1, b: 3, distance: 20 },
      { a: 4, b: 5, distance: 40 },
    ]);
    expect(t.order).toEqual([0, 2, 1, 3]);
    expect(t.brackets.map((b) => [b.top, b.bottom, b.x])).toEqual([
      [0, 1, 0.25],
      [2, 3, 0.5],
      [0.5, 2.5, 1],
    ]);
    expect(t.brackets.at(-1)!.leaves.toSorted()).toEqual([0, 1, 2, 3]);
  });
  it('is a list without merges', () => {
    expect(tree(1, [])).toEqual({ order: [0], brackets: [] });
  });
});

describe('the reach of a delay', () => {
  it('joins neighbours on a line, over steps without an operation', () => {
    const spans = reachSpans(
      Uint32Array.of(0, 0, 0, 1),
      Uint32Array.of(1, 4, 5, 2),
      Uint16Array.of(1, 1, 0, 1),
      2,
    );
    expect(spans).toEqual([[[1, 5]], [[2, 3]]]);
  });
  it('has an edge where exactly one of two lines belongs to it', () => {
    expect(difference([[1, 5]], [[2, 3]])).toEqual([
      [1, 2],
      [3, 5],
    ]);
    expect(difference([[1, 5]], [[1, 5]])).toEqual([]);
    expect(difference([], [[2, 3]])).toEqual([[2, 3]]);
  });
});

describe('the overview', () => {
  const columns = (highest: number): OverviewView =>
    new OverviewView({
      overview: {
        most: Float64Array.of(1, 2, 3, 4),
        mean: Float64Array.of(1, 1, 1, 1),
        op: Uint32Array.of(0, 1, 2, NONE),
      },
      steps: 8,
      from: 2,
      to: 6,
      top: 4,
      highest,
      size: { w: 870, h: 40 },
      word: 'late',
      signed: false,
      write: time,
      label: time,
    });

  it('cuts bars above the end of the colours', () => {
    const cut = (v: OverviewView): number => {
      const r = new SvgRenderer(theme, roughMeasure);
      v.draw(r);
      return r.document(v.size, '').match(/<path/g)?.length ?? 0;
    };
    expect([4, 2.5, 1.5].map((highest) => cut(columns(highest)))).toEqual([0, 1, 2]);
  });

  it('tells columns from steps and finds the edges of the window', () => {
    const v = columns(4);
    expect(v.describe(1).name).toBe('Steps 2–3');
    expect(v.describe(3).more).toBe('no operation');
    expect(v.edgeAt(56 + 200)).toBe('from');
    expect(v.edgeAt(56 + 600)).toBe('to');
    expect(v.stepAt(56 + 400)).toBe(4);
  });
});

describe('scales', () => {
  it('write times with three digits', () => {
    expect([0, 999, 1500, 3_101_000, 123_456_789, 2e9].map((v) => time(v).replace('\u202f', ' '))).toEqual([
      '0 ns',
      '999 ns',
      '1.50 µs',
      '3.10 ms',
      '123 ms',
      '2.00 s',
    ]);
  });
  it('are pale on time', () => {
    expect(latenessColor(theme, 0)).toBe(theme.foot);
    expect(latenessColor(theme, 1)).toBe('#440154');
  });
});

describe('the colours of lateness', () => {
  const ops = (value: readonly number[], before = [0, 0, 0, 0], kind = [0, 2, 1, 2]): Picture => ({
    took: 0,
    logical: {
      ...picture,
      ops: {
        ...picture.ops!,
        value: Float64Array.from(value),
        before: Float64Array.from(before),
        kind: Uint16Array.from(kind),
      },
    },
    physical: undefined,
    overview: undefined,
    ghost: undefined,
  });
  const cells = (most: readonly number[]): Picture => {
    const none = new Uint32Array(6);
    const row = Float32Array.from(most);
    const drawn = { count: 3, most: row, mean: row, op: none, part: none, name: new Uint16Array(6) };
    return { ...ops([]), logical: { ...picture, ops: undefined, cells: drawn } };
  };

  it('do not end at how late the last collective lets ranks go', () => {
    // Steps 0, 2, 1, 2: the last collective, at step 2, lets rank 0 go 40 ms late.
    expect(scaleTop(ops([0, 40e6, 4e6, 0]), 'most', 3, 5e5)).toBe(4e6);
    expect(scaleTop(cells([0, 1e6, 40e6, 0, 4e6, 0]), 'most', 3, 5e5)).toBe(4e6);
    // But at a computation before it, at a last step without one, and for measures.
    expect(scaleTop(ops([0, 40e6, 4e6, 0], [0, 20e6, 0, 0]), 'most', 3, 5e5)).toBe(20e6);
    expect(scaleTop(ops([0, 40e6, 4e6, 0], [0, 0, 0, 0], [0, 0, 1, 1]), 'most', 3, 5e5)).toBe(40e6);
    expect(scaleTop(ops([0, 40e6, 4e6, 0]), 'most', 3, undefined)).toBe(40e6);
    // A collective inside the run counts, as does one of a window that ends there.
    expect(scaleTop(ops([0, 40e6, 4e6, 0]), 'most', 9, 5e5)).toBe(40e6);
  });

  it('do not show noise as lateness, and end at the data', () => {
    expect(scaleTop(ops([0, 40e6, 1000, 0]), 'most', 3, 5e5)).toBe(5e5);
    expect(scaleTop(ops([0, 3000, 1000, 0]), 'most', 3, 5e5)).toBe(3000);
    for (let v = 1e3; v < 1e9; v *= 1.3)
      expect(scaleTop(ops([0, 0, v, 0]), 'most', 3, 0) / v).toBeLessThan(1.34);
  });
});

describe('windows', () => {
  it('have numbers where there is room', () => {
    expect([40, 20, 5, 0.4, 0.003].map((w) => tickEvery(w, 24))).toEqual([1, 5, 5, 100, 10_000]);
  });
  it('zoom about a position and stay inside', () => {
    expect(zoomed(0, 100, 25, 0.5, 100, 4)).toEqual([12.5, 62.5]);
    expect(zoomed(0, 10, 0, 0.01, 100, 4)).toEqual([0, 4]);
    expect(zoomed(80, 100, 100, 4, 100, 4)).toEqual([20, 100]);
    expect(panned(10, 20, 1000, 100)).toEqual([90, 100]);
  });
});

describe('the link', () => {
  it('keeps every part of the state', () => {
    const s: TraceState = {
      from: 3,
      to: 9,
      timeFrom: 100,
      timeTo: 900,
      rowFrom: 1,
      rowTo: 5,
      op: 7,
      entry: 2,
      colour: 'duration',
      order: { by: 'cluster', open: [1, 3], process: 0, k: 5 },
      messages: 'none',
      computation: false,
      options: {
        coalesce: false,
        waitall: true,
        calls: false,
        leaps: true,
        force: false,
        ratio: 7,
        mergeGlobal: false,
        reorder: true,
        phases: 'a,b|c',
      },
      threshold: 250_000,
      function: 'MPI_Send',
      against: 'halo-12ab',
      stacks: true,
      pixel: 'mean',
      changes: ['cause 1', 'rank 3 = median'],
      find: 'late > 10ms',
      run: 'predicted',
      pane: 'structure',
    };
    expect(readTrace(writeTrace(s, { map: 'cividis' }))).toEqual(s);
    expect(writeTrace(INITIAL, { map: 'cividis', 't.op': '4' })).toEqual({ map: 'cividis' });
  });
  it('takes what it understands of a damaged one', () => {
    expect(
      readTrace({ 't.steps': '9..3', 't.op': 'x', 't.colour': 'taste', 't.order': 'neighbours:-1' }),
    ).toEqual(INITIAL);
    expect(readTrace({ 't.colour': 'metric:L3 misses' }).colour).toBe('metric:L3 misses');
  });
});

describe('sentences', () => {
  it('lead with what happened, and keep the numbers it rests on', () => {
    expect(
      clauses('rank 4 before MPI_Isend: 2.00 ms more; the longest took 3 ms; 7 other ranks wait less'),
    ).toEqual({
      first: 'Rank 4 before MPI_Isend: 2.00 ms more.',
      more: 'The longest took 3 ms; 7 other ranks wait less',
    });
  });
  it('say a gain with its sign, and none as none', () => {
    const thin = (t: string): string => t.replaceAll('\u202f', ' ');
    expect(thin(percent(-0.314))).toBe('−31.4 %');
    expect(thin(percent(0.51))).toBe('+51.0 %');
    const g = { gain_ns: 5, gain: 0.314, waiting: -0.917 } as ReportGain;
    expect(Object.values(gainWords(g)).map(thin)).toEqual(['≈ −31.4 %', '−91.7 % waiting']);
    expect(Object.values(gainWords({ ...g, gain_ns: 0, waiting: 0 }))).toEqual(['no gain alone', '']);
  });
});
