// Keys of the locality page while its picture has the focus, for the list of keys.
import type { PageKey } from '../../frame/pages';

export const KEYS: readonly PageKey[] = [
  {
    keys: ['ArrowLeft', 'ArrowRight'],
    label: 'Smaller, larger cache; field, set, time',
    pointer: 'move',
  },
  { keys: ['ArrowUp', 'ArrowDown'], label: 'Row, band, lane or line', pointer: 'move' },
  { keys: [',', '.'], label: 'On the curve: cache before, next cache of the machine', pointer: '' },
  { keys: ['Enter'], label: 'Select', pointer: 'click' },
  { keys: ['C', 'Y'], label: 'On an advice: its change, why', pointer: 'Change, Why' },
];
