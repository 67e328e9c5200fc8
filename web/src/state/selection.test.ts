import { describe, expect, it } from 'vitest';
import { parse } from './language';
import {
  apply,
  brush,
  brushed,
  invert,
  removeClause,
  text,
  without,
  type Mode,
  type Selection,
  type Term,
} from './selection';

const line = (n: number): Term => ({ kind: 'line', file: 'a.c', line: n });
const cpu = (...values: number[]): Term => ({ kind: 'values', column: 'cpu', values });
const slow: Term = { kind: 'range', column: 'latency', lo: 200, hi: 300 };

// A row, and whether a selection holds for it, by the definition of each term.
interface Row {
  readonly cpu: number;
  readonly latency: number;
  readonly file: string;
  readonly line: number;
}
const ROWS: readonly Row[] = [0, 1, 2].flatMap((cpu) =>
  [100, 200, 250, 300].flatMap((latency) => [1, 2].map((line) => ({ cpu, latency, file: 'a.c', line }))),
);
function holds(s: Selection, r: Row): boolean {
  return s.every((c) => c.not !== c.terms.some((t) => termHolds(t, r)));
}
function termHolds(t: Term, r: Row): boolean {
  switch (t.kind) {
    case 'line':
      return r.file === t.file && r.line === t.line;
    case 'values':
      return t.values.includes(r[t.column as 'cpu']);
    case 'range':
      return r[t.column as 'latency'] >= Number(t.lo) && r[t.column as 'latency'] <= Number(t.hi);
    case 'all':
      return holds(t.clauses, r);
    default:
      throw new Error(t.kind);
  }
}
const rows = (s: Selection): readonly boolean[] => ROWS.map((r) => holds(s, r));

const selections: readonly Selection[] = [
  [],
  [{ not: false, terms: [slow] }],
  [{ not: true, terms: [slow] }],
  [{ not: false, terms: [cpu(0), line(1)] }],
  [
    { not: false, terms: [slow] },
    { not: false, terms: [cpu(0, 1)] },
  ],
  [
    { not: true, terms: [cpu(0)] },
    { not: false, terms: [line(1)] },
  ],
  invert([
    { not: false, terms: [slow] },
    { not: false, terms: [cpu(0, 1)] },
  ]),
];

describe('modes', () => {
  const terms = [slow, cpu(0), cpu(2), line(1)];
  const meaning: Record<Exclude<Mode, 'remove'>, (was: boolean, term: boolean) => boolean> = {
    replace: (_, term) => term,
    add: (was, term) => was || term,
    filter: (was, term) => was && term,
  };
  for (const mode of ['replace', 'add', 'filter'] as const) {
    it(`${mode} means what it says, row by row`, () => {
      for (const s of selections) {
        for (const t of terms) {
          const want = ROWS.map((r) =>
            meaning[mode](mode === 'add' && s.length === 0 ? false : holds(s, r), termHolds(t, r)),
          );
          expect(rows(apply(s, t, mode)), `${text(s)} ${mode} ${text([{ not: false, terms: [t] }])}`).toEqual(
            want,
          );
        }
      }
    });
  }

  it('remove takes a term out', () => {
    for (const s of selections.slice(1)) {
      const want = ROWS.map((r) => holds(s, r) && !termHolds(cpu(2), r));
      expect(rows(apply(s, cpu(2), 'remove')), text(s)).toEqual(want);
    }
  });

  it('a second click with the same modifier changes nothing', () => {
    const one = apply([], line(1), 'replace');
    expect(apply(one, line(1), 'add')).toBe(one);
    expect(apply(one, line(1), 'filter')).toBe(one);
  });

  it('removing what was added gives back what was', () => {
    const one = apply([], line(1), 'replace');
    expect(apply(apply(one, line(2), 'add'), line(2), 'remove')).toEqual(one);
    expect(apply(one, line(1), 'remove')).toEqual([]);
  });

  it('takes several out by one clause', () => {
    const s = apply(apply([], cpu(0), 'remove'), cpu(1), 'remove');
    expect(text(s)).toBe('!(cpu = 0 | cpu = 1)');
  });
});

describe('invert', () => {
  it('selects the rest, and twice gives the same chips', () => {
    for (const s of selections.slice(1)) {
      expect(rows(invert(s))).toEqual(rows(s).map((x) => !x));
      expect(invert(invert(s))).toEqual(s);
    }
  });
});

describe('brush', () => {
  const s = parse('latency in 1..2 & cpu in (1, 2) & file = a.c & line = 3');

  it('replaces the ranges of its own axis, in place', () => {
    const two: Term[] = [
      { kind: 'range', column: 'latency', lo: 5, hi: 6 },
      { kind: 'range', column: 'latency', lo: 8, hi: 9, open: true },
    ];
    const b = brush(s, 'latency', two);
    expect(text(b)).toBe(
      '(latency in 5..6 | latency >= 8 & latency < 9) & cpu in (1, 2) & (file = a.c & line = 3)',
    );
    expect(brushed(b, 'latency')).toEqual(two);
    expect(parse(text(b))).toEqual(b);
  });

  it('no range is no clause', () => {
    expect(text(brush(s, 'cpu', []))).toBe('latency in 1..2 & (file = a.c & line = 3)');
    expect(brush([], 'cpu', [])).toEqual([]);
  });

  it('leaves out its own clause for the distribution behind it', () => {
    expect(text(without(s, 'latency'))).toBe('cpu in (1, 2) & (file = a.c & line = 3)');
    expect(text(without(parse('!latency > 3'), 'latency'))).toBe('!latency > 3');
  });
});

it('removing a chip leaves the others', () => {
  expect(text(removeClause(parse('cpu = 1 & latency > 2 & level = L1'), 1))).toBe('cpu = 1 & level = L1');
});
