// Keys of the trace page while its picture has the focus, for the list of keys.
import type { PageKey } from '../../frame/pages';

export const KEYS: readonly PageKey[] = [
  {
    keys: ['ArrowLeft', 'ArrowRight'],
    label: 'Operation before, next operation of the rank',
    pointer: 'move',
  },
  {
    keys: ['ArrowUp', 'ArrowDown'],
    label: 'Nearest operation of the rank above, below',
    pointer: 'move',
  },
  {
    keys: ['Enter'],
    label: 'Select the operation and show where its lateness comes from',
    pointer: 'click',
  },
  {
    keys: [',', '.'],
    label: 'Before, next of what was found; without a find, operation',
    pointer: '‹ ›',
  },
  { keys: ['W', 'S'], label: 'Zoom steps or time in, out', pointer: 'Ctrl+wheel; drag a stretch' },
  { keys: ['A', 'D'], label: 'Pan left, right', pointer: 'Shift+drag, wheel' },
  { keys: ['F'], label: 'Zoom to the chain of the selected operation', pointer: '' },
  { keys: ['0'], label: 'The whole run', pointer: 'double-click background' },
];
