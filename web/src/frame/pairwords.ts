// What is asked and said of the change of a whole run.
import { decimal } from '../base/format';
import type { AskCompare, Compared, Info, Pair } from '../api/wire';

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
  [a, b]: readonly [number, number] = [1, 1],
): readonly [string, string] {
  const even = Math.abs(high + low - 2 * ratio) / 2 <= UNEVEN * (high - low);
  const reach = even ? `± ${decimal(50 * (high - low), 1)}` : `${signed(low)} to ${signed(high)} %`;
  if (design !== 'one')
    return [reach, design === 'pairs' ? `${a} pairs` : a === b ? `${a} runs a side` : `${a} and ${b} runs`];
  return allowance > 0
    ? [`${reach} ${even ? 'runs differ' : 'as runs differ'}`, 'one run a side']
    : [`${reach} ${even ? 'sampling' : 'by sampling'}`, 'one run a side, run to run not known'];
}

/** Asks for a whole run, with a few groups: any that both runs have. */
export function askWhole(info: Info, metric: string, where: string): AskCompare | undefined {
  const by = ['level', 'function', 'symbol', 'cpu', 'tid'].find(
    (n) => info.columns.some((c) => c.name === n) && !info.pair?.unlike.some((u) => u.column === n),
  );
  return by === undefined ? undefined : { with: '', by: [by], metric, where, top: 1 };
}

/** How many runs each side has of what is selected: a selection may name some. */
export function runsEach(pair: Pair, found: Compared | undefined): readonly [number, number] {
  if (!found || pair.each === 1) return [pair.each, pair.each];
  return [found.runsA?.length ?? 1, found.runsB?.length ?? 1];
}
