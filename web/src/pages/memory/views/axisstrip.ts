// The metric strip beside a parallel axis: where it lies in the column, and how
// the cursor gets there and back.
import type { AmountMap } from '../../../base/color';
import type { Dir, Rect } from '../../../base/geometry';
import type { Renderer } from '../../../base/renderer';
import type { ColumnInfo, StripAnswer } from '../../../api/wire';
import type { AxisLayout } from './axis';
import { Strip, type Block } from './strip';

/** Strips by column, each on a scale of its own: an axis that the metric depends on by itself would leave the others pale. */
export interface AxisStrips {
  readonly answers: ReadonlyMap<string, StripAnswer>;
  readonly least: number;
  readonly map?: AmountMap;
  readonly hovered?: WindowMark | undefined;
}

export interface WindowMark {
  readonly kind: 'window';
  readonly axis: number;
  readonly window: number;
}

export const STRIP_ZONE = 12; // px at the right edge of a column
const STRIP = 8;

/** The strip of an axis; none where values have no order along it. */
export function stripOf(layout: AxisLayout, strips: AxisStrips | undefined): Strip | undefined {
  const answer = strips?.answers.get(layout.input.column.name);
  if (!strips || !answer || layout.named) return undefined;
  const axis = {
    length: layout.length,
    positionOf: (v: number) => layout.positionOf(v),
    say: (v: number) => layout.say(v),
    unit: layout.scale.unit,
  };
  return new Strip(answer, strips.least, axis);
}

export function stripArea(
  column: { readonly x: number; readonly w: number },
  top: number,
  height: number,
): Rect {
  return { x: column.x + column.w - STRIP - 1, y: top, w: STRIP, h: height };
}

function boxOf(area: Rect, b: Block): Rect {
  const h = b.till - b.from;
  return { x: area.x, y: area.y + b.from, w: area.w, h: Math.max(1, h - (h > 6 ? 1 : 0)) };
}

export function drawAxisStrip(r: Renderer, strip: Strip, area: Rect, map?: AmountMap): void {
  strip.draw(r, (b) => boxOf(area, b), map);
}

export function drawWindowHover(r: Renderer, strip: Strip, window: number, area: Rect): void {
  const b = strip.blocks.find((k) => k.window === window);
  if (!b) return;
  const box = boxOf(area, b);
  r.rect(
    { x: box.x - 2, y: box.y - 1.5, w: box.w + 4, h: box.h + 3 },
    { stroke: r.theme.hover, width: 2, dash: [4, 2] },
  );
}

type Mark =
  | { readonly kind: 'bin'; readonly axis: number; readonly bin: number }
  | WindowMark
  | { readonly kind: 'head'; readonly axis: number };

/** Right of a bin lies the strip of its axis, left of a window the bins; undefined leaves the axis. */
export function stepStrip(strip: Strip, layout: AxisLayout, from: Mark, dir: Dir): Mark | undefined {
  if (from.kind === 'bin' && dir === 'right') {
    const b = strip.at(layout.middle(from.bin));
    return b && { kind: 'window', axis: from.axis, window: b.window };
  }
  if (from.kind !== 'window') return undefined;
  const order = strip.blocks.toSorted((a, b) => a.from - b.from);
  const at = order.findIndex((b) => b.window === from.window);
  const to = {
    up: at - 1,
    previous: at - 1,
    down: at + 1,
    next: at + 1,
    first: 0,
    last: order.length - 1,
    left: undefined,
    right: undefined,
  }[dir];
  if (to !== undefined)
    return { ...from, window: order[Math.max(0, Math.min(order.length - 1, to))]!.window };
  if (dir === 'right') return undefined;
  const block = order[at];
  const slot = block && layout.slotAt((block.from + block.till) / 2);
  return slot && { kind: 'bin', axis: from.axis, bin: slot.bin };
}

/** What the windows of a strip have besides, in the table. */
export const STRIP_HEAD = ['metric', 'metric unit', 'note'];

export function stripRows(
  strip: Strip,
  column: ColumnInfo,
): {
  readonly part: string;
  readonly one: readonly string[]; // axis, value, from, to, unit
  readonly samples: string;
  readonly value: readonly string[]; // as STRIP_HEAD
}[] {
  return strip.answer.windows.map((w, i) => ({
    part: strip.title,
    one: [column.name, `window ${i + 1}`, String(w.from), String(w.to), column.unit],
    samples: String(w.samples),
    value: [
      w.value === null ? '' : String(w.value),
      strip.answer.unit,
      strip.few(w) ? 'too few samples' : '',
    ],
  }));
}
