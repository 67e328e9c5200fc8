// What is said of the cluster under the pointer.
import { SELECTED } from '../../../api/decode';
import { count, decimal, short } from '../../../base/format';
import type { Point } from '../../../base/geometry';
import { titleOf, valueColumn } from '../../../state/axes';
import { slotOf } from '../guide';
import { glyph } from '../views/glyph';
import type { GuidedView } from '../views/guided';
import { metricSaid, metricTitle, metricValue } from '../views/metrics';
import type { TopologyView } from '../views/topology';
import type { AxisModel } from './model.svelte';

export interface ClusterCard {
  readonly title: string;
  readonly at: Point; // of its marker, in the pane
  readonly view: TopologyView | undefined;
  readonly none: string; // why there is no picture
  readonly rows: readonly (readonly [name: string, value: string])[];
}

type Row = readonly [name: string, value: string];
const GLYPH = { w: 126, h: 126 };

export function cardOf(m: AxisModel): ClusterCard | undefined {
  const { column, hoverCluster: i, info, style, view } = m;
  const at = i === undefined ? undefined : view?.anchor(i);
  const clusters = view?.clusters;
  if (i === undefined || !at || !clusters || !column || !info) return undefined;
  const slot = slotOf(m.guided, 'axis.card', 'places');
  const places = slot && !slot.busy ? slot.value : undefined;
  const cycles = places?.latency[SELECTED][0];
  const value = valueColumn(info);
  const about = value?.about ?? '';
  const cluster = clusters.list[i]!;
  return {
    title: clusters.name(i),
    at,
    view: style && places ? glyph(style, places, GLYPH) : undefined,
    none: style ? '' : 'no hardware topology in this run',
    rows: [
      [titleOf(column), rangeText(view, cluster)],
      ['samples', count(cluster.samples)],
      ...(cycles !== undefined && style && value
        ? [[style.unit, `${about}${cycles < 1e6 ? count(cycles) : short(cycles)}`] as const]
        : []),
      ...measured(m),
    ],
  };
}

/** The metrics on screen, of this cluster alone. */
function measured(m: AxisModel): readonly Row[] {
  return m.strips.map((s, k) => {
    const one = slotOf(m.guided, `axis.card.${k}`, 'metrics');
    return [
      metricTitle({ name: s.metric, depth: s.depth }).replace('average ', ''),
      one && !one.busy ? inCard(one.value?.windows[0]?.value, s.unit) : '…',
    ];
  });
}

/** A latency stands under others, whose row says the unit. */
function inCard(v: number | null | undefined, unit: string): string {
  return unit === 'CPUs' || unit === 'σ' ? metricSaid(v, unit) : metricValue(v, unit);
}

/** A range as short as a card needs it: "100.4 – 107.7 G". */
function rangeText(v: GuidedView, c: { readonly from: number; readonly to: number }): string {
  const { layout } = v.histogram;
  const s = layout.scale;
  if (s.factor === 1) return `${layout.say(c.from)} – ${layout.say(c.to)}`;
  return `${decimal(c.from / s.factor, 1)} – ${decimal(c.to / s.factor, 1)} ${s.unit.replace('ticks', '')}`;
}
