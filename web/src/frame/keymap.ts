// Every key of the page, once: the help dialog, tooltips and the command list
// are made from this table.
import { matches, type KeyEvent } from '../base/keys';

export type Action =
  | 'undo'
  | 'redo'
  | 'invert'
  | 'filter'
  | 'hide'
  | 'select-all'
  | 'command'
  | 'help'
  | 'open'
  | 'export'
  | 'table'
  | 'copy-link'
  | 'copy-link-only'
  | 'theme'
  | 'side-panes'
  | 'zoom-in'
  | 'zoom-out'
  | 'pan-left'
  | 'pan-right'
  | 'fit'
  | 'reset'
  | 'pin'
  | 'back'
  | 'forward'
  | 'save'
  | 'find'
  | 'show-a'
  | 'show-b'
  | 'show-change'
  | 'close'
  | 'menu'
  | `view-${1 | 2 | 3 | 4 | 5 | 6}`
  | 'pick'
  | 'pick-add'
  | 'pick-remove'
  | 'pick-only'
  | 'move'
  | 'extend'
  | 'next'
  | 'previous';

export interface Binding {
  readonly action: Action;
  readonly keys: readonly string[];
  readonly label: string;
  readonly group: 'Selection' | 'Views' | 'Marks' | 'Page';
  /** Works only while a view has the focus. */
  readonly inView?: true;
  readonly pointer?: string;
  readonly page?: 'memory'; // where alone it does something
}

export const KEYMAP: readonly Binding[] = [
  {
    action: 'pick',
    keys: ['Enter'],
    label: 'Select the mark; other clauses stay',
    group: 'Marks',
    inView: true,
    pointer: 'click',
  },
  {
    action: 'pick-add',
    keys: ['Shift+Enter'],
    label: 'Add the mark to others of its kind',
    group: 'Marks',
    inView: true,
    pointer: 'Shift+click',
  },
  {
    action: 'pick-remove',
    keys: ['Alt+Enter'],
    label: 'Take the mark out of the selection',
    group: 'Marks',
    inView: true,
    pointer: 'Alt+click',
  },
  {
    action: 'pick-only',
    keys: ['Ctrl+Enter'],
    label: 'Select the mark alone; other clauses go',
    group: 'Marks',
    inView: true,
    pointer: 'Ctrl+click',
  },
  {
    action: 'move',
    keys: ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'],
    label: 'Move the cursor mark',
    group: 'Marks',
    inView: true,
    pointer: 'move',
  },
  {
    action: 'extend',
    keys: ['Shift+ArrowLeft', 'Shift+ArrowRight', 'Shift+ArrowUp', 'Shift+ArrowDown'],
    label: 'Select a range from the cursor mark; on an axis head, move the axis',
    group: 'Marks',
    inView: true,
    pointer: 'drag',
  },
  { action: 'next', keys: ['.'], label: 'Next mark with samples', group: 'Marks', inView: true },
  { action: 'previous', keys: [','], label: 'Previous mark with samples', group: 'Marks', inView: true },
  { action: 'pin', keys: ['P'], label: 'Pin the tooltip', group: 'Marks', inView: true },
  {
    action: 'menu',
    keys: ['Shift+F10', 'ContextMenu'],
    label: 'Menu of the mark',
    group: 'Marks',
    inView: true,
    pointer: 'right click',
  },

  { action: 'show-a', keys: ['Shift+A'], label: 'Of two runs: show A', group: 'Views', pointer: 'A' },
  { action: 'show-b', keys: ['Shift+B'], label: 'Of two runs: show B', group: 'Views', pointer: 'B' },
  {
    action: 'show-change',
    keys: ['Shift+D'],
    label: 'Of two runs: show their difference',
    group: 'Views',
    pointer: 'Difference',
  },
  { action: 'undo', keys: ['Ctrl+Z'], label: 'Undo the selection', group: 'Selection', pointer: 'Back' },
  {
    action: 'redo',
    keys: ['Ctrl+Shift+Z', 'Ctrl+Y'],
    label: 'Redo the selection',
    group: 'Selection',
    pointer: 'Forward',
  },
  { action: 'invert', keys: ['I'], label: 'Invert the selection', group: 'Selection' },
  { action: 'filter', keys: ['K'], label: 'Filter to the selection', group: 'Selection' },
  { action: 'hide', keys: ['H'], label: 'Hide the selection', group: 'Selection' },
  { action: 'select-all', keys: ['Ctrl+Shift+A'], label: 'Select everything', group: 'Selection' },

  {
    action: 'zoom-in',
    keys: ['W', '+', '='],
    label: 'Zoom in at the cursor mark',
    group: 'Views',
    inView: true,
    pointer: 'Ctrl+wheel, double-click',
  },
  {
    action: 'zoom-out',
    keys: ['S', '-'],
    label: 'Zoom out',
    group: 'Views',
    inView: true,
    pointer: 'Ctrl+wheel',
  },
  { action: 'pan-left', keys: ['A'], label: 'Pan left', group: 'Views', inView: true, pointer: 'Shift+drag' },
  { action: 'pan-right', keys: ['D'], label: 'Pan right', group: 'Views', inView: true },
  { action: 'fit', keys: ['F'], label: 'Zoom to the selection', group: 'Views', inView: true },
  {
    action: 'reset',
    keys: ['0'],
    label: 'Reset the zoom',
    group: 'Views',
    inView: true,
    pointer: 'double-click background',
  },
  { action: 'table', keys: ['T'], label: 'Show the view as a table', group: 'Views', inView: true },
  { action: 'export', keys: ['E'], label: 'Export the view', group: 'Views' },
  { action: 'view-1', keys: ['1'], label: 'Go to Top offenders', group: 'Views', page: 'memory' },
  { action: 'view-2', keys: ['2'], label: 'Go to Code', group: 'Views', page: 'memory' },
  { action: 'view-3', keys: ['3'], label: 'Go to Topology', group: 'Views', page: 'memory' },
  { action: 'view-4', keys: ['4'], label: 'Go to Statistics', group: 'Views', page: 'memory' },
  { action: 'view-5', keys: ['5'], label: 'Go to Insights or Selection', group: 'Views', page: 'memory' },
  { action: 'view-6', keys: ['6'], label: 'Go to the bottom view', group: 'Views', page: 'memory' },

  {
    action: 'command',
    keys: ['Ctrl+K', 'F1', 'Ctrl+Shift+P', '/'],
    label: 'Type a command or a name',
    group: 'Page',
  },
  { action: 'open', keys: ['Ctrl+O'], label: 'Open a file', group: 'Page', pointer: 'drop a file' },
  { action: 'save', keys: ['Ctrl+S'], label: 'Save the selection under a name', group: 'Page' },
  { action: 'back', keys: ['['], label: 'Back', group: 'Page', pointer: 'Back' },
  { action: 'forward', keys: [']'], label: 'Forward', group: 'Page', pointer: 'Forward' },
  {
    action: 'side-panes',
    keys: ['B'],
    label: 'Hide or show the side panes',
    group: 'Page',
    pointer: 'double-click a splitter',
  },
  { action: 'help', keys: ['?'], label: 'This list', group: 'Page' },
  { action: 'close', keys: ['Escape'], label: 'Close; then clear the cursor mark', group: 'Page' },
];

/** The action of a key press; bare keys are left alone while someone types. */
export function actionOf(e: KeyEvent, typing: boolean): Action | undefined {
  for (const b of KEYMAP) {
    for (const k of b.keys) {
      if (typing && !/^(Ctrl\+|F\d|Escape)/.test(k)) continue;
      if (matches(e, k)) return b.action;
    }
  }
  return undefined;
}

export function keyText(spec: string): string {
  const names: Record<string, string> = {
    ArrowLeft: '←',
    ArrowRight: '→',
    ArrowUp: '↑',
    ArrowDown: '↓',
    Escape: 'Esc',
    ContextMenu: 'Menu',
  };
  return spec === '+'
    ? '+'
    : spec
        .split('+')
        .map((p) => names[p] ?? p)
        .join('+');
}

export function keysOf(action: Action): string {
  return KEYMAP.find((b) => b.action === action)?.keys.map(keyText)[0] ?? '';
}
