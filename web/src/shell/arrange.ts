// "Order axes by correlation": asks once for every pair of axes on screen and
// puts those side by side that tell most of each other.
import { ALL, type PairAnswer } from '../model/decode';
import type { Store } from '../model/store';
import { axisQuestion, columnOf, orderByCorrelation } from '../views/axes';
import { mutualInformation } from '../views/density';
import { axesShown } from './commands';

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
      store.change({ bottom: 'parallel', axes: ordered([...own.keys()], pairs, mine.pairs).map((column) => own.get(column)!) });
    });
  });
  store.want('arrange', { axes, pairs });
}

function ordered(axes: readonly string[], pairs: readonly (readonly [number, number])[], answers: readonly PairAnswer[]): string[] {
  const bits = new Map(pairs.map(([i, j], k) => [[axes[i], axes[j]].sort().join(' '), mutualInformation(answers[k]!, ALL)]));
  return orderByCorrelation(axes, (a, b) => bits.get([a, b].sort().join(' ')) ?? 0);
}
