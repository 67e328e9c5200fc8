// The colours of values on a mesh: viridis without a pale foot (look-pages: a
// closed surface beside grey).
import { mapColor, parseColor } from '../../base/color';

export const STEPS = 256; // colours of the ramp

/** The colour at 0 … 1. */
export function meshColor(t: number, dark: boolean): string {
  return mapColor('viridis', dark ? 0.06 + 0.94 * t : 1 - t);
}

/** The ramp as bytes, for the graphics card. */
export function ramp(dark: boolean): Uint8Array {
  const out = new Uint8Array(4 * STEPS);
  for (let i = 0; i < STEPS; i++) out.set([...parseColor(meshColor(i / (STEPS - 1), dark)), 255], 4 * i);
  return out;
}
