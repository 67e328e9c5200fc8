// Metrics in words: which ones a view shows, their names, and their values as
// people read them.
import { count, decimal, DASH, percent } from '../../../base/format';
import type { GuideInfo } from '../../../api/wire';

/** A metric and, where it has one, its depth. In links: "latency:L2", "mean". */
export interface Metric {
  readonly name: string;
  readonly depth: string;
}

const NAMES: Readonly<Record<string, string>> = {
  latency: 'average latency',
  imbalance: 'imbalance',
  peak: 'busiest over mean',
  variation: 'variation of load',
  mean: 'mean latency',
  dram: 'from memory',
  remote: 'from another node',
  tlb: 'TLB misses',
  cpus: 'CPUs with samples',
};

export function metricText(m: Metric): string {
  return m.depth ? `${m.name}:${m.depth}` : m.name;
}

/** "average latency · L2" */
export function metricTitle(m: Metric): string {
  const name = NAMES[m.name] ?? m.name;
  return m.depth ? `${name} · ${m.depth}` : name;
}

/** "average latency at L2" */
export function metricPhrase(m: Metric): string {
  return metricTitle(m).replace(' · ', ' at ');
}

/** Reads a metric; undefined if the data does not support it. */
export function readMetric(text: string, info: GuideInfo): Metric | undefined {
  const [name = '', depth = ''] = text.split(':');
  const known = info.metrics.find((m) => m.name === name);
  if (!known) return undefined;
  if (!known.perDepth) return { name, depth: '' };
  return info.depths.includes(depth) ? { name, depth } : undefined;
}

/** Those that suit most data: what an access costs in a cache, and how evenly CPUs work. */
export function defaultMetrics(info: GuideInfo): Metric[] {
  const wanted = ['latency:L2', 'latency:L1', 'mean', 'imbalance:CPU', 'cpus'].flatMap(
    (t) => readMetric(t, info) ?? [],
  );
  const first = wanted[0];
  const second = wanted.find((m) => m.name === 'imbalance' || m.name === 'cpus');
  return [...new Set([first, second])].flatMap((m) => m ?? []);
}

/** The metrics of a link: a list, "none", or nothing for the default. */
export function readMetrics(text: string | undefined, info: GuideInfo): Metric[] {
  if (text === undefined) return defaultMetrics(info);
  return text.split(',').flatMap((t) => readMetric(t, info) ?? []);
}

/** Every metric that the data supports, at every depth. */
export function allMetrics(info: GuideInfo): Metric[] {
  return info.metrics.flatMap((m): Metric[] =>
    m.perDepth ? info.depths.map((depth) => ({ name: m.name, depth })) : [{ name: m.name, depth: '' }],
  );
}

/** A value without its unit: 79.3, 2.12, 25.9 %. */
export function metricValue(v: number | null | undefined, unit: string): string {
  if (v === null || v === undefined) return DASH;
  switch (unit) {
    case 'share':
      return percent(v, 1);
    case 'CPUs':
      return count(v);
    case 'σ':
    case '':
      return decimal(v, 2);
    default: // of latencies
      return decimal(v, 1);
  }
}

/** A value with its unit, as in a sentence. */
export function metricSaid(v: number | null | undefined, unit: string): string {
  const text = metricValue(v, unit);
  return v === null || v === undefined || unit === 'share' || unit === '' ? text : `${text} ${unit}`;
}

/** The ends of a scale, short. */
export function metricEnd(v: number, unit: string): string {
  switch (unit) {
    case 'share':
      return percent(v, 1);
    case 'CPUs':
      return count(v);
    case 'σ':
    case '':
      return decimal(v, Math.abs(v) < 1 ? 2 : 1);
    default: // of latencies
      return decimal(v, v < 10 ? 1 : 0);
  }
}
