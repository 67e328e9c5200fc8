// The picture of a mesh as every view is: to be exported, and listed as a table.
import type { Dir, Point, Size } from '../../base/geometry';
import type { Renderer } from '../../base/renderer';
import { exact } from '../../base/format';
import type { MeshInfo } from '../../api/wire';
import type { Said, Table, View } from '../../frame/view';
import { arrowWords, type Arrows } from './arrows';
import type { Field, Geometry } from './picture';
import { scaleWords, type ColourScale } from './scales';
import { meshColor } from './colours';
import { cellPlace, fieldTitle } from './words';

/** What is on screen, when it is exported. */
export interface Shown {
  readonly info: MeshInfo;
  readonly geometry: Geometry;
  readonly performance: Field | undefined;
  readonly physics: Field | undefined;
  readonly arrows: Arrows | undefined;
  readonly fields: readonly Field[]; // one a picture, from left to right
  readonly scales: readonly ColourScale[];
  readonly canvas: HTMLCanvasElement;
  readonly few: number; // values of fewer samples are striped
  readonly aside: { readonly left: number; readonly right: number }; // CSS pixels of legends beside the picture
}

const RAMP = { w: 12, h: 220 };

export class MeshPicture implements View<number> {
  readonly size: Size;

  constructor(
    private readonly shown: Shown,
    size: Size,
  ) {
    this.size = size;
  }

  draw(r: Renderer): void {
    const { aside, canvas, fields, scales } = this.shown;
    const g = canvas.getContext('2d')!;
    const { data, width, height } = g.getImageData(0, 0, canvas.width, canvas.height);
    r.cells({
      columns: width,
      rows: height,
      rgba: data as Uint8ClampedArray<ArrayBuffer>,
      area: { x: aside.left, y: 0, w: this.size.w - aside.left - aside.right, h: this.size.h },
    });
    fields.forEach((f, i) => this.legend(r, f, scales[i]!, i === 0 ? 12 : this.size.w - aside.right + 10));
  }

  private legend(r: Renderer, f: Field, s: ColourScale, x: number): void {
    r.text(fieldTitle(f), x, 12, { font: { size: 12, weight: 600 }, fill: r.theme.text });
    r.text(`${f.unit ? `${f.unit}, ` : ''}${scaleWords(s)}`, x, 28, {
      font: { size: 11 },
      fill: r.theme.muted,
    });
    const steps = 64;
    for (let i = 0; i < steps; i++) {
      r.rect(
        { x, y: 42 + (i * RAMP.h) / steps, w: RAMP.w, h: RAMP.h / steps + 0.5 },
        { fill: meshColor(1 - (i + 0.5) / steps, r.theme, s) },
      );
    }
    for (const t of s.ticks(6)) {
      const y = 42 + RAMP.h * (1 - s.place(t));
      r.line(x + RAMP.w, y, x + RAMP.w + 4, y, { stroke: r.theme.line, width: 1 });
      r.text(exact(t), x + RAMP.w + 8, y, { font: { size: 11 }, fill: r.theme.muted });
    }
    const { arrows, few, info } = this.shown;
    const patterns = [
      ...(f.covered < info.cells ? [`hatched: ${f.counts ? 'no samples' : 'no value'}`] : []),
      ...(f.uncertain && few > 1 ? [`striped: under ${few} samples`] : []),
      ...(arrows ? [arrowWords(arrows)] : []),
    ];
    patterns.forEach((t, i) =>
      r.text(t, x, 42 + RAMP.h + 16 * (i + 1), { font: { size: 11 }, fill: r.theme.muted }),
    );
  }

  drawHover(_: Renderer): void {}

  hitTest(_: Point): number | undefined {
    return undefined;
  }

  step(_: number | undefined, _dir: Dir): number | undefined {
    return undefined;
  }

  describe(cell: number): Said {
    return { name: `Cell ${cell}`, more: cellPlace(this.shown.info, cell) };
  }

  wanted(_: number): undefined {
    return undefined;
  }

  /** The cells that are drawn. */
  rows(): Table {
    const { arrows, info, geometry, performance, physics } = this.shown;
    const number = (v: number | undefined): string => (v === undefined || Number.isNaN(v) ? '' : String(v));
    const rows = Array.from(geometry.cells, (cell, i) => [
      String(cell),
      cellPlace(info, cell),
      ...(performance ? [number(performance.values[i]), String(performance.samples[i] ?? '')] : []),
      ...(physics ? [number(physics.values[i])] : []),
      ...(arrows ? [0, 1, 2].map((k) => number(arrows.values[3 * i + k])) : []),
    ]);
    return {
      head: [
        'cell',
        'place',
        ...(performance ? [performance.name, 'samples'] : []),
        ...(physics ? [physics.name] : []),
        ...(arrows ? ['x', 'y', 'z'].map((axis) => `${arrows.name} ${axis}`) : []),
      ],
      rows,
    };
  }

  summary(): string {
    const { fields, geometry, info, scales } = this.shown;
    const coloured = fields.map((f, i) => `${fieldTitle(f)} on a ${scaleWords(scales[i]!)}`).join('; ');
    return `${geometry.cells.length} cells of ${info.cells} are drawn; ${coloured}`;
  }
}
