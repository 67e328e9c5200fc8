// The sums that shares everywhere are of.
import type { Info } from '../api/wire';
import { valueColumn } from './axes';
import type { Questions } from './questions';

export const QUANTILES = [0.5, 0.9, 0.99];

/** Asks for them; undefined if the run has nothing to sum. */
export function totalsQuestion(info: Info | undefined): Questions | undefined {
  const value = info && valueColumn(info);
  return value && { stats: [{ column: value.name, quantiles: QUANTILES }] };
}
