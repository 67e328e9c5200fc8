// What chance may do to a difference of two counts, for pictures that show many:
// lists get their intervals and verdicts from the server, which controls false
// discoveries over all of them.

export const VERDICT_HEAD = ['A', 'B', 'change', 'low', 'high', 'verdict'] as const;

const SURE = 3; // standard errors: a picture shows hundreds of counts at once

/** The standard error of b·scaleB − a·scaleA, by sampling. */
export function changeError(a: number, b: number, scaleA = 1, scaleB = 1): number {
  return Math.sqrt(a * scaleA * scaleA + b * scaleB * scaleB);
}

export function beyondNoise(a: number, b: number, scaleA = 1, scaleB = 1): boolean {
  return Math.abs(b * scaleB - a * scaleA) > SURE * changeError(a, b, scaleA, scaleB);
}

/** Low, high and verdict of a difference of counts, by sampling. */
export function countVerdict(
  a: number,
  b: number,
  scaleA = 1,
  scaleB = 1,
): readonly [low: string, high: string, verdict: string] {
  const change = b * scaleB - a * scaleA;
  const reach = SURE * changeError(a, b, scaleA, scaleB);
  const verdict = Math.abs(change) > reach ? (change > 0 ? 'more' : 'less') : 'unsure';
  return [String(change - reach), String(change + reach), verdict];
}
