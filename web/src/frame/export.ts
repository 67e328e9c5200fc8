// A view as a file: the same drawing calls as on screen, with a caption that
// says of what.
import { CanvasRenderer, prepare } from '../base/canvas';
import { rasterize } from '../base/raster';
import type { Strokes } from '../base/renderer';
import { SvgRenderer } from '../base/svg';
import type { Renderer } from '../base/renderer';
import type { Measure } from '../base/text';
import type { Theme } from '../base/theme';
import { drawLegend } from './legend';
import { csv, type View } from './view';

export type Format = 'png' | 'svg' | 'csv';

const CAPTION = 24;

export interface Exported {
  readonly name: string;
  readonly blob: Blob;
}

export async function exportView(
  view: View<unknown>,
  format: Format,
  name: string,
  caption: string,
  theme: Theme,
  measure: Measure,
): Promise<Exported> {
  const file = `${name.replace(/[^\w.-]+/g, '-').toLowerCase()}.${format}`;
  if (format === 'csv') return { name: file, blob: new Blob([csv(view.rows())], { type: 'text/csv' }) };
  if (format === 'svg') {
    const r = new SvgRenderer(theme, measure, strokePicture);
    paint(view, r, caption);
    const size = { w: view.size.w, h: view.size.h + CAPTION };
    return { name: file, blob: new Blob([r.document(size, caption)], { type: 'image/svg+xml' }) };
  }
  return { name: file, blob: await png(view, caption, theme, measure) };
}

function paint(view: View<unknown>, r: Renderer, caption: string): void {
  view.drawUnder?.(r);
  view.draw(r);
  view.drawHover(r);
  r.text(caption, 12, view.size.h + CAPTION / 2, { font: { size: 11 }, fill: r.theme.muted });
  const legend = view.legendFor?.(r.theme);
  if (legend) drawLegend(r, legend, view.size.w - 12, view.size.h + CAPTION / 2);
}

async function png(view: View<unknown>, caption: string, theme: Theme, measure: Measure): Promise<Blob> {
  const canvas = document.createElement('canvas');
  const size = { w: view.size.w, h: view.size.h + CAPTION };
  const context = prepare(canvas, size, 2);
  context.fillStyle = theme.bg;
  context.fillRect(0, 0, size.w, size.h);
  paint(view, new CanvasRenderer(context, theme, measure, 2), caption);
  return new Promise((done, fail) => {
    canvas.toBlob(
      (blob) => (blob ? done(blob) : fail(new Error('the browser could not encode the picture'))),
      'image/png',
    );
  });
}

function strokePicture(s: Strokes): string {
  const layer = rasterize(s, 2);
  const canvas = document.createElement('canvas');
  canvas.width = layer.w;
  canvas.height = layer.h;
  canvas.getContext('2d')!.putImageData(new ImageData(layer.bytes, layer.w, layer.h), 0, 0);
  return canvas.toDataURL('image/png');
}

/** Hands a file to the browser's download. */
export function download({ name, blob }: Exported): void {
  const url = URL.createObjectURL(blob);
  const a = document.createElement('a');
  a.href = url;
  a.download = name;
  a.click();
  // The download has its own reference after this turn of the event loop.
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
