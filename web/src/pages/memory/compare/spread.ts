// Groups of two runs with their levels and latencies: A above, B below, and the
// change that the server has judged.
import { count, plural, DASH, roughly } from '../../../base/format';
import type { Point, Size } from '../../../base/geometry';
import type { Renderer } from '../../../base/renderer';
import type { Compared, ComparedRow, Spread, Spreads } from '../../../api/wire';
import type { ListColumn, ListInput } from '../../../frame/list';
import type { Term } from '../../../state/selection';
import {
  changeText,
  difference,
  signed,
  valueOf,
  verdictText,
  writeValue,
  type Metric,
} from '../views/changes';
import {
  BAR,
  describeLatency,
  describeLevels,
  drawLatency,
  drawLevels,
  groupName,
  SPARK,
} from '../views/spread';

export interface SpreadRow {
  readonly key: readonly string[];
  readonly compared: ComparedRow | undefined; // undefined: too small to be listed, or not to be compared
  readonly a: Spread | undefined; // undefined: not among those that were asked for
  readonly b: Spread | undefined;
}

const THIN = 8; // px of a bar of levels
const BOTH: Size = { w: BAR.w, h: 2 * THIN + 1 };
const SPARKS: Size = { w: 2 * SPARK.w + 12, h: SPARK.h };

/** All groups of either side, those that changed most first. */
export function joinSpreads(a: Spreads, b: Spreads, compared: Compared | undefined): SpreadRow[] {
  const text = (key: readonly string[]): string => key.join('\n');
  const [inA, inB] = [a, b].map((s) => new Map(s.groups.map((g) => [text(g.label), g])));
  const rows = new Map<string, SpreadRow>();
  const add = (key: readonly string[], row: ComparedRow | undefined): void => {
    const k = text(key);
    if (!rows.has(k)) rows.set(k, { key, compared: row, a: inA!.get(k), b: inB!.get(k) });
  };
  for (const row of compared?.groups ?? []) {
    const key = row.keyB ?? row.keyA;
    if (key) add(key, row);
  }
  for (const g of [...b.groups, ...a.groups]) add(g.label, undefined);
  return [...rows.values()];
}

function samplesOf(r: SpreadRow, side: 'a' | 'b'): number | undefined {
  return r[side]?.samples ?? r.compared?.[side].samples;
}

function amount(r: SpreadRow, side: 'a' | 'b', metric: Metric): number | undefined {
  return r.compared ? valueOf(r.compared[side], metric) : samplesOf(r, side);
}

/** A, B, change, low, high and verdict of a group, in what is compared. */
function judged(metric: Metric): ListColumn<SpreadRow>[] {
  const side = (head: string, of: 'a' | 'b'): ListColumn<SpreadRow> => ({
    head,
    tip: `${metric === 'samples' ? 'samples' : metric} of ${head}`,
    right: true,
    text: (r) => (r.compared ? writeValue(amount(r, of, metric), metric) : DASH),
    exact: (r) => (r.compared ? String(amount(r, of, metric) ?? '') : ''),
    title: (r) => `${plural(samplesOf(r, of) ?? 0, 'sample')}`,
  });
  const ratio = (head: 'low' | 'high'): ListColumn<SpreadRow> => ({
    head,
    tip: `${head} end of the change, of the cost in A`,
    right: true,
    text: (r) =>
      r.compared?.[head] === undefined
        ? ''
        : signed(100 * (r.compared[head] - 1), (v) => `${v.toFixed(1)} %`),
    exact: (r) => String(r.compared?.[head] ?? ''),
  });
  return [
    side('A', 'a'),
    side('B', 'b'),
    {
      head: 'change',
      right: true,
      text: (r) => (r.compared ? changeText(r.compared) : DASH),
      exact: (r) => (r.compared ? String((amount(r, 'b', metric) ?? 0) - (amount(r, 'a', metric) ?? 0)) : ''),
      title: (r) => (r.compared ? `${difference(r.compared, metric)}; ${verdictText(r.compared)}` : ''),
    },
    ratio('low'),
    ratio('high'),
    {
      head: 'verdict',
      text: (r) => r.compared?.verdict || 'not tested',
      title: (r) => (r.compared ? verdictText(r.compared) : ''),
    },
  ];
}

export interface SpreadListInput {
  readonly by: readonly string[];
  readonly a: Spreads;
  readonly b: Spreads;
  readonly compared: Compared | undefined;
  readonly metric: Metric;
  readonly term: (key: readonly string[]) => Term | undefined;
}

export function spreadList(input: SpreadListInput): ListInput<SpreadRow> {
  const { by, a, b, metric } = input;
  const about = roughly(b.provenance === 'modelled');
  const pick = (s: Spread | undefined, p: 'p50' | 'p90' | 'p99'): number | undefined => s?.distribution?.[p];
  const quantile = (p: 'p50' | 'p90' | 'p99', side: 'a' | 'b'): ListColumn<SpreadRow> => ({
    head: `${p} ${side.toUpperCase()}`,
    right: true,
    text: (r) => (pick(r[side], p) === undefined ? DASH : about + count(pick(r[side], p)!)),
    exact: (r) => String(pick(r[side], p) ?? ''),
  });
  const both = (f: (s: Spread) => string) => (r: SpreadRow) =>
    `A: ${r.a ? f(r.a) : 'none'}; B: ${r.b ? f(r.b) : 'none'}`;
  const name = (r: SpreadRow): string => groupName(by, { label: r.key });
  return {
    name: 'Spread',
    rows: joinSpreads(a, b, input.compared),
    term: (r) => input.term(r.key),
    samples: (r) => (samplesOf(r, 'a') ?? 0) + (samplesOf(r, 'b') ?? 0),
    columns: [
      {
        head: by.join(':'),
        link: true,
        mono: true,
        most: 240,
        text: name,
        exact: (r) => r.key.join(':'),
        title: (r) => r.key.join(':'),
      },
      ...judged(metric),
      {
        head: 'levels, A above B',
        text: both((s) => describeLevels(s.levels)),
        picture: {
          size: BOTH,
          draw: (r: Renderer, row: SpreadRow, at: Point) => {
            if (row.a) drawLevels(r, row.a.levels, at, THIN);
            if (row.b) drawLevels(r, row.b.levels, { x: at.x, y: at.y + THIN + 1 }, THIN);
          },
        },
      },
      {
        head: 'latency of A and of B, powers of two',
        text: both((s) => describeLatency(s.distribution, b.unit)),
        picture: {
          size: SPARKS,
          draw: (r: Renderer, row: SpreadRow, at: Point) => {
            if (row.a) drawLatency(r, row.a.distribution, at);
            if (row.b) drawLatency(r, row.b.distribution, { x: at.x + SPARK.w + 12, y: at.y });
          },
        },
      },
      ...(['p50', 'p90', 'p99'] as const).flatMap((p) => [quantile(p, 'a'), quantile(p, 'b')]),
    ],
  };
}
