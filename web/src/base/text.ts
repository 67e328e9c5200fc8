// Text is measured before it is placed: no font is shipped, and the fallbacks
// differ by 12 % in width.
import { MONO, SANS } from './theme';

export interface Font {
  readonly size: number;
  readonly weight?: number;
  readonly mono?: boolean;
  readonly italic?: boolean;
}

export type Measure = (text: string, font: Font) => number;

export function cssFont(f: Font): string {
  return `${f.italic ? 'italic ' : ''}${f.weight ?? 400} ${f.size}px ${f.mono ? MONO : SANS}`;
}

/** A measure by the browser's own text layout, remembering what it has seen. */
export function canvasMeasure(context: CanvasRenderingContext2D): Measure {
  const seen = new Map<string, number>();
  return (text, font) => {
    const css = cssFont(font);
    const key = css + text;
    let w = seen.get(key);
    if (w === undefined) {
      context.font = css;
      w = context.measureText(text).width;
      if (seen.size > 20_000) seen.clear();
      seen.set(key, w);
    }
    return w;
  };
}

/** A measure without a browser: average widths of a sans face. For tests. */
export const roughMeasure: Measure = (text, font) => {
  let w = 0;
  for (const c of text)
    w += /[ilj.,:;'|\u202f]/.test(c) ? 0.3 : /[mwMW]/.test(c) ? 0.85 : /[A-Z]/.test(c) ? 0.65 : 0.56;
  return (font.mono ? [...text].length * 0.6 : w) * font.size * ((font.weight ?? 400) >= 600 ? 1.05 : 1);
};

/** Cuts text with "…" at the width it may have. */
export function fit(text: string, width: number, font: Font, measure: Measure): string {
  if (measure(text, font) <= width) return text;
  let lo = 0;
  let hi = text.length;
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if (measure(`${text.slice(0, mid)}…`, font) <= width) lo = mid;
    else hi = mid - 1;
  }
  return lo === 0 ? '' : `${text.slice(0, lo)}…`;
}

/** Cuts a name in its middle: names such as "memory at 0x48506ad" and "kernel.c:118" are told apart by their ends. */
export function cutInside(name: string, width: number, font: Font, measure: Measure): string {
  if (measure(name, font) <= width) return name;
  const cut = (kept: number): string => {
    const end = Math.ceil(kept / 2);
    return `${name.slice(0, kept - end)}…${name.slice(name.length - end)}`;
  };
  let [lo, hi] = [0, name.length - 1];
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if (measure(cut(mid), font) <= width) lo = mid;
    else hi = mid - 1;
  }
  return lo === 0 ? '' : cut(lo);
}

/** Cuts names at their ends, and those that would read the same then in their middles. */
export function fitApart(names: readonly string[], width: number, font: Font, measure: Measure): string[] {
  const cut = names.map((n) => fit(n, width, font, measure));
  const meant = new Map<string, Set<string>>(); // by each cut name
  cut.forEach((c, i) => meant.set(c, (meant.get(c) ?? new Set()).add(names[i]!)));
  return cut.map((c, i) => (meant.get(c)!.size > 1 ? cutInside(names[i]!, width, font, measure) : c));
}

// A number with what belongs to it: that it is about, groups of three digits, a short unit.
const WHOLE =
  /(?<![\p{L}\d.])(?:≈ )?[+−-]?\d+(?: \d{3}(?!\d))*(?:[.,]\d+)?(?: (?:%|σ|×|[nµm]?s|[kKMGT]i?B|B|[kMGT]))?(?![\p{L}\d])/gu;

/** The parts of a sentence: text that may be broken, a number that may not, text, and so on. */
export function unparted(sentence: string): string[] {
  const parts: string[] = [];
  let at = 0;
  for (const { 0: number, index } of sentence.matchAll(WHOLE)) {
    if (!number.includes(' ')) continue;
    parts.push(sentence.slice(at, index), number);
    at = index + number.length;
  }
  return [...parts, sentence.slice(at)];
}
