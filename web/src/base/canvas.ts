// Drawing on a canvas: shapes and text by Canvas2D, strokes by the rasteriser.
import type { Rect, Size } from './geometry';
import { rasterize } from './raster';
import type { Cells, Hatch, Paint, Path, Renderer, Strokes, TextStyle } from './renderer';
import { cssFont, type Measure } from './text';
import type { Theme } from './theme';

export type DevicePx = number & { readonly unit: 'device' };

/** Device pixels per CSS pixel that a layer is drawn with; more than 2 is not seen. */
export function layerRatio(ratio = globalThis.devicePixelRatio || 1): number {
  return Math.min(2, ratio);
}

/** Fits the backing store to its size on screen and clears it. */
export function prepare(canvas: HTMLCanvasElement, size: Size, ratio: number): CanvasRenderingContext2D {
  const w = Math.max(1, Math.round(size.w * ratio)) as DevicePx;
  const h = Math.max(1, Math.round(size.h * ratio)) as DevicePx;
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('this browser has no 2d canvas');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, size.w, size.h);
  return context;
}

/** Strokes as pixels, for a number of device pixels per CSS pixel. */
export interface Picture {
  readonly canvas: HTMLCanvasElement;
  readonly w: number;
  readonly h: number;
  readonly wide: number;
  readonly ratio: number;
}

const pictures = new WeakMap<Strokes, Picture>(); // of strokes to be kept

function newCanvas(w: number, h: number): CanvasRenderingContext2D {
  const canvas = document.createElement('canvas');
  canvas.width = w;
  canvas.height = h;
  // In the memory of the page, where pixels are put and read from.
  return canvas.getContext('2d', { willReadFrequently: true })!;
}

let scratch: CanvasRenderingContext2D | undefined;

/** One canvas for the whole page on which pixels are put before they are drawn; making one takes longer than using it. */
function scratchOf(w: number, h: number): CanvasRenderingContext2D {
  scratch ??= newCanvas(w, h);
  const { canvas } = scratch;
  if (canvas.width < w) canvas.width = w;
  if (canvas.height < h) canvas.height = h;
  return scratch;
}

/** The pixels of strokes; those of strokes to be kept can so be made before they are drawn. */
export function pictureOf(s: Strokes, ratio: number): Picture {
  const known = pictures.get(s);
  if (known?.ratio === ratio) return known;
  const { bytes, w, h, wide } = rasterize(s, ratio);
  const to = s.kept ? newCanvas(w, h) : scratchOf(w, h);
  to.putImageData(new ImageData(bytes, w, h), 0, 0);
  const picture = { canvas: to.canvas, w, h, wide, ratio };
  if (s.kept) pictures.set(s, picture);
  return picture;
}

const tiles = new Map<string, CanvasPattern>();
const TILES = 64; // a page has a few; themes and zooms of the browser bring more

export class CanvasRenderer implements Renderer {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    readonly theme: Theme,
    readonly measure: Measure,
    private readonly ratio: number,
  ) {}

  rect(r: Rect, paint: Paint, radius = 0): void {
    const c = this.context;
    if (radius === 0 && paint.fill && !paint.stroke && !paint.hatch) {
      // Most rectangles are bars; as a path each takes several times longer.
      c.globalAlpha = paint.alpha ?? 1;
      c.fillStyle = paint.fill;
      c.fillRect(r.x, r.y, r.w, r.h);
      c.globalAlpha = 1;
      return;
    }
    c.beginPath();
    if (radius > 0) c.roundRect(r.x, r.y, r.w, r.h, radius);
    else c.rect(r.x, r.y, r.w, r.h);
    this.paint(paint);
  }

  line(x0: number, y0: number, x1: number, y1: number, paint: Paint): void {
    const c = this.context;
    c.beginPath();
    c.moveTo(x0, y0);
    c.lineTo(x1, y1);
    this.paint(paint);
  }

  path(path: Path, paint: Paint): void {
    const c = this.context;
    c.beginPath();
    for (const s of path) {
      switch (s.to) {
        case 'move':
          c.moveTo(s.x, s.y);
          break;
        case 'line':
          c.lineTo(s.x, s.y);
          break;
        case 'arc':
          c.arc(s.c.x, s.c.y, s.r, s.from, s.till, s.till < s.from);
          break;
        case 'close':
          c.closePath();
          break;
      }
    }
    this.paint(paint);
  }

  text(text: string, x: number, y: number, style: TextStyle): void {
    const c = this.context;
    c.font = cssFont(style.font);
    c.fillStyle = style.fill;
    c.textAlign = style.align ?? 'left';
    c.textBaseline = 'alphabetic';
    // The middle of a line of digits and capitals lies 0.36 em over the baseline.
    const down = style.font.size * 0.36;
    if (style.turn) {
      c.save();
      c.translate(x, y);
      c.rotate(style.turn);
      c.fillText(text, 0, down);
      c.restore();
    } else {
      c.fillText(text, x, y + down);
    }
  }

  strokes(s: Strokes): void {
    if (s.n === 0) return;
    const { canvas, w, h, wide } = pictureOf(s, this.ratio);
    this.context.drawImage(canvas, 0, 0, w, h, s.area.x, s.area.y, (w * wide) / this.ratio, h / this.ratio);
  }

  cells(k: Cells): void {
    if (k.columns === 0 || k.rows === 0) return;
    this.context.imageSmoothingEnabled = false;
    this.image(k.rgba, k.columns, k.rows, k.area);
    this.context.imageSmoothingEnabled = true;
  }

  private image(bytes: Uint8ClampedArray<ArrayBuffer>, w: number, h: number, to: Rect): void {
    const from = scratchOf(w, h);
    from.putImageData(new ImageData(bytes, w, h), 0, 0);
    this.context.drawImage(from.canvas, 0, 0, w, h, to.x, to.y, to.w, to.h);
  }

  clip(r: Rect, draw: () => void): void {
    const c = this.context;
    c.save();
    c.beginPath();
    c.rect(r.x, r.y, r.w, r.h);
    c.clip();
    draw();
    c.restore();
  }

  private paint(p: Paint): void {
    const c = this.context;
    c.globalAlpha = p.alpha ?? 1;
    if (p.fill) {
      c.fillStyle = p.fill;
      c.fill();
    }
    if (p.hatch) this.hatch(p.hatch);
    if (p.stroke) {
      c.strokeStyle = p.stroke;
      c.lineWidth = p.width ?? 1;
      c.setLineDash(p.dash ? [...p.dash] : []);
      c.stroke();
    }
    c.globalAlpha = 1;
  }

  /** Fills the current path with a tile of diagonal lines. */
  private hatch(h: Hatch): void {
    const c = this.context;
    if (h.ground) {
      c.fillStyle = h.ground;
      c.fill();
    }
    const before = c.globalAlpha;
    c.globalAlpha = before * (h.alpha ?? 1);
    c.fillStyle = this.tile(h);
    c.fill();
    c.globalAlpha = before;
  }

  private tile(h: Hatch): CanvasPattern {
    const key = [h.period, h.width, h.line, this.ratio].join();
    let tile = tiles.get(key);
    if (!tile) {
      if (tiles.size >= TILES) tiles.clear();
      tile = this.newTile(h);
      tiles.set(key, tile);
    }
    return tile;
  }

  private newTile(h: Hatch): CanvasPattern {
    // A diagonal of period p (across the lines) repeats every p·√2 along x.
    const side = h.period * Math.SQRT2;
    const px = Math.max(2, Math.round(side * this.ratio));
    const tile = document.createElement('canvas');
    tile.width = px;
    tile.height = px;
    const t = tile.getContext('2d')!;
    t.strokeStyle = h.line;
    t.lineWidth = h.width * this.ratio;
    t.beginPath();
    for (const shift of [-px, 0, px]) {
      t.moveTo(shift - 1, px + 1);
      t.lineTo(shift + px + 1, -1);
    }
    t.stroke();
    const pattern = this.context.createPattern(tile, 'repeat')!;
    pattern.setTransform(new DOMMatrix().scale(1 / this.ratio));
    return pattern;
  }
}
