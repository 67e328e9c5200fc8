// "Order axes by correlation": asks once for every pair of axes on screen and
// puts those side by side that tell most of each other.
import { ALL, SELECTED, type PairAnswer } from '../api/decode';
import type { Store } from './store';
import { axesShown, axisQuestion, columnOf, orderByCorrelation } from './axes';

const BINS = 64; // enough to tell a relation, few enough for all pairs at once

export function arrange(store: Store, width: number): void {
  const { info, state } = store.snapshot;
  const shown = axesShown(info, state.axes, width);
  if (!info || shown.length < 3) return;
  const axes = shown.map((a) => axisQuestion(columnOf(info, a.column)!, BINS));
  const pairs = axes.flatMap((_, i) => axes.slice(i + 1).map((_, k) => [i, i + 1 + k] as const));
  let done = false;
  const stop = store.subscribe((s) => {
    const mine = s.answers.get('arrange');
    if (done || mine?.pairs.length !== pairs.length) return;
    done = true;
    queueMicrotask(() => {
      stop();
      store.want('arrange', undefined);
      const own = new Map(shown.map((a) => [a.column, a]));
      store.change({
        bottom: 'parallel',
        axes: ordered([...own.keys()], pairs, mine.pairs).map((column) => own.get(column)!),
      });
    });
  });
  store.want('arrange', { axes, pairs });
}

function ordered(
  axes: readonly string[],
  pairs: readonly (readonly [number, number])[],
  answers: readonly PairAnswer[],
): string[] {
  const bits = new Map(
    pairs.map(([i, j], k) => [[axes[i], axes[j]].sort().join(' '), mutualInformation(answers[k]!, ALL)]),
  );
  return orderByCorrelation(axes, (a, b) => bits.get([a, b].sort().join(' ')) ?? 0);
}

/**
 * Mutual information of the two sides of a pair in bits, from its cells: how
 * much knowing one bin says about the other.
 */
export function mutualInformation(pair: PairAnswer, layer: 0 | 1 | 2 = SELECTED): number {
  const counts = pair.counts[layer];
  const left = new Map<number, number>();
  const right = new Map<number, number>();
  let n = 0;
  counts.forEach((c, i) => {
    n += c;
    left.set(pair.left[i]!, (left.get(pair.left[i]!) ?? 0) + c);
    right.set(pair.right[i]!, (right.get(pair.right[i]!) ?? 0) + c);
  });
  let bits = 0;
  counts.forEach((c, i) => {
    if (c > 0) bits += (c / n) * Math.log2((c * n) / (left.get(pair.left[i]!)! * right.get(pair.right[i]!)!));
  });
  return bits;
}
