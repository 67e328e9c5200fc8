// Numbers of trials and studies in words.
import { decimal, duration, percent, short } from '../../base/format';

/** A change as a fraction, with its sign. */
export function signed(change: number): string {
  return `${points(change)} %`;
}

function points(change: number): string {
  const v = 100 * change;
  return v === 0 ? '0' : `${v < 0 ? '−' : '+'}${decimal(Math.abs(v), 1)}`;
}

export function between(low: number | null, high: number | null): string {
  return low === null || high === null ? '' : `${points(low)} to ${signed(high)}`;
}

export const seconds = (s: number): string => duration(s);

export function value(v: number | null): string {
  if (v === null) return '–';
  return Math.abs(v) >= 1000 ? short(v) : String(Number(v.toPrecision(4)));
}

/**
 * How a law grows over the values measured, and how far predictions of values that were
 * left out are off on average, which is no bound.
 */
export function growth(law: {
  parameter: string;
  exponent: number;
  low: number;
  high: number;
  error: number;
}): string {
  const power = (v: number) => decimal(v, 2);
  const over = `as ${law.parameter}^${power(law.exponent)} (${power(law.low)} to ${power(law.high)}) in all`;
  return `${over}; predictions ${percent(law.error, 1)} off on average`;
}
