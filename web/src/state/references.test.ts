import { describe, expect, it } from 'vitest';
import { parse } from './language';
import {
  fieldTerm,
  loopTerm,
  selectedFields,
  selectedLines,
  selectedLoop,
  selectedStretch,
  selectedThreads,
  stretchTerm,
  threadTerm,
  withoutStretch,
} from './references';
import { apply, clauseOf, text, type Selection, type Term } from './selection';

const select = (terms: readonly Term[], first: Selection = []): Selection =>
  terms.reduce<Selection>((s, t) => apply(s, t, 'set'), first);

describe('what a selection says about references', () => {
  it('finds again what was selected, beside everything else', () => {
    const all = select(
      [loopTerm('a.c:3 f'), threadTerm(7), stretchTerm(10, 20)],
      [clauseOf({ kind: 'line', file: 'a.c', line: 4 })],
    );
    expect(all.length).toBe(4);
    const read = parse(text(all)); // what a link keeps
    expect(selectedLoop(read)).toBe('a.c:3 f');
    expect(selectedThreads(read)).toEqual([7]);
    expect(selectedStretch(read)).toEqual({ from: 10, to: 20 });
    expect(selectedLines(read)).toEqual([{ file: 'a.c', line: 4 }]);
    expect(text(withoutStretch(read))).not.toContain('order');
  });

  it('takes a loop in place of another, and a field in place of its object', () => {
    const both = select([loopTerm('a'), { kind: 'values', column: 'symbol', values: ['p'] }]);
    const then = select([loopTerm('b'), fieldTerm('p', 'x')], both);
    expect(text(then)).toBe('rows "loop b" & rows "field p.x"');
    expect(selectedFields(parse(text(then)))).toEqual(['p.x']);
  });

  it('finds several fields and threads, and none that are left out', () => {
    const more = (s: Selection, t: Term): Selection => apply(s, t, 'add');
    const both = [fieldTerm('p', 'x'), threadTerm(7), fieldTerm('p', 'y'), threadTerm(9)].reduce(more, []);
    const read = parse(text(both));
    expect(selectedFields(read)).toEqual(['p.x', 'p.y']);
    expect(selectedThreads(read)).toEqual([7, 9]);
    expect(selectedThreads(parse('tid in (1, 2)'))).toEqual([1, 2]);
    const without = parse('!(rows "field p.x") & !(tid = 7)');
    expect([...selectedFields(without), ...selectedThreads(without)]).toEqual([]);
  });

  it('names no loop and no stretch where several are selected, or one is left out', () => {
    for (const s of ['rows "loop a" | rows "loop b"', '!(rows "loop a")', 'order in 1..', ''])
      expect([selectedLoop, selectedStretch].map((f) => f(parse(s)) || undefined)).toEqual([
        undefined,
        undefined,
      ]);
    expect(selectedStretch(parse('order >= 3 & order < 9'))).toEqual({ from: 3, to: 9 });
  });
});
