// Drawing into an SVG document, for export. Needs no browser except for the
// picture of a very dense layer, which the caller supplies.
import type { Rect, Size } from './geometry';
import type { Cells, Hatch, Paint, Path, Renderer, Strokes, TextStyle } from './renderer';
import { MONO, SANS, type Theme } from './theme';
import type { Measure } from './text';

// Above this many, strokes go in as one picture: no viewer likes the lines.
export const STROKE_LIMIT = 5000;

export type StrokePicture = (s: Strokes) => string; // a data: URL

function n(v: number): string {
  return String(Math.round(v * 100) / 100);
}

export function escapeXml(s: string): string {
  return s.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);
}

// Drawings within the page share its names, so each has its own.
let fragments = 0;

export class SvgRenderer implements Renderer {
  private readonly parts: string[] = [];
  private readonly defs: string[] = [];

  constructor(
    readonly theme: Theme,
    readonly measure: Measure,
    private readonly picture?: StrokePicture,
  ) {}

  /** The document drawn so far, on the theme's background. */
  document(size: Size, title: string): string {
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" width="${n(size.w)}" height="${n(size.h)}" viewBox="0 0 ${n(size.w)} ${n(size.h)}">`,
      `<title>${escapeXml(title)}</title>`,
      this.defs.length ? `<defs>${this.defs.join('')}</defs>` : '',
      `<rect width="100%" height="100%" fill="${this.theme.bg}"/>`,
      ...this.parts,
      '</svg>',
    ].join('\n');
  }

  /** A small drawing for the page itself: no ground, names of its own for patterns. */
  fragment(size: Size): string {
    const own = `f${++fragments}-`;
    const parts = [...this.defs, ...this.parts].join('').replace(/(id="|url\(#)/g, `$1${own}`);
    return `<svg width="${n(size.w)}" height="${n(size.h)}" aria-hidden="true">${parts}</svg>`;
  }

  rect(r: Rect, paint: Paint, radius = 0): void {
    const rx = radius ? ` rx="${n(radius)}"` : '';
    this.shape(
      `rect x="${n(r.x)}" y="${n(r.y)}" width="${n(Math.max(0, r.w))}" height="${n(Math.max(0, r.h))}"${rx}`,
      paint,
    );
  }

  line(x0: number, y0: number, x1: number, y1: number, paint: Paint): void {
    this.shape(`line x1="${n(x0)}" y1="${n(y0)}" x2="${n(x1)}" y2="${n(y1)}"`, paint);
  }

  path(path: Path, paint: Paint): void {
    this.shape(`path d="${pathData(path)}"`, paint);
  }

  text(text: string, x: number, y: number, style: TextStyle): void {
    const f = style.font;
    const anchor = { left: 'start', center: 'middle', right: 'end' }[style.align ?? 'left'];
    const turn = style.turn ? ` transform="rotate(${n((style.turn * 180) / Math.PI)} ${n(x)} ${n(y)})"` : '';
    const face = escapeXml(f.mono ? MONO : SANS);
    const extra = (f.weight ? ` font-weight="${f.weight}"` : '') + (f.italic ? ' font-style="italic"' : '');
    this.parts.push(
      `<text x="${n(x)}" y="${n(y + f.size * 0.36)}" font-family="${face}" font-size="${f.size}"${extra}` +
        ` text-anchor="${anchor}" fill="${style.fill}"${turn}>${escapeXml(text)}</text>`,
    );
  }

  strokes(s: Strokes): void {
    if (s.n > STROKE_LIMIT && this.picture) {
      const { x, y, w, h } = s.area;
      this.parts.push(
        `<image x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" preserveAspectRatio="none" href="${this.picture(s)}"/>`,
      );
      return;
    }
    for (let i = 0; i < s.n; i++) {
      const rgb = `#${s.rgb[i]!.toString(16).padStart(6, '0')}`;
      const alpha = s.alpha[i]! < 1 ? ` stroke-opacity="${n(s.alpha[i]!)}"` : '';
      this.parts.push(
        `<line x1="${n(s.x0[i]!)}" y1="${n(s.y0[i]!)}" x2="${n(s.x1[i]!)}" y2="${n(s.y1[i]!)}"` +
          ` stroke="${rgb}" stroke-width="${n(s.width[i]!)}"${alpha}/>`,
      );
    }
  }

  /** Runs of equal neighbours become one rectangle each: an export stays a drawing. */
  cells(k: Cells): void {
    const [w, h] = [k.area.w / k.columns, k.area.h / k.rows];
    const at = new DataView(k.rgba.buffer, k.rgba.byteOffset);
    for (let y = 0; y < k.rows; y++) {
      for (let x = 0; x < k.columns;) {
        const rgba = at.getUint32(4 * (y * k.columns + x));
        let end = x + 1;
        while (end < k.columns && at.getUint32(4 * (y * k.columns + end)) === rgba) end++;
        const alpha = (rgba & 255) / 255;
        if (alpha > 0) {
          this.rect(
            { x: k.area.x + x * w, y: k.area.y + y * h, w: (end - x) * w, h },
            { fill: `#${(rgba >>> 8).toString(16).padStart(6, '0')}`, ...(alpha < 1 && { alpha }) },
          );
        }
        x = end;
      }
    }
  }

  clip(r: Rect, draw: () => void): void {
    const id = `c${this.defs.length}`;
    this.defs.push(
      `<clipPath id="${id}"><rect x="${n(r.x)}" y="${n(r.y)}" width="${n(r.w)}" height="${n(r.h)}"/></clipPath>`,
    );
    this.parts.push(`<g clip-path="url(#${id})">`);
    draw();
    this.parts.push('</g>');
  }

  private shape(element: string, p: Paint): void {
    if (p.hatch) {
      if (p.hatch.ground) this.parts.push(`<${element} fill="${p.hatch.ground}"/>`);
      this.parts.push(`<${element} fill="url(#${this.pattern(p.hatch)})"/>`);
    }
    if (p.hatch && !p.fill && !p.stroke) return;
    const fill = ` fill="${p.fill ?? 'none'}"`;
    const stroke = p.stroke ? ` stroke="${p.stroke}" stroke-width="${n(p.width ?? 1)}"` : '';
    const dash = p.dash ? ` stroke-dasharray="${p.dash.join(' ')}"` : '';
    const alpha = p.alpha !== undefined && p.alpha < 1 ? ` opacity="${n(p.alpha)}"` : '';
    this.parts.push(`<${element}${fill}${stroke}${dash}${alpha}/>`);
  }

  private pattern(h: Hatch): string {
    const id = `h${this.defs.length}`;
    this.defs.push(
      `<pattern id="${id}" width="${h.period}" height="${h.period}" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">` +
        `<line x1="${h.period / 2}" y1="0" x2="${h.period / 2}" y2="${h.period}" stroke="${h.line}"` +
        ` stroke-width="${h.width}" stroke-opacity="${h.alpha ?? 1}"/></pattern>`,
    );
    return id;
  }
}

export function pathData(path: Path): string {
  let d = '';
  for (const s of path) {
    switch (s.to) {
      case 'move':
        d += `M${n(s.x)} ${n(s.y)}`;
        break;
      case 'line':
        d += `L${n(s.x)} ${n(s.y)}`;
        break;
      case 'close':
        d += 'Z';
        break;
      case 'arc':
        d += arcData(s.c.x, s.c.y, s.r, s.from, s.till, d === '');
        break;
    }
  }
  return d;
}

function arcData(cx: number, cy: number, r: number, from: number, till: number, first: boolean): string {
  const at = (a: number): string => `${n(cx + r * Math.cos(a))} ${n(cy + r * Math.sin(a))}`;
  const start = `${first ? 'M' : 'L'}${at(from)}`;
  const sweep = till > from ? 1 : 0;
  // SVG cannot draw a full circle as one arc, and halves are never ambiguous.
  const steps = Math.max(1, Math.ceil(Math.abs(till - from) / Math.PI));
  let d = start;
  for (let i = 1; i <= steps; i++)
    d += `A${n(r)} ${n(r)} 0 0 ${sweep} ${at(from + ((till - from) * i) / steps)}`;
  return d;
}
