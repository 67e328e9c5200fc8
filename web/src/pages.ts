// Every page, in the order of the bar. A run fills some of them; the others
// stay in the bar, muted, and say why.
import type { Info } from './api/wire';
import type { Page } from './frame/pages';

/** A mesh or a trace alone has no samples; nothing else is known by its kind alone. */
function hasSamples(info: Info | undefined): boolean {
  return (
    info?.kind !== 'trace' && info?.kind !== 'mesh' && (info?.kind !== 'refs' || info.columns.length > 0)
  );
}

function hasReferences(info: Info | undefined): boolean {
  return info?.kind === 'refs' || (info?.kind !== 'trace' && info?.kind !== 'mesh' && info?.refs === true);
}

export const PAGES: readonly Page[] = [
  {
    id: 'memory',
    title: 'Memory',
    without: 'no samples in this run',
    fills: hasSamples,
    selects: () => true,
    undoes: 'samples',
    load: () => import('./pages/memory/MemoryPage.svelte'),
    dialogs: {
      axes: () => import('./pages/memory/AxesDialog.svelte'),
      samples: () => import('./pages/memory/SamplesDialog.svelte'),
    },
  },
  {
    id: 'trace',
    title: 'Trace',
    without: 'no message trace in this run',
    fills: (info) =>
      info?.kind === 'trace' || (info?.kind !== 'refs' && info?.kind !== 'mesh' && info?.trace === true),
    undoes: 'trace',
    load: () => import('./pages/trace/TracePage.svelte'),
    perRun: true,
    keys: [
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
    ],
  },
  {
    id: 'cycles',
    title: 'Cycles',
    without: 'no reference trace in this run',
    fills: hasReferences,
    undoes: 'cycles',
    load: () => import('./pages/cycles/CyclesPage.svelte'),
    perRun: true,
  },
  {
    id: 'locality',
    title: 'Locality',
    without: 'no reference trace in this run: record with isobath record --refs',
    fills: hasReferences,
    undoes: 'samples',
    load: () => import('./pages/locality/LocalityPage.svelte'),
    perRun: true,
    keys: [
      {
        keys: ['ArrowLeft', 'ArrowRight'],
        label: 'Smaller, larger cache; field, set, time',
        pointer: 'move',
      },
      { keys: ['ArrowUp', 'ArrowDown'], label: 'Row, band, lane or line', pointer: 'move' },
      { keys: [',', '.'], label: 'On the curve: cache before, next cache of the machine', pointer: '' },
      { keys: ['Enter'], label: 'Select', pointer: 'click' },
      { keys: ['C', 'Y'], label: 'On an advice: its change, why', pointer: 'Change, Why' },
    ],
  },
  {
    id: 'mesh',
    title: 'Mesh',
    without: 'no mesh in this run',
    // A mesh can be put under any samples.
    fills: (info) => info?.kind !== 'trace' && info?.kind !== 'refs',
    selects: (info) => info.columns.length > 0,
    undoes: 'samples',
    load: () => import('./pages/mesh/MeshPage.svelte'),
    perRun: true,
    keys: [
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
      { keys: ['Escape'], label: 'No cell outlined', pointer: '' },
    ],
  },
];
