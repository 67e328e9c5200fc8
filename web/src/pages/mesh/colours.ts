// The colours of values on a mesh: viridis without a pale foot (look-pages: a
// closed surface beside grey); of changes, green for less and purple for more.
import { changeColor } from '../../base/change';
import { mapColor, parseColor } from '../../base/color';
import type { Theme } from '../../base/theme';
import type { ColourScale } from './scales';

export const STEPS = 256; // colours of the ramp

/** The colour at 0 … 1 of a scale. */
export function meshColor(t: number, theme: Theme, { signed }: Pick<ColourScale, 'signed'>): string {
  if (signed) return changeColor(theme, 2 * t - 1);
  return mapColor('viridis', theme.dark ? 0.06 + 0.94 * t : 1 - t);
}

/** The ramp as bytes, for the graphics card. */
export function ramp(theme: Theme, scale: Pick<ColourScale, 'signed'>): Uint8Array {
  const out = new Uint8Array(4 * STEPS);
  for (let i = 0; i < STEPS; i++)
    out.set([...parseColor(meshColor(i / (STEPS - 1), theme, scale)), 255], 4 * i);
  return out;
}
