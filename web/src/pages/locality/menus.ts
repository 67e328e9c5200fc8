// The menus and tabs of the locality page.
import type { Advice } from '../../api/wire';
import { percent } from '../../base/format';
import { pageMeasure } from '../../base/measure';
import type { Measure } from '../../base/text';
import { ListView } from '../../frame/list';
import type { MenuItem } from '../../frame/PopMenu.svelte';
import { fitting } from './commands';
import type { LocalityControl } from './controller';
import type { LocalityModel } from './model.svelte';
import { AMOUNTS, STACKS, TABLES, type TableTab } from './state';
import { title } from './words';

const TABLE_NAMES: Readonly<Record<TableTab, string>> = {
  objects: 'Objects',
  fields: 'Fields',
  lines: 'Lines',
  functions: 'Functions',
  loops: 'Loops',
  threads: 'Threads',
};
/** The tables that there are; one thread needs no table of threads. */
export const tableTabs = (threads: number): readonly { id: TableTab; label: string }[] =>
  TABLES.filter((id) => id !== 'threads' || threads > 1).map((id) => ({ id, label: TABLE_NAMES[id] }));
export const tableName = (tab: TableTab): string => TABLE_NAMES[tab];

export const CURVE_TABS = [
  { id: 'curve', label: 'Miss curve' },
  { id: 'reuse', label: 'Reuse' },
] as const;

const LINE_SIZES = [0, 32, 64, 128, 256]; // bytes; 0: the machine's
/** Changes of the present machine that are worth a click. */
const TRIED = ['L1.size=32K,L1.ways=8', 'L2.size=1M', 'L2.size=512K', 'line=128', 'page=2M'];

/** Items of a menu that chooses one of several. */
function choices<T extends string | number>(
  all: readonly { readonly id: T; readonly label: string; readonly note?: string }[],
  now: T,
  choose: (id: T) => void,
): readonly MenuItem[] {
  return all.map(({ id, label, note }) => ({
    label,
    checked: id === now,
    run: () => choose(id),
    ...(note !== undefined && { note }),
  }));
}

export function layoutTabs(m: LocalityModel): readonly { id: string; label: string }[] {
  const struct = m.answer?.struct;
  return [
    { id: 'fields', label: struct ? `Fields of ${struct.object}` : 'Fields' },
    { id: 'sets', label: 'Sets' },
    ...((m.answer?.threads ?? 1) > 1 ? [{ id: 'sharing', label: 'Sharing' }] : []),
    ...(m.low ? [{ id: 'evictions', label: 'Who evicts whom' }] : []),
  ];
}

export function levelItems(m: LocalityModel, c: LocalityControl): readonly MenuItem[] {
  const levels = m.levels.map((l, i) => ({ id: i, label: l.level }));
  return choices(levels, m.now.level, (level) => c.commit({ level }));
}

export function rankItems(m: LocalityModel, c: LocalityControl): readonly MenuItem[] {
  const levels = m.levels.map((l, i) => ({ id: i, label: `${l.level} misses` }));
  return choices(levels, m.now.by, (by) => c.commit({ by }));
}

export function bandItems(m: LocalityModel, c: LocalityControl): readonly MenuItem[] {
  const stacks = STACKS.map((s) => ({ id: s, label: s }));
  return choices(stacks, m.now.stack, (stack) => c.commit({ stack }));
}

export function amountItems(m: LocalityModel, c: LocalityControl): readonly MenuItem[] {
  const amounts = AMOUNTS.map((s) => ({ id: s, label: s }));
  return choices(amounts, m.now.y, (y) => c.commit({ y }));
}

export function lineSizeItems(m: LocalityModel, c: LocalityControl): readonly MenuItem[] {
  const sizes = LINE_SIZES.map((n) => ({ id: n, label: n === 0 ? "the machine's" : `${n} B` }));
  const caches = m.answer?.machine.levels ?? [];
  return choices(sizes, m.now.line, (line) => c.commit({ line, set: fitting(m.now.set, line, caches) }));
}

export function machineItems(m: LocalityModel, c: LocalityControl): readonly MenuItem[] {
  const { answer, now } = m;
  return [
    {
      label: 'present',
      note: answer?.machine.name ?? '',
      checked: now.other === '' && now.set === '',
      run: () => c.commit({ other: '', set: '' }),
    },
    ...(answer?.presets ?? []).map((p) => ({
      label: p,
      checked: now.other === p,
      run: () => c.commit({ other: p, set: '' }),
    })),
    ...TRIED.filter((s) => fitting(s, now.line, answer?.machine.levels ?? []) === s).map((s) => ({
      label: `present with ${s}`,
      checked: now.set === s,
      run: () => c.commit({ other: '', set: s }),
    })),
  ];
}

export function adviceList(advice: readonly Advice[], measure: Measure): ListView<Advice> {
  return new ListView(
    {
      name: 'Advice',
      columns: [
        { head: 'advice', text: (a) => title(a) },
        { head: 'object', text: (a) => a.object },
        { head: 'saves at least', text: (a) => (a.gain ? percent(a.gain[0], 1) : '') },
        { head: 'saves at most', text: (a) => (a.gain ? percent(a.gain[1], 1) : '') },
        { head: 'what it rests on', text: (a) => a.text },
        { head: 'change', text: (a) => a.code },
        {
          head: 'proof',
          text: (a) => (a.proof ? [a.proof.text, ...a.proof.stale].join('; out of date: ') : 'no re-run'),
        },
      ],
      rows: advice,
      term: () => undefined,
      samples: () => 0,
    },
    measure,
  );
}

/** The advice as a table and a file. */
export function adviceItems(m: LocalityModel): readonly MenuItem[] {
  const { advise } = m.data;
  const list = (): ListView<Advice> => adviceList(advise?.advice ?? [], pageMeasure());
  return [
    { label: 'Show as table', disabled: !advise, run: () => m.desk.showTable('Advice', list()) },
    { label: 'Export CSV', disabled: !advise, run: () => m.desk.exportView('Advice', list(), 'csv') },
  ];
}
