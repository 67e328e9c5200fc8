import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { THIN } from '../../base/format';
import { SvgRenderer } from '../../base/svg';
import { roughMeasure } from '../../base/text';
import { parseTokens } from '../../base/theme';
import type { Rect } from '../../base/geometry';
import type { Paint, TextStyle } from '../../base/renderer';
import { ParallelRuns } from './parallelruns';
import { growth } from './words';

const light = parseTokens(readFileSync(new URL('../../base/tokens.css', import.meta.url), 'utf8'), 'light');

describe('laws of a study', () => {
  it('say how far predictions are off on average, and never that they are not', () => {
    const law = { parameter: 'n', exponent: 0.3709, low: 0.3223, high: 0.4195, error: 0.0004 };
    expect(growth(law)).toBe(`as n^0.37 (0.32 to 0.42) in all; predictions <0.1${THIN}% off on average`);
    expect(growth({ ...law, exponent: -0.001, low: -1.5, high: 0.001, error: 0.124 })).toBe(
      `as n^0.00 (−1.50 to 0.00) in all; predictions 12.4${THIN}% off on average`,
    );
  });
});

describe('lines of runs', () => {
  it('leave the labels of their axes readable', () => {
    // What was drawn at each place last, in order.
    const drawn: { kind: 'line' | 'ground' | 'text'; text?: string; x: number; y: number; w: number }[] = [];
    class Drawn extends SvgRenderer {
      override line(x0: number, y0: number, x1: number, y1: number, paint: Paint): void {
        drawn.push({ kind: 'line', x: x0, y: y0, w: x1 - x0 });
        super.line(x0, y0, x1, y1, paint);
      }
      override rect(r: Rect, paint: Paint): void {
        drawn.push({ kind: 'ground', x: r.x, y: r.y + r.h / 2, w: r.w });
        super.rect(r, paint);
      }
      override text(text: string, x: number, y: number, style: TextStyle): void {
        drawn.push({ kind: 'text', text, x, y, w: roughMeasure(text, style.font) });
        super.text(text, x, y, style);
      }
    }
    const axis = (name: string) => ({
      name,
      parameter: false,
      places: [0, 0.5, 1],
      texts: ['10', '20', '30'],
      ticks: [0, 0.5, 1].map((at) => ({ at, text: `${name} ${at}` })),
      scale: undefined,
    });
    const view = new ParallelRuns({
      names: ['a', 'b', 'c'],
      odd: [[], [], []],
      axes: [axis('n'), axis('cost'), axis('wall')],
      colour: undefined,
      brushes: [],
      kept: [true, true, true],
      size: { w: 600, h: 300 },
      hovered: -1,
      marked: 1,
    });
    view.draw(new Drawn(light, roughMeasure));
    const labels = drawn.flatMap((d, i) => (/^(n|cost|wall) /.test(d.text ?? '') ? [i] : []));
    expect(labels).toHaveLength(9);
    for (const i of labels) {
      const [ground, label] = [drawn[i - 1]!, drawn[i]!];
      expect(ground.kind).toBe('ground');
      expect(ground.y).toBeCloseTo(label.y, 6);
      expect(ground.x).toBeLessThanOrEqual(label.x - label.w);
      expect(drawn.slice(i).filter((d) => d.kind === 'line' && d.w !== 0)).toEqual([]);
    }
  });
});
