// Misses over time and addresses: a lane an object, and below them the lines met
// lately. Shows walk, scatter and stream as shapes.
import { mix, parseColor } from '../../base/color';
import { count, plural, short } from '../../base/format';
import { clamp, type Dir, type Point, type Rect, type Size } from '../../base/geometry';
import { polygon, type Renderer } from '../../base/renderer';
import { amountFill, linearTicks } from '../../base/scale';
import { fit } from '../../base/text';
import type { KeptView, Said, Table } from '../../frame/view';
import { cutInside } from '../../base/text';
import { size as sizeText } from './words';

export interface MissMap {
  readonly took: number;
  readonly width: number;
  readonly window: number;
  readonly set: Uint32Array;
  readonly chosen: Uint32Array;
  readonly functions: Uint16Array;
  readonly names: readonly string[];
  readonly lanes: readonly MapLane[];
}

export interface MapLane {
  readonly object: string;
  readonly bytes: number;
  readonly rows: number;
  readonly all: Uint16Array;
  readonly selected: Uint16Array;
}

export interface MapInput {
  readonly map: MissMap;
  readonly references: number;
  readonly l1: number; // bytes
  readonly line: number; // bytes
  readonly selecting: boolean;
  readonly selected: readonly string[]; // objects
  readonly size: Size;
  readonly range: readonly [number, number]; // references being chosen; equal for none
  readonly hovered: MapMark | undefined;
}

export interface MapMark {
  readonly column: number;
  readonly lane: number; // -1: functions, -2: set in use
  readonly row: number;
}

export const MARGIN = 72;
const BAND = 18;
const GAP = 4;
const SET = 36;
const AXIS = 18;

const LOWEST = 8; // px of a lane: its name needs them, with the gap

const lanesRoom = (height: number): number => height - BAND - SET - AXIS - 10;

/** How many lanes there is room for. */
export const lanesIn = (height: number): number =>
  Math.max(1, Math.floor(lanesRoom(height) / (LOWEST + GAP)));

/** How many rows of cells each object gets: heights by √ size, at least 14 px if there is room. */
export function laneRows(objects: readonly { readonly bytes: number }[], height: number): number[] {
  const room = lanesRoom(height) - GAP * objects.length;
  const least = Math.max(2, Math.min(14, Math.floor(room / Math.max(1, objects.length))));
  const weights = objects.map((o) => Math.sqrt(Math.max(1, o.bytes)));
  const sum = weights.reduce((a, b) => a + b, 0) || 1;
  const free = Math.max(0, room - least * objects.length);
  return weights.map((w) => Math.max(1, Math.floor((least + (free * w) / sum) / 2)));
}

export class MapView implements KeptView<MapMark> {
  readonly size: Size;
  private readonly lanes: readonly (Rect & { readonly lane: MapLane })[];
  private readonly most: number;
  private readonly setArea: Rect;

  constructor(private readonly input: MapInput) {
    this.size = input.size;
    let y = BAND + 4;
    const w = Math.max(10, input.size.w - MARGIN - 12);
    this.lanes = input.map.lanes.map((lane) => {
      const box = { x: MARGIN, y, w, h: lane.rows * 2, lane };
      y += box.h + GAP;
      return box;
    });
    this.setArea = { x: MARGIN, y: input.size.h - AXIS - SET, w, h: SET };
    let most = 1;
    for (const l of input.map.lanes) for (const n of l.all) most = Math.max(most, n);
    this.most = most;
  }

  get basis(): unknown {
    const { hovered: _, range: _r, ...drawn } = this.input;
    return drawn;
  }

  draw(r: Renderer): void {
    this.drawFunctions(r);
    const { selected } = this.input;
    for (const b of this.lanes) {
      r.rect(b, { fill: r.theme.band });
      r.cells({ columns: this.input.map.width, rows: b.lane.rows, rgba: this.colours(r, b.lane), area: b });
      const chosen = selected.includes(b.lane.object);
      if (chosen) r.rect({ x: 0, y: b.y, w: 2, h: b.h }, { fill: r.theme.selected });
      const font = { size: 11.5, mono: true, weight: chosen ? 600 : 400 };
      const tall = b.h >= 30;
      const name = cutInside(b.lane.object, MARGIN - 12, font, r.measure);
      r.text(name, MARGIN - 8, b.y + b.h / 2 - (tall ? 7 : 0), {
        font,
        fill: r.theme.text,
        align: 'right',
      });
      if (tall)
        r.text(sizeText(b.lane.bytes), MARGIN - 8, b.y + b.h / 2 + 8, {
          font: { size: 11 },
          fill: r.theme.muted,
          align: 'right',
        });
    }
    this.drawSet(r);
  }

  /** One colour a cell: what is selected on the scale of amounts, the rest grey; log. */
  private colours(r: Renderer, lane: MapLane): Uint8ClampedArray<ArrayBuffer> {
    const out = new Uint8ClampedArray(4 * lane.all.length);
    const scale = Math.log1p(this.most);
    const steps = 32;
    const amount = Array.from({ length: steps + 1 }, (_, i) =>
      parseColor(amountFill(i / steps, r.theme.dark)),
    );
    const grey = Array.from({ length: steps + 1 }, (_, i) =>
      parseColor(mix(r.theme.bg, r.theme.rest, 0.35 + (0.65 * i) / steps)),
    );
    for (let i = 0; i < lane.all.length; i++) {
      const n = lane.all[i]!;
      if (n === 0) continue;
      const on = this.input.selecting && lane.selected[i]! > 0;
      const t = Math.round((steps * Math.log1p(on ? lane.selected[i]! : n)) / scale);
      const [red, green, blue] = (on ? amount : grey)[clamp(t, 0, steps)]!;
      out.set([red, green, blue, 255], 4 * i);
    }
    return out;
  }

  private x(column: number): number {
    return MARGIN + (this.setArea.w * column) / this.input.map.width;
  }

  /** Stretches of columns in which one function is the busiest. */
  private stretches(): readonly { readonly from: number; readonly to: number; readonly name: string }[] {
    const { functions, names, width } = this.input.map;
    const out: { from: number; to: number; name: string }[] = [];
    for (let c = 0; c < width; c++) {
      const name = names[functions[c] ?? 0] ?? '';
      const last = out.at(-1);
      if (last && last.name === name) last.to = c + 1;
      else out.push({ from: c, to: c + 1, name });
    }
    return out;
  }

  private drawFunctions(r: Renderer): void {
    for (const s of this.stretches()) {
      const [x, w] = [this.x(s.from), this.x(s.to) - this.x(s.from)];
      r.rect({ x, y: 0, w: Math.max(1, w - 1), h: 15 }, { fill: r.theme.band });
      const name = fit(s.name, w - 8, { size: 11 }, r.measure);
      if (name.length > 2 || name === s.name)
        r.text(name, x + 4, 8, { font: { size: 11 }, fill: r.theme.muted });
    }
  }

  private drawSet(r: Renderer): void {
    const { set, chosen } = this.input.map;
    const { line, l1, selecting } = this.input;
    const a = this.setArea;
    let most = 1;
    for (const n of set) most = Math.max(most, n);
    const y = (n: number): number => a.y + a.h - (a.h * n) / most;
    const area = (values: Uint32Array): Point[] => [
      { x: a.x, y: y(0) },
      ...Array.from(values, (n, i) => ({ x: this.x(i + 0.5), y: y(n) })),
      { x: a.x + a.w, y: y(0) },
    ];
    r.path(polygon(area(set)), { fill: r.theme['rest-bar'] });
    if (selecting) r.path(polygon(area(chosen)), { fill: r.theme.selected });
    const muted = { font: { size: 11 }, fill: r.theme.muted, align: 'right' as const };
    r.text(sizeText(most * line), MARGIN - 8, a.y + 2, muted);
    r.text('set in use', MARGIN - 8, a.y + 15, muted);
    if (l1 / line <= most) {
      r.line(a.x, y(l1 / line), a.x + a.w, y(l1 / line), { stroke: r.theme.text, width: 1, dash: [4, 3] });
      r.text('L1', MARGIN - 8, Math.min(a.y + a.h - 2, Math.max(a.y + 28, y(l1 / line))), muted);
    }
    r.line(a.x, a.y + a.h, a.x + a.w, a.y + a.h, { stroke: r.theme.line, width: 1 });
    for (const v of linearTicks(0, this.input.references, 10)) {
      const x = a.x + (a.w * v) / this.input.references;
      r.text(v === 0 ? 'reference 0' : short(v), x, a.y + a.h + 10, {
        font: { size: 11 },
        fill: r.theme.muted,
        align: v === 0 ? 'left' : 'center',
      });
    }
  }

  drawHover(r: Renderer): void {
    const { range, hovered, references } = this.input;
    const h = this.size.h - AXIS;
    if (range[1] > range[0]) {
      const x = (n: number): number => MARGIN + (this.setArea.w * n) / references;
      r.rect(
        { x: x(range[0]), y: 0, w: x(range[1]) - x(range[0]), h },
        { stroke: r.theme.selected, width: 1.5 },
      );
    }
    if (!hovered) return;
    const x = this.x(hovered.column + 0.5);
    r.line(x, 0, x, h, { stroke: r.theme.hover, width: 1.5, dash: [5, 3] });
    const lane = this.lanes[hovered.lane];
    if (lane)
      r.rect(
        { x: lane.x, y: lane.y, w: lane.w, h: lane.h },
        { stroke: r.theme.hover, width: 1, dash: [4, 2.5] },
      );
  }

  hitTest(p: Point): MapMark | undefined {
    if (p.x < MARGIN || p.x > MARGIN + this.setArea.w) {
      const lane = this.lanes.findIndex((l) => p.y >= l.y && p.y < l.y + l.h);
      return lane >= 0 && p.x < MARGIN ? { column: 0, lane, row: 0 } : undefined;
    }
    const column = clamp(
      Math.floor(((p.x - MARGIN) / this.setArea.w) * this.input.map.width),
      0,
      this.input.map.width - 1,
    );
    const lane = this.lanes.findIndex((l) => p.y >= l.y && p.y < l.y + l.h);
    if (lane >= 0) {
      const b = this.lanes[lane]!;
      return { column, lane, row: clamp(Math.floor(((p.y - b.y) / b.h) * b.lane.rows), 0, b.lane.rows - 1) };
    }
    if (p.y < 16) return { column, lane: -1, row: 0 };
    return p.y >= this.setArea.y ? { column, lane: -2, row: 0 } : undefined;
  }

  /** The reference at a place. */
  referenceAt(x: number): number {
    return Math.round(clamp((x - MARGIN) / this.setArea.w, 0, 1) * this.input.references);
  }

  step(from: MapMark | undefined, dir: Dir): MapMark | undefined {
    const at = from ?? { column: 0, lane: 0, row: 0 };
    if (!from) return at;
    const n = this.input.map.width;
    const by = Math.max(1, Math.round(n / 100));
    switch (dir) {
      case 'left':
      case 'previous':
        return { ...at, column: clamp(at.column - by, 0, n - 1) };
      case 'right':
      case 'next':
        return { ...at, column: clamp(at.column + by, 0, n - 1) };
      case 'up':
        return { ...at, lane: clamp(at.lane - 1, 0, this.lanes.length - 1), row: 0 };
      case 'down':
        return { ...at, lane: clamp(at.lane + 1, 0, this.lanes.length - 1), row: 0 };
      case 'first':
        return { ...at, column: 0 };
      case 'last':
        return { ...at, column: n - 1 };
    }
  }

  /** The object of a mark; empty if it is of none. */
  objectOf(m: MapMark): string {
    return this.lanes[m.lane]?.lane.object ?? '';
  }

  describe(m: MapMark): Said {
    const { references, map, line } = this.input;
    const at = (c: number): number => Math.round((references * c) / map.width);
    const when = `references ${count(at(m.column))} to ${count(at(m.column + 1))}`;
    const name = map.names[map.functions[m.column] ?? 0] ?? '';
    const lane = this.lanes[m.lane]?.lane;
    if (lane) {
      const misses = lane.all[m.row * map.width + m.column] ?? 0;
      let sum = 0;
      for (let k = 0; k < lane.rows; k++) sum += lane.all[k * map.width + m.column] ?? 0;
      const slice = lane.bytes / lane.rows;
      return {
        name: lane.object,
        more: `· ${when}${name ? ` in ${name}` : ''} · bytes ${count(m.row * slice)} to ${count((m.row + 1) * slice)}: ${plural(misses, 'miss', 'misses')}, ${count(sum)} in the whole object`,
      };
    }
    return {
      name: m.lane === -1 ? name || 'unknown function' : 'Set in use',
      more: `· ${when} · ${plural(map.set[m.column] ?? 0, 'line')} (${sizeText((map.set[m.column] ?? 0) * line)}) met in the last ${plural(map.window, 'reference')}`,
    };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { map, references } = this.input;
    const sums = map.lanes.map((l) => {
      const out = new Array<number>(map.width).fill(0);
      for (let i = 0; i < l.all.length; i++) out[i % map.width]! += l.all[i]!;
      return out;
    });
    return {
      head: [
        'from reference',
        'function',
        ...map.lanes.map((l) => `${l.object} misses`),
        'set in use (lines)',
      ],
      rows: Array.from({ length: map.width }, (_, c) => [
        String(Math.round((references * c) / map.width)),
        map.names[map.functions[c] ?? 0] ?? '',
        ...sums.map((s) => String(s[c] ?? 0)),
        String(map.set[c] ?? 0),
      ]),
    };
  }

  summary(): string {
    let most = 0;
    for (const n of this.input.map.set) most = Math.max(most, n);
    return `${plural(this.lanes.length, 'object')} over ${plural(this.input.references, 'reference')}; at most ${plural(most, 'line')} in use.`;
  }
}
