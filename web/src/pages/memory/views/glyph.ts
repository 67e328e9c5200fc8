// Small pictures of the machine, one for each subset of samples, to compare
// them: amounts on a scale of each picture's own, because subsets differ in
// size, means on one scale for all.
import type { AmountMap } from '../../../base/color';
import type { Point, Size } from '../../../base/geometry';
import type { PlacesAnswer } from '../../../api/decode';
import type { Topology } from '../../../api/wire';
import { TopologyView, type TopologyMetric } from './topology';

export interface GlyphStyle {
  readonly topology: Topology;
  readonly metric: TopologyMetric;
  readonly unit: string;
  readonly map?: AmountMap;
}

export function glyph(
  style: GlyphStyle,
  places: PlacesAnswer,
  size: Size,
  origin: Point = { x: 0, y: 0 },
  among?: ReadonlyMap<string, readonly number[]>,
): TopologyView {
  return new TopologyView({
    ...style,
    places,
    layout: 'sunburst',
    root: 0,
    size,
    chosen: [],
    preview: false,
    bare: true,
    origin,
    among,
  });
}

/** The values of all pictures by ring; undefined where each has a scale of its own. */
export function sharedAmounts(
  style: GlyphStyle,
  all: readonly (PlacesAnswer | undefined)[],
): Map<string, number[]> | undefined {
  if (style.metric !== 'mean') return undefined;
  const out = new Map<string, number[]>();
  for (const places of all) {
    if (!places) continue;
    for (const [type, values] of glyph(style, places, { w: 10, h: 10 }).amounts())
      out.set(type, [...(out.get(type) ?? []), ...values]);
  }
  return out;
}
