// What the command field can run: the page's actions, the axes, and any
// selection in the selection language. Command search proper extends `suggest`.
import { parse } from '../model/language';
import type { Store } from '../model/store';
import type { Info } from '../model/wire';
import { defaultAxes } from '../views/axes';
import { KEYMAP, keysOf, type Action } from './keymap';

export interface Suggestion {
  readonly text: string;
  readonly note: string;
  readonly run: () => void;
}

const ACTIONS: readonly Action[] = [
  'undo', 'redo', 'invert', 'filter', 'hide', 'select-all', 'open', 'save', 'export', 'copy-link', 'theme', 'side-panes', 'help',
];

export function suggest(typed: string, info: Info | undefined, store: Store, act: (a: Action) => void): Suggestion[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const all = [...selectionOf(typed, store), ...pageActions(act), ...(info ? axisCommands(info, store) : [])];
  return all.filter((s) => words.every((w) => `${s.text} ${s.note}`.toLowerCase().includes(w)) || s.text.startsWith('select:')).slice(0, 12);
}

function selectionOf(typed: string, store: Store): Suggestion[] {
  const text = typed.replace(/^\s*select\s+/i, '');
  if (!/[=<>~]| in |^at /.test(text)) return [];
  try {
    parse(text);
  } catch {
    return [];
  }
  return [{ text: `select: ${text}`, note: 'selection', run: () => store.selectText(text) }];
}

function pageActions(act: (a: Action) => void): Suggestion[] {
  return ACTIONS.map((action) => {
    const label = KEYMAP.find((b) => b.action === action)?.label ?? (action === 'copy-link' ? 'Copy the link' : 'Light or dark');
    return { text: label, note: keysOf(action), run: () => act(action) };
  });
}

function axisCommands(info: Info, store: Store): Suggestion[] {
  const shown = store.snapshot.state.axes;
  const names = shown.length > 0 ? shown.map((a) => a.column) : defaultAxes(info, innerWidth);
  return info.columns.flatMap((c): Suggestion[] => {
    const has = names.includes(c.name);
    return [
      has
        ? { text: `hide ${c.name}`, note: 'axis', run: () => store.change({ axes: names.filter((n) => n !== c.name).map((column) => ({ column })) }) }
        : { text: `show ${c.name}`, note: 'axis', run: () => store.change({ axes: [...names, c.name].map((column) => ({ column })) }) },
      { text: `go to ${c.name}`, note: 'one axis', run: () => store.change({ bottom: c.kind === 'category' ? 'category' : 'axis', [c.kind === 'category' ? 'category' : 'axis']: c.name }) },
    ];
  });
}
