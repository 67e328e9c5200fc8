// Colours of groups of references, and the ring of colours for a circular
// coordinate.
import { fromOklab, toHex } from '../../base/color';
import type { Theme } from '../../base/theme';
import type { Colour } from '../../api/wire';

/** Groups in order of first use; then grey for all others. */
export function lineColor(theme: Theme, i: number): string {
  const cats = [
    theme['cat-1'],
    theme['cat-2'],
    theme['cat-3'],
    theme['cat-4'],
    theme['cat-5'],
    theme['cat-6'],
    theme['cat-7'],
  ];
  return cats[i] ?? theme.rest;
}

/** A phase in turns: an even ring in OKLCH, inside sRGB at every hue. */
export function phaseColor(theme: Theme, turns: number): string {
  const [L, C] = theme.dark ? [0.75, 0.12] : [0.65, 0.11];
  const hue = 2 * Math.PI * (turns - Math.floor(turns));
  return toHex(fromOklab([L, C * Math.cos(hue), C * Math.sin(hue)]));
}

/** Which colour a group has; -1 if none of its own. */
export function groupColour(colours: readonly Colour[], g: Colour): number {
  return colours.findIndex(
    (c) => c.label === g.label && c.file === g.file && c.line === g.line && c.function === g.function,
  );
}

/** Colours that stand out; undefined: all alike. */
export type Lit = ReadonlySet<number> | undefined;

export function isLit(lit: Lit, colour: number): boolean {
  return lit === undefined || lit.has(colour);
}
