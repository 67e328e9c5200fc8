import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type {
  Advice,
  LocalityAnswer,
  MissLevel,
  MissRow,
  Proof,
  SourceText,
  StructUse,
} from '../../api/wire';
import { change, count, short, THIN } from '../../base/format';
import { SvgRenderer } from '../../base/svg';
import { cutInside, roughMeasure } from '../../base/text';
import { parseTokens } from '../../base/theme';
import { codeList } from '../../frame/code/codelist';
import { exportView } from '../../frame/export';
import type { View } from '../../frame/view';
import { parse } from '../../state/language';
import { askOf, bandTerm, mapAskOf, selectionName, whereOf } from './asks';
import { missCode } from './code';
import { bytesOf, commands, fitting, resized, type CommandInput } from './commands';
import { CurveView, type CurveInput } from './curve';
import { LayoutView } from './layoutview';
import { laneRows, lanesIn, MapView } from './map';
import { MatrixView } from './matrix';
import { adviceList } from './menus';
import { predictedText, proofMarks } from './proofs';
import { ReuseView } from './reuse';
import { byNameHere, placeOf, RowsView } from './rows';
import { SetsView } from './sets';
import { SharingView } from './sharing';
import { readLocality, writeLocality } from './state';
import { WhatIfView } from './whatif';
import {
  against,
  headline,
  lossText,
  mapNote,
  missesAt,
  saving,
  size,
  title,
  whatIfName,
  type Called,
} from './words';

const level = (name: string, bytes: number, misses: number): MissLevel => ({
  level: name,
  bytes,
  ways: 8,
  line_bytes: 64,
  misses,
  chosen: 0,
  first: 10,
  full: misses - 5,
  hidden: 20,
  frames: [misses, misses],
  prefetch: [misses - 20, misses],
  chosenFrames: [0, 0],
  chosenPrefetch: [0, 0],
});
const row = (name: string, misses: readonly number[]): MissRow => ({
  name,
  object: name,
  field: '',
  file: 'a.c',
  line: 3,
  function: 'f',
  loop: '',
  thread: 0,
  bytes: 4096,
  offset: 0,
  references: 1000,
  selected: 0,
  misses,
  chosen: misses.map(() => 0),
  fetched: 100,
  used: 1600,
  reuse: [1, 2, 3],
  first: 3,
  frames: misses.map((n) => [n, n] as const),
  prefetch: misses.map((n) => [n, n] as const),
  chosenBands: { frames: [], prefetch: [] },
});
const use: StructUse = {
  object: 'p',
  type: 'particle',
  evidence: 'type',
  element: 128,
  elements: 10,
  moved: 1280,
  used: 320,
  parts: [
    {
      name: 'p',
      stride: 128,
      fields: [
        { name: 'x', offset: 0, bytes: 8, share: 1 },
        { name: 'cold', offset: 8, bytes: 56, share: 0 },
        { name: 'v', offset: 64, bytes: 8, share: null },
      ],
      lines: [
        { fetched: 10, used: 160 },
        { fetched: 10, used: 160 },
      ],
    },
  ],
};
const machine = {
  name: 'here',
  levels: [],
  tlb: [],
  page_bytes: 4096,
  walk_cycles: 30,
  remote_cycles: 100,
  queue_cycles: 50,
  nodes: 1,
  assumed: [],
  model: '',
};
const answer: LocalityAnswer = {
  took: 1,
  machine,
  whole: true,
  threads: 1,
  notes: [],
  presets: [],
  loops: [row('a.c:2 f', [390, 90])],
  byThread: [],
  now: {
    references: 2000,
    selected: 0,
    lines: 4096,
    footprint: 262144,
    levels: [level('L1', 32768, 400), level('L2', 1 << 20, 100)],
    curve: {
      sizes: [4096, 8192, 16384, 32768, 65536],
      total: [900, 800, 700, 395, 200],
      selected: [],
      bands: [
        { name: 'p', misses: [600, 500, 450, 300, 150] },
        { name: 'q', misses: [300, 300, 250, 95, 50] },
      ],
    },
    needs: [{ hits: 0.9, bytes: 65536 }],
    reused_from: 65536,
    first_above: 10,
    at_first: 395,
    objects: [row('p', [300, 10]), row('q', [100, 90])],
    fields: [],
    places: [row('a.c:3', [400, 100])],
    functions: [],
  },
  evictions: {
    level: 0,
    names: ['p', 'q'],
    lost: [
      [5, 2000],
      [1000, 60],
    ],
    causes: [
      { first: 1, capacity: 2, conflict: 3 },
      { first: 1, capacity: 2, conflict: -1 },
    ],
  },
  struct: use,
  sets: {
    level: 0,
    ways: 8,
    counts: [9, 0, 1, 0],
    lines: 10,
    used: 2,
    place: 'a.c:3',
    from: 0,
    to: 10,
    stride: 2048,
    why: '',
  },
  then: null,
};
const theme = parseTokens(readFileSync(new URL('../../base/tokens.css', import.meta.url), 'utf8'), 'light');
const called = (name: string): Called => ({ name, several: false });
const room = { w: 700, h: 300 };

describe('words', () => {
  it('says sizes and changes', () => {
    expect(size(48 * 1024)).toBe('48\u202fKiB');
    expect(size(1.25 * 1024 * 1024)).toBe('1.3\u202fMiB');
    expect(change(200, 100)).toBe('−50.0\u202f%');
    expect(change(0, 0)).toBe('0.0\u202f%');
  });

  it('says how large a cache is needed', () => {
    expect(headline(called('p'), answer).head).toBe('p is reused from 64\u202fKiB on');
    const small = { ...answer, now: { ...answer.now, footprint: 1024 } };
    expect(headline(called('p'), small).head).toBe('Everything fits L1: 1\u202fKiB');
  });

  it('speaks of several as of several', () => {
    const both = { name: 'p.x and p.y', several: true };
    expect(headline(both, answer).head).toBe('p.x and p.y are reused from 64\u202fKiB on');
  });

  it('cuts names in their middle, so that they stay apart', () => {
    const font = { size: 11.5, mono: true };
    const cut = (name: string, width: number): string => cutInside(name, width, font, roughMeasure);
    const names = ['memory at 0x48506ad', 'memory at 0x48506ae', 'memory at 0x5850000'];
    const short = names.map((n) => cut(n, 70));
    expect(new Set(short).size).toBe(names.length);
    for (const s of short) expect(roughMeasure(s, font)).toBeLessThanOrEqual(70);
    expect(short[0]).toMatch(/^memo?…\w+06ad$/);
    expect(cut('p', 70)).toBe('p');
    expect(cut('memory', 3)).toBe('');
  });

  it('takes the level at which an advice saves most', () => {
    const levels = [
      { level: 'L1', now: 100, then: [90, 95] as const },
      { level: 'L2', now: 100, then: [40, 50] as const },
      { level: 'walks', now: 100, then: [0, 0] as const },
    ];
    expect(saving({ levels } as unknown as Advice)).toEqual({ of: 'L2 misses', text: '−50.0\u202f%' });
    const same = levels.map((l) => (l.level === 'walks' ? l : { ...l, then: [100, 100] as const }));
    expect(saving({ levels: same } as unknown as Advice)).toEqual({
      of: 'page walks',
      text: '−100.0\u202f%',
    });
    expect(saving({ levels: same.slice(0, 2) } as unknown as Advice)).toBeUndefined();
  });

  it('says of both ends of a gain that they are losses', () => {
    expect(lossText([0.201, 0.202])).toBe('−20.1\u202f% to −20.2\u202f%');
    expect(lossText([0.2, 0.2])).toBe('−20.0\u202f%');
    expect(lossText([-0.01, 0.2])).toBe('+1.0\u202f% to −20.0\u202f%');
    expect(lossText(null)).toBe('');
  });

  it('says which loops an advice is about', () => {
    const a = { kind: 'interchange', change: 'order j i', place: 'pic.c:36' } as Advice;
    expect(title(a)).toBe('Interchange the loops of pic.c:36: order j i');
    expect(title({ ...a, kind: 'block', change: 'blocks of 8', place: '' })).toBe(
      'Cut the loops into blocks of 8',
    );
  });

  it('names a what if', () => {
    expect(whatIfName('object p fields x to p.hot; rest to p.cold\n', 'zen2', '')).toBe('p split; on zen2');
  });
});

describe('the link', () => {
  it('keeps what the page shows', () => {
    const state = { ...readLocality({}), map: 'object p soa\n', level: 1, pair: ['p', 'x'] };
    expect(readLocality(writeLocality(state, { 'm.other': '1' }))).toEqual(state);
    expect(writeLocality(state, { 'm.other': '1' })['m.other']).toBe('1');
  });
});

describe('the controller', () => {
  it('asks for the selection of all pages', () => {
    expect(whereOf(parse('symbol = p'), [])).toBe('symbol = p');
  });

  it.each([
    ['symbol = p', 'p', false],
    ['file = a.c & line = 3', 'a.c:3', false],
    ['tid = 7', 'thread 7', false],
    ['tid = 7 | tid = 9', 'thread 7 and thread 9', true],
    ['rows "field p.x" | rows "field p.y" | symbol = q', 'p.x, p.y and q', true],
    ['symbol in (a, b, c, d)', '4 objects', true],
    ['symbol in (a, b, c) | rows "field p.x"', 'the selection', false],
    ['symbol = p & tid = 7', 'the selection', false],
    ['!(symbol = p)', 'the selection', false],
    ['order in 3..9', 'the selection', false],
  ])('calls %s by its names', (text, name, several) => {
    expect(selectionName(parse(text), readLocality({}))).toEqual({ name, several });
  });

  it('asks for a map of objects that miss, without the what if', () => {
    const ask = mapAskOf(askOf({ ...readLocality({}), map: 'object p soa' }, ''), answer, room);
    expect(ask.objects).toEqual(['p', 'q']);
    expect(ask.map).toBe('');
    expect(ask.rows).toHaveLength(2);
  });

  it('selects by band', () => {
    expect(bandTerm(answer, 'object', 'q')).toEqual({ kind: 'values', column: 'symbol', values: ['q'] });
    expect(bandTerm(answer, 'object', 'other')).toBeUndefined();
  });
});

describe('rows of two runs', () => {
  const place = (line: number): MissRow => ({
    ...row('p', [line, 0]),
    name: `x.c:${line}`,
    file: 'x.c',
    line,
  });

  it('pairs lines as the server says, and not by number', () => {
    expect(byNameHere('line', [place(3)], undefined)).toBeUndefined();
    const here = byNameHere('line', [place(3), place(4)], new Map([['x.c:3', 'x.c:9']]));
    expect([...(here ?? [])].map(([name, r]) => [name, r.line])).toEqual([['x.c:9', 3]]);
  });

  it('pairs other names until it is known better', () => {
    expect(
      byNameHere('function', [{ ...row('', [1, 0]), name: 'f', function: 'f' }], undefined)?.has('f'),
    ).toBe(true);
    expect(
      byNameHere('function', [{ ...row('', [1, 0]), name: 'f', function: 'f' }], new Map([['f', 'g']]))?.has(
        'g',
      ),
    ).toBe(true);
    expect(byNameHere('thread', [{ ...row('', [1, 0]), name: '7' }], new Map())?.has('7')).toBe(true);
  });

  it('knows the header of a loop and which copy it is', () => {
    const loop = (name: string): MissRow => ({
      ...row('', [1, 0]),
      name,
      loop: name,
      file: 'src/lu.c',
      line: 0,
    });
    expect(placeOf('loop', loop('lu.c:14 factor (2)'))).toMatchObject({
      file: 'src/lu.c',
      line: 14,
      other: ' (2)',
    });
    expect(placeOf('loop', loop('lu.c:14 walk (recursion)'))).toMatchObject({
      line: 14,
      other: ' (recursion)',
    });
    expect(placeOf('loop', loop('(no loop)'))).toBeUndefined();
  });
});

describe('views', () => {
  const curveInput: CurveInput = {
    answer,
    before: undefined,
    size: room,
    y: 'misses',
    headline: headline(called('p'), answer),
    selection: 'selection',
    hovered: -1,
    band: '',
    dragged: undefined,
  };
  const curve = new CurveView(curveInput);

  it('walks the curve by keys and names each size', () => {
    const first = curve.step(undefined, 'first');
    expect(first).toEqual({ on: 'size', at: 1 }); // nothing below 8 KiB is shown
    const next = curve.step(first, 'right')!;
    expect(curve.describe(next).name).toBe('Cache of 16\u202fKiB');
    expect(curve.describe(next).more).toContain('700 misses');
    expect(curve.step(next, 'last')).toEqual({ on: 'size', at: 4 });
    expect(curve.step(first, 'next')).toEqual({ on: 'size', at: 3 }); // L1
  });

  it('lists every size and band', () => {
    expect(curve.rows().head).toEqual(['bytes', 'misses', 'q', 'p']);
    for (const r of curve.rows().rows) expect(Number(r[2]) + Number(r[3])).toBe(Number(r[1]));
  });

  it('has the earlier run beside each size', () => {
    // A has half the references, ends at 32 KiB and knows no 16 KiB.
    const now = {
      ...answer.now,
      references: 1000,
      levels: [level('L1', 32768, 500), level('L2', 1 << 20, 50)],
      curve: { sizes: [4096, 8192, 32768], total: [1000, 900, 100], selected: [], bands: [] },
      objects: [row('p', [600, 20])],
    };
    const before = { name: 'first', answer: { ...answer, now } };
    const view = new CurveView({ ...curveInput, before });
    const { head, rows } = view.rows();
    expect(head.slice(0, 4)).toEqual(['bytes', 'B misses', 'A misses', 'change']);
    expect(rows.map((r) => r.slice(1, 4))).toEqual([
      ['900', '1000', '−10.0\u202f%'],
      ['800', '900', '−11.1\u202f%'],
      ['700', '', ''],
      ['395', '100', '+295.0\u202f%'],
      ['200', '100', '+100.0\u202f%'], // A holds everything twice by then
    ]);
    expect(view.describe({ on: 'size', at: 3 }).more).toContain('in A 100 (+295.0\u202f%)');
    expect(view.describe({ on: 'size', at: 2 }).more).not.toContain('in A');
    expect(missesAt(now.curve, 16384)).toBeUndefined();
    expect(against(before, answer)).toEqual([
      'A → B: references 1\u202f000 → 2\u202f000 (+100.0\u202f%)',
      'misses: L1 500 → 400 (−20.0\u202f%) · L2 50 → 100 (+100.0\u202f%)',
    ]);
    const elsewhere = { ...before, answer: { ...before.answer, machine: { ...machine, name: 'there' } } };
    expect(against(elsewhere, answer)[1]).toBe('misses are of there in A and of here in B');
    const table = { levels: answer.now.levels, by: 0, selecting: false, size: room, hovered: '', key: true };
    const objects = new RowsView({
      ...table,
      kind: 'object',
      rows: answer.now.objects,
      before: byNameHere('object', now.objects, undefined),
    });
    expect(objects.rows().rows.map((r) => r.slice(-4))).toEqual([
      ['600', '−50.0\u202f%', '20', '−50.0\u202f%'],
      ['0', 'new', '0', 'new'],
    ]);
    expect(objects.describe(0).more).toContain('300 L1 misses (A 600, −50.0\u202f%)');
  });

  it('ranks rows by the chosen level', () => {
    const input = {
      kind: 'object' as const,
      rows: answer.now.objects,
      before: undefined,
      levels: answer.now.levels,
      selecting: false,
      size: room,
      hovered: '',
      key: true,
    };
    expect(new RowsView({ ...input, by: 0 }).ranked.map((r) => r.name)).toEqual(['p', 'q']);
    const view = new RowsView({ ...input, by: 1 });
    expect(view.ranked.map((r) => r.name)).toEqual(['q', 'p']);
    expect(view.describe(0).more).toContain('16.0 of 64 bytes used');
    expect([view.step(undefined, 'first'), view.step(0, 'last')]).toEqual([0, 1]);
  });

  it('places fields on their lines', () => {
    const view = new LayoutView({
      now: use,
      then: undefined,
      line: 64,
      size: room,
      hovered: '',
      selected: [],
    });
    expect(['x', 'cold', 'v'].map((_, i) => view.fieldOf(i))).toEqual(['x', 'cold', 'v']);
    expect(view.describe(1).more).toContain('never touched');
    expect(view.fieldOf(view.step(0, 'down')!)).toBe('v');
  });

  it('says what is used of a line only where rows leave room for it', () => {
    const part = use.parts[0]!;
    const many: StructUse = {
      ...use,
      parts: Array.from({ length: 6 }, (_, i) => ({ ...part, name: `p${i}` })),
    };
    const said = (h: number): number => {
      const r = new SvgRenderer(theme, roughMeasure);
      const size = { w: 560, h };
      new LayoutView({ now: use, then: many, line: 64, size, hovered: '', selected: [] }).draw(r);
      return r.document(size, 'x').split('used in each of').length - 1;
    };
    expect(said(172)).toBe(2); // both lines as recorded
    expect(said(300)).toBe(8);
  });

  it('names who lost lines to whom', () => {
    const view = new MatrixView({
      evictions: answer.evictions,
      level: 'L1',
      selected: [],
      size: room,
      hovered: -1,
    });
    expect(view.pairOf(1)).toEqual(['p', 'q']);
    expect(view.describe(1).name).toBe('p lost 2\u202f000 lines to q');
    expect(view.summary()).toContain('p lost most lines');
  });

  it('compares levels', () => {
    const then = {
      machine,
      levels: [level('L1', 32768, 200)],
      placements: [[190, 210] as const],
      total: [],
      needs: [],
      reused_from: 0,
      struct: null,
      sets: null,
    };
    const view = new WhatIfView({ answer: { ...answer, then }, machines: [], size: room, hovered: -1 });
    expect(view.describe(0).more).toContain('what if 200, 190 to 210 wherever it is placed');
    expect(view.rows().rows).toHaveLength(3);
  });

  it('says how full sets are', () => {
    const view = new SetsView({ now: answer.sets, then: undefined, level: 'L1', size: room, hovered: -1 });
    expect(view.describe(0).more).toContain('9 lines of one pass in 8 ways');
    expect(view.hitTest({ x: 13, y: 100 })).toBe(0);
  });

  it('asks for no more rows of a map than the server counts, however high it is', () => {
    const ask = mapAskOf(askOf(readLocality({}), ''), answer, { w: 900, h: 100_000 });
    expect(ask.rows.reduce((sum, n) => sum + n, 0)).toBeLessThanOrEqual(2048);
  });

  it('has as many lanes on the map as there is room for their names', () => {
    for (let height = 60; height < 900; height += 7) {
      const rows = laneRows(Array(lanesIn(height)).fill({ bytes: 4096 }), height);
      const tall = rows.reduce((sum, n) => sum + 2 * n + 4, 0);
      if (rows.length > 1) {
        expect(tall).toBeLessThanOrEqual(height - 18 - 36 - 18); // functions, set in use, axis
        expect(Math.min(...rows)).toBeGreaterThanOrEqual(4); // 8 px and the gap: a line of 11.5 px
      }
    }
    expect(mapNote({ window: 50_000, lanes: [1, 2] }, 256)).toBe(
      'set in use = lines met in the last 50\u202f000 references · the 2 of 256 objects with the most misses',
    );
    expect(mapNote({ window: 10, lanes: [1, 2] }, 2)).toBe(
      'set in use = lines met in the last 10 references',
    );
  });

  it('finds lanes, columns and times on the map', () => {
    expect(laneRows([{ bytes: 100 }, { bytes: 100 }], 300).every((n) => n >= 7)).toBe(true);
    const lane = {
      object: 'p',
      bytes: 4096,
      rows: 4,
      all: new Uint16Array(40).fill(2),
      selected: new Uint16Array(40),
    };
    const view = new MapView({
      map: {
        took: 1,
        width: 10,
        window: 50,
        set: new Uint32Array(10).fill(3),
        chosen: new Uint32Array(10),
        functions: new Uint16Array(10),
        names: ['main'],
        lanes: [lane],
      },
      references: 1000,
      l1: 32768,
      line: 64,
      selecting: false,
      selected: [],
      size: room,
      range: [0, 0],
      hovered: undefined,
    });
    const mark = view.hitTest({ x: 80, y: 24 })!;
    expect(view.objectOf(mark)).toBe('p');
    expect(view.describe(mark).more).toContain('2 misses, 8 in the whole object');
    expect(view.referenceAt(1e6)).toBe(1000);
    expect(view.rows().rows).toHaveLength(10);
  });
});

describe('files of the views', () => {
  const levels = answer.now.levels;
  const table = { levels, by: 0, selecting: false, before: undefined, size: room, hovered: '', key: true };
  const field = { ...row('p.x', [250, 8]), field: 'x' };
  const share = { coherence: 40, true: 2, false: 38 };
  const sharing = {
    ...{ records: 100, threads: 2, provenance: 'modelled', line_bytes: [64, 128], schedules: [] },
    lines: [
      {
        ...{ addr: '0x404040', bytes: 64, object: 'counter', field: '', sharing: 'false', threads: [] },
        ...{ misses: { least: 1, most: 40, recorded: 1, clocked: 9, true: 0, false: 9 }, wider: share },
        ...{ moved: [], separate: { most: 0 }, pairs: [], text: 'counter: 2 threads' },
      },
    ],
    ...{ line_count: 1, notes: [] },
  };
  const lane = { object: 'p', bytes: 4096, rows: 1, all: Uint16Array.of(2, 7), selected: new Uint16Array(2) };
  const map = {
    ...{ took: 1, width: 2, window: 50, set: Uint32Array.of(3, 4), chosen: new Uint32Array(2) },
    ...{ functions: new Uint16Array(2), names: ['main'], lanes: [lane] },
  };
  const then = {
    ...{ machine: { ...machine, name: 'there' }, levels: [level('L1', 65536, 200)], total: [], needs: [] },
    ...{ placements: [[190, 210] as const], reused_from: 0, struct: null, sets: null },
  };
  // Each view, and a line of its table.
  const views: Readonly<Record<string, readonly [View<unknown>, string]>> = {
    rows: [
      new RowsView({ ...table, kind: 'object', rows: answer.now.objects }),
      'q,4096,1000,0,100,90,16.00,3',
    ],
    fieldRows: [new RowsView({ ...table, kind: 'field', rows: [field] }), 'p.x,4096,1000,0,250,8,16.00,3'],
    lineRows: [
      new RowsView({ ...table, kind: 'line', rows: answer.now.places }),
      'a.c:3,4096,1000,0,400,100,16.00,3',
    ],
    curve: [
      new CurveView({
        ...{ answer, before: undefined, size: room, y: 'misses', selection: '', hovered: -1, band: '' },
        ...{ headline: headline(called('p'), answer), dragged: undefined },
      }),
      '32768,395,95,300',
    ],
    reuse: [new ReuseView({ now: answer.now, size: room, hovered: -1 }), 'first,6,3,3'],
    fields: [
      new LayoutView({ now: use, then: undefined, line: 64, size: room, hovered: '', selected: [] }),
      'recorded,p,cold,8,56,0.0000',
    ],
    sets: [new SetsView({ now: answer.sets, then: undefined, level: 'L1', size: room, hovered: -1 }), '0,9'],
    sharing: [new SharingView({ sharing, size: room, hovered: -1 }), '0x404040,64,counter,,false,1,40,1,9'],
    matrix: [
      new MatrixView({ evictions: answer.evictions, level: 'L1', selected: [], size: room, hovered: -1 }),
      'p,5,2000,1,2,3',
    ],
    whatIf: [
      new WhatIfView({ answer: { ...answer, then }, machines: [], size: room, hovered: -1 }),
      '"there, what if",L1,65536,8,200,180,10,5,190 to 210',
    ],
    map: [
      new MapView({
        ...{ map, references: 1000, l1: 32768, line: 64, selecting: false, selected: [], size: room },
        ...{ range: [0, 0], hovered: undefined },
      }),
      '500,main,7,4',
    ],
  };

  it('are of all that the page shows', () => {
    const shown = ['LocalityPage', 'CurvePane', 'LayoutPane']
      .map((name) => readFileSync(new URL(`./${name}.svelte`, import.meta.url), 'utf8'))
      .flatMap((text) => [...text.matchAll(/view=\{drawn\.(\w+)\}/g)].map((m) => m[1]!));
    expect(Object.keys(views).sort()).toEqual([...new Set(shown)].sort());
  });

  it.each(Object.entries(views))('%s', async (name, [view, line]) => {
    const file = async (format: 'csv' | 'svg'): Promise<string> => {
      const made = await exportView(view, format, name, 'of a run', theme, roughMeasure);
      return made.blob.text();
    };
    const csv = await file('csv');
    expect(csv.split('\n').some((l) => l.startsWith(line))).toBe(true);
    const widths = view.rows().rows.map((r) => r.length);
    expect(new Set(widths)).toEqual(new Set([view.rows().head.length]));
    const svg = await file('svg');
    expect(svg).toContain('of a run');
    expect(svg.split('<text').length).toBeGreaterThan(2); // beside the caption
  });

  it('advice', async () => {
    const one = { kind: 'soa', object: 'p', gain: [0.3, 0.31], text: 'Store p.', code: 'a\nb', proof: null };
    const list = adviceList([one as unknown as Advice], roughMeasure) as View<unknown>;
    const made = await exportView(list, 'csv', 'Advice', '', theme, roughMeasure);
    const csv = await made.blob.text();
    expect(made.name).toBe('advice.csv');
    expect(csv.split('\n')[0]).toBe(
      'advice,object,saves at least,saves at most,what it rests on,change,proof',
    );
    expect(csv).toMatch(/,p,30\.0.%,31\.0.%,Store p\.,"a\nb",no re-run\n$/);
  });

  const source = { file: 'src/a.c', text: 'int f(void)\n{\n\treturn p[i];\n}\n' };
  const code = missCode({
    ...{
      source: source as unknown as SourceText,
      file: 'a.c',
      levels,
      by: 0,
      selecting: false,
      name: 'a.c:3',
    },
    places: [...answer.now.places, { ...row('b.c:2', [7, 7]), file: 'b.c', line: 2 }],
  });

  it('source with the misses of each line beside it', async () => {
    const [first, second] = code.columns;
    expect([first?.head, [...first!.values], first?.tableOnly]).toEqual(['L1 misses', [[3, 400]], undefined]);
    expect([second?.head, [...second!.values], second?.tableOnly]).toEqual(['L2 misses', [[3, 100]], true]);
    expect(code.tones?.get(3)).toBe('pointed');
    expect(code.term?.(3)).toEqual({ kind: 'line', file: 'a.c', line: 3 });
    expect(code.describe(3)?.more).toContain('400 L1 misses · 100 L2 misses');
    expect(code.describe(2)).toBeUndefined(); // that one is of b.c
    const made = await exportView(
      ...([codeList(code, [1, 2, 3, 4], roughMeasure), 'csv', 'Code', '', theme, roughMeasure] as const),
    );
    expect(await made.blob.text()).toBe(
      'line,L1 misses (modelled),L1 misses of the most,L2 misses (modelled),source\n3,400,1.000,100,    return p[i];\n',
    );
  });
});

const caches = [
  { level: 'L1', size: 32768, ways: 8, line_bytes: 64 },
  { level: 'L2', size: 1 << 20, ways: 16, line_bytes: 64 },
] as unknown as CommandInput['levels'];

describe('commands', () => {
  const done: unknown[] = [];
  const input: CommandInput = {
    levels: caches,
    presets: ['zen2', 'zen4', 'a64fx'],
    objects: ['p', 'q'],
    advise: {
      advice: [{ map: 'object p soa\n', kind: 'soa', object: 'p' }],
    } as unknown as CommandInput['advise'] & object,
    set: '',
    commit: (patch) => done.push(patch),
  };
  const run = (text: string): unknown => {
    done.length = 0;
    commands(text, input).forEach((c) => c.run());
    return done;
  };

  it('reads sizes', () => {
    expect(['64K', '1 MiB', '1.5M', '65536', 'p', '0', ''].map(bytesOf)).toEqual([
      65536,
      1048576,
      1572864,
      65536,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('tries another cache, machine or layout', () => {
    expect(run('what if 64K L1')).toEqual([{ other: '', set: 'L1.size=64K' }]);
    expect(run('What if  L2 512 KiB')).toEqual([{ other: '', set: 'L2.size=512K' }]);
    expect(run('what if machine zen2')).toEqual([{ other: 'zen2', set: '' }]);
    expect(run('what if zen')).toHaveLength(2);
    expect(run('what if split p x y')).toEqual([{ map: 'object p fields x,y to p.hot; rest to p.cold\n' }]);
    expect(run('what if split r x y')).toEqual([]);
    expect(run('try 1')).toEqual([{ map: 'object p soa\n' }]);
    expect(run('try 2')).toEqual([]);
    expect(run('latency > 3')).toEqual([]);
  });

  it('keeps ways that the lines of a cache fill', () => {
    expect(resized('L1.size=16K,L2.size=2M', 'L1', 49152, caches)).toBe('L2.size=2M,L1.size=48K');
    expect(resized('', 'L1', 5 * 64, caches)).toBe('L1.size=320,L1.ways=5');
    expect(resized('L1.size=64K', 'L1', 32768, caches)).toBe('');
    expect(resized('', 'L3', 65536, caches)).toBeUndefined();
    expect(resized('', 'L1', 100, caches)).toBeUndefined();
  });

  it('leaves caches that lines of another length do not fill', () => {
    expect(fitting('L1.size=320,L1.ways=5,page=2M', 0, caches)).toBe('L1.size=320,L1.ways=5,page=2M');
    expect(fitting('L1.size=320,L1.ways=5,page=2M', 128, caches)).toBe('page=2M');
    expect(fitting('L1.size=32K,L1.ways=8', 256, caches)).toBe('L1.size=32K,L1.ways=8');
    expect(fitting('L1.size=64,L1.ways=1,line=128', 0, caches)).toBe('line=128');
    expect(fitting('L3.size=1M', 0, caches)).toBe(''); // which it has not
    expect(fitting('', 64, caches)).toBe('');
  });
});

describe('lines that threads share', () => {
  const misses = { coherence: 40, true: 2, false: 38 };
  const line = {
    addr: '0x404040',
    bytes: 64,
    object: 'counter',
    field: '',
    sharing: 'false',
    threads: [
      { tid: 11, bytes: [[0, 8]] as const, loads: 5, stores: 5, places: ['a.c:3'] },
      { tid: 12, bytes: [[8, 16]] as const, loads: 5, stores: 0, places: [] },
    ],
    misses: { least: 1, most: 40, recorded: 1, clocked: 9, true: 0, false: 9 },
    wider: misses,
    moved: [{ bytes: 8, most: 7 }],
    separate: { most: 0 },
    pairs: [{ tid: 11, to: 12, misses: 5 }],
    text: 'counter: 2 threads',
  };
  const sharing = {
    records: 100,
    threads: 2,
    provenance: 'modelled',
    line_bytes: [64, 128],
    schedules: [],
    lines: [line, { ...line, addr: '0x404080', sharing: 'latent', misses: { ...line.misses, most: 0 } }],
    line_count: 2,
    notes: [],
  };
  const view = new SharingView({ sharing, size: room, hovered: -1 });

  it('selects the references to a line', () => {
    expect(view.wanted(0)).toEqual({ kind: 'range', column: 'addr', lo: 0x404040, hi: 0x404080, open: true });
    expect(view.hitTest({ x: 20, y: 30 })).toBe(0);
    expect(view.step(0, 'down')).toBe(1);
    expect(view.hitTest({ x: 20, y: 200 })).toBeUndefined();
  });

  it('says all as a table', () => {
    const { head, rows } = view.rows();
    expect(rows[0]?.[head.indexOf('pairs')]).toBe('11 to 12: 5');
    expect(rows[0]?.[head.indexOf('threads')]).toBe('11: 0–7; 12: 8–15');
    expect(rows[1]?.[head.indexOf('with lines of 128 bytes')]).toBe('40');
    expect(view.describe(0).name).toBe('counter: false sharing');
    const lock = { ...sharing, lines: [{ ...line, sharing: 'synchronisation' }] };
    const of = new SharingView({ sharing: lock, size: room, hovered: -1 });
    expect(of.describe(0).name).toBe('counter: lock or barrier');
  });
});

describe('proofs of advice', () => {
  const proof = (more: Partial<Proof>): Proof => ({
    command: ['./changed'],
    kind: 'soa',
    object: 'p',
    change: 'one array a field',
    map: 'object p soa\n',
    provenance: 'modelled',
    machine: { name: 'classic' } as Proof['machine'],
    references: 10,
    recorded: '',
    made: '2026-11-18T01:00:00Z',
    programs: [],
    levels: [
      { level: 'L1', now: 100_000, predicted: [25_000, 25_100], recorded: 25_014, inside: true },
      { level: 'walks', now: 900_000, predicted: [5, 5], recorded: 5, inside: true },
    ],
    holds: true,
    saves: 'time',
    time: { rounds: 5, before_s: 0.0121, after_s: 0.0084, faster: 5, provenance: 'measured', output: 'same' },
    text: 'as predicted',
    stale: [],
    ...more,
  });
  const said = (more: Partial<Proof>): string[] =>
    proofMarks(proof(more)).map((m) => `${m.provenance}: ${m.text}`);

  it('says what was replayed and what was measured', () => {
    expect(said({})).toEqual([
      `modelled: re-run as predicted: L1 ${short(100_000)} → ${short(25_014)}`,
      `measured: timed 12.1 → 8.4${THIN}ms`,
    ]);
  });
  it('tells times apart that differ little', () => {
    const time = { ...proof({}).time!, before_s: 0.01204, after_s: 0.01201 };
    expect(said({ time })[1]).toBe(`measured: timed 12.04 → 12.01${THIN}ms`);
  });
  it('says that saved misses saved no time', () => {
    expect(said({ saves: 'misses' })[1]).toBe('measured: timed: saved misses saved no time');
    expect(said({ saves: 'nothing' })[1]).toBe('measured: timed: no time saved');
  });
  it('has no saving of a program that printed something else', () => {
    expect(said({ saves: 'unknown' })).toEqual(['measured: printed another result']);
  });
  it('says what there is not', () => {
    expect(proofMarks(null)).toEqual([{ provenance: 'absent', text: 'no re-run' }]);
    expect(said({ time: null, saves: 'untimed' })[1]).toBe('absent: not timed');
    const [l1, walks] = proof({}).levels;
    const off = { holds: false, levels: [{ ...l1!, inside: false }, walks!] };
    expect(said(off)[0]).toMatch(/^modelled: re-run differs from the prediction/);
    expect(said({ kind: 'huge', holds: false, levels: [l1!] })[0]).toMatch(
      /^modelled: re-run: references show no pages/,
    );
  });
  it('shows a prediction as a range', () => {
    const [l1, walks] = proof({}).levels;
    expect([predictedText(l1!), predictedText(walks!)]).toEqual([`${count(25_000)}–${count(25_100)}`, '5']);
  });
});
