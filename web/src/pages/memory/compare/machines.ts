// Two runs of different machines: the picture of each beside that of the other.
// Their resources have no partners, so there is no difference to show; a ring of
// one kind has one scale in both.
import { count, plural } from '../../../base/format';
import { clamp, type Dir, type Point, type Rect, type Size } from '../../../base/geometry';
import type { Renderer } from '../../../base/renderer';
import { fit, type Font } from '../../../base/text';
import type { PlacesAnswer } from '../../../api/decode';
import type { KeptView, Said, Table } from '../../../frame/view';
import type { Term } from '../../../state/selection';
import { TopologyView, type ResourceMark, type RingScale, type TopologyInput } from '../views/topology';
import { pathOf, sayPath, sayResource } from '../views/tree';
import { NOT_COMPARED, VERDICT_HEAD } from './verdict';

export interface MachinesInput extends TopologyInput {
  readonly before: PlacesAnswer; // A; `places` is B
  readonly apart: string; // how the machines differ
}

const HEAD = 22; // the names of A and B
const FOOT = 22; // how they differ
const GAP = 12;
const LEGEND = 196;
/** With less room than this the pictures have it all. */
const WITH_LEGEND = 460;
const NAME: Font = { size: 12, weight: 600 };
const SMALL: Font = { size: 11 };

/** The picture of one machine; the legend is that of both. */
class Machine extends TopologyView {
  protected override place(): { group: Rect; legend: undefined } {
    return { group: { x: 0, y: 0, ...this.input.origin, ...this.size }, legend: undefined };
  }

  title(): string {
    return this.metricTitle();
  }

  ramp(r: Renderer, s: RingScale, at: Point, w: number): void {
    this.drawRamp(r, s, at.x, at.x + 44, w - 48, at.y);
  }
}

/** The resources that stand for the machines of A and B. */
export function machinesOf({ topology }: Pick<TopologyInput, 'topology'>): readonly [a: number, b: number] {
  const hosts = topology.resources.flatMap((r, i) => (r.type === 'Host' ? [i] : []));
  return [hosts[0] ?? 0, hosts[1] ?? 0];
}

/** Of which machine a resource is. */
export function sideOf(input: Pick<TopologyInput, 'topology'>, resource: number): 'a' | 'b' {
  return pathOf(input.topology.resources, resource).includes(machinesOf(input)[0]) ? 'a' : 'b';
}

export class MachinesView implements KeptView<ResourceMark> {
  readonly size: Size;
  readonly machines: readonly [a: Machine, b: Machine];
  private readonly legend: Rect | undefined;

  constructor(private readonly input: MachinesInput) {
    this.size = input.size;
    const { w, h } = input.size;
    const legendW = w < WITH_LEGEND ? 0 : LEGEND;
    const each = Math.max(20, (w - 3 * GAP - (legendW && legendW + GAP)) / 2);
    const size = { w: each, h: Math.max(20, h - HEAD - FOOT) };
    const make = (side: 0 | 1, among?: ReadonlyMap<string, readonly number[]>): Machine =>
      new Machine({
        ...input,
        places: side === 0 ? input.before : input.places,
        root: machinesOf(input)[side],
        size,
        origin: { x: GAP + side * (each + GAP), y: HEAD },
        among,
      });
    const among = amongBoth(make(0), make(1));
    this.machines = [make(0, among), make(1, among)];
    if (legendW > 0) this.legend = { x: w - GAP - legendW, y: HEAD, w: legendW, h: size.h };
  }

  get basis(): unknown {
    const { hovered: _, preview: __, ...drawn } = this.input;
    return drawn;
  }

  private of(m: ResourceMark): Machine | undefined {
    return this.machines.find((one) => one.tree.byIndex.has(m.resource));
  }

  draw(r: Renderer): void {
    const { theme } = r;
    this.machines.forEach((m, side) => {
      const box = m.size;
      const x = GAP + side * (box.w + GAP) + box.w / 2;
      const text = `${side === 0 ? 'A' : 'B'} · ${plural(m.total(), 'sample')}`;
      r.text(fit(text, box.w, NAME, r.measure), x, HEAD / 2, {
        font: NAME,
        fill: theme.text,
        align: 'center',
      });
      m.draw(r);
    });
    if (this.legend) this.drawLegend(r, this.legend);
    const foot = `${this.input.apart}: their resources are not subtracted`;
    r.text(fit(foot, this.size.w - 2 * GAP, SMALL, r.measure), GAP, this.size.h - FOOT / 2, {
      font: SMALL,
      fill: theme.muted,
    });
  }

  /** Kinds of rings that either machine has, the outermost first. */
  private scales(): readonly RingScale[] {
    const known = new Map<string, RingScale>();
    for (const m of this.machines)
      for (const s of m.scales.slice(1)) if (!known.get(s.type)?.amounts) known.set(s.type, s);
    return this.input.topology.levels.flatMap((l) => known.get(l.type) ?? []).reverse();
  }

  private drawLegend(r: Renderer, box: Rect): void {
    const scales = this.scales();
    const row = clamp((box.h - 50) / Math.max(1, scales.length), 22, 32);
    const top = Math.max(box.y, box.y + (box.h - 50 - row * scales.length) / 2);
    const [first] = this.machines;
    r.text(fit(first.title(), box.w, NAME, r.measure), box.x, top + 8, { font: NAME, fill: r.theme.text });
    r.text('each ring on one scale for A and B', box.x, top + 23, { font: SMALL, fill: r.theme.muted });
    scales.forEach((s, i) => {
      const y = top + 46 + i * row;
      if (y + 14 < box.y + box.h) first.ramp(r, s, { x: box.x, y }, box.w);
    });
  }

  drawHover(r: Renderer): void {
    for (const m of this.machines) m.drawHover(r);
  }

  hitTest(p: Point): ResourceMark | undefined {
    return this.machines[0].hitTest(p) ?? this.machines[1].hitTest(p);
  }

  /** Around a ring as in one picture; from the middle of one machine to that of the other. */
  step(from: ResourceMark | undefined, dir: Dir): ResourceMark | undefined {
    const own = from && this.of(from);
    const roots = this.machines.map((m) => m.tree.root);
    if (!own) return { resource: roots[0]! };
    if (from.resource === own.tree.root && dir !== 'down')
      return { resource: dir === 'up' ? own.tree.root : roots.find((i) => i !== own.tree.root)! };
    return own.step(from, dir);
  }

  describe(m: ResourceMark): Said {
    return (this.of(m) ?? this.machines[0]).describe(m);
  }

  wanted(m: ResourceMark): Term | undefined {
    return this.machines[0].wanted(m);
  }

  rows(): Table {
    const { resources } = this.input.topology;
    const rows = this.machines.flatMap((m, side) =>
      m.tree.nodes.map(({ index: i }) => {
        const own = String(m.value(i));
        return [
          `${sayResource(resources[i]!)} ${sayPath(resources, i)}`.trim(),
          ...(side === 0 ? [own, ''] : ['', own]),
          ...NOT_COMPARED,
        ];
      }),
    );
    return { head: ['resource', ...VERDICT_HEAD], rows };
  }

  summary(): string {
    const [a, b] = this.machines.map((m) => count(m.total()));
    return `Hardware topologies of A and B side by side, ${this.input.apart}; A ${a!} samples, B ${b!}`;
  }
}

/** Amounts of two pictures by ring, so that both have one scale. */
export function amongBoth(a: TopologyView, b: TopologyView): ReadonlyMap<string, readonly number[]> {
  const others = b.amounts();
  const both = new Map<string, readonly number[]>(others);
  for (const [type, own] of a.amounts()) both.set(type, [...own, ...(others.get(type) ?? [])]);
  return both;
}
