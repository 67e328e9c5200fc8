// Carries out what command search suggests, through the same store and actions
// as every other part of the page.
import { parse } from '../state/language';
import type { Store } from '../state/store';
import type { Axis, Suggestion } from '../api/wire';
import type { Term } from '../state/selection';
import { axesShown, correlate } from '../state/axes';
import type { DialogName } from './context';
import type { Action } from './keymap';
import type { Api } from '../api/client';
import type { PageFound, PageHandle } from './pages';
import type { ExportFormat } from './shell.svelte';

/** What a command may do besides changing the store. */
export interface Hands {
  readonly act: (a: Action) => void;
  readonly exportAs: (format: ExportFormat) => void;
  readonly openDialog: (name: DialogName) => void;
  /** What a text means on the page that is shown. */
  readonly find?: PageHandle['find'];
  readonly width: number; // of the page, which decides the axes shown by default
}

/** What is previewed while a suggestion is marked; undefined if it selects nothing of its own. */
export function preview(s: Suggestion | undefined): Term | undefined {
  if (!s?.selects || s.where === '') return undefined;
  const clauses = parse(s.where);
  const [only] = clauses;
  return clauses.length === 1 && only && !only.not && only.terms.length === 1
    ? only.terms[0]
    : { kind: 'all', clauses };
}

const VIEW_KEYS: Readonly<Record<string, Action>> = {
  offenders: 'view-1',
  code: 'view-2',
  topology: 'view-3',
  statistics: 'view-4',
  insights: 'view-5',
};

const PAGE_ACTIONS: Partial<Record<Suggestion['action'], Action>> = {
  undo: 'undo',
  redo: 'redo',
  invert: 'invert',
  filter: 'filter',
  exclude: 'hide',
  help: 'help',
  open: 'open',
  save: 'save',
  link: 'copy-link',
};

/** Runs a suggestion; one that the data cannot answer does nothing. */
export function run(s: Suggestion, store: Store, hands: Hands): void {
  if (s.missing) return;
  const { info, state } = store.snapshot;
  const axes = axesShown(info, state.axes, hands.width);
  const [first, second] = s.axes;
  switch (s.action) {
    case 'select':
      select(s, store);
      return;
    case 'show':
      if (first)
        store.change({ bottom: 'parallel', axes: [...axes, ...s.axes.map((column) => ({ column }))] });
      return;
    case 'hide': {
      const left = axes.filter((a) => !s.axes.includes(a.column));
      if (left.length > 0) store.change({ axes: left });
      return;
    }
    case 'correlate':
      if (first && second) store.change({ bottom: 'parallel', axes: together(axes, first, second) });
      if (s.selects) select(s, store);
      return;
    case 'view':
      view(s, store, hands);
      return;
    case 'color':
      if (s.target === 'latency' || s.target === 'samples' || s.target === 'mean')
        store.change({ color: s.target });
      return;
    case 'bins':
      store.change({ bins: Number(s.target) });
      return;
    case 'export':
      hands.exportAs(s.target as ExportFormat); // the list of the search has no others
      return;
    case 'arrange':
      void import('../state/arrange').then(({ arrange }) => arrange(store, hands.width));
      return;
    case 'columns':
      hands.openDialog('columns');
      return;
    case 'theme':
      if (!s.target || s.target !== document.documentElement.dataset['theme']) hands.act('theme');
      return;
    default: {
      const action = PAGE_ACTIONS[s.action];
      if (action) hands.act(action);
    }
  }
}

function select(s: Suggestion, store: Store): void {
  if (s.where === '') store.selectAll();
  else store.selectText(s.where);
}

/** Two axes side by side; each keeps its own scale and range. */
function together(axes: readonly Axis[], a: string, b: string): Axis[] {
  const own = new Map(axes.map((x) => [x.column, x]));
  return correlate(
    axes.map((x) => x.column),
    a,
    b,
  ).map((column) => own.get(column) ?? { column });
}

function view(s: Suggestion, store: Store, hands: Hands): void {
  const column = s.axes[0];
  switch (s.target) {
    case 'rows':
      hands.openDialog('samples');
      return;
    case 'parallel':
    case 'category':
    case 'heat':
    case 'calls':
    case 'spread':
    case 'lines':
    case 'touches':
    case 'allocations':
    case 'changes':
      store.change({ page: 'memory', bottom: s.target });
      return;
    case 'axis': {
      const kind = store.snapshot.info?.columns.find((c) => c.name === column)?.kind;
      if (column && kind === 'category')
        store.change({ page: 'memory', bottom: 'category', category: column });
      else store.change({ page: 'memory', bottom: 'axis', ...(column && { axis: column }) });
      return;
    }
    default: {
      const action = VIEW_KEYS[s.target ?? ''];
      if (action) hands.act(action);
    }
  }
}

const LEAST = 3; // letters: fewer are in every chapter

/** What the glossary and the guide say about a text; choosing one opens it in a new window. */
export async function inBook(api: Api, text: string, signal: AbortSignal): Promise<readonly PageFound[]> {
  if (text.trim().length < LEAST) return [];
  const { terms, sections } = await api.guide(text, signal);
  const found = (name: string, note: string, does: string, place: string): PageFound => ({
    text: name,
    note,
    does,
    run: () => void window.open(`/guide/${place}`, '_blank', 'noopener'),
  });
  return [
    ...terms.map((t) => found(t.name, 'glossary', t.means, `glossary#${t.anchor}`)),
    ...sections.map((s) => found(s.heading, 'guide', s.line, `${s.chapter}#${s.anchor}`)),
  ];
}
