// The lines that threads fight for: misses as a range over schedules, and which
// thread touches which bytes of a line.
import { count, plural, short } from '../../base/format';
import { stepIndex, type Dir, type Point, type Size } from '../../base/geometry';
import type { Renderer } from '../../base/renderer';
import { fit } from '../../base/text';
import type { SharedLine, SharedLines } from '../../api/wire';
import type { KeptView, Said, Table } from '../../frame/view';
import type { Term } from '../../state/selection';
import { cutInside } from '../../base/text';

export interface SharingInput {
  readonly sharing: SharedLines;
  readonly size: Size;
  readonly hovered: number;
}

const ROW = 20;
const NAME = 150;
const THREAD = 18;

export class SharingView implements KeptView<number> {
  readonly size: Size;
  private readonly lines: readonly SharedLine[];
  private readonly shown: number;
  private readonly most: number;
  private readonly half: number; // where the bytes of a line begin

  constructor(private readonly input: SharingInput) {
    this.size = input.size;
    this.lines = input.sharing.lines;
    this.shown = Math.max(0, Math.min(this.lines.length, Math.floor((this.size.h - ROW - 22) / ROW)));
    this.most = Math.max(1, ...this.lines.map((l) => worst(l)));
    this.half = Math.round(this.size.w / 2) + 6;
  }

  get basis(): unknown {
    const { hovered, ...drawn } = this.input;
    // The bytes of the line under the pointer are drawn, too.
    return { ...drawn, active: Math.max(0, hovered) };
  }

  private x(misses: number): number {
    const from = 12 + NAME + 56;
    return from + (this.half - 70 - from) * Math.sqrt(misses / this.most);
  }

  draw(r: Renderer): void {
    const muted = { font: { size: 11 }, fill: r.theme.muted };
    if (this.lines.length === 0) {
      r.text(this.summary(), 12, 14, { font: { size: 12 }, fill: r.theme.text });
      return;
    }
    r.text('object', 12, 10, muted);
    r.text('sharing', 12 + NAME, 10, muted);
    r.text('least to most', this.x(0), 10, muted);
    for (let i = 0; i < this.shown; i++) this.drawRow(r, this.lines[i]!, ROW * (i + 1));
    const left = this.lines.length - this.shown;
    const key = '│ recorded   ◆ by the clock   √ misses';
    r.text(left > 0 ? `${key} · ${count(left)} more: T` : key, 12, this.size.h - 10, muted);
    this.drawLine(r, this.lines[Math.max(0, this.input.hovered)] ?? this.lines[0]!);
  }

  private drawRow(r: Renderer, l: SharedLine, y: number): void {
    const mid = y + ROW / 2;
    const name = { font: { size: 11.5, mono: true }, fill: r.theme.text };
    r.text(cutInside(nameOf(l), NAME - 10, name.font, r.measure), 12, mid, name);
    r.text(NOT_OURS[l.sharing]?.short ?? l.sharing, 12 + NAME, mid, {
      font: { size: 11.5 },
      fill: r.theme.text,
    });
    const [from, to] = [this.x(l.misses.least), this.x(worst(l))];
    const bar = { x: from, y: mid - 4, w: Math.max(2, to - from), h: 8 };
    if (l.sharing === 'latent') r.rect(bar, { stroke: r.theme.text, width: 1, dash: [3, 2] });
    else
      r.rect(bar, { fill: r.theme[l.sharing === 'true' || NOT_OURS[l.sharing] ? 'rest' : 'selected-bar'] });
    r.rect({ x: this.x(l.misses.recorded) - 1, y: mid - 7, w: 2, h: 14 }, { fill: r.theme.text });
    const c = this.x(l.misses.clocked);
    r.path(
      [
        { to: 'move', x: c, y: mid - 5 },
        { to: 'line', x: c + 4, y: mid },
        { to: 'line', x: c, y: mid + 5 },
        { to: 'line', x: c - 4, y: mid },
        { to: 'close' },
      ],
      { fill: r.theme.bg, stroke: r.theme.text, width: 1 },
    );
    r.text(short(worst(l)), this.half - 22, mid, {
      font: { size: 12 },
      fill: r.theme.text,
      align: 'right',
    });
  }

  /** A line byte by byte, a row a thread: filled where it stores, outlined where it only loads. */
  private drawLine(r: Renderer, l: SharedLine): void {
    const x = this.half;
    const wide = this.size.w - 12 - x;
    const label = 84;
    const cell = (wide - label) / l.bytes;
    const muted = { font: { size: 11 }, fill: r.theme.muted };
    r.text(`${nameOf(l)} · line ${l.addr}, ${l.bytes} bytes`, x, 10, {
      font: { size: 12 },
      fill: r.theme.text,
    });
    const room = Math.max(1, Math.floor((this.size.h - 62) / THREAD));
    l.threads.slice(0, room).forEach((t, i) => {
      const y = ROW + 4 + i * THREAD;
      r.text(`thread ${t.tid}`, x, y + THREAD / 2, muted);
      r.rect({ x: x + label, y: y + 2, w: cell * l.bytes, h: THREAD - 4 }, { fill: r.theme.band });
      for (const [from, to] of t.bytes) {
        const box = {
          x: x + label + cell * from,
          y: y + 2,
          w: Math.max(2, cell * (to - from)),
          h: THREAD - 4,
        };
        r.rect(box, t.stores > 0 ? { fill: r.theme.selected } : { stroke: r.theme.selected, width: 1 });
      }
    });
    const below = ROW + 4 + Math.min(room, l.threads.length) * THREAD + 8;
    r.text('0', x + label, below, muted);
    r.text(String(l.bytes), x + wide, below, { ...muted, align: 'right' });
    const pair = l.pairs[0];
    const who = pair ? ` · thread ${pair.tid} lost it to ${pair.to} ${count(pair.misses)} times` : '';
    const text = `apart at most ${count(l.separate.most)}${who}`;
    r.text(fit(text, wide, { size: 11 }, r.measure), x, this.size.h - 10, {
      font: { size: 11 },
      fill: r.theme.text,
    });
  }

  drawHover(r: Renderer): void {
    const i = this.input.hovered;
    if (i < 0 || i >= this.shown) return;
    r.rect(
      { x: 2, y: ROW * (i + 1) + 1, w: this.half - 16, h: ROW - 2 },
      { stroke: r.theme.hover, width: 1.5, dash: [4, 2.5] },
    );
  }

  hitTest(p: Point): number | undefined {
    const i = Math.floor(p.y / ROW) - 1;
    return i >= 0 && i < this.shown && p.x < this.half - 12 ? i : undefined;
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    if (dir === 'first') return this.shown > 0 ? 0 : undefined;
    if (dir === 'last') return this.shown > 0 ? this.shown - 1 : undefined;
    return stepIndex(from, dir === 'up' || dir === 'left' || dir === 'previous' ? -1 : 1, this.shown);
  }

  describe(i: number): Said {
    const l = this.lines[i];
    return l
      ? {
          name: `${nameOf(l)}: ${NOT_OURS[l.sharing]?.long ?? `${l.sharing} sharing`}`,
          more: `· ${l.text} · modelled`,
        }
      : { name: '', more: '' };
  }

  /** The references to the line. */
  wanted(i: number): Term | undefined {
    const l = this.lines[i];
    if (!l) return undefined;
    const lo = Number(l.addr);
    return { kind: 'range', column: 'addr', lo, hi: lo + l.bytes, open: true };
  }

  rows(): Table {
    return {
      head: [
        'line',
        'bytes',
        'object',
        'field',
        'sharing',
        'least',
        'most',
        'recorded',
        'by the clock',
        'true',
        'false',
        'with lines of 128 bytes',
        'moved, at most',
        'apart, at most',
        'threads',
        'pairs',
      ],
      rows: this.lines.map((l) => [
        l.addr,
        String(l.bytes),
        l.object,
        l.field,
        l.sharing,
        String(l.misses.least),
        String(l.misses.most),
        String(l.misses.recorded),
        String(l.misses.clocked),
        String(l.misses.true),
        String(l.misses.false),
        String(l.wider.coherence),
        String(Math.max(0, ...l.moved.map((m) => m.most))),
        String(l.separate.most),
        l.threads.map((t) => `${t.tid}: ${t.bytes.map(([a, b]) => `${a}–${b - 1}`).join(' ')}`).join('; '),
        l.pairs.map((p) => `${p.tid} to ${p.to}: ${p.misses}`).join('; '),
      ]),
    };
  }

  summary(): string {
    const { line_count: lines, threads } = this.input.sharing;
    return lines === 0
      ? `No line is fought for by the ${plural(threads, 'thread')}, in any schedule.`
      : `${plural(lines, 'line')} that ${plural(threads, 'thread')} fight for; the first: ${this.lines[0]?.text ?? ''}`;
  }
}

/** Lines that no layout of the program parts. */
const NOT_OURS: Readonly<Record<string, { readonly short: string; readonly long: string }>> = {
  synchronisation: { short: 'lock', long: 'lock or barrier' },
  library: { short: 'library', long: 'of a library' },
};

const nameOf = (l: SharedLine): string =>
  l.object ? (l.field ? `${l.object}.${l.field}` : l.object) : l.addr;

/** The most misses: of a latent line those that it may come to have. */
function worst(l: SharedLine): number {
  if (l.sharing !== 'latent') return l.misses.most;
  return Math.max(l.wider.coherence, ...l.moved.map((m) => m.most));
}
