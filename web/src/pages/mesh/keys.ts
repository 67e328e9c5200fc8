// Keys of the mesh page while its picture has the focus, for the list of keys.
import type { PageKey } from '../../frame/pages';

export const KEYS: readonly PageKey[] = [
  { keys: ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'], label: 'Turn the mesh', pointer: 'drag' },
  { keys: ['Shift+ArrowLeft', 'Shift+ArrowRight'], label: 'Move the mesh', pointer: 'Shift+drag' },
  { keys: ['+', '-'], label: 'Zoom', pointer: 'wheel' },
  { keys: ['Home'], label: 'The first view again', pointer: '' },
  { keys: [',', '.'], label: 'Dump before, next dump', pointer: 'click a stop' },
  {
    keys: ['Enter'],
    label: 'Select the cell again; in the plot, the cells under the cursor',
    pointer: 'click, drag',
  },
  { keys: ['v'], label: 'Arrows of the next vectors, or none', pointer: 'menu arrows' },
  { keys: ['Escape'], label: 'No cell outlined', pointer: '' },
];
