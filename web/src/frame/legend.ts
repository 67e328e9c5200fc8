// What `Legend.svelte` shows: categories with their colours or hatches, and ramps
// with their ticks. Pages make these from their scales (base/scale.ts) and paints.
import type { Paint, Renderer } from '../base/renderer';
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

/** The legend of a view, for the file it is exported to. */
export interface ViewLegend {
  readonly items?: readonly LegendItem[];
  readonly ramp?: LegendRamp;
  readonly unit?: string;
}

const RAMP = { w: 150, h: 7 };
const FONT = { size: 10.5 };

/** Draws a legend that ends at a place, in one line about a height. */
export function drawLegend(r: Renderer, legend: ViewLegend, right: number, y: number): void {
  const text = (t: string, x: number, at: number, align: 'left' | 'right' | 'center'): void =>
    r.text(t, x, at, { font: FONT, fill: r.theme.muted, align });
  let x = right;
  if (legend.ramp) {
    if (legend.unit) {
      text(legend.unit, x, y, 'right');
      x -= r.measure(legend.unit, FONT) + 16;
    }
    const { stops, ticks } = legend.ramp;
    const [left, part] = [x - RAMP.w, RAMP.w / stops.length];
    stops.forEach((fill, i) => r.rect({ x: left + i * part, y: y - 8, w: part + 0.5, h: RAMP.h }, { fill }));
    for (const t of ticks) text(t.label, left + t.at * RAMP.w, y + 6, 'center');
  }
  for (const item of [...(legend.items ?? [])].reverse()) {
    text(item.label, x, y, 'right');
    x -= r.measure(item.label, FONT) + 16;
    r.rect({ x, y: y - 5, w: 12, h: 10 }, item.paint, 2);
    x -= 12;
  }
}
