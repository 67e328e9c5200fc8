// The software rasteriser for strokes. Canvas2D takes 110–166 ms for 11 000
// wide lines without a GPU; strokes that run between two vertical edges need
// only, in each pixel column, the span they cover.
//
// Strokes are taken from the last to the first, and each adds what those over it
// left open. Where strokes are many, most pixels are soon covered; from then on
// only those that are still open are looked at, one by one, and when there are
// none the rest of the strokes is not looked at either. So 300 000 strokes cost
// little more than those that are seen.
import type { Strokes } from './renderer';

/** Pixels of the strokes' area: straight (not premultiplied) bytes, as ImageData wants them. */
export interface Layer {
  readonly w: number;
  readonly h: number;
  readonly bytes: Uint8ClampedArray<ArrayBuffer>;
  readonly wide: number; // columns of the screen that one of its own stands for
}

const COVERED = 0.95; // of a pixel; what lies below is weaker, nearer to the ground, and changes it by less than is seen
const DENSE = [3000, 12000]; // strokes from which on two, and three, columns of pixels are drawn as one
const MANY = 1000; // strokes from which on it pays to know which pixels are open
const LOOK = 256; // strokes before the first look at how many those are
const EDGE = 2; // px
const FEW = 2; // open pixels a column; a pixel of the list costs about half a column of a stroke

export function rasterize(s: Strokes, ratio: number): Layer {
  const wide = 1 + DENSE.filter((many) => s.n > many).length;
  const w = Math.max(1, Math.ceil((s.area.w * ratio) / wide));
  const h = Math.max(1, Math.ceil(s.area.h * ratio));
  const plane = new Plane(w, h, wide);
  let i = s.n - 1;
  if (s.n <= MANY) {
    for (; i >= 0; i--) plane.stroke(s, i, ratio);
  } else {
    const within = reach(s, ratio, w);
    // Looking costs as much as some hundred strokes: seldom, and ever less often.
    for (let drawn = 1, look = LOOK; i >= 0; i--, drawn++) {
      plane.stroke(s, i, ratio);
      if (drawn < look) continue;
      if (plane.collect(within)) break;
      look *= 1.5;
    }
    for (i--; i >= 0 && plane.open > 0; i--) plane.pick(s, i, ratio);
  }
  return { w, h, bytes: plane.bytes(), wide };
}

/** The first and the last row that the middle of any stroke has in each column. */
interface Reach {
  readonly top: Float64Array;
  readonly bottom: Float64Array;
}

/**
 * Of the strokes that begin at one height, the lowest and the highest end
 * bound all others, so few are followed through the columns. Heights are told
 * apart to a quarter of a pixel.
 */
function reach(s: Strokes, ratio: number, w: number): Reach {
  const heights = Math.ceil(4 * s.area.h * ratio) + 1;
  const low = new Float32Array(heights).fill(Infinity);
  const high = new Float32Array(heights).fill(-Infinity);
  for (let i = 0; i < s.n; i++) {
    const at = Math.round(4 * (s.y0[i]! - s.area.y) * ratio);
    if (s.alpha[i] === 0 || at < 0 || at >= heights) continue;
    const y1 = (s.y1[i]! - s.area.y) * ratio;
    if (y1 < low[at]!) low[at] = y1;
    if (y1 > high[at]!) high[at] = y1;
  }
  const top = new Float64Array(w).fill(Infinity);
  const bottom = new Float64Array(w).fill(-Infinity);
  for (let at = 0; at < heights; at++) {
    if (low[at] === Infinity) continue;
    for (let x = 0; x < w; x++) {
      const f = (x + 0.5) / w;
      const [a, b] = [at / 4 + f * (low[at]! - at / 4), at / 4 + f * (high[at]! - at / 4)];
      if (a < top[x]!) top[x] = a;
      if (b > bottom[x]!) bottom[x] = b;
    }
  }
  return { top, bottom };
}

/** A stroke in the plane: the middle of its rows in column x is start + slope · x. */
interface Line {
  readonly from: number; // columns
  readonly till: number;
  readonly start: number;
  readonly slope: number;
  readonly half: number;
  readonly blur: number;
}

function lineOf(s: Strokes, i: number, ratio: number, wide: number): Line {
  const x0 = ((s.x0[i]! - s.area.x) * ratio) / wide;
  const x1 = ((s.x1[i]! - s.area.x) * ratio) / wide;
  const y0 = (s.y0[i]! - s.area.y) * ratio;
  const slope = ((s.y1[i]! - s.area.y) * ratio - y0) / (x1 - x0);
  // Within one pixel column the edge itself moves by the slope, so it is
  // blurred by that much; this is what keeps steep strokes smooth.
  const blur = 1 + Math.abs(slope);
  return {
    from: Math.floor(x0), till: Math.ceil(x1), slope, blur,
    start: y0 + slope * (0.5 - x0) + 0.5 * blur - 0.5,
    half: 0.5 * s.width[i]! * ratio * Math.sqrt(1 + (slope * slope) / (wide * wide)),
  };
}

/** Pixels column by column, so that those of one stroke in a column lie together. */
class Plane {
  private readonly rgba: Float32Array; // premultiplied
  private readonly covered: Uint32Array; // a bit for each pixel
  private readonly words: number; // of bits in a column
  private readonly list: Int32Array; // pixels that are still open, once there are few
  open = 0; // of the list

  constructor(
    private readonly w: number,
    private readonly h: number,
    private readonly wide: number,
  ) {
    this.rgba = new Float32Array(4 * w * h);
    this.words = (h + 31) >> 5;
    this.covered = new Uint32Array(w * this.words);
    this.list = new Int32Array(FEW * w);
  }

  stroke(s: Strokes, i: number, ratio: number): void {
    const { from, till, start, slope, half, blur } = lineOf(s, i, ratio, this.wide);
    const { w, h, words, covered } = this;
    const rgb = s.rgb[i]!;
    const alpha = s.alpha[i]!;
    for (let x = from < 0 ? 0 : from; x < till && x < w; x++) {
      const y = start + slope * x;
      const first = Math.ceil(y - half - blur);
      const last = Math.ceil(y + half) - 1;
      const top = first < 0 ? 0 : first;
      const bottom = last >= h ? h - 1 : last;
      if (top > bottom) continue;
      const word = x * words + (top >> 5);
      const end = x * words + (bottom >> 5);
      const head = ~covered[word]! & (-1 << (top & 31));
      const tail = ~covered[end]! & (-1 >>> (31 - (bottom & 31)));
      const open = word === end ? head & tail : head | tail | (word + 1 < end ? 1 : 0);
      if (open !== 0) this.column(x, top, bottom, y - half, y + half, blur, rgb, alpha);
    }
  }

  /** The cover rises over the rows of the blur, stays, and falls. */
  private column(x: number, from: number, till: number, top: number, bottom: number, blur: number, rgb: number, alpha: number): void {
    const { covered, rgba } = this;
    const inverse = 1 / blur;
    const bits = x * this.words;
    for (let row = from, at = 4 * (x * this.h + from); row <= till; row++, at += 4) {
      if (rgba[at + 3]! > COVERED) continue;
      const below = (bottom - row) * inverse;
      const above = (top - row) * inverse;
      if (this.add(at, rgb, alpha * ((below > 1 ? 1 : below) - (above > 1 ? 1 : above < 0 ? 0 : above)))) covered[bits + (row >> 5)]! |= 1 << (row & 31);
    }
  }

  /** Adds colour to a pixel, as far as it is open; reports whether it is covered now. */
  private add(at: number, rgb: number, cover: number): boolean {
    const { rgba } = this;
    const before = rgba[at + 3]!;
    const a = (1 - before) * cover;
    rgba[at] = rgba[at]! + (rgb >> 16) * a;
    rgba[at + 1] = rgba[at + 1]! + ((rgb >> 8) & 255) * a;
    rgba[at + 2] = rgba[at + 2]! + (rgb & 255) * a;
    rgba[at + 3] = before + a;
    return before + a > COVERED;
  }

  /** Lists the open pixels within reach if they are few. */
  collect({ top, bottom }: Reach): boolean {
    const { rgba, h } = this;
    let n = 0;
    for (let x = 0; x < this.w; x++) {
      // The outermost pixels are soft edges, which few strokes reach and none covers.
      const last = Math.min(h - 1, Math.floor(bottom[x]!) - EDGE);
      for (let row = Math.max(0, Math.ceil(top[x]!) + EDGE); row <= last; row++) {
        if (rgba[4 * (x * h + row) + 3]! > COVERED) continue;
        if (n === this.list.length) return false;
        this.list[n++] = x * h + row;
      }
    }
    this.open = n;
    return true;
  }

  /** Adds a stroke to the pixels of the list. */
  pick(s: Strokes, i: number, ratio: number): void {
    const { start, slope, half, blur } = lineOf(s, i, ratio, this.wide);
    const { list, h } = this;
    for (let k = 0; k < this.open; k++) {
      const pixel = list[k]!;
      const x = Math.floor(pixel / h);
      const far = pixel - x * h - (start + slope * x); // from the middle of the stroke, downwards
      if (far >= half || far <= -half - blur) continue;
      const below = (half - far) / blur;
      const above = (-half - far) / blur;
      const cover = s.alpha[i]! * ((below > 1 ? 1 : below) - (above > 1 ? 1 : above < 0 ? 0 : above));
      if (this.add(4 * pixel, s.rgb[i]!, cover)) list[k--] = list[--this.open]!;
    }
  }

  bytes(): Uint8ClampedArray<ArrayBuffer> {
    const { w, h, rgba } = this;
    const out = new Uint8ClampedArray(4 * w * h);
    for (let x = 0, at = 0; x < w; x++) {
      for (let y = 0; y < h; y++, at += 4) {
        const a = rgba[at + 3]!;
        if (a === 0) continue;
        const to = 4 * (y * w + x);
        out[to] = rgba[at]! / a;
        out[to + 1] = rgba[at + 1]! / a;
        out[to + 2] = rgba[at + 2]! / a;
        out[to + 3] = a > 0.985 ? 255 : 255 * a;
      }
    }
    return out;
  }
}
