import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse, SyntaxProblem } from './language';
import { text } from './selection';

// The same list is run through query.Parse by TestSelectionLanguage in Go.
const cases = JSON.parse(readFileSync(new URL('testdata/selections.json', import.meta.url), 'utf8')) as [
  string,
  string | null,
][];

describe('parse', () => {
  it.each(cases)('%s', (source, standard) => {
    if (standard === null) {
      expect(() => parse(source)).toThrow(SyntaxProblem);
      return;
    }
    const s = parse(source);
    expect(text(s)).toBe(standard);
    expect(text(parse(standard))).toBe(standard);
  });

  it('makes one term of a source line and of two bounds', () => {
    expect(parse('file = a.c & line = 3 & latency >= 5 & latency < 9')).toEqual([
      { not: false, terms: [{ kind: 'line', file: 'a.c', line: 3 }] },
      { not: false, terms: [{ kind: 'range', column: 'latency', lo: 5, hi: 9, open: true }] },
    ]);
  });

  it('keeps all bits of addresses', () => {
    expect(parse('addr in 18446741874686935032..0xffffffffffffffff')).toEqual([
      {
        not: false,
        terms: [{ kind: 'range', column: 'addr', lo: 18446741874686935032n, hi: 0xffffffffffffffffn }],
      },
    ]);
  });

  it('names the place of a problem', () => {
    const problem = (source: string): SyntaxProblem => {
      try {
        parse(source);
      } catch (error) {
        return error as SyntaxProblem;
      }
      throw new Error('no problem found');
    };
    expect(problem('cpu = 1 & latency >').position).toBe(19);
    expect(problem('cpu = "x').message).toContain('closing quote');
    expect(problem(`cpu = 'x"`).message).toContain('closing quote');
    expect(problem('('.repeat(300) + 'cpu = 1').message).toContain('nested');
  });
});
