import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { PairAnswer } from '../../../api/decode';
import type {
  CacheLine,
  CacheLines,
  CallNode,
  CallTree,
  CallWeight,
  Compared,
  ComparedRow,
  Spread,
  Spreads,
} from '../../../api/wire';
import { roughMeasure } from '../../../base/text';
import { parseTokens } from '../../../base/theme';
import { kinLine } from '../../../frame/code/code';
import { codeList } from '../../../frame/code/codelist';
import { clauseOf, text } from '../../../state/selection';
import { callList } from '../views/calllist';
import type { Heat } from '../views/heat';
import { ChangeCallsView, changeColumns } from './calls';
import { changeCode, rowsOf, rowsOfA, sideCode } from './code';
import { joinLines, linesList, pairTerm, placedLines } from './lines';
import { joinSpreads } from './spread';
import { ChangeListsView, isSure, ordered, shortNames } from './lists';
import { mergeCells } from './parallel';
import { beyondNoise, countVerdict } from './verdict';

const theme = parseTokens(
  readFileSync(new URL('../../../base/tokens.css', import.meta.url), 'utf8'),
  'light',
);

const row = (label: string, a: number, b: number, verdict = 'unsure'): ComparedRow => ({
  label,
  a: { samples: a, cost: a, share: 0 },
  b: { samples: b, cost: b, share: 0 },
  verdict,
});

describe('differences of counts', () => {
  it('are beyond noise from three standard errors on', () => {
    expect(beyondNoise(100, 100)).toBe(false);
    expect(beyondNoise(100, 140)).toBe(false); // error 15.5
    expect(beyondNoise(100, 150)).toBe(true);
    expect(countVerdict(100, 150)[2]).toBe('more');
    expect(countVerdict(150, 100)[2]).toBe('less');
    expect(countVerdict(100, 101)[2]).toBe('unsure');
    const [low, high] = countVerdict(100, 150, { scaleA: 2 }).map(Number);
    expect([low! < -50, high! > -50]).toEqual([true, true]); // 150 − 200
    // Runs of one program differ, however many samples each has.
    expect(beyondNoise(100_000, 120_000)).toBe(true);
    expect(beyondNoise(100_000, 120_000, { allowance: 0.15 })).toBe(false);
    expect(beyondNoise(100_000, 250_000, { allowance: 0.15 })).toBe(true);
  });

  it('of two answers have each cell once', () => {
    const pair = (cells: readonly (readonly [number, number, number])[]): PairAnswer => {
      const n = Uint32Array.from(cells.map((c) => c[2]));
      return {
        left: Uint16Array.from(cells.map((c) => c[0])),
        right: Uint16Array.from(cells.map((c) => c[1])),
        counts: [n, n, n],
      };
    };
    const merged = mergeCells(
      pair([
        [0, 1, 5],
        [2, 3, 7],
      ]),
      pair([
        [2, 3, 1],
        [4, 0, 2],
      ]),
    );
    expect(merged).toEqual([
      { left: 0, right: 1, a: 5, b: 0 },
      { left: 2, right: 3, a: 7, b: 1 },
      { left: 4, right: 0, a: 0, b: 2 },
    ]);
  });
});

describe('lists of changes', () => {
  const found = {
    groups: [row('x.c:1', 5, 9), row('x.c:2', 4, 1, 'less'), row('x.c:3', 0, 2), row('x.c:4', 3, 0)],
  } as unknown as Compared;

  it('have four orders', () => {
    const labels = (order: Parameters<typeof ordered>[1]): string =>
      ordered(found, order)
        .map((r) => r.label.at(-1))
        .join('');
    expect(labels('largest')).toBe('1234');
    expect(labels('sure')).toBe('2134');
    expect(labels('a')).toBe('4');
    expect(labels('b')).toBe('3');
    expect(isSure(row('', 1, 2, 'same'))).toBe(false);
  });

  it('leave out the file that all lines are in', () => {
    expect(shortNames(found.groups)).toMatchObject({ file: 'x.c' });
    expect(shortNames(found.groups).of(found.groups[0]!)).toBe('1');
    expect(shortNames([...found.groups, row('y.c:1', 1, 1)]).file).toBe('');
    expect(shortNames([row('u', 1, 1)]).file).toBe('');
  });

  it('are walked through by keys, past a list without a row', () => {
    const list = (rows: Compared | undefined) => ({
      title: '',
      found: rows,
      problem: '',
      term: () => undefined,
    });
    const view = new ChangeListsView({
      lists: [list(found), list(undefined)],
      metric: 'cost',
      order: 'largest',
      size: { w: 400, h: 200 },
      scroll: [],
      hovered: undefined,
      chosen: [],
      textOf: String,
    });
    const first = view.step(undefined, 'next');
    for (const dir of ['left', 'right', 'up', 'down', 'first', 'last', 'next', 'previous'] as const)
      expect(view.describe(view.step(first, dir)!).name).not.toBe('');
  });
});

describe('the code of two runs', () => {
  it('has lines that only A has between those of B', () => {
    const matched = {
      file: 'f.c',
      fileA: 'f.c',
      lines: [1, 0, 3],
      how: ['equal', '', 'modified'],
      gone: [
        { line: 2, before: 3, text: 'old' },
        { line: 4, before: 4, text: 'last' },
      ],
      from: [],
      textA: 'a\nold\nC\nlast',
      left: [],
    };
    expect(rowsOf('a\nnew\nc', matched).map((r) => [r.b, r.a, r.text])).toEqual([
      [1, 1, 'a'],
      [2, 0, 'new'],
      [0, 2, 'old'],
      [3, 3, 'c'],
      [0, 4, 'last'],
    ]);
    expect(rowsOfA('a\nnew\nc', matched).map((r) => [r.b, r.a, r.text])).toEqual([
      [1, 1, 'a'],
      [0, 2, 'old'],
      [3, 3, 'C'],
      [0, 4, 'last'],
    ]);
    expect(rowsOfA('a\nnew', undefined).map((r) => [r.b, r.text])).toEqual([
      [1, 'a'],
      [2, 'new'],
    ]);
  });

  /** Samples of lines, each of ten cycles. */
  const heat = (samples: readonly (readonly [line: number, n: number])[]): Heat => ({
    lines: new Map(
      samples.map(([line, n]) => [
        line,
        { line, samples: [n, n, 0], sums: [10 * n, 10 * n, 0], share: 0, hover: 0 },
      ]),
    ),
    top: undefined,
    topHover: undefined,
  });

  it('is that of each run on its side, with lines that are in another file of B now', () => {
    const of = (all: Readonly<Record<string, readonly (readonly [number, number])[]>>) => (file: string) =>
      heat(all[file] ?? []);
    const input = {
      source: { file: 'f.c', path: 'f.c', text: 'head\na\nc', truncated: false },
      matched: {
        file: 'f.c',
        fileA: 'old.c',
        lines: [0, 1, 4],
        how: ['', 'equal', 'modified'],
        gone: [{ line: 2, before: 3, text: 'gone' }],
        from: [],
        textA: 'a\ngone\nleft\nC',
        left: [{ line: 3, file: 'lib.c', in: 7 }],
      },
      current: { file: 'f.c', line: 3 },
      unit: 'cycles',
      provenance: undefined,
      places: false,
      counted: '',
    };
    const a = of({ 'f.c': [[2, 4]], 'old.c (only in A)': [[2, 5]], 'lib.c': [[7, 6]] });
    const b = of({ 'f.c': [[1, 9], [2, 1]], 'lib.c': [[7, 2]] }); // prettier-ignore
    const [A, B] = [
      sideCode({ ...input, side: 'A', own: a, other: b }),
      sideCode({ ...input, side: 'B', own: b, other: a }),
    ];
    expect([A.text, A.file, B.text, B.file]).toEqual(['a\ngone\nleft\nC', 'old.c', input.source.text, 'f.c']);
    const bars = (c: typeof A): unknown =>
      c.columns.filter((x) => !x.tableOnly).map((x) => [[...x.values], x.most]);
    expect(bars(A)).toEqual([[[[1, 40], [2, 50], [3, 60]], 60]]); // prettier-ignore
    // Lines of another file stand not in the text of B, and only A has line 1 of it at most.
    expect(bars(B)).toEqual([[[[1, 90], [2, 10]], 90]]); // prettier-ignore
    expect([A.reveal, B.reveal]).toEqual([4, 3]);
    expect([1, 2, 3, 4].map((l) => A.term!(l))).toEqual([
      { kind: 'line', file: 'f.c', line: 2 },
      { kind: 'line', file: 'old.c (only in A)', line: 2 },
      { kind: 'line', file: 'lib.c', line: 7 },
      { kind: 'line', file: 'f.c', line: 3 },
    ]);
    expect([A.numbering!.of(4), B.numbering!.of(3)]).toEqual(['4', '3']);
    expect(A.numbering!.digits).toBe(B.numbering!.digits);
    // The line at the top is the same line; of one that B has not, the one before it.
    expect([1, 2, 4].map((l) => kinLine(A.kin!, l, B.kin!, 3))).toEqual([2, 2, 3]);
    expect([1, 2, 3].map((l) => kinLine(B.kin!, l, A.kin!, 4))).toEqual([1, 1, 4]);
  });

  it('says where lines came from, and what may be said of each as a table', async () => {
    const tested = [
      { ...row('f.c:1', 20, 80, 'more'), keyA: ['f.c', '1'], keyB: ['f.c', '1'], low: 2, high: 6 },
      { ...row('f.c:3', 3, 3), keyA: ['f.c', '3'], keyB: ['f.c', '3'] },
      { ...row('f.c:2', 7, 0, 'less'), keyA: ['f.c (only in A)', '2'] },
    ];
    const code = changeCode({
      source: { file: 'f.c', path: 'f.c', text: 'a\nnew\nc', truncated: false },
      matched: {
        file: 'f.c',
        fileA: 'f.c',
        lines: [1, 0, 9],
        how: ['equal', '', 'moved'],
        gone: [{ line: 2, before: 3, text: 'old' }],
        from: [{ line: 3, file: 'lib.c' }],
        textA: 'a\nold',
        left: [],
      },
      a: heat([
        [1, 2],
        [3, 3],
      ]),
      b: heat([
        [1, 8],
        [2, 1],
        [3, 3],
      ]),
      gone: heat([[2, 7]]),
      current: undefined,
      unit: 'cycles',
      theme,
      places: false,
      tested: () => Promise.resolve({ groups: tested } as unknown as Compared),
    });
    const { head, rows } = codeList(code, [], roughMeasure, await code.further!()).rows();
    expect(head.slice(0, 7)).toEqual(['line', 'A', 'B', 'change', 'low', 'high', 'verdict']);
    expect(rows.map((r) => r.slice(0, 7))).toEqual([
      ['1', '20', '80', '60', '20', '100', 'more'],
      ['+2', '0', '10', '10', '', '', 'not tested'],
      ['−2', '70', '0', '-70', '', '', 'less'],
      ['9→3', '30', '30', '0', '', '', 'unsure'],
    ]);
    expect(code.describe(4)?.more).toContain('line 9 of lib.c in A, moved');
  });

  it('goes by number where nothing was matched', () => {
    expect(rowsOf('a\nb', undefined).map((r) => r.a)).toEqual([1, 2]);
  });
});

describe('cache lines of two runs', () => {
  const line = (addr: string, symbol: string, offset: number | undefined, samples: number): CacheLine =>
    ({
      addr,
      pid: null,
      samples,
      hitm: 0,
      contended: 0,
      symbols: [symbol],
      readers: [],
      writers: [],
      offsets: [],
      ...(offset !== undefined && { object_offset: offset }),
    }) as unknown as CacheLine;
  const answer = (lines: readonly CacheLine[], count = lines.length): CacheLines =>
    ({
      groups: lines,
      group_count: count,
      line_bytes: 64,
      has_op: false,
      has_snoop: false,
    }) as unknown as CacheLines;
  const a = [line('0x1000', 'u', 0, 100), line('0x1040', 'u', 64, 7), line('0x9000', 'v', undefined, 3)];
  const b = [line('0x5000', 'u', 0, 400), line('0x9000', 'v', undefined, 3)];

  it('are matched by object and offset, never by address', () => {
    expect(joinLines(a, b).map((p) => [p.name, p.a?.addr, p.b?.addr])).toEqual([
      ['u +0', '0x1000', '0x5000'],
      ['u +64', '0x1040', undefined],
      ['0x9000', '0x9000', undefined],
      ['0x9000', undefined, '0x9000'],
    ]);
  });

  it('say zero only where the other run was listed to its end', () => {
    const cells = (count: number): string[][] => {
      const list = linesList({ a: answer(a), b: answer(b, count), chance: {}, columns: [], top: 10 });
      return list.rows.map((p) => list.columns.slice(1, 7).map((c) => c.text(p)));
    };
    expect(cells(2)[0]!.slice(0, 3)).toEqual(['100', '400', '+300']);
    expect(cells(2)[0]![5]).toBe('more');
    expect(cells(2)[1]!.slice(0, 3)).toEqual(['7', '0', '−7']);
    expect(cells(2)[1]![5]).toBe('only in A · unsure');
    expect(cells(3)[1]!.slice(0, 3)).toEqual(['7', '–', '–']);
    expect(cells(3)[1]![5]).toBe('listed in A alone · not tested');
  });
});

describe('cache lines of one of two runs', () => {
  it('stand where the other run and the difference have them', () => {
    const line = (addr: string, symbol: string, samples: number): CacheLine =>
      ({
        addr,
        pid: null,
        samples,
        hitm: 0,
        contended: 0,
        symbols: [symbol],
        readers: [1],
        writers: [],
        offsets: [],
        object_offset: 0,
      }) as unknown as CacheLine;
    const of = (count: number, ...groups: CacheLine[]): CacheLines =>
      ({ groups, group_count: count, line_bytes: 64, physical: false }) as unknown as CacheLines;
    const a = of(2, line('0x1000', 'u', 9), line('0x2000', 'v', 5));
    const b = of(40, line('0x7000', 'v', 50), line('0x9000', 'w', 3));
    const places = (side: 'A' | 'B'): unknown =>
      placedLines(a, b, side, 10).map((p) => [p.pair.name, p.line.addr, p.line.samples, p.lacks]);
    expect(places('A')).toEqual([
      ['v +0', '0x2000', 5, undefined],
      ['u +0', '0x1000', 9, undefined],
      ['w +0', '', 0, 'none in A'],
    ]);
    expect(places('B')).toEqual([
      ['v +0', '0x7000', 50, undefined],
      ['u +0', '', 0, 'not listed in B'], // 40 lines are there, two came
      ['w +0', '0x9000', 3, undefined],
    ]);
    // One selection for both, in each run at its own address.
    expect(text([clauseOf(pairTerm(placedLines(a, b, 'A', 10)[0]!.pair, [], a)!)])).toBe(
      'side = A & addr in 0x2000..0x203f | side = B & addr in 0x7000..0x703f',
    );
  });
});

describe('calls of two runs', () => {
  const w = (samples: number): CallWeight => ({ samples, latency: 10 * samples });
  const node = (fn: string, depth: number, a: number, b: number): CallNode => ({
    function: fn,
    depth,
    total: w(a + b),
    self: w(0),
    selected: w(a),
    hovered: w(0),
  });
  const tree: CallTree = {
    function: '',
    path: [],
    value: 'samples',
    total: w(900),
    selected: w(400),
    hovered: w(0),
    callers: [],
    callees: [
      node('main', 0, 400, 500),
      node('f', 1, 300, 100),
      node('g', 1, 100, 102),
      node('h', 1, 0, 298),
    ],
    left: 0,
    functions: [],
  };
  const input = {
    tree,
    value: 'samples' as const,
    unit: 'cycles',
    timed: true,
    modelled: false,
    size: { w: 1024, h: 200 },
    top: 0,
    brush: [],
    hover: undefined,
    allowance: 0,
  };

  it('have A, B and what may be said of the change', () => {
    const view = new ChangeCallsView(input);
    const { head, rows } = view.rows();
    expect(head.slice(1, 7)).toEqual(['A', 'B', 'change', 'low', 'high', 'verdict']);
    expect(rows.map((r) => [r[0], r[1], r[2], r[3], r[6]])).toEqual([
      ['main', '400', '500', '100', 'more'],
      ['main;f', '300', '100', '-200', 'less'],
      ['main;g', '100', '102', '2', 'unsure'],
      ['main;h', '0', '298', '298', 'more'],
    ]);
    expect(view.describe({ part: 'callees', path: ['main', 'f'] }).more).toBe(
      '· A 300 samples · B 100 · B − A −200',
    );
    expect(view.describe({ part: 'callees', path: ['main', 'g'] }).more).toContain('within noise');
    // As wide as both together; the largest change ends the scale.
    expect(view.frames.map((f) => f.w * 900).map(Math.round)).toEqual([900, 900, 400, 202, 298]);
    expect(view.summary()).toContain('B − A to ± 298 samples');
    // Runs of one program differ: not all of that is sure then.
    const verdicts = (allowance: number): unknown =>
      new ChangeCallsView({ ...input, allowance }).rows().rows.map((r) => r[6]);
    expect(verdicts(0.15)).toEqual(['unsure', 'less', 'unsure', 'more']);
  });

  it('are not tested where latencies are summed', () => {
    const { rows } = new ChangeCallsView({ ...input, value: 'latency' }).rows();
    expect(rows[1]!.slice(1, 7)).toEqual(['3000', '1000', '-2000', '', '', 'not tested']);
  });

  it('are listed by the same columns', () => {
    const [list] = callList(input, new Set(), changeColumns('samples', false, 0));
    expect(list!.columns.map((c) => c.head)).toEqual(['A', 'B', 'change', 'low', 'high', 'verdict', 'calls']);
    const f = list!.rows.find((r) => r.name === 'f')!;
    expect(list!.columns.map((c) => c.text(f)).slice(0, 3)).toEqual(['300', '100', '−200']);
  });
});

describe('spreads of two runs', () => {
  it('have every group of either side once, those judged first', () => {
    const groups = (...keys: string[]): Spreads =>
      ({ groups: keys.map((k) => ({ label: [k] }) as unknown as Spread) }) as unknown as Spreads;
    const judged = {
      groups: [{ ...row('y', 1, 9, 'more'), keyA: ['y'], keyB: ['y'] }],
    } as unknown as Compared;
    const joined = joinSpreads(groups('x', 'y'), groups('z', 'y'), judged);
    expect(joined.map((r) => [r.key[0], r.a?.label[0], r.b?.label[0], r.compared?.verdict])).toEqual([
      ['y', 'y', 'y', 'more'],
      ['z', undefined, 'z', undefined],
      ['x', 'x', undefined, undefined],
    ]);
  });
});
