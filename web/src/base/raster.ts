// The software rasteriser for strokes. Canvas2D takes 110–166 ms for 11 000
// wide lines without a GPU; strokes that run between two vertical edges need
// only, in each pixel column, the span they cover.
import type { Strokes } from './renderer';

/** Pixels of the strokes' area, premultiplied, four floats each. */
export interface Layer {
  readonly w: number;
  readonly h: number;
  readonly rgba: Float32Array;
}

export function rasterize(s: Strokes, ratio: number): Layer {
  const w = Math.max(1, Math.ceil(s.area.w * ratio));
  const h = Math.max(1, Math.ceil(s.area.h * ratio));
  const rgba = new Float32Array(4 * w * h);
  for (let i = 0; i < s.n; i++) stroke(s, i, ratio, rgba, w, h);
  return { w, h, rgba };
}

function stroke(s: Strokes, i: number, ratio: number, rgba: Float32Array, w: number, h: number): void {
  const x0 = (s.x0[i]! - s.area.x) * ratio;
  const x1 = (s.x1[i]! - s.area.x) * ratio;
  const y0 = (s.y0[i]! - s.area.y) * ratio;
  const slope = ((s.y1[i]! - s.area.y) * ratio - y0) / (x1 - x0);
  const half = 0.5 * s.width[i]! * ratio * Math.sqrt(1 + slope * slope);
  // Within one pixel column the edge itself moves by the slope, so it is
  // blurred by that much; this is what keeps steep strokes smooth.
  const blur = 1 + Math.abs(slope);
  const rgb = s.rgb[i]!;
  const [r, g, b] = [rgb >> 16, (rgb >> 8) & 255, rgb & 255];
  const alpha = s.alpha[i]!;
  // In each column the cover rises over `blur` rows, stays, and falls; outside
  // the ramps it needs no arithmetic, so only the rows in between are visited.
  const inverse = 1 / blur;
  const last = Math.min(w, Math.ceil(x1));
  const lift = 0.5 * blur - 0.5;
  const stride = 4 * w;
  for (let x = Math.max(0, Math.floor(x0)); x < last; x++) {
    const y = y0 + slope * (x + 0.5 - x0) + lift;
    const top = y - half;
    const bottom = y + half;
    const from = Math.max(0, Math.ceil(top - blur));
    const till = Math.min(h - 1, Math.ceil(bottom) - 1);
    let at = from * stride + 4 * x;
    for (let row = from; row <= till; row++, at += stride) {
      const below = (bottom - row) * inverse;
      const above = (top - row) * inverse;
      const a = alpha * ((below > 1 ? 1 : below) - (above > 1 ? 1 : above < 0 ? 0 : above));
      const keep = 1 - a;
      rgba[at] = rgba[at]! * keep + r * a;
      rgba[at + 1] = rgba[at + 1]! * keep + g * a;
      rgba[at + 2] = rgba[at + 2]! * keep + b * a;
      rgba[at + 3] = rgba[at + 3]! * keep + a;
    }
  }
}

/** Straight (not premultiplied) bytes, as ImageData wants them. */
export function toBytes(layer: Layer): Uint8ClampedArray<ArrayBuffer> {
  const bytes = new Uint8ClampedArray(layer.rgba.length);
  const { rgba } = layer;
  for (let at = 0; at < rgba.length; at += 4) {
    const a = rgba[at + 3]!;
    if (a === 0) continue;
    bytes[at] = rgba[at]! / a;
    bytes[at + 1] = rgba[at + 1]! / a;
    bytes[at + 2] = rgba[at + 2]! / a;
    bytes[at + 3] = 255 * a;
  }
  return bytes;
}
