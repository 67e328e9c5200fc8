import { describe, expect, it } from 'vitest';
import type { CyclesClass, CyclesInfo, LoopRow, LoopsInfo } from '../../api/wire';
import {
  comparedLoops,
  counted,
  countOf,
  describeLoop,
  goneLoops,
  loopLines,
  loopTable,
  pairLoops,
  sameFile,
  shownLoops,
  spread,
} from './loops';
import { picked, stretchName } from './stretches';
import { classNames, classRows, pathsText } from './words';

function loop(more: Partial<LoopRow>): LoopRow {
  return {
    kind: 'loop',
    name: '',
    title: 'for i, a.c:1',
    text: 'for (i = 0; i < n; i++)',
    function: 'f',
    file: 'a.c',
    line: 1,
    depth: 0,
    parent: -1,
    entries: 1,
    trips: 10,
    min: 10,
    median: 10,
    max: 10,
    skipped: 0,
    unknown: { entries: false, trips: false, spread: false },
    exact: true,
    atLeast: false,
    why: '',
    factor: 1,
    irreducible: false,
    references: 100,
    own: 10,
    loads: 60,
    stores: 40,
    modifies: 0,
    bytes: 800,
    lines: 4,
    linesExact: true,
    caption: '',
    exits: '',
    course: [],
    courseEvery: 0,
    objects: [],
    strides: [],
    misses: [7, 5],
    bands: { frames: [], prefetch: [] },
    ...more,
  };
}

function info(loops: readonly LoopRow[]): LoopsInfo {
  return {
    recorded: true,
    references: 100,
    outside: 0,
    lost: 0,
    notes: [],
    model: '',
    bands: { frames: [], prefetch: [] },
    machine: 'm',
    levels: ['L1', 'L2'],
    misses: [7, 5],
    loops,
  };
}

describe('loops of the code', () => {
  const nest = info([
    loop({ title: 'outer' }),
    loop({ title: 'inner', parent: 0, trips: 50, references: 90, misses: [2, 1] }),
    loop({ title: 'empty', parent: 0, references: 0 }),
    loop({ title: 'other', references: 95, misses: [9, 9] }),
  ]);
  const titles = (rows: ReturnType<typeof shownLoops>): string[] => rows.map((r) => r.loop.title);

  it('shows outer before inner, without those that make no references', () => {
    const rows = shownLoops(nest, 'tree', 0, new Set());
    expect(titles(rows)).toEqual(['outer', 'inner', 'other']);
    expect(rows.map((r) => [r.depth, r.inner])).toEqual([
      [0, 1],
      [1, 0],
      [0, 0],
    ]);
  });

  it('hides what is inside a folded one, in the tree only', () => {
    expect(titles(shownLoops(nest, 'tree', 0, new Set([0])))).toEqual(['outer', 'other']);
    expect(titles(shownLoops(nest, 'trips', 0, new Set([0])))).toEqual(['inner', 'outer', 'other']);
  });

  it('ranks by misses of a level', () => {
    expect(titles(shownLoops(nest, 'misses', 1, new Set()))).toEqual(['other', 'outer', 'inner']);
  });

  it('ends for parents that go round', () => {
    const round = info([loop({ parent: 1 }), loop({ parent: 0 })]);
    expect(shownLoops(round, 'tree', 0, new Set())).toEqual([]);
  });

  it('pairs loops of two runs by text and function, in order', () => {
    const text = 'for (j = 0; j < n; j++)';
    const now = info([
      loop({}),
      loop({ text, line: 9 }),
      loop({ text, line: 12 }),
      loop({ text: 'while (p)' }),
    ]);
    const before = info([loop({ text, trips: 1 }), loop({ trips: 2 }), loop({ function: 'g' })]);
    expect([...pairLoops(now, before)].map(([i, l]) => [i, l.trips])).toEqual([
      [0, 2],
      [1, 1],
    ]);
    expect(goneLoops(now, before).map((l) => l.function)).toEqual(['g']);
    const { head, rows } = loopTable(now, before);
    const turns = [head.indexOf('turns'), head.indexOf('A turns')] as const;
    expect(rows.map((r) => turns.map((i) => r[i]))).toEqual([
      ['10', '2'],
      ['10', '1'],
      ['10', ''],
      ['10', ''],
      ['', '10'],
    ]);
    expect(rows.every((r) => r.length === head.length)).toBe(true);
  });

  it('says what became of references and misses, on one machine', () => {
    const before = { ...nest, references: 200, misses: [14, 5] };
    expect(comparedLoops(nest, before)).toBe(
      'References 200 → 100 (−50.0\u202f%), L1 misses 14 → 7 (−50.0\u202f%), L2 misses 5 → 5 (0.0\u202f%).',
    );
    expect(comparedLoops(nest, { ...before, machine: 'other' })).toBe(
      'References 200 → 100 (−50.0\u202f%); misses are modelled on other in A and on m in B.',
    );
  });

  it('says ≈ where a count is not certain', () => {
    expect(counted(12, false)).toBe('≈ 12');
    expect(spread(loop({ min: 1, median: 6, max: 8 }))).toBe('1 … 6 … 8');
    expect(describeLoop(loop({ exact: false }), nest)).toContain('≈ 10 turns in 1 entry');
    const unknown = { entries: true, trips: false, spread: true };
    const gone = loop({ exact: false, entries: 0, trips: 1, min: 0, median: 0, max: 0, unknown });
    expect(describeLoop(gone, nest)).toContain('≈ 1 turn, entries are not known');
    expect([countOf(gone, 'entries'), countOf(gone, 'trips'), spread(gone)]).toEqual(['?', '≈ 1', '']);
    const cut = loop({ exact: false, atLeast: true, entries: 2, unknown: { ...unknown, entries: false } });
    expect(describeLoop(cut, nest)).toContain('≥ 10 turns in 2 entries');
    const table = loopTable(nest);
    expect(table.rows).toHaveLength(3);
    expect(table.rows.every((r) => r.length === table.head.length)).toBe(true);
  });
});

describe('the lines of a loop', () => {
  const stride = (line: number): LoopRow['strides'][number] => ({
    line,
    op: 'L',
    width: 8,
    references: 1,
    text: '',
  });
  it('are its own and those of the loops inside it, each once', () => {
    const info = {
      loops: [
        loop({ strides: [stride(2)] }),
        loop({ parent: 0, strides: [stride(3), stride(3)] }),
        loop({ parent: 1, strides: [stride(4), stride(0)] }),
        loop({ strides: [stride(9)] }),
      ],
    } as unknown as LoopsInfo;
    const at = (i: number): number[] => loopLines(info, i).map((p) => p.line);
    expect([at(0), at(1), at(3), at(-1)]).toEqual([[2, 3, 4], [3, 4], [9], []]);
  });
  it('are those of loops before it in the list, too', () => {
    const info = {
      loops: [
        loop({ parent: 2, strides: [stride(4)] }),
        loop({ strides: [] }),
        loop({ parent: 1, strides: [] }),
      ],
    } as unknown as LoopsInfo;
    expect(loopLines(info, 1).map((p) => p.line)).toEqual([4]);
  });
  it('are of one file also where a name has more folders', () => {
    expect(sameFile('/src/a.c', 'a.c') && sameFile('a.c', 'lib/a.c')).toBe(true);
    expect(sameFile('ba.c', 'a.c')).toBe(false);
  });
});

describe('classes of loops', () => {
  const klass = (turns: number, loopOf: number, title: string): CyclesClass =>
    ({ turns, loop: loopOf, title, name: 'inner loop', place: 'q.c:3', exact: turns > 100 }) as CyclesClass;
  const all = {
    named: [],
    repeats: [],
    hasCode: true,
    classes: [
      klass(125, 2, 'for j, q.c:9'),
      klass(12, -1, ''),
      klass(0, -1, ''),
      klass(12, 2, 'for j, q.c:9'),
    ],
  } as unknown as CyclesInfo;

  it('are named after the loop; its paths are one row', () => {
    expect(classNames(all)).toEqual([
      'for j, q.c:9',
      'Inner loop, q.c:3',
      'No turns',
      'for j, q.c:9 · path 2',
    ]);
    const rows = classRows(all);
    expect(rows.map((r) => [r.index, r.folded])).toEqual([
      [0, [3]],
      [1, []],
      [2, []],
    ]);
    expect(pathsText(all, rows[0]!)).toBe('1 more path: ≈ 12 turns');
  });

  it('are folded under the whole they are a part of, unless they lie around others or have a name', () => {
    const part = (turns: number, whole: number, parent = -1): CyclesClass =>
      ({ ...klass(turns, -1, ''), whole, dual: whole < 0 ? -1 : 1, parent }) as CyclesClass;
    // 113 swaps + 12 without = 125 turns in 7 passes; 118 + 7 = 125 is the outer loop and its dual.
    const duals = {
      ...all,
      classes: [part(125, -1, 3), part(113, 0, 3), part(12, 0, 3), part(7, 0), part(118, 0, 3)],
    };
    const shape = (info: CyclesInfo): unknown => classRows(info).map((r) => [r.index, r.folded]);
    expect(shape(duals)).toEqual([
      [0, [1, 2, 4]],
      [3, []],
    ]);
    expect(pathsText(duals, classRows(duals)[0]!)).toBe('3 more paths: 113 turns, ≈ 12 turns, 118 turns');
    expect(shape({ ...duals, named: [{ class: 4 }] as never })).toEqual([
      [0, [1, 2]],
      [3, []],
      [4, []],
    ]);
    // Two that are parts of each other are not lost.
    expect(shape({ ...all, classes: [part(9, 1), part(8, 0)] })).toEqual([[0, [1]]]);
  });
});

describe('stretches', () => {
  const drawing = { turns: Uint32Array.of(0, 4, 8), every: 1, passes: Uint32Array.of(0, 8) } as never;

  it('a click takes the turn, then the pass, then nothing', () => {
    const turn = picked(5, { from: 0, to: 0 }, drawing, 12, false)!;
    expect(turn).toEqual({ from: 4, to: 8 });
    const pass = picked(5, turn, drawing, 12, false)!;
    expect(pass).toEqual({ from: 0, to: 8 });
    expect(
      picked(
        5,
        { from: 4, to: 8 },
        { ...(drawing as object), passes: new Uint32Array() } as never,
        12,
        false,
      ),
    ).toEqual({
      from: 0,
      to: 0,
    });
    expect(picked(9, turn, drawing, 12, true)).toEqual({ from: 4, to: 12 });
    expect(stretchName(4, 8, drawing, 12)).toBe('turn 2');
    expect(stretchName(0, 8, drawing, 12)).toBe('pass 1');
    expect(stretchName(1, 8, drawing, 12)).toBe('');
  });
});
