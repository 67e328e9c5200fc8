// The whole page as one picture: every view where it stands, drawn anew as for a
// file of its own, and above them what is selected. As PDF it is that picture
// without loss, with the words as its title.
import { CanvasRenderer, prepare } from '../base/canvas';
import type { Rect } from '../base/geometry';
import type { Font, Measure } from '../base/text';
import type { Theme } from '../base/theme';
import type { Exported } from './export';
import type { View } from './view';

const RATIO = 2; // device pixels per CSS pixel, as of single views
const [PAD, LINE, HEAD] = [12, 16, 32];
const CAPTION: Font = { size: 12 };
const TITLE: Font = { size: 12, weight: 600 };
const POINTS = 0.75; // of a CSS pixel

/** A view and where it is on the page. */
interface Placed {
  readonly title: string;
  readonly view: View<unknown>;
  readonly at: Rect;
}

/** The views on screen, each of which answers for itself. */
async function viewsOnPage(): Promise<Placed[]> {
  const placed: Placed[] = [];
  const answers: Promise<void>[] = [];
  for (const host of document.querySelectorAll('[data-view]')) {
    const { x, y, width: w, height: h } = host.getBoundingClientRect();
    if (w === 0 || h === 0) continue;
    const take = (title: string, view: View<unknown>): void =>
      void placed.push({ title, view, at: { x, y, w, h } });
    const detail = { action: 'place', take, wait: (p: Promise<void>) => answers.push(p) };
    host.dispatchEvent(new CustomEvent('isobath-ask', { detail }));
  }
  await Promise.all(answers);
  return placed;
}

/** The words of a caption in lines that fit. */
export function lines(text: string, width: number, font: Font, measure: Measure): string[] {
  const out: string[] = [];
  for (const word of text.split(' ')) {
    const longer = out.length > 0 ? `${out.at(-1)!} ${word}` : word;
    if (out.length > 0 && measure(longer, font) <= width) out[out.length - 1] = longer;
    else out.push(word);
  }
  return out;
}

export async function exportPage(
  format: 'png' | 'pdf',
  name: string,
  caption: string,
  theme: Theme,
  measure: Measure,
): Promise<Exported> {
  const placed = await viewsOnPage();
  if (placed.length === 0) throw new Error('the page shows nothing that could be saved');
  const said = lines(caption, innerWidth - 2 * PAD, CAPTION, measure);
  const above = 2 * PAD + said.length * LINE;
  const top = Math.min(...placed.map((p) => p.at.y)) - HEAD - above;
  const size = { w: innerWidth, h: Math.max(...placed.map((p) => p.at.y + p.at.h)) - top + PAD };
  const canvas = document.createElement('canvas');
  const context = prepare(canvas, size, RATIO);
  context.fillStyle = theme.bg;
  context.fillRect(0, 0, size.w, size.h);
  const r = new CanvasRenderer(context, theme, measure, RATIO);
  said.forEach((text, i) => r.text(text, PAD, PAD + (i + 0.5) * LINE, { font: CAPTION, fill: theme.text }));
  for (const { title, view, at } of placed) {
    context.save();
    context.translate(at.x, at.y - top);
    r.text(title, PAD, -HEAD / 2, { font: TITLE, fill: theme.text });
    r.clip({ x: 0, y: 0, w: at.w, h: at.h }, () => {
      view.drawUnder?.(r);
      view.draw(r);
      view.drawHover(r);
    });
    context.restore();
  }
  const file = `${name.replace(/[^\w.-]+/g, '-').toLowerCase()}.${format}`;
  if (format === 'png') return { name: file, blob: await pngOf(canvas) };
  const { data, width, height } = context.getImageData(0, 0, canvas.width, canvas.height);
  return { name: file, blob: await pdf({ data, width, height }, size, caption) };
}

function pngOf(canvas: HTMLCanvasElement): Promise<Blob> {
  return new Promise((done, fail) => {
    canvas.toBlob(
      (blob) => (blob ? done(blob) : fail(new Error('the browser could not encode the picture'))),
      'image/png',
    );
  });
}

interface Pixels {
  readonly data: Uint8ClampedArray; // RGBA
  readonly width: number;
  readonly height: number;
}

/** One page with one picture (ISO 32000-1, 7.5 and 8.9.5). */
export async function pdf(
  pixels: Pixels,
  size: { readonly w: number; readonly h: number },
  title: string,
): Promise<Blob> {
  const rgb = new Uint8Array(3 * pixels.width * pixels.height);
  for (let i = 0, o = 0; i < pixels.data.length; i += 4) {
    rgb[o++] = pixels.data[i]!;
    rgb[o++] = pixels.data[i + 1]!;
    rgb[o++] = pixels.data[i + 2]!;
  }
  const packed = new Uint8Array(
    await new Response(new Blob([rgb]).stream().pipeThrough(new CompressionStream('deflate'))).arrayBuffer(),
  );
  const [w, h] = [size.w * POINTS, size.h * POINTS];
  const draw = `q ${w} 0 0 ${h} 0 0 cm /Page Do Q`;
  const words = [...title].flatMap((c) =>
    Array.from({ length: c.length }, (_, i) => c.charCodeAt(i).toString(16).padStart(4, '0')),
  );
  const objects: readonly (readonly (string | Uint8Array<ArrayBuffer>)[])[] = [
    ['<< /Type /Catalog /Pages 2 0 R >>'],
    ['<< /Type /Pages /Kids [3 0 R] /Count 1 >>'],
    [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${w} ${h}] /Contents 4 0 R /Resources << /XObject << /Page 5 0 R >> >> >>`,
    ],
    [`<< /Length ${draw.length} >>\nstream\n${draw}\nendstream`],
    [
      `<< /Type /XObject /Subtype /Image /Width ${pixels.width} /Height ${pixels.height} /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode /Length ${packed.length} >>\nstream\n`,
      packed,
      '\nendstream',
    ],
    [`<< /Title <feff${words.join('')}> /Producer (Isobath) >>`],
  ];
  const parts: (string | Uint8Array<ArrayBuffer>)[] = ['%PDF-1.4\n'];
  let at = parts[0]!.length;
  const starts = objects.map((content, i) => {
    const start = at;
    for (const part of [`${i + 1} 0 obj\n`, ...content, '\nendobj\n']) {
      parts.push(part);
      at += part.length; // all text is ASCII
    }
    return start;
  });
  const entries = starts.map((s) => `${String(s).padStart(10, '0')} 00000 n \n`).join('');
  parts.push(
    `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`,
    `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info 6 0 R >>\nstartxref\n${at}\n%%EOF\n`,
  );
  return new Blob(parts, { type: 'application/pdf' });
}
