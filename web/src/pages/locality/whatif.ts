// Each level as recorded and what if: exact counts, and bars from what no
// prefetcher can hide to every miss.
import { change, count, plural } from '../../base/format';
import { stepIndex, type Dir, type Point, type Size } from '../../base/geometry';
import type { Renderer } from '../../base/renderer';
import type { LocalityAnswer, MachineMisses, MissLevel } from '../../api/wire';
import type { KeptView, Said, Table } from '../../frame/view';
import { size as sizeText } from './words';

export interface WhatIfInput {
  readonly answer: LocalityAnswer;
  readonly machines: readonly MachineMisses[];
  readonly size: Size;
  readonly hovered: number;
}

const STEP = 42;

export class WhatIfView implements KeptView<number> {
  readonly size: Size;

  constructor(private readonly input: WhatIfInput) {
    this.size = input.size;
  }

  get basis(): unknown {
    const { hovered: _, ...drawn } = this.input;
    return drawn;
  }

  private columns(): readonly [number, number, number] {
    const right = this.size.w - 12;
    return [right - 148, right - 66, right];
  }

  draw(r: Renderer): void {
    const [now, then, diff] = this.columns();
    const muted = { font: { size: 11 }, fill: r.theme.muted };
    const { answer } = this.input;
    r.text('misses', 12, 9, muted);
    r.text('recorded', now, 9, { ...muted, align: 'right' });
    if (answer.then) {
      r.text('what if', then, 9, { font: { size: 11, weight: 600 }, fill: r.theme.text, align: 'right' });
      r.text('change', diff, 9, { ...muted, align: 'right' });
    }
    answer.now.levels.forEach((l, i) => this.drawLevel(r, l, answer.then?.levels[i], 18 + i * STEP));
    const y = 18 + answer.now.levels.length * STEP + 4;
    r.text('bars: ideal prefetch to none; each level on its own scale', 12, y, muted);
    this.drawMachines(r, y + 18);
  }

  private drawLevel(r: Renderer, l: MissLevel, other: MissLevel | undefined, y: number): void {
    const [now, then, diff] = this.columns();
    const text = { font: { size: 12 }, fill: r.theme.text };
    r.text(l.level, 12, y + 8, { font: { size: 12, weight: 600 }, fill: r.theme.text });
    const shape =
      other && other.bytes !== l.bytes
        ? `${sizeText(l.bytes)} → ${sizeText(other.bytes)}`
        : sizeText(l.bytes);
    r.text(shape, 36, y + 8, { font: { size: 11 }, fill: r.theme.muted });
    r.text(count(l.misses), now, y + 8, { ...text, align: 'right' });
    if (other) {
      r.text(count(other.misses), then, y + 8, { ...text, font: { size: 12, weight: 600 }, align: 'right' });
      r.text(change(l.misses, other.misses), diff, y + 8, {
        ...text,
        font: { size: 12, weight: 600 },
        align: 'right',
      });
    }
    const most = Math.max(1, l.misses, other?.misses ?? 0);
    const w = this.size.w - 24;
    const x = (n: number): number => 12 + (w * n) / most;
    r.rect({ x: 12, y: y + 19, w, h: 5 }, { fill: r.theme.band });
    r.rect(
      { x: x(l.misses - l.hidden), y: y + 19, w: Math.max(1, x(l.misses) - x(l.misses - l.hidden)), h: 5 },
      { fill: r.theme.rest },
    );
    r.rect({ x: x(l.misses) - 2, y: y + 17, w: 2, h: 9 }, { fill: r.theme.text });
    if (!other) return;
    const from = x(other.misses - other.hidden);
    r.rect(
      { x: from, y: y + 27, w: Math.max(2, x(other.misses) - from), h: 5 },
      { stroke: r.theme.text, width: 1, dash: [3, 2] },
    );
    r.rect({ x: x(other.misses) - 2, y: y + 25, w: 2, h: 9 }, { fill: r.theme.text });
  }

  private drawMachines(r: Renderer, y: number): void {
    const [now, then, diff] = this.columns();
    const rows = this.input.machines.flatMap((m) => {
      const l = m.levels[1] ?? m.levels[0];
      return l ? [{ name: m.name, l }] : [];
    });
    const room = Math.floor((this.size.h - y) / 15);
    if (rows.length === 0 || room < 2) return;
    r.line(12, y - 8, this.size.w - 12, y - 8, { stroke: r.theme.hair, width: 1 });
    r.text('L2 of other machines', 12, y + 2, { font: { size: 11 }, fill: r.theme.muted });
    rows.slice(0, room - 1).forEach(({ name, l }, i) => {
      const at = y + 17 + 15 * i;
      r.text(name, 12, at, { font: { size: 12, weight: 600 }, fill: r.theme.text });
      const note = `${sizeText(l.bytes)}${l.line_bytes === 64 ? '' : `, ${l.line_bytes} B`}`;
      r.text(note, 18 + r.measure(name, { size: 12, weight: 600 }), at, {
        font: { size: 11 },
        fill: r.theme.muted,
      });
      r.text(count(l.now), now, at, { font: { size: 12 }, fill: r.theme.text, align: 'right' });
      if (l.now === l.then && !this.input.answer.then) return;
      r.text(count(l.then), then, at, {
        font: { size: 12, weight: 600 },
        fill: r.theme.text,
        align: 'right',
      });
      r.text(change(l.now, l.then), diff, at, { font: { size: 12 }, fill: r.theme.text, align: 'right' });
    });
  }

  drawHover(r: Renderer): void {
    if (this.input.hovered < 0) return;
    r.rect(
      { x: 6, y: 18 + this.input.hovered * STEP, w: this.size.w - 12, h: STEP - 4 },
      { stroke: r.theme.hover, width: 1.5, dash: [4, 2.5] },
    );
  }

  hitTest(p: Point): number | undefined {
    const i = Math.floor((p.y - 18) / STEP);
    return i >= 0 && i < this.input.answer.now.levels.length ? i : undefined;
  }

  step(from: number | undefined, dir: Dir): number | undefined {
    const by = dir === 'up' || dir === 'left' || dir === 'previous' ? -1 : 1;
    return stepIndex(from, by, this.input.answer.now.levels.length);
  }

  /** What misses may be with pages in other frames of memory, where that matters. */
  private static framed(l: MissLevel): string {
    const [least, most] = l.frames;
    return least === most ? '' : `, ${count(least)} to ${count(most)} with pages in any frames`;
  }

  describe(i: number): Said {
    const { now, then } = this.input.answer;
    const [l, other] = [now.levels[i]!, then?.levels[i]];
    const range = then?.placements[i];
    const spread =
      range && range[0] !== range[1]
        ? `, ${count(range[0])} to ${count(range[1])} wherever it is placed`
        : '';
    return {
      name: `${l.level} ${sizeText(l.bytes)}, ${l.ways} ways`,
      more: `· ${plural(l.misses, 'miss', 'misses')}${WhatIfView.framed(l)}, ${count(l.misses - l.hidden)} with an ideal prefetcher, ${plural(l.first, 'first touch', 'first touches')}, ${count(l.misses - l.full)} conflict${
        other
          ? ` · what if ${count(other.misses)}${spread}${WhatIfView.framed(other)}, ${count(other.misses - other.hidden)} with an ideal prefetcher`
          : ''
      } · modelled`,
    };
  }

  wanted(): undefined {
    return undefined;
  }

  rows(): Table {
    const { now, then, machine } = this.input.answer;
    const over = (r: readonly [number, number] | undefined): string => (r ? `${r[0]} to ${r[1]}` : '');
    const row = (name: string, l: MissLevel, range: readonly [number, number] | undefined): string[] => [
      name,
      l.level,
      String(l.bytes),
      String(l.ways),
      String(l.misses),
      String(l.misses - l.hidden),
      String(l.first),
      String(l.misses - l.full),
      over(range),
      over(l.frames),
    ];
    return {
      head: [
        'machine',
        'level',
        'bytes',
        'ways',
        'misses',
        'with ideal prefetch',
        'first touches',
        'conflict',
        'over placements',
        'over frames',
      ],
      rows: [
        ...now.levels.map((l) => row(`${machine.name}, recorded`, l, undefined)),
        ...(then
          ? then.levels.map((l, i) => row(`${then.machine.name}, what if`, l, then.placements[i]))
          : []),
        ...this.input.machines.flatMap((m) =>
          m.levels.flatMap((l) => [
            [
              ...[`${m.name}, recorded`, l.level, String(l.bytes), '', String(l.now)],
              ...[String(l.nowPrefetch[0]), '', '', '', over(l.nowFrames)],
            ],
            ...(then
              ? [
                  [
                    ...[`${m.name}, what if`, l.level, String(l.bytes), '', String(l.then)],
                    ...[String(l.thenPrefetch[0]), '', '', '', over(l.thenFrames)],
                  ],
                ]
              : []),
          ]),
        ),
      ],
    };
  }

  summary(): string {
    const { now, then } = this.input.answer;
    return now.levels
      .map(
        (l, i) =>
          `${l.level} ${plural(l.misses, 'miss', 'misses')}${then?.levels[i] ? `, what if ${count(then.levels[i].misses)}` : ''}`,
      )
      .join('; ');
  }
}
