import { describe, expect, it } from 'vitest';
import { parse } from './language';
import {
  apply,
  brush,
  brushed,
  clauseOf,
  columnOf,
  invert,
  joinNext,
  negated,
  removeClause,
  split,
  text,
  without,
  type Clause,
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

describe('one way to click', () => {
  const terms = [slow, cpu(0), cpu(2), line(1)];
  const kinds = (t: Term): readonly string[] => (t.kind === 'line' ? ['line'] : [columnOf(t)!]);
  const kindOf = (c: Clause): string | undefined => {
    const all = new Set(c.terms.flatMap((t) => (t.kind === 'all' ? ['several'] : kinds(t))));
    return all.size === 1 ? [...all][0] : undefined;
  };

  it('sets the clause of its own kind and keeps the others, row by row', () => {
    for (const s of selections)
      for (const t of terms) {
        const others = s.filter((c) => kindOf(c) !== kinds(t)[0]);
        const want = ROWS.map((r) => holds(others, r) && termHolds(t, r));
        expect(rows(apply(s, t, 'set')), `${text(s)} and ${text([clauseOf(t)])}`).toEqual(want);
      }
  });

  it('adds within its own kind', () => {
    for (const s of selections)
      for (const t of terms) {
        const own = s.filter((c) => kindOf(c) === kinds(t)[0] && !c.not);
        const taken = s.some((c) => c.not && text([c]) === `!${text([clauseOf(t)])}`);
        const others = s.filter(
          (c) => !own.includes(c) && !(kindOf(c) === kinds(t)[0] && (taken || own.length === 0)),
        );
        const want = ROWS.map(
          (r) => holds(others, r) && (taken || termHolds(t, r) || (own.length > 0 && holds(own, r))),
        );
        expect(rows(apply(s, t, 'add')), `${text(s)} or ${text([clauseOf(t)])}`).toEqual(want);
      }
  });

  it('takes out, whatever is selected', () => {
    for (const s of selections) {
      const want = ROWS.map((r) => holds(s, r) && !termHolds(cpu(2), r));
      expect(rows(apply(s, cpu(2), 'remove')), text(s)).toEqual(want);
    }
  });

  it('clears the others with Ctrl', () => {
    for (const s of selections) expect(text(apply(s, line(1), 'only'))).toBe('file = a.c & line = 1');
  });

  it('a second click of the same kind changes nothing', () => {
    const one = apply(parse('cpu = 3'), line(1), 'set');
    expect(text(one)).toBe('cpu = 3 & (file = a.c & line = 1)');
    expect(apply(one, line(1), 'set')).toBe(one);
    expect(apply(one, line(1), 'add')).toBe(one);
  });

  it('removing what was added gives back what was', () => {
    const one = apply([], line(1), 'set');
    expect(apply(apply(one, line(2), 'add'), line(2), 'remove')).toEqual(one);
    expect(apply(one, line(1), 'remove')).toEqual([]);
    const out = apply([], cpu(0), 'remove');
    expect(apply(out, cpu(0), 'add')).toEqual([]);
  });

  it('takes several out by one clause', () => {
    const s = apply(apply([], cpu(0), 'remove'), cpu(1), 'remove');
    expect(text(s)).toBe('!(cpu = 0 | cpu = 1)');
  });

  it('knows a CPU of the machine from that of an axis by name only', () => {
    const at = (id: string): Term => ({ kind: 'resource', id });
    expect(text(apply(parse('at CPU:3 & latency > 2'), cpu(6), 'set'))).toBe('cpu = 6 & latency > 2');
    expect(text(apply(parse('cpu = 6'), at('CPU:3'), 'set'))).toBe('at CPU:3');
    expect(text(apply(parse('at L3:0 & cpu = 6'), at('L3:1'), 'set'))).toBe('at L3:1 & cpu = 6');
  });
});

describe('chips', () => {
  it('are joined by or, and split again', () => {
    const s = parse('cpu = 1 & latency > 2 & level = L1');
    expect(text(joinNext(s, 0))).toBe('(cpu = 1 | latency > 2) & level = L1');
    expect(split(joinNext(s, 0), 0)).toEqual(s);
    const not = parse('!cpu = 1 & latency > 2');
    expect(text(joinNext(not, 0))).toBe('!cpu = 1 | latency > 2');
    expect(split(joinNext(not, 0), 0)).toEqual(not);
  });

  it('are negated without "not not"', () => {
    const [c] = parse('cpu = 1 | cpu = 2');
    expect(negated(negated(c!))).toEqual(c);
    const nested = clauseOf({ kind: 'all', clauses: [negated(c!)] });
    expect(negated(nested)).toEqual(c);
  });
});

describe('invert', () => {
  it('selects the rest, and twice gives the same chips', () => {
    for (const s of selections.slice(1)) {
      expect(rows(invert(s))).toEqual(rows(s).map((x) => !x));
      expect(invert(invert(s))).toEqual(s);
    }
  });

  it('never negates twice', () => {
    expect(text(invert(parse('!cpu = 1 & !latency > 2')))).toBe('cpu = 1 | latency > 2');
    expect(text(invert(parse('cpu = 1 & !latency > 2')))).toBe('!cpu = 1 | latency > 2');
    expect(text(invert(parse('!cpu = 1 | latency > 2')))).toBe('cpu = 1 & !latency > 2');
    expect(text(invert(invert(parse('!cpu = 1'))))).toBe('!cpu = 1');
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
