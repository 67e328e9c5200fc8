// How two runs differ, in words: numbers with their sign, what noise explains
// marked as such. Colour never stands alone.
import { decimal, DASH, short } from '../../../base/format';
import type { ComparedCell, ComparedRow } from '../../../api/wire';

export type Metric = 'cost' | 'share' | 'samples' | 'mean';
export const METRICS: readonly Metric[] = ['cost', 'share', 'samples', 'mean'];

const MINUS = '−';

/** A number with its sign; zero has none. */
export function signed(n: number, write: (abs: number) => string): string {
  if (n === 0) return write(0);
  return (n < 0 ? MINUS : '+') + write(Math.abs(n));
}

/** What is compared of one side; undefined where it has none. */
export function valueOf(cell: ComparedCell, metric: Metric): number | undefined {
  switch (metric) {
    case 'share':
      return 100 * cell.share;
    case 'mean':
      return cell.mean;
    default:
      return cell.cost;
  }
}

export function writeValue(v: number | undefined, metric: Metric): string {
  if (v === undefined) return DASH;
  if (metric === 'share') return `${decimal(v, 1)} %`;
  return metric === 'mean' ? decimal(v, 1) : short(v);
}

/** B − A of what is compared. */
export function difference(row: ComparedRow, metric: Metric): string {
  const a = valueOf(row.a, metric);
  const b = valueOf(row.b, metric);
  if (a === undefined || b === undefined) return DASH;
  return signed(b - a, (n) => (metric === 'share' ? `${decimal(n, 1)} points` : writeValue(n, metric)));
}

const percentOf = (ratio: number): string => signed(100 * (ratio - 1), (n) => `${decimal(n, 1)} %`);

/** "▼ −52.8 %", "new", "gone"; with a mark where it is not sure. */
export function changeText(row: ComparedRow): string {
  if (row.ratio === undefined) {
    if (row.a.samples === 0 && row.b.samples > 0) return 'new';
    if (row.b.samples === 0 && row.a.samples > 0) return 'gone';
    return row.a.cost > 0 ? `${percentOf(row.b.cost / row.a.cost)} ·` : DASH;
  }
  const arrow = row.verdict === 'more' ? '▲ ' : row.verdict === 'less' ? '▼ ' : '';
  return `${arrow}${percentOf(row.ratio)}${row.mark ? ` ${row.mark}` : ''}`;
}

export function intervalText(row: ComparedRow): string {
  return row.low === undefined || row.high === undefined
    ? ''
    : `${percentOf(row.low)} … ${percentOf(row.high)}`;
}

/** Why a row is marked as it is. */
export function verdictText(row: ComparedRow): string {
  if (row.detectable === undefined) return 'too small to be tested alone';
  if (row.verdict === 'more' || row.verdict === 'less') return `sure: ${row.verdict} in B`;
  if (row.verdict === 'same') return 'the same within 5 %';
  const why = row.mark === '?' ? 'runs of one program differ as much' : 'within the luck of sampling';
  return `unsure: ${why}; a change of ${decimal(100 * row.detectable, 0)} % would show`;
}

/** The name of a row, with the one in A where it was another. */
export function rowName(row: ComparedRow): string {
  const a = row.keyA?.at(-1);
  const b = row.keyB?.at(-1);
  return a && b && a !== b ? `${row.label} (was ${a})` : row.label;
}
