import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SvgRenderer } from '../../base/svg';
import { roughMeasure } from '../../base/text';
import { parseTokens } from '../../base/theme';
import { folds, places, walk, type Code } from './code';
import { codeList } from './codelist';

const theme = parseTokens(readFileSync(new URL('../../base/tokens.css', import.meta.url), 'utf8'), 'light');

function code(more: Partial<Code> = {}): Code {
  return {
    name: 'Code',
    file: 'a.c',
    text: 'one\n\ttwo\nthree\nfour\n',
    columns: [
      {
        head: 'samples',
        values: new Map([
          [4, 1],
          [2, 5],
          [3, 0],
        ]),
        tableOnly: true,
      },
      {
        head: 'cycles',
        values: new Map([
          [2, 1234.5],
          [4, 10],
        ]),
        provenance: 'modelled',
        colour: (line) => (line === 2 ? '#abcdef' : undefined),
      },
    ],
    describe: (line) => ({ name: `a.c:${line}`, more: '' }),
    summary: '',
    ...more,
  };
}

describe('places', () => {
  it('are the lines with a number in any column, in order', () => expect(places(code())).toEqual([2, 3, 4]));
  it.each([
    ['ArrowDown', 0, 2],
    ['ArrowDown', 2, 3],
    ['ArrowDown', 9, 4],
    ['ArrowUp', 4, 3],
    ['ArrowUp', 1, 2],
    ['Home', 4, 2],
    ['End', 0, 4],
    ['a', 2, undefined],
  ])('%s from line %d goes to %s', (key, from, to) => expect(walk([2, 3, 4], from, key)).toBe(to));
});

describe('folds', () => {
  const at = (lines: number[], more: Partial<Code> = {}): Code =>
    code({ places: true, columns: [{ head: 'n', values: new Map(lines.map((l) => [l, 1])) }], ...more });
  /** The lines that are hidden. */
  const hidden = (c: Code, n: number): number[] =>
    folds(c, n).flatMap((f) => Array.from({ length: f.to - f.from + 1 }, (_, i) => f.from + i));

  it('are the stretches between places', () => {
    expect(folds(at([10, 30]), 50)).toEqual([
      { from: 1, to: 6 },
      { from: 14, to: 26 },
      { from: 34, to: 50 },
    ]);
  });
  it('keep the line that is meant, and fold no single line', () => {
    expect(folds(at([10], { tones: new Map([[18, 'here']]) }), 21)).toEqual([{ from: 1, to: 6 }]);
  });
  it('are none where nothing has a number, or where all is asked for', () => {
    expect(folds(at([]), 50)).toEqual([]);
    expect(folds(at([10], { places: false }), 50)).toEqual([]);
    expect(folds(at([70]), 50)).toEqual([]);
  });
  it('hide no place and nothing near one, whatever the places', () => {
    let seed = 7;
    const random = (n: number): number => (seed = (seed * 48271) % 2147483647) % n;
    for (let round = 0; round < 200; round++) {
      const n = 1 + random(80);
      const lines = Array.from({ length: random(6) }, () => 1 + random(n));
      const gone = new Set(hidden(at(lines), n));
      for (let l = 1; l <= n; l++) {
        const near = lines.some((p) => Math.abs(p - l) <= 3);
        if (near) expect(gone.has(l), `${l} of ${n}, places ${lines.join()}`).toBe(false);
        // A line far from every place is hidden unless it would be hidden alone.
        else if (lines.length > 0 && !gone.has(l))
          expect(gone.has(l - 1) || gone.has(l + 1), `${l} of ${n}, places ${lines.join()}`).toBe(false);
      }
    }
  });
});

describe('code as a table', () => {
  const view = codeList(code(), [2, 3], roughMeasure);
  it('lists every place with all digits and says what is modelled', () => {
    expect(view.rows()).toEqual({
      head: ['line', 'samples', 'cycles (modelled)', 'cycles of the most', 'source'],
      rows: [
        ['2', '5', '1234.5', '1.000', '    two'],
        ['3', '0', '', '', 'three'],
        ['4', '1', '10', '0.008', 'four'],
      ],
    });
  });
  it('draws the lines on screen, in their colours', () => {
    const r = new SvgRenderer(theme, roughMeasure);
    view.draw(r);
    const svg = r.document(view.size, 'x');
    expect(svg).toContain('three');
    expect(svg).not.toContain('four');
    expect(svg).toContain('#abcdef');
  });
});
