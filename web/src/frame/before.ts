// The menu of runs that one with references is compared with.
import type { RunSummary } from '../api/wire';
import { comparedWith } from '../state/before';
import type { Desk } from './context';
import type { MenuItem } from './PopMenu.svelte';

export function beforeItems(
  desk: Desk,
  earlier: readonly RunSummary[],
  before: RunSummary | undefined,
): readonly MenuItem[] {
  const compare = (run: string): void =>
    desk.store.change({ options: comparedWith(desk.snap.state.options, run) });
  return [
    { label: 'nothing', checked: before === undefined, run: () => compare('') },
    ...earlier.map((r) => ({ label: r.name, checked: r.id === before?.id, run: () => compare(r.id) })),
  ];
}
