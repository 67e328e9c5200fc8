// How a group spreads: the shares of levels as segments of a bar, latencies as
// bars on a scale of powers of two.
import { count, percent } from '../../../base/format';
import type { Point, Size } from '../../../base/geometry';
import type { Paint, Renderer } from '../../../base/renderer';
import type { Theme } from '../../../base/theme';
import type { ColumnInfo, Latencies, LevelCount, Spread, Spreads } from '../../../api/wire';
import { clauseOf, type Term } from '../../../state/selection';
import { levelPaint, levelRank } from './levels';

export const BAR: Size = { w: 180, h: 12 };
export const SPARK: Size = { w: 120, h: 14 };

/** What of a spread a run can have: columns without a value would be dashes alone. */
export function spreadOf(columns: readonly ColumnInfo[]): {
  levels: boolean;
  latency: boolean;
  lacks: string;
} {
  const has = (name: string): boolean => columns.some((c) => c.name === name && c.provenance !== 'absent');
  const [levels, latency] = [has('level'), has('latency')];
  const lacking = [...(latency ? [] : ['latency']), ...(levels ? [] : ['level'])];
  return {
    levels,
    latency,
    lacks: lacking.length === 0 ? '' : `samples have no ${lacking.join(' and no ')}`,
  };
}

/** The paint of a level in the mix; what was not recorded is outlined. */
export function segmentPaint(level: string, theme: Theme): Paint {
  return level ? levelPaint(level, theme) : { stroke: theme.muted, dash: [2, 2] };
}

/** The level mix as a bar. */
export function drawLevels(r: Renderer, levels: readonly LevelCount[], at: Point, h = BAR.h): void {
  for (const s of segments(levels)) {
    const box = {
      x: at.x + s.from * BAR.w,
      y: at.y,
      w: Math.max((s.to - s.from) * BAR.w - 0.5, 0.5),
      h,
    };
    r.rect(box, segmentPaint(s.name, r.theme));
  }
}

/** Latencies as bars, one a power of two. */
export function drawLatency(r: Renderer, l: Latencies | null, at: Point): void {
  const all = bars(l);
  const w = Math.min(14, SPARK.w / Math.max(1, all.length));
  all.forEach((b, i) => {
    const h = Math.max(b.height * SPARK.h, b.samples > 0 ? 1 : 0);
    if (h > 0) r.rect({ x: at.x + i * w, y: at.y + SPARK.h - h, w: w - 1, h }, { fill: r.theme.selected });
  });
}

export interface Segment {
  readonly name: string; // empty: not recorded
  readonly samples: number;
  readonly from: number; // 0 … 1 along the bar
  readonly to: number;
}

/** Nearest level first, so that bars of different groups compare. */
export function segments(levels: readonly LevelCount[]): Segment[] {
  const sorted = [...levels].sort((a, b) => rank(a.name) - rank(b.name));
  const whole = sorted.reduce((n, l) => n + l.samples, 0);
  let at = 0;
  return sorted.map((l) => {
    const from = at / whole;
    at += l.samples;
    return { name: l.name, samples: l.samples, from, to: at / whole };
  });
}

function rank(name: string): number {
  return name === '' ? Infinity : levelRank(name);
}

export interface Bar {
  readonly lo: number; // latency from which on
  readonly hi: number; // below which
  readonly samples: number;
  readonly height: number; // 0 … 1
}

/** One bar for each power of two that has samples or lies between such. */
export function bars(l: Latencies | null): Bar[] {
  if (!l) return [];
  const first = l.bins.findIndex((n) => n > 0);
  const most = Math.max(...l.bins);
  return l.bins.slice(Math.max(first, 0)).map((samples, i) => {
    const k = Math.max(first, 0) + i;
    return { lo: k === 0 ? 0 : 2 ** (k - 1), hi: 2 ** k, samples, height: samples / most };
  });
}

/** The distribution in words, for tooltips and for people who do not see it. */
export function describeLevels(levels: readonly LevelCount[]): string {
  const parts = segments(levels);
  const whole = parts.reduce((n, s) => n + s.samples, 0);
  return parts.length === 0
    ? 'no levels recorded'
    : parts.map((s) => `${s.name || 'not recorded'} ${percent(s.samples, whole)}`).join(', ');
}

export function describeLatency(l: Latencies | null, unit: string): string {
  if (!l) return 'no latency recorded';
  return `half below ${count(l.p50)}, 90 % below ${count(l.p90)}, 99 % below ${count(l.p99)}, at most ${`${count(l.max)} ${unit}`.trim()}`;
}

/** The samples of a group; lines that have no number cannot be selected. */
export function groupTerm(
  by: readonly string[],
  key: readonly string[],
  columns: readonly ColumnInfo[],
): Term | undefined {
  if (by[0] === 'file' && by[1] === 'line')
    return key[0] && key[1] ? { kind: 'line', file: key[0], line: Number(key[1]) } : undefined;
  const terms = by.map((column, i): Term => {
    const value = key[i] ?? '';
    if (value === '') return { kind: 'missing', column, not: false };
    const number = columns.find((c) => c.name === column)?.kind === 'number';
    return { kind: 'values', column, values: [number ? Number(value) : value] };
  });
  return terms.length === 1 ? terms[0] : { kind: 'all', clauses: terms.map((t) => clauseOf(t)) };
}

/** The name of a group: a line with its file, a member with its object. */
export function groupName(by: readonly string[], g: Pick<Spread, 'label'>): string {
  const parts = g.label.map((k, i) => (by[i] === 'file' ? k.slice(k.lastIndexOf('/') + 1) : k));
  if (parts.every((p) => p === '')) return '(not recorded)';
  return parts.map((p) => p || '?').join(by[0] === 'symbol' ? '.' : ':');
}

/** The groups of one of two runs in an order of both, so that each stays where it is when the other is shown. */
export function besideSpreads(own: Spreads, other: Spreads): Spreads {
  const text = (g: Spread): string => g.label.join('\n');
  const inOther = new Map(other.groups.map((g) => [text(g), g.samples]));
  const inOwn = new Set(own.groups.map(text));
  const only = other.groups.filter((g) => !inOwn.has(text(g)));
  const both = (g: Spread): number => g.samples + (inOther.get(text(g)) ?? 0);
  const empty = only.map((g): Spread => ({ label: g.label, samples: 0, levels: [], distribution: null }));
  return {
    ...own,
    groups: [...own.groups, ...empty].sort((p, q) => both(q) - both(p) || (text(p) < text(q) ? -1 : 1)),
  };
}
