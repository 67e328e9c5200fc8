// The picture of a mesh as every view is: to be exported, and listed as a table.
import type { Dir, Point, Size } from '../../base/geometry';
import type { Renderer } from '../../base/renderer';
import { exact } from '../../base/format';
import type { MeshInfo } from '../../api/wire';
import type { Said, Table, View } from '../../frame/view';
import type { Field, Geometry } from './picture';
import { placeOn, ticksOf, type NumberScale } from '../../base/scale';
import { meshColor } from './colours';
import { cellPlace, fieldName } from './words';

/** What is on screen, when it is exported. */
export interface Shown {
  readonly info: MeshInfo;
  readonly geometry: Geometry;
  readonly performance: Field | undefined;
  readonly physics: Field | undefined;
  readonly fields: readonly Field[]; // one a picture, from left to right
  readonly scales: readonly NumberScale[];
  readonly canvas: HTMLCanvasElement;
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
    const { canvas, fields, scales } = this.shown;
    const g = canvas.getContext('2d')!;
    const { data, width, height } = g.getImageData(0, 0, canvas.width, canvas.height);
    r.cells({
      columns: width,
      rows: height,
      rgba: data as Uint8ClampedArray<ArrayBuffer>,
      area: { x: 0, y: 0, w: this.size.w, h: this.size.h },
    });
    fields.forEach((f, i) => this.legend(r, f, scales[i]!, 12 + (i * this.size.w) / fields.length));
  }

  private legend(r: Renderer, f: Field, s: NumberScale, x: number): void {
    r.text(fieldName(f.name), x, 12, { font: { size: 12, weight: 600 }, fill: r.theme.text });
    r.text(`${f.unit ? `${f.unit}, ` : ''}${s.log ? 'log' : 'linear'} scale`, x, 28, {
      font: { size: 11 },
      fill: r.theme.muted,
    });
    const steps = 64;
    for (let i = 0; i < steps; i++) {
      r.rect(
        { x, y: 42 + (i * RAMP.h) / steps, w: RAMP.w, h: RAMP.h / steps + 0.5 },
        { fill: meshColor(1 - (i + 0.5) / steps, r.theme.dark) },
      );
    }
    for (const t of ticksOf(s)) {
      const y = 42 + RAMP.h * (1 - placeOn(s, t));
      r.line(x + RAMP.w, y, x + RAMP.w + 4, y, { stroke: r.theme.line, width: 1 });
      r.text(exact(t), x + RAMP.w + 8, y, { font: { size: 11 }, fill: r.theme.muted });
    }
    if (f.covered < this.shown.info.cells)
      r.text(`hatched: ${f.counts ? 'no samples' : 'no value'}`, x, 42 + RAMP.h + 16, {
        font: { size: 11 },
        fill: r.theme.muted,
      });
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
    const { info, geometry, performance, physics } = this.shown;
    const number = (v: number | undefined): string => (v === undefined || Number.isNaN(v) ? '' : String(v));
    const rows = Array.from(geometry.cells, (cell, i) => [
      String(cell),
      cellPlace(info, cell),
      ...(performance ? [number(performance.values[i]), String(performance.samples[i] ?? '')] : []),
      ...(physics ? [number(physics.values[i])] : []),
    ]);
    return {
      head: [
        'cell',
        'place',
        ...(performance ? [performance.name, 'samples'] : []),
        ...(physics ? [physics.name] : []),
      ],
      rows,
    };
  }

  summary(): string {
    return `${this.shown.geometry.cells.length} cells of ${this.shown.info.cells} are drawn`;
  }
}
