// The software rasteriser for strokes. Canvas2D takes 110–166 ms for 11 000
// wide lines without a GPU; strokes that run between two vertical edges need
// only, in each pixel column, the span they cover.
//
// Strokes are taken from the last to the first, and each adds what those over it
// left open. Where strokes are many, most pixels are soon covered. A bit for each
// pixel says so, and a bit for each block of pixels: of a stroke that runs through
// covered blocks no pixel is looked at. So 300 000 strokes cost little more than
// those that are seen.
import type { Strokes } from './renderer';

/** Pixels of the strokes' area: straight (not premultiplied) bytes, as ImageData wants them. */
export interface Layer {
  readonly w: number;
  readonly h: number;
  readonly bytes: Uint8ClampedArray<ArrayBuffer>;
  readonly wide: number; // columns of the screen that one of its own stands for
}

const COVERED = 242; // 255ths of a pixel; what lies below is weaker, nearer to the ground, and changes it by less than is seen
const DENSE = [3000, 12000]; // strokes from which on two, and three, columns of pixels are drawn as one
const GROUP = 8; // columns of a block
const SHARE = Float64Array.from({ length: 256 }, (_, a) => 1 / a);

/** The columns of the screen that are drawn as one for so many strokes. */
export function columnWidth(strokes: number): number {
  return 1 + DENSE.filter((many) => strokes > many).length;
}

export function rasterize(s: Strokes, ratio: number): Layer {
  const wide = columnWidth(s.n);
  const w = Math.max(1, Math.ceil((s.area.w * ratio) / wide));
  const h = Math.max(1, Math.ceil(s.area.h * ratio));
  const plane = new Plane(w, h, wide);
  plane.strokes(s, ratio);
  return { w, h, bytes: plane.bytes(), wide };
}

/**
 * Pixels column by column, so that those of one stroke in a column lie together.
 * A pixel is two words: red and blue, then green and how much is covered, in
 * 255ths. A colour is added as often as the 255ths it covers, so that a half of
 * a word holds at most 255 · 255: one multiplication adds two of them, exactly.
 */
class Plane {
  private readonly pixels: Int32Array;
  private readonly covered: Int32Array; // a bit for each pixel
  private readonly words: number; // of bits in a column
  // Blocks are GROUP columns wide and so high that a word has a bit for each.
  private readonly shift: number; // of a row, to its block
  private readonly full: Int32Array; // by group of columns, a bit for each block that is covered
  private readonly left: Int32Array; // by block, words of its pixels that are not all covered

  constructor(
    private readonly w: number,
    private readonly h: number,
    private readonly wide: number,
  ) {
    this.words = (h + 31) >> 5;
    this.pixels = new Int32Array(2 * w * h);
    this.covered = new Int32Array(w * this.words);
    this.shift = Math.max(5, 32 - Math.clz32(h - 1) - 5);
    const groups = Math.ceil(w / GROUP);
    this.full = new Int32Array(groups);
    this.left = new Int32Array(32 * groups);
    for (let x = 0; x < w; x++) {
      if (h & 31) this.covered[(x + 1) * this.words - 1] = -1 << (h & 31); // rows that are not there
      for (let word = 0; word < this.words; word++) this.left[this.block(x, word)]!++;
    }
  }

  /** The block that a word of a column belongs to. */
  private block(x: number, word: number): number {
    return 32 * ((x / GROUP) | 0) + (word >> (this.shift - 5));
  }

  /**
   * Adds strokes, the last first. One long function on purpose: numbers that are
   * passed to another one are put on the heap, which took half of the time.
   */
  strokes(s: Strokes, ratio: number): void {
    const { w, h, wide, words, shift, covered, pixels, full } = this;
    for (let i = s.n - 1; i >= 0; i--) {
      const x0 = ((s.x0[i]! - s.area.x) * ratio) / wide;
      const x1 = ((s.x1[i]! - s.area.x) * ratio) / wide;
      const y0 = (s.y0[i]! - s.area.y) * ratio;
      const slope = ((s.y1[i]! - s.area.y) * ratio - y0) / (x1 - x0);
      // Within one pixel column the edge itself moves by the slope, so it is
      // blurred by that much; this is what keeps steep strokes smooth.
      const blur = 1 + Math.abs(slope);
      const start = y0 + slope * (0.5 - x0) + 0.5 * blur - 0.5; // in column x, start + slope · x is the middle
      const half = 0.5 * s.width[i]! * ratio * Math.sqrt(1 + (slope * slope) / (wide * wide));
      const alpha = (256 * s.alpha[i]! + 0.5) | 0;
      const fade = alpha / blur; // a row
      const rgb = s.rgb[i]! | 0;
      const redBlue = rgb & 0xff00ff;
      const greenOne = ((rgb << 8) & 0xff0000) | 1;
      const rise = slope * (GROUP - 1);
      const end = Math.min(w, Math.ceil(x1) | 0) | 0;
      for (let from = Math.max(0, Math.floor(x0) | 0) | 0; from < end;) {
        const group = (from / GROUP) | 0;
        const next = GROUP * (group + 1);
        const till = next < end ? next : end;
        // Rows of the whole group, taken from its first column.
        const y = start + slope * (next - GROUP);
        const high = Math.ceil((rise < 0 ? y + rise : y) - half - blur) | 0;
        const low = (Math.ceil((rise < 0 ? y : y + rise) + half) | 0) - 1;
        let x = from;
        from = next;
        if (low < 0 || high >= h || high > low) continue;
        const blocks =
          (-1 << ((high < 0 ? 0 : high) >> shift)) & (-1 >>> (31 - ((low >= h ? h - 1 : low) >> shift)));
        if ((full[group]! & blocks) === blocks) continue;
        for (; x < till; x++) {
          const bottom = start + slope * x + half;
          const top = bottom - 2 * half;
          const first = Math.ceil(top - blur) | 0;
          const last = (Math.ceil(bottom) | 0) - 1;
          const begin = first < 0 ? 0 : first;
          const stop = last >= h ? h - 1 : last;
          if (begin > stop) continue;
          for (let word = begin >> 5; word <= stop >> 5; word++) {
            const bits = x * words + word;
            let open = ~covered[bits]!;
            if (word === begin >> 5) open &= -1 << (begin & 31);
            if (word === stop >> 5) open &= -1 >>> (31 - (stop & 31));
            let done = 0;
            while (open !== 0) {
              const bit = open & -open;
              open ^= bit;
              const row = (word << 5) + 31 - Math.clz32(bit);
              const at = (x * h + row) << 1;
              // The cover, in 256ths, rises over the rows of the blur, stays, and
              // falls. Bits in place of branches: no processor guesses these.
              const below = ((bottom - row) * fade) | 0;
              const above = ((top - row) * fade) | 0;
              const over = below - alpha;
              const under = above - alpha;
              const upto = alpha + (under & (under >> 31));
              const cover = alpha + (over & (over >> 31)) - (upto & ~(upto >> 31));
              const before = pixels[at + 1]!;
              const k = (Math.imul(255 - (before & 255), cover) + 128) >> 8;
              pixels[at] = (pixels[at]! + Math.imul(redBlue, k)) | 0;
              const now = (before + Math.imul(greenOne, k)) | 0;
              pixels[at + 1] = now;
              done |= bit & ((COVERED - (now & 255)) >> 31);
            }
            if (done !== 0) {
              covered[bits]! |= done;
              if (covered[bits] === -1) this.complete(x, word);
            }
          }
        }
      }
    }
  }

  /** Notes that the pixels of a word are covered, and its block if it was the last one. */
  private complete(x: number, word: number): void {
    const block = this.block(x, word);
    this.left[block]!--;
    if (this.left[block] === 0) this.full[block >> 5]! |= 1 << (block & 31);
  }

  bytes(): Uint8ClampedArray<ArrayBuffer> {
    const { w, h, pixels } = this;
    const out = new Uint8ClampedArray(4 * w * h);
    const words = new Uint32Array(out.buffer);
    for (let x = 0, at = 0; x < w; x++) {
      for (let to = x; to < words.length; to += w, at += 2) {
        const ga = pixels[at + 1]!;
        const a = ga & 255;
        if (a === 0) continue;
        const rb = pixels[at]!;
        const share = SHARE[a]!;
        const red = ((rb >>> 16) * share + 0.5) | 0;
        const green = ((ga >>> 16) * share + 0.5) | 0;
        const blue = ((rb & 0xffff) * share + 0.5) | 0;
        words[to] = red | (green << 8) | (blue << 16) | ((a > 250 ? 255 : a) << 24);
      }
    }
    return out;
  }
}
