// What `Legend.svelte` shows: categories with their colours or hatches, and ramps
// with their ticks. Pages make these from their scales (base/scale.ts) and paints.
import type { Paint } from '../base/renderer';
import { placeOn, ticksOf, type NumberScale } from '../base/scale';

export interface LegendItem {
  readonly label: string;
  readonly paint: Paint;
  readonly title?: string;
}

export interface LegendRamp {
  readonly stops: readonly string[]; // colours from the low end to the top, evenly
  readonly ticks: readonly { readonly at: number; readonly label: string }[]; // at 0 … 1
}

const STOPS = 17;

/** Evenly spaced colours of a ramp. */
export function stopsOf(colour: (t: number) => string): readonly string[] {
  return Array.from({ length: STOPS }, (_, i) => colour(i / (STOPS - 1)));
}

/** The ramp of a scale, with round ticks. */
export function rampOf(
  scale: NumberScale,
  colour: (t: number) => string,
  write: (v: number) => string,
  most = 6,
): LegendRamp {
  return {
    stops: stopsOf(colour),
    ticks: ticksOf(scale, most).map((v) => ({ at: placeOn(scale, v), label: write(v) })),
  };
}
