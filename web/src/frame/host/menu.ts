// The menu of a mark: what can be done with its samples, then what the pane
// offers, then what every view does.
import type { Mode } from '../../state/selection';
import { sentence, type View } from '../view';
import type { MenuItem } from '../PopMenu.svelte';

export function markItems<Mark>(
  view: View<Mark>,
  mark: Mark | undefined,
  choose: (mark: Mark, mode: Mode | undefined) => void,
): MenuItem[] {
  if (mark === undefined || !view.wanted(mark)) return [];
  return [
    { label: 'Select', run: () => choose(mark, undefined) },
    { label: 'Add to the selection', run: () => choose(mark, 'add') },
    { label: 'Take out of the selection', run: () => choose(mark, 'remove') },
    { label: 'Select it alone', run: () => choose(mark, 'only') },
    {
      label: 'Copy as text',
      run: () => void navigator.clipboard?.writeText(sentence(view.describe(mark))),
    },
  ];
}
