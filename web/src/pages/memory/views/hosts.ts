// A cluster of many hosts: a small picture of each, the one most unlike the others
// first. All have one scale, so that a host that costs more is a darker one.
import { plural } from '../../../base/format';
import { contains, type Dir, type Point, type Rect, type Size } from '../../../base/geometry';
import type { Renderer } from '../../../base/renderer';
import { fit, type Font } from '../../../base/text';
import { SELECTED, type Layered, type PlacesAnswer } from '../../../api/decode';
import type { Resource, Topology } from '../../../api/wire';
import type { KeptView, Said, Table } from '../../../frame/view';
import type { Term } from '../../../state/selection';
import { TopologyView, type ResourceMark, type TopologyAmounts, type TopologyInput } from './topology';
import { sayResource } from './tree';

const LEAST = 96; // pixels of a tile: rings are still told apart
const HEAD = 30; // its two lines of text
const FOOT = 20; // what is not shown
const NAME: Font = { size: 11, weight: 600 };
const SMALL: Font = { size: 10.5 };

/** A host's own part of the topology, and where its resources are in the whole. */
interface Part {
  readonly topology: Topology;
  readonly whole: readonly number[];
  readonly at: ReadonlyMap<number, number>;
}

const parts = new WeakMap<Topology, Map<number, Part>>();

/** The host that each resource is of; -1 for the cluster itself. */
function hostsOf(topology: Topology): Int32Array {
  const host = new Int32Array(topology.resources.length).fill(-1);
  topology.resources.forEach((r, i) => {
    host[i] = r.type === 'Host' ? i : r.parent >= 0 ? host[r.parent]! : -1;
  });
  return host;
}

function partsOf(topology: Topology): Map<number, Part> {
  const before = parts.get(topology);
  if (before) return before;
  const members = new Map<number, number[]>();
  hostsOf(topology).forEach((host, i) => {
    if (host < 0) return;
    const list = members.get(host);
    if (list) list.push(i);
    else members.set(host, [i]);
  });
  const made = new Map<number, Part>();
  for (const [host, whole] of members) {
    const at = new Map(whole.map((i, k) => [i, k]));
    const resources = whole.map((i): Resource => {
      const r = topology.resources[i]!;
      return { ...r, parent: i === host ? -1 : at.get(r.parent)! };
    });
    made.set(host, { topology: { ...topology, resources }, whole, at });
  }
  parts.set(topology, made);
  return made;
}

/** The numbers of a host's own resources. */
function placesOf(p: PlacesAnswer, part: Part): PlacesAnswer {
  const u32 = (of: Uint32Array): Uint32Array => Uint32Array.from(part.whole, (i) => of[i] ?? 0);
  const f64 = (of: Float64Array): Float64Array => Float64Array.from(part.whole, (i) => of[i] ?? 0);
  const u32s = (of: Layered<Uint32Array>): Layered<Uint32Array> => [u32(of[0]), u32(of[1]), u32(of[2])];
  const f64s = (of: Layered<Float64Array>): Layered<Float64Array> => [f64(of[0]), f64(of[1]), f64(of[2])];
  const none = new Uint32Array();
  return {
    samples: u32s(p.samples),
    latency: f64s(p.latency),
    valued: u32s(p.valued),
    served: u32s(p.served),
    servedLatency: f64s(p.servedLatency),
    servedValued: u32s(p.servedValued),
    linkSamples: u32s(p.linkSamples),
    remote: {
      from: none,
      to: none,
      samples: [none, none, none],
      latency: [new Float64Array(), new Float64Array(), new Float64Array()],
    },
    unplaced: [],
    hosts: [],
  };
}

function amountsOf(a: TopologyAmounts, part: Part): TopologyAmounts {
  return {
    ...a,
    passed: Float64Array.from(part.whole, (i) => a.passed[i] ?? 0),
    passedSamples: Uint32Array.from(part.whole, (i) => a.passedSamples[i] ?? 0),
    served: Float64Array.from(part.whole, (i) => a.served[i] ?? 0),
    servedSamples: Uint32Array.from(part.whole, (i) => a.servedSamples[i] ?? 0),
  };
}

interface Tile {
  readonly host: number;
  readonly box: Rect;
  readonly part: Part;
  readonly picture: TopologyView;
  readonly head: string;
  readonly why: string;
}

export class HostsView implements KeptView<ResourceMark> {
  readonly size: Size;
  readonly tiles: readonly Tile[];
  private readonly whole: TopologyView;

  constructor(private readonly input: TopologyInput) {
    this.size = input.size;
    this.whole = new TopologyView({ ...input, root: 0, layout: 'icicle' });
    const of = partsOf(input.topology);
    const order = input.places.hosts.filter((h) => of.has(h.resource));
    const { columns, side, shown } = grid(order.length, input.size);
    const among = this.whole.amounts();
    this.tiles = order.slice(0, shown).map((h, k): Tile => {
      const box: Rect = {
        x: (k % columns) * side,
        y: Math.floor(k / columns) * (side + HEAD),
        w: side,
        h: side + HEAD,
      };
      const part = of.get(h.resource)!;
      const hovered = input.hovered === undefined ? undefined : part.at.get(input.hovered);
      const picture = new TopologyView({
        ...input,
        topology: part.topology,
        places: placesOf(input.places, part),
        amounts: input.amounts && amountsOf(input.amounts, part),
        root: 0,
        size: { w: side - 12, h: side - 8 },
        origin: { x: box.x + 6, y: box.y + HEAD },
        bare: true,
        hovered,
        among,
      });
      return {
        host: h.resource,
        box,
        part,
        picture,
        head: sayResource(input.topology.resources[h.resource]!),
        why: h.measure ? `${h.distance.toFixed(1)} dev. off, ${h.measure}` : 'like the others',
      };
    });
  }

  get basis(): unknown {
    const { hovered: _, preview: __, ...drawn } = this.input;
    return drawn;
  }

  draw(r: Renderer): void {
    const { theme } = r;
    for (const t of this.tiles) {
      const x = t.box.x + t.box.w / 2;
      r.text(fit(t.head, t.box.w - 8, NAME, r.measure), x, t.box.y + 9, {
        font: NAME,
        fill: theme.text,
        align: 'center',
      });
      r.text(fit(t.why, t.box.w - 8, SMALL, r.measure), x, t.box.y + 22, {
        font: SMALL,
        fill: theme.muted,
        align: 'center',
      });
      t.picture.draw(r);
      if (this.input.chosen.includes(this.input.topology.resources[t.host]!.name))
        r.rect(frame(t.box), { stroke: theme.selected, width: 2 }, 4);
    }
    r.text(fit(this.foot(), this.size.w - 16, SMALL, r.measure), 8, this.size.h - FOOT / 2, {
      font: SMALL,
      fill: theme.muted,
    });
  }

  /** What the order is, and what is left out. */
  private foot(): string {
    const { hosts } = this.input.places;
    const { without } = this.input.topology;
    const rest = hosts.length - this.tiles.length;
    const inner = without.length > 0 ? ` · ${without.join(', ')} are too many to be shown` : '';
    const more = rest > 0 ? ` · without ${plural(rest, 'host')} nearer to it` : '';
    return `${plural(hosts.length, 'host')}, farthest from the median host first${more} · one scale for all${inner}`;
  }

  drawHover(r: Renderer): void {
    for (const t of this.tiles) {
      t.picture.drawHover(r);
      if (this.input.hovered === t.host)
        r.rect(frame(t.box), { stroke: r.theme.hover, width: 2, dash: [4, 2.5] }, 4);
    }
  }

  hitTest(p: Point): ResourceMark | undefined {
    const t = this.tiles.find((tile) => contains(tile.box, p, 0));
    if (!t) return undefined;
    const mark = t.picture.hitTest(p);
    return { resource: mark ? t.part.whole[mark.resource]! : t.host };
  }

  /** Left and right go from host to host, down into one and up out of it. */
  step(from: ResourceMark | undefined, dir: Dir): ResourceMark | undefined {
    const k = from ? this.tiles.findIndex((t) => t.part.at.has(from.resource)) : -1;
    const tile = this.tiles[k];
    if (!from || !tile) return this.tiles[0] && { resource: this.tiles[0].host };
    if (from.resource !== tile.host || dir === 'down') {
      const next = tile.picture.step({ resource: tile.part.at.get(from.resource)! }, dir);
      return next && { resource: tile.part.whole[next.resource]! };
    }
    const to = {
      first: 0,
      last: this.tiles.length - 1,
      left: k - 1,
      previous: k - 1,
      right: k + 1,
      next: k + 1,
      up: k,
    }[dir];
    return { resource: this.tiles[(to + this.tiles.length) % this.tiles.length]!.host };
  }

  describe(m: ResourceMark): Said {
    const said = this.whole.describe(m);
    const h = this.input.places.hosts.find((host) => host.resource === m.resource);
    if (!h?.measure) return said;
    return {
      ...said,
      more: `${said.more} · ${h.distance.toFixed(1)} deviations from the median host in ${h.measure}`,
    };
  }

  wanted(m: ResourceMark): Term | undefined {
    return this.whole.wanted(m);
  }

  rows(): Table {
    const { head, rows } = this.whole.rows();
    const { resources } = this.input.topology;
    const distance = new Map(
      this.input.places.hosts.map((h) => [sayResource(resources[h.resource]!), h] as const),
    );
    const order = new Map([...distance.keys()].map((name, i) => [name, i]));
    const hosts = rows
      .filter((row) => order.has(row[0]!) && row[1] === '')
      .sort((a, b) => order.get(a[0]!)! - order.get(b[0]!)!)
      .map((row) => [...row, String(distance.get(row[0]!)!.distance), distance.get(row[0]!)!.measure]);
    const others = rows
      .filter((row) => !(order.has(row[0]!) && row[1] === ''))
      .map((row) => [...row, '', '']);
    return { head: [...head, 'distance', 'measure'], rows: [...hosts, ...others] };
  }

  summary(): string {
    const first = this.tiles[0];
    const samples = plural(this.input.places.samples[SELECTED][0] ?? 0, 'sample');
    return `${plural(this.input.places.hosts.length, 'host')}, farthest from the median host first${
      first ? `: ${first.head}, ${first.why}` : ''
    }; ${samples}`;
  }
}

function frame(b: Rect): Rect {
  return { x: b.x + 2, y: b.y + 1, w: b.w - 4, h: b.h - 4 };
}

/** As large as all fit, but not smaller than can be read: then some are left out. */
function grid(n: number, size: Size): { columns: number; side: number; shown: number } {
  const [w, h] = [size.w, size.h - FOOT];
  const most = Math.max(1, Math.floor(w / LEAST));
  for (let columns = 1; columns <= most; columns++) {
    const side = w / columns;
    const rows = Math.floor(h / (side + HEAD));
    if (rows * columns >= n) return { columns, side, shown: n };
  }
  const side = Math.min(w / most, Math.max(LEAST, h - HEAD));
  return { columns: most, side, shown: most * Math.max(1, Math.floor(h / (side + HEAD))) };
}
