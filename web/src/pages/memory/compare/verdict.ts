// What chance may do to a difference of two counts, for pictures that show many:
// lists get their intervals and verdicts from the server, which controls false
// discoveries over all of them.

export const VERDICT_HEAD = ['A', 'B', 'change', 'low', 'high', 'verdict'] as const;

const SURE = 3; // standard errors: a picture shows hundreds of counts at once

/** What counts are multiplied by, and how much two runs of one program differ. */
export interface Chance {
  readonly scaleA?: number;
  readonly scaleB?: number;
  readonly allowance?: number; // a standard deviation of the logarithm of either
}

export function changeOf(a: number, b: number, { scaleA = 1, scaleB = 1 }: Chance = {}): number {
  return b * scaleB - a * scaleA;
}

/** The standard error of a difference of counts: by sampling, and by how runs differ. */
export function changeError(a: number, b: number, c: Chance = {}): number {
  const { scaleA = 1, scaleB = 1, allowance = 0 } = c;
  const part = (n: number, scale: number): number => n * scale * scale * (1 + allowance * allowance * n);
  return Math.sqrt(part(a, scaleA) + part(b, scaleB));
}

export function beyondNoise(a: number, b: number, c: Chance = {}): boolean {
  return Math.abs(changeOf(a, b, c)) > SURE * changeError(a, b, c);
}

/** Low, high and verdict of a difference whose standard error is known. */
export function verdictOf(
  change: number,
  error: number,
): readonly [low: string, high: string, verdict: string] {
  const reach = SURE * error;
  const verdict = Math.abs(change) > reach ? (change > 0 ? 'more' : 'less') : 'unsure';
  return [String(change - reach), String(change + reach), verdict];
}

export function countVerdict(a: number, b: number, c: Chance = {}): ReturnType<typeof verdictOf> {
  return verdictOf(changeOf(a, b, c), changeError(a, b, c));
}

export const NOT_TESTED = ['', '', 'not tested'] as const;

/** Change, low, high and verdict of values that do not compare. */
export const NOT_COMPARED = ['', '', '', 'not compared'] as const;
