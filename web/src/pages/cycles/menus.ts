// The menus of the cycles page.
import { count, plural } from '../../base/format';
import type { CyclesAsk, CyclesClass, CyclesInfo } from '../../api/wire';
import type { MenuItem } from '../../frame/PopMenu.svelte';
import type { CyclesControl } from './controller';
import type { CyclesModel } from './model.svelte';
import { BarcodeView } from './persistence';
import type { Colouring, CyclesState } from './state';
import { passAt, turnAt } from './stretches';

export const SYMBOLS = [
  { id: 'pc', label: 'instruction' },
  { id: 'line', label: 'source line' },
  { id: 'addr', label: 'address' },
  { id: 'op+addr', label: 'operation and address' },
  { id: 'pc+addr', label: 'instruction and address' },
  { id: 'cacheline', label: 'cache line' },
  { id: 'object', label: 'place in an object' },
] as const;

export const COLOURS: readonly { readonly id: Colouring; readonly label: string; readonly note?: string }[] =
  [
    { id: 'line', label: 'source line' },
    { id: 'function', label: 'function' },
    { id: 'object', label: 'object' },
    { id: 'op', label: 'load or store' },
    { id: 'stride', label: 'stride', note: 'since the instruction ran last' },
    { id: 'miss', label: 'what answers', note: 'modelled: L1 … memory' },
    { id: 'coordinate', label: 'coordinate' },
  ];

export const TABS = [
  { id: 'spiral', label: 'Spiral' },
  { id: 'circle', label: 'Circle' },
  { id: 'torus', label: 'Torus' },
  { id: 'projection', label: 'Projection' },
  { id: 'loops', label: 'Loops' },
] as const;

const WINDOWS = [3, 5, 7, 10, 12, 16, 20, 32, 48, 64];

type Again = (patch: Partial<CyclesAsk>) => void;

export function symbolItems(info: CyclesInfo | undefined, again: Again): readonly MenuItem[] {
  return SYMBOLS.map((s) => ({
    label: s.label,
    checked: info?.symbol === s.id,
    run: () => again({ symbol: s.id }),
  }));
}

export function windowItems(
  info: CyclesInfo | undefined,
  again: Again,
  settings: () => void,
): readonly MenuItem[] {
  return [
    { label: 'fitted to the shortest turn', run: () => again({ window: 0 }) },
    ...WINDOWS.map((n) => ({
      label: String(n),
      checked: info?.window === n,
      run: () => again({ window: n }),
    })),
    { label: 'Other settings …', run: settings },
  ];
}

export function colourItems(
  now: CyclesState,
  commit: (patch: Partial<CyclesState>) => void,
): readonly MenuItem[] {
  return COLOURS.map((c) => ({
    label: c.label,
    ...(c.note === undefined ? {} : { note: c.note }),
    checked: now.colour === c.id,
    run: () => commit({ colour: c.id }),
  }));
}

export function methodItems(
  now: CyclesState,
  commit: (patch: Partial<CyclesState>) => void,
): readonly MenuItem[] {
  return (
    [
      { id: 'isomap', label: 'Isomap', note: 'distances along the walk' },
      { id: 'mds', label: 'MDS', note: 'distances as they are' },
    ] as const
  ).map((m) => ({
    label: m.label,
    note: m.note,
    checked: now.method === m.id,
    run: () => commit({ method: m.id }),
  }));
}

export function epsilonItems(
  active: CyclesClass,
  epsilon: number,
  commit: (patch: Partial<CyclesState>) => void,
): readonly MenuItem[] {
  return Array.from({ length: active.death - active.birth }, (_, i) => active.birth + i).map((e) => ({
    label: String(e),
    checked: e === (epsilon || active.epsilon),
    run: () => commit({ epsilon: e === active.epsilon ? 0 : e }),
  }));
}

export function isWhole(ask: CyclesAsk): boolean {
  return ask.to === 0 && ask.from === 0 && ask.every <= 1 && ask.folds === 0;
}

/** Which part of the trace is looked at, in words. */
export function partText(ask: CyclesAsk): string {
  const parts = [
    ask.to > 0 || ask.from > 0
      ? `references ${count(ask.from)} – ${ask.to > 0 ? count(ask.to - 1) : 'end'}`
      : '',
    ask.every > 1 ? `every ${ask.every}th` : '',
    ask.folds > 0 ? `${plural(ask.folds, 'loop')} folded` : '',
  ];
  return parts.filter(Boolean).join(', ') || 'full trace';
}

export function rangeItems(
  ask: CyclesAsk,
  selected: { from: number; to: number } | undefined,
  again: Again,
  settings: () => void,
): readonly MenuItem[] {
  return [
    {
      label: 'all references',
      checked: isWhole(ask),
      run: () => again({ from: 0, to: 0, every: 0, folds: 0 }),
    },
    {
      label: 'the selected references',
      disabled: selected === undefined,
      run: () => again(selected ?? {}),
    },
    { label: 'every 2nd', checked: ask.every === 2, run: () => again({ every: 2 }) },
    { label: 'every 10th', checked: ask.every === 10, run: () => again({ every: 10 }) },
    {
      label: 'innermost loop folded to one turn',
      checked: ask.folds === 1,
      run: () => again({ folds: 1 }),
    },
    { label: 'two innermost loops folded', checked: ask.folds === 2, run: () => again({ folds: 2 }) },
    { label: 'Other …', run: settings },
  ];
}

export function threadItems(info: CyclesInfo, again: Again): readonly MenuItem[] {
  return info.threads.map((t) => ({
    label: String(t.id),
    note: plural(t.records, 'reference'),
    checked: t.id === info.thread,
    run: () => again({ thread: t.id }),
  }));
}

/** The barcode as a picture and a table, and the settings of the analysis. */
export function barcodeItems(m: CyclesModel, settings: () => void): readonly MenuItem[] {
  const { desk, info } = m;
  const barcode = (): BarcodeView => new BarcodeView(info!, m.names, m.class);
  return [
    ...(['png', 'svg', 'csv'] as const).map((f) => ({
      label: `Export ${f.toUpperCase()}`,
      disabled: !info,
      run: () => desk.exportView('Barcode', barcode(), f),
    })),
    { label: 'Show as table', disabled: !info, run: () => desk.showTable('Barcode', barcode()) },
    { label: 'Settings …', run: settings },
  ];
}

/** What can be done with a window that is pointed at. */
export function windowMarkItems(
  m: CyclesModel,
  c: CyclesControl,
  t: number | undefined,
): readonly MenuItem[] {
  const around = t === undefined ? [] : [turnAt(t, m.drawing, m.windows), passAt(t, m.drawing, m.windows)];
  return [
    ...around.flatMap((s) =>
      s ? [{ label: `Select ${s.name}`, run: () => c.commit({ from: s.from, to: s.to }) }] : [],
    ),
    { label: 'Show only the selected time', disabled: m.chosen === 0, run: c.fit },
    { label: 'Show everything', disabled: !m.magnified, run: c.reset },
    { label: 'Show in Memory', disabled: m.memory !== '' || m.chosen === 0, run: c.toMemory },
  ];
}
