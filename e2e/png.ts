// PNG as the screenshots need it: reads what the browser writes, writes pictures
// of at most 256 colours, which take a third of the space.

import { crc32, deflateSync, inflateSync } from 'node:zlib';

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array; // three bytes a pixel
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Reads a PNG of eight bits a channel, not interlaced; transparency is left out. */
export function decode(file: Buffer): Picture {
  if (!file.subarray(0, 8).equals(SIGNATURE)) throw new Error('not a PNG');
  let head: Buffer | undefined;
  let palette: Buffer | undefined;
  const data: Buffer[] = [];
  for (let at = 8; at < file.length;) {
    const length = file.readUInt32BE(at);
    const body = file.subarray(at + 8, at + 8 + length);
    const type = file.toString('latin1', at + 4, at + 8);
    if (type === 'IHDR') head = body;
    else if (type === 'PLTE') palette = body;
    else if (type === 'IDAT') data.push(body);
    at += 12 + length;
  }
  if (!head || head[8] !== 8 || head[12] !== 0) throw new Error('a PNG of a form that is not read here');
  const width = head.readUInt32BE(0);
  const height = head.readUInt32BE(4);
  const channels = { 2: 3, 3: 1, 6: 4 }[head[9]!];
  if (!channels || (channels === 1 && !palette)) throw new Error(`a PNG of colour type ${head[9]}`);
  const raw = unfiltered(inflateSync(Buffer.concat(data)), width * channels, height, channels);
  const rgb = new Uint8Array(width * height * 3);
  for (let i = 0; i < width * height; i++)
    for (let c = 0; c < 3; c++)
      rgb[3 * i + c] = channels === 1 ? palette![3 * raw[i]! + c]! : raw[channels * i + c]!;
  return { width, height, rgb };
}

/** The width of a PNG, which its first chunk begins with. */
export function widthOf(file: Buffer): number {
  return file.readUInt32BE(16);
}

/** Undoes the filter of each row: the first byte of a row says which. */
function unfiltered(data: Buffer, stride: number, rows: number, step: number): Uint8Array {
  if (data.length !== (stride + 1) * rows) throw new Error('a PNG with too few or too many rows');
  const out = new Uint8Array(stride * rows);
  for (let y = 0; y < rows; y++) {
    const filter = data[y * (stride + 1)]!;
    for (let x = 0; x < stride; x++) {
      const to = y * stride + x;
      const left = x >= step ? out[to - step]! : 0;
      const above = y > 0 ? out[to - stride]! : 0;
      const corner = x >= step && y > 0 ? out[to - stride - step]! : 0;
      out[to] = data[y * (stride + 1) + 1 + x]! + predicted(filter, left, above, corner);
    }
  }
  return out;
}

function predicted(filter: number, left: number, above: number, corner: number): number {
  switch (filter) {
    case 0:
      return 0;
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) >> 1;
    case 4: {
      const p = left + above - corner;
      const [a, b, c] = [Math.abs(p - left), Math.abs(p - above), Math.abs(p - corner)];
      return a <= b && a <= c ? left : b <= c ? above : corner;
    }
    default:
      throw new Error(`a PNG with filter ${filter}`);
  }
}

/**
 * Writes a picture with at most 256 colours. Colours that are near each other
 * become their mean; how near is the least that makes so few.
 */
export function encode(picture: Picture): Buffer {
  for (let step = 1; ; step += step < 4 ? 3 : 4) {
    const indexed = indexedBy(picture, step);
    if (indexed) return written(picture, indexed.palette, indexed.pixels);
  }
}

function indexedBy({ rgb }: Picture, step: number): { palette: Buffer; pixels: Uint8Array } | undefined {
  const places = new Map<number, number>();
  const sums: number[][] = [];
  const pixels = new Uint8Array(rgb.length / 3);
  for (let i = 0; i < pixels.length; i++) {
    const [r, g, b] = [rgb[3 * i]!, rgb[3 * i + 1]!, rgb[3 * i + 2]!];
    const key = (Math.floor(r / step) << 16) | (Math.floor(g / step) << 8) | Math.floor(b / step);
    let place = places.get(key);
    if (place === undefined) {
      if (places.size === 256) return undefined;
      places.set(key, (place = places.size));
      sums.push([0, 0, 0, 0]);
    }
    const sum = sums[place]!;
    sum[0]! += r;
    sum[1]! += g;
    sum[2]! += b;
    sum[3]!++;
    pixels[i] = place;
  }
  const palette = sums.flatMap(([r, g, b, n]) => [r! / n!, g! / n!, b! / n!].map(Math.round));
  return { palette: Buffer.from(palette), pixels };
}

function written({ width, height }: Picture, palette: Buffer, pixels: Uint8Array): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) rows.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('PLTE', palette),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, body: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const out = Buffer.alloc(body.length + 12);
  out.writeUInt32BE(body.length, 0);
  out.set(typed, 4);
  out.writeUInt32BE(crc32(typed), body.length + 8);
  return out;
}
