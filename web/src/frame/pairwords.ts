// What is said beside the change of a whole run.
import { decimal } from '../base/format';

interface Ends {
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

/** The part of an interval by which its middle may be off for one number to stand for both ends. */
const UNEVEN = 0.1;

const signed = (ratio: number): string => `${ratio < 1 ? '−' : '+'}${decimal(100 * Math.abs(ratio - 1), 1)}`;

/**
 * How far a change may be off, and what that covers, in parts that are shown as far as there
 * is room for each in whole. The allowance is for how two runs of one program differ; several
 * runs a side tell that themselves.
 */
export function reachWords(
  { ratio, low, high }: Ends,
  allowance: number,
  design = 'one',
  each = 1,
): readonly [string, string] {
  const even = Math.abs(high + low - 2 * ratio) / 2 <= UNEVEN * (high - low);
  const reach = even ? `± ${decimal(50 * (high - low), 1)}` : `${signed(low)} to ${signed(high)} %`;
  if (design !== 'one') return [reach, design === 'pairs' ? `${each} pairs` : `${each} runs a side`];
  return allowance > 0
    ? [`${reach} ${even ? 'runs differ' : 'as runs differ'}`, 'one run a side']
    : [`${reach} ${even ? 'sampling' : 'by sampling'}`, 'one run a side, run to run not known'];
}
