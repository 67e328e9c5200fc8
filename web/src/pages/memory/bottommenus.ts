// The menus of the lower region.
import { count } from '../../base/format';
import type { MenuItem } from '../../frame/PopMenu.svelte';
import { titleOf } from '../../state/axes';
import type { BottomModel } from './bottom.svelte';
import { METRICS } from './views/changes';

const STRENGTHS = { pair: 'pair', left: 'first axis', right: 'second axis' } as const;
const STRENGTH_NOTES = {
  pair: 'within the pair',
  left: 'within the left bin',
  right: 'within the right bin',
} as const;
const ORDERS = { rank: 'samples', appearance: 'appearance', names: 'name' } as const;
const BINS = [50, 100, 200, 400, 1000];

// ---- parallel coordinates ----

export function strengthName(m: BottomModel): string {
  return STRENGTHS[(m.option('pc.strength') ?? 'pair') as 'pair'] ?? 'pair';
}

export function strengthItems(m: BottomModel): readonly MenuItem[] {
  const { store } = m.desk;
  const strength = m.option('pc.strength') ?? 'pair';
  const [own, off] = [m.option('pc.hover') === 'own', m.option('pc.lines') === 'off'];
  return [
    ...(['pair', 'left', 'right'] as const).map((s) => ({
      label: STRENGTHS[s],
      checked: strength === s,
      note: STRENGTH_NOTES[s],
      run: () => store.option('pc.strength', s === 'pair' ? undefined : s),
    })),
    {
      label: 'hover on its own scale',
      checked: own,
      run: () => store.option('pc.hover', own ? undefined : 'own'),
    },
    { label: 'lines', checked: !off, run: () => store.option('pc.lines', off ? undefined : 'off') },
  ];
}

export function binItems(m: BottomModel): readonly MenuItem[] {
  return BINS.map((n) => ({
    label: String(n),
    checked: m.link.bins === n,
    run: () => m.desk.store.change({ bins: n }),
  }));
}

async function orderAxes(m: BottomModel): Promise<void> {
  const { arrange } = await import('../../state/arrange');
  arrange(m.desk.store, innerWidth);
}

export function axesItems(m: BottomModel): readonly MenuItem[] {
  const { desk, hidden, names } = m;
  return [
    { label: 'Add or remove axes …', run: () => desk.openDialog('axes') },
    {
      label: 'Order by correlation',
      note: 'mutual information of neighbours',
      disabled: names.length < 3,
      run: () => void orderAxes(m),
    },
    { label: 'Default axes', run: () => desk.store.change({ axes: [] }) },
    ...(hidden > 0 ? [{ label: `${hidden} constant or absent hidden`, disabled: true, run: () => {} }] : []),
  ];
}

// ---- heat map ----

export const HEAT_VALUES = { samples: 'samples', mean: 'mean latency', deep: 'share beyond L2' } as const;

export function heatItems(m: BottomModel): readonly MenuItem[] {
  return m.heats.map((c) => ({
    label: titleOf(c),
    note: `${count(c.distinct)} values`,
    checked: c === m.heat,
    run: () => m.desk.store.option('heat.by', c === m.heats[0] ? undefined : c.name),
  }));
}

export function heatValueItems(m: BottomModel): readonly MenuItem[] {
  return m.heatValues.map((v) => ({
    label: HEAT_VALUES[v],
    checked: v === m.heatValue,
    run: () => m.desk.store.option('heat.value', v),
  }));
}

// ---- calls ----

export const CALLS_AS = { flame: 'flame graph', tree: 'call tree' } as const;

export function callsAsItems(m: BottomModel): readonly MenuItem[] {
  return (['flame', 'tree'] as const).map((v) => ({
    label: CALLS_AS[v],
    checked: v === m.callsAs,
    run: () => m.desk.store.option('calls.as', v === 'flame' ? undefined : v),
  }));
}

export function callValueItems(m: BottomModel): readonly MenuItem[] {
  return (['samples', 'latency'] as const).map((v) => ({
    label: v,
    checked: v === m.callValue,
    disabled: v === 'latency' && !m.column('latency'),
    run: () => m.desk.store.option('calls.by', v === 'samples' ? undefined : v),
  }));
}

export function callsOfItems(m: BottomModel, functions: readonly string[]): readonly MenuItem[] {
  const { store } = m.desk;
  const all = {
    label: 'all calls',
    checked: m.callsOf === '' && m.callsBelow.length === 0,
    run: () => {
      store.option('calls.of', undefined);
      store.option('calls.below', undefined);
    },
  };
  return [
    all,
    ...functions.map((f) => ({
      label: f,
      checked: f === m.callsOf,
      run: () => {
        store.option('calls.below', undefined);
        store.option('calls.of', f);
      },
    })),
  ];
}

// ---- spread, changes, categories ----

export function spreadItems(m: BottomModel): readonly MenuItem[] {
  return m.spreads.map((s) => ({
    label: s.name,
    checked: s === m.spread,
    run: () => m.desk.store.option('spread.by', s === m.spreads[0] ? undefined : s.name),
  }));
}

export function otherItems(m: BottomModel): readonly MenuItem[] {
  return m.others.map((r) => ({
    label: r.name,
    checked: r === m.other,
    run: () => m.desk.store.option('changes.with', r.id),
  }));
}

export function changeMetricItems(m: BottomModel): readonly MenuItem[] {
  return METRICS.map((metric) => ({
    label: metric,
    checked: metric === m.changeMetric,
    run: () => m.desk.store.option('changes.metric', metric === 'cost' ? undefined : metric),
  }));
}

export function changeByItems(m: BottomModel): readonly MenuItem[] {
  return m.changed.map((s) => ({
    label: s.name,
    checked: s === m.changeBy,
    run: () => m.desk.store.option('changes.by', s === m.changed[0] ? undefined : s.name),
  }));
}

export function categoryItems(m: BottomModel): readonly MenuItem[] {
  return m.nominal.map((c) => ({
    label: titleOf(c),
    note: `${count(c.distinct)} names`,
    checked: c === m.category,
    run: () => m.desk.store.change({ category: c.name }),
  }));
}

export function orderName(m: BottomModel): string {
  return ORDERS[(m.option('category.order') ?? 'rank') as 'rank'] ?? 'samples';
}

export function orderItems(m: BottomModel): readonly MenuItem[] {
  const now = m.option('category.order') ?? 'rank';
  return (['rank', 'appearance', 'names'] as const).map((v) => ({
    label: ORDERS[v],
    checked: now === v,
    run: () => m.desk.store.option('category.order', v === 'rank' ? undefined : v),
  }));
}
