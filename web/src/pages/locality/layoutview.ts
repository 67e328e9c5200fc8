// A structure to scale, as recorded and what if: one row a cache line, fill is
// the share of the line's fetches in which a field was touched.
import { inkOn } from '../../base/color';
import { count, plural, percent, THIN } from '../../base/format';
import { contains, stepIndex, type Dir, type Point, type Rect, type Size } from '../../base/geometry';
import type { Renderer } from '../../base/renderer';
import { amountFill } from '../../base/scale';
import { fit } from '../../base/text';
import type { StructField, StructUse } from '../../api/wire';
import type { KeptView, Said, Table } from '../../frame/view';
import { size as sizeText } from './words';

export interface LayoutInput {
  readonly now: StructUse;
  readonly then: StructUse | undefined;
  readonly line: number; // bytes
  readonly size: Size;
  readonly hovered: string; // field
  readonly selected: readonly string[]; // fields
}

/** A stretch of a field on screen. */
interface Block {
  readonly name: string; // empty: padding
  readonly field: StructField | undefined;
  readonly then: boolean;
  readonly box: Rect;
}

interface RowText {
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

const MOST_ROWS = 6;
const HEAD = 20;
const CAPTION = 16;

export class LayoutView implements KeptView<number> {
  readonly size: Size;
  private readonly blocks: Block[] = [];
  private readonly texts: RowText[] = [];
  private readonly ticks: Rect[] = [];
  private readonly half: number;

  constructor(private readonly input: LayoutInput) {
    this.size = input.size;
    this.half = input.then ? (input.size.w - 24 - 40) / 2 : Math.min(input.size.w - 24, 64 * 8.5);
    this.lay(input.now, 12, false);
    if (input.then) this.lay(input.then, 12 + this.half + 40, true);
  }

  get basis(): unknown {
    const { hovered: _, ...drawn } = this.input;
    return drawn;
  }

  /** Places the lines of a structure; of several parts those that are fetched come first. */
  private lay(use: StructUse, x: number, then: boolean): void {
    const { line } = this.input;
    const parts = use.parts
      .map((p) => ({ ...p, fetched: p.lines.reduce((n, l) => n + l.fetched, 0) }))
      .toSorted((a, b) => b.fetched - a.fetched);
    const rows = parts.flatMap((p) => {
      // A small element shares its line with the next ones: draw lines, not elements.
      const repeat = p.stride < line && p.fetched > 0;
      const lines = repeat ? Math.min(2, Math.ceil((2 * p.stride) / line) || 1) : p.lines.length;
      return Array.from({ length: Math.max(1, lines) }, (_, k) => ({ part: p, k, repeat }));
    });
    const shown = rows.filter((r) => r.part.fetched > 0).slice(0, MOST_ROWS);
    const step = Math.min(58, (this.size.h - HEAD - 22) / Math.max(1, shown.length));
    shown.forEach(({ part, k, repeat }, i) => {
      const y = HEAD + i * step;
      const height = Math.max(14, Math.min(34, step - 20));
      const scale = this.half / line;
      const from = k * line;
      for (let e = Math.floor(from / part.stride); e * part.stride < from + line; e++) {
        if (!repeat && e > 0) break;
        for (const f of part.fields)
          this.block(f, e * part.stride + f.offset, from, { x, y, scale, height, then });
        if (e * part.stride > from)
          this.ticks.push({ x: x + (e * part.stride - from) * scale - 1, y: y - 3, w: 2, h: height + 6 });
      }
      const l = repeat ? part.lines[0] : part.lines[k];
      // Rows that lie close have no room for a line of text between them.
      if (l && l.fetched > 0 && step - height >= CAPTION)
        this.texts.push({
          text: `${Math.round(l.used / l.fetched)} of ${line} B used in each of ${count(l.fetched)} fetches`,
          x,
          y: y + height + 9,
        });
    });
    const never = rows.length - rows.filter((r) => r.part.fetched > 0).length;
    const more = rows.length - never - shown.length;
    const foot = [
      `${use.object} into L1: ${sizeText(use.moved)} moved, ${sizeText(use.used)} used (${percent(use.used, use.moved)})`,
      ...(never > 0 ? [`${plural(never, 'line')} never fetched`] : []),
      ...(more > 0 ? [`${count(more)} more lines`] : []),
    ];
    this.texts.push({ text: foot.join(' · '), x, y: this.size.h - 10 });
  }

  private block(
    f: StructField,
    at: number,
    from: number,
    o: { x: number; y: number; scale: number; height: number; then: boolean },
  ): void {
    const { line } = this.input;
    const [low, high] = [Math.max(at, from), Math.min(at + f.bytes, from + line)];
    if (high <= low) return;
    this.blocks.push({
      name: f.name,
      field: f,
      then: o.then,
      box: { x: o.x + (low - from) * o.scale, y: o.y, w: (high - low) * o.scale - 1, h: o.height },
    });
  }

  draw(r: Renderer): void {
    const { now, then } = this.input;
    const strong = { font: { size: 12 }, fill: r.theme.text };
    r.text(`as recorded: ${now.element} B a ${now.type.replace(/\[.*$/, '') || 'element'}`, 12, 8, strong);
    if (then) {
      const hot = then.parts.toSorted(
        (a, b) => b.lines.reduce((n, l) => n + l.fetched, 0) - a.lines.reduce((n, l) => n + l.fetched, 0),
      )[0];
      const x = 12 + this.half + 40;
      const said =
        then.parts.length > 1
          ? `what if: ${then.parts.length} arrays, the busiest of ${hot?.stride ?? 0} B an element`
          : `what if: ${hot?.stride ?? 0} B an element`;
      r.text(fit(said, this.size.w - x - 4, strong.font, r.measure), x, 8, strong);
      const y = HEAD + 17;
      r.line(x - 30, y, x - 14, y, { stroke: r.theme.muted, width: 1.5 });
      r.line(x - 19, y - 4, x - 14, y, { stroke: r.theme.muted, width: 1.5 });
      r.line(x - 19, y + 4, x - 14, y, { stroke: r.theme.muted, width: 1.5 });
    }
    for (const b of this.blocks) this.drawBlock(r, b);
    for (const t of this.ticks) r.rect(t, { fill: r.theme.text });
    for (const t of this.texts)
      r.text(fit(t.text, this.half + 20, { size: 11 }, r.measure), t.x, t.y, {
        font: { size: 11 },
        fill: r.theme.text,
      });
  }

  private drawBlock(r: Renderer, b: Block): void {
    const share = b.field?.share ?? null;
    const never = share === null || share === 0;
    const fill = never ? undefined : amountFill(share, r.theme.dark);
    if (never)
      r.rect(b.box, {
        hatch: { line: r.theme['hair-strong'], width: 1, period: 6 },
        stroke: r.theme['hair-strong'],
        width: 1,
      });
    else r.rect(b.box, { fill });
    const font = { size: 11, mono: true, weight: never ? 400 : 600 };
    const name = fit(b.name, b.box.w - 4, font, r.measure);
    const both = !never && b.box.h >= 26;
    const ink = fill ? inkOn(fill) : r.theme.muted;
    if (name && name.length >= Math.min(2, b.name.length))
      r.text(name, b.box.x + b.box.w / 2, b.box.y + b.box.h / 2 - (both ? 6 : 0), {
        font,
        fill: ink,
        align: 'center',
      });
    if (both && b.box.w > 34)
      r.text(`${Math.round(100 * share)}${THIN}%`, b.box.x + b.box.w / 2, b.box.y + b.box.h / 2 + 7, {
        font: { size: 10.5 },
        fill: ink,
        align: 'center',
      });
    if (this.input.selected.includes(b.name)) r.rect(b.box, { stroke: r.theme.selected, width: 2 });
  }

  drawHover(r: Renderer): void {
    for (const b of this.blocks)
      if (b.name === this.input.hovered) r.rect(b.box, { stroke: r.theme.hover, width: 2, dash: [4, 2.5] });
  }

  hitTest(p: Point): number | undefined {
    const i = this.blocks.findIndex((b) => contains(b.box, p));
    return i < 0 ? undefined : i;
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    if (from !== undefined && (dir === 'up' || dir === 'down')) {
      const at = this.blocks[from]!.box;
      const rows = this.blocks
        .map((b, i) => ({ b, i }))
        .filter(({ b }) => (dir === 'up' ? b.box.y < at.y : b.box.y > at.y));
      const near = rows.toSorted(
        (a, b) =>
          Math.abs(a.b.box.y - at.y) +
          Math.abs(a.b.box.x - at.x) -
          Math.abs(b.b.box.y - at.y) -
          Math.abs(b.b.box.x - at.x),
      )[0];
      return near?.i ?? from;
    }
    return stepIndex(from, dir === 'left' || dir === 'previous' || dir === 'up' ? -1 : 1, this.blocks.length);
  }

  /** The field of a mark. */
  fieldOf(i: number): string {
    return this.blocks[i]?.name ?? '';
  }

  describe(i: number): Said {
    const b = this.blocks[i];
    if (!b?.field) return { name: '', more: '' };
    const share = b.field.share;
    return {
      name: `${this.input.now.object}.${b.name}`,
      more: `· offset ${b.field.offset}, ${b.field.bytes} bytes · ${
        share === null
          ? 'its line is never fetched'
          : share === 0
            ? 'never touched in a line fetched'
            : `touched in ${percent(share, 1)} of the fetches of its line`
      }${b.then ? ' (what if)' : ''}`,
    };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const list = (u: StructUse, which: string): string[][] =>
      u.parts.flatMap((p) =>
        p.fields.map((f) => [
          which,
          p.name,
          f.name,
          String(f.offset),
          String(f.bytes),
          f.share === null ? '' : f.share.toFixed(4),
        ]),
      );
    return {
      head: ['layout', 'array', 'field', 'offset', 'bytes', 'share of fetches that touch it'],
      rows: [
        ...list(this.input.now, 'recorded'),
        ...(this.input.then ? list(this.input.then, 'what if') : []),
      ],
    };
  }

  summary(): string {
    const { now } = this.input;
    return `${now.object}: ${now.element} bytes an element; ${percent(now.used, now.moved)} of the bytes moved into the first level are used.`;
  }
}
