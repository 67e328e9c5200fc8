// Colour arithmetic. Mixing is done in OKLab (Ottosson 2020), so that steps
// between two tokens look even; amounts use viridis or cividis.
export type Rgb = readonly [number, number, number]; // 0 … 255

const parsed = new Map<string, Rgb>();

/** Reads "#rrggbb", "#rgb" or "rgb(r, g, b)", the forms tokens and d3 use. */
export function parseColor(text: string): Rgb {
  const known = parsed.get(text);
  if (known) return known;
  const rgb = parseFresh(text.trim());
  parsed.set(text, rgb);
  return rgb;
}

function parseFresh(text: string): Rgb {
  const call = /^rgba?\(\s*([\d.]+)[,\s]+([\d.]+)[,\s]+([\d.]+)/.exec(text);
  if (call) return [Number(call[1]), Number(call[2]), Number(call[3])];
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(text);
  const hex = short ? `${short[1]}${short[1]}${short[2]}${short[2]}${short[3]}${short[3]}` : text.slice(1);
  if (!text.startsWith('#') || !/^[0-9a-f]{6}$/i.test(hex)) throw new Error(`"${text}" is not a colour`);
  const n = Number.parseInt(hex, 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

export function toHex([r, g, b]: Rgb): string {
  const channel = (v: number): string =>
    Math.round(Math.max(0, Math.min(255, v)))
      .toString(16)
      .padStart(2, '0');
  return `#${channel(r)}${channel(g)}${channel(b)}`;
}

function toLinear(v: number): number {
  const c = v / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

function fromLinear(v: number): number {
  const c = v <= 0.0031308 ? 12.92 * v : 1.055 * Math.max(v, 0) ** (1 / 2.4) - 0.055;
  return c * 255;
}

export type Lab = readonly [number, number, number];

export function toOklab(rgb: Rgb): Lab {
  const [r, g, b] = [toLinear(rgb[0]), toLinear(rgb[1]), toLinear(rgb[2])];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

export function fromOklab([L, a, b]: Lab): Rgb {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    fromLinear(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    fromLinear(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    fromLinear(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

/** a at t = 0, b at t = 1, evenly between. */
export function mix(a: string, b: string, t: number): string {
  if (t <= 0) return toHex(parseColor(a));
  if (t >= 1) return toHex(parseColor(b));
  const [p, q] = [toOklab(parseColor(a)), toOklab(parseColor(b))];
  return toHex(fromOklab([p[0] + (q[0] - p[0]) * t, p[1] + (q[1] - p[1]) * t, p[2] + (q[2] - p[2]) * t]));
}

/** Relative luminance of WCAG 2, 0 … 1. */
export function luminance(text: string): number {
  const [r, g, b] = parseColor(text);
  return 0.2126 * toLinear(r) + 0.7152 * toLinear(g) + 0.0722 * toLinear(b);
}

export function contrast(a: string, b: string): number {
  const [p, q] = [luminance(a) + 0.05, luminance(b) + 0.05];
  return p > q ? p / q : q / p;
}

/** Black or white, whichever reads on this fill. */
export function inkOn(fill: string): string {
  return luminance(fill) > 0.3 ? '#000000' : '#ffffff';
}

export type AmountMap = 'viridis' | 'cividis';

// 33 colours of each map, evenly spaced; between them OKLab is exact to one
// step of a channel (color.test.ts compares with the full tables).
const STOPS: Readonly<Record<AmountMap, readonly string[]>> = {
  viridis: (
    '440154 470d60 48186a 482374 472d7b 453781 424086 3e4989 3b528b 375b8d 33638d ' +
    '2f6b8e 2c728e 297a8e 26828e 23898e 21918c 1f988b 1fa088 22a785 28ae80 32b67a ' +
    '3fbc73 4ec36b 5ec962 70cf57 84d44b 98d83e addc30 c2df23 d8e219 ece51b fde725'
  ).split(' '),
  cividis: (
    '002051 00265d 012b65 083169 11366c 1c3c6e 26426e 31476e 3c4d6e 47536d 51586e ' +
    '5a5e6e 62646f 6a6a70 727071 797673 7f7c75 868276 8c8877 938e78 9a9478 a19b78 ' +
    'a9a177 b2a874 bbaf71 c5b66d cebd68 d8c462 e2cb5c ebd355 f3da4f fae249 fdea45'
  ).split(' '),
};

/** A map's own colour at 0 … 1. */
export function mapColor(map: AmountMap, at: number): string {
  const stops = STOPS[map];
  const x = Math.max(0, Math.min(1, at)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(x));
  return mix(`#${stops[i]!}`, `#${stops[i + 1]!}`, x - i);
}

/**
 * The colour of an amount t in 0 … 1: more is further from the background, so
 * the light theme runs the map backwards and only to 0.94, before its palest
 * yellow.
 */
export function amountColor(t: number, dark: boolean, map: AmountMap = 'viridis'): string {
  const at = 0.04 + 0.92 * Math.max(0, Math.min(1, t));
  return mapColor(map, dark ? at : 0.94 * (1 - at));
}
