// Numbers of trials and studies in words.
import { decimal, duration, short } from '../../base/format';

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
