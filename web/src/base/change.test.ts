import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { changeBar, changeColor } from './change';
import { contrast, parseColor, toOklab } from './color';
import { parseTokens, type ThemeName } from './theme';

const css = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');

/** Distance of two colours in OKLab × 100. */
function apart(a: readonly [number, number, number], b: readonly [number, number, number]): number {
  const [p, q] = [toOklab(a), toOklab(b)];
  return 100 * Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

const linear = (c: number): number => (c <= 10.31475 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4);
const encode = (v: number): number => 255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055);

/** How people without one kind of cone see a colour (Viénot, Brettel and Mollon 1999). */
function seenBy(matrix: readonly (readonly number[])[], color: string): [number, number, number] {
  const rgb = parseColor(color).map(linear);
  return matrix.map((row) =>
    encode(
      Math.max(
        0,
        Math.min(
          1,
          row.reduce((s, m, i) => s + m * rgb[i]!, 0),
        ),
      ),
    ),
  ) as [number, number, number];
}
const PROTAN = [
  [0.11238, 0.88762, 0],
  [0.11238, 0.88762, 0],
  [0.00401, -0.00401, 1],
];
const DEUTAN = [
  [0.29275, 0.70725, 0],
  [0.29275, 0.70725, 0],
  [-0.02234, 0.02234, 1],
];

const GREY = [0, 1, 2].map(() => [0.2126, 0.7152, 0.0722]);

// As decided with their distances; another hue has to pass what follows.
const ENDS = { light: ['#00703c', '#7b3294'], dark: ['#86dfae', '#b878dc'] } as const;

describe.each(['light', 'dark'] as const satisfies ThemeName[])('colours of a difference, %s', (name) => {
  const theme = parseTokens(css, name);

  it('are those that were decided, on every page', () => {
    expect([theme.less, theme.more]).toEqual(ENDS[name]);
    expect([changeColor(theme, -1), changeColor(theme, 1)]).toEqual(ENDS[name]);
  });

  it('stand out from no difference also in grey, where signs tell them apart', () => {
    for (const end of ENDS[name])
      expect(apart(seenBy(GREY, end), seenBy(GREY, theme.foot))).toBeGreaterThanOrEqual(15);
  });

  it('are told apart, also without red or green cones', () => {
    const [less, more] = [changeColor(theme, -1), changeColor(theme, 1)];
    expect(apart(parseColor(less), parseColor(more))).toBeGreaterThan(20);
    for (const matrix of [PROTAN, DEUTAN])
      expect(apart(seenBy(matrix, less), seenBy(matrix, more))).toBeGreaterThanOrEqual(15);
  });

  it('are pale in the middle and stronger to both ends', () => {
    expect(changeColor(theme, 0)).toBe(theme.foot);
    for (const sign of [-1, 1]) {
      const strength = [0.2, 0.5, 1].map((t) =>
        apart(parseColor(changeColor(theme, sign * t)), parseColor(theme.foot)),
      );
      expect(strength).toEqual([...strength].sort((a, b) => a - b));
    }
  });

  it('have bars that stand out from the ground', () => {
    for (const sign of [-1, 1])
      expect(contrast(changeBar(theme, sign), theme.bg)).toBeGreaterThanOrEqual(3.6);
  });
});
