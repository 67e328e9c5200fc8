// The menus of the tabs of the lower region that are loaded when they are opened.
import type { MenuItem } from '../../frame/PopMenu.svelte';
import { sayDistinct, titleOf } from '../../state/axes';
import type { TabModel } from './tabs.svelte';
import { METRICS } from './views/changes';

const ORDERS = { rank: 'samples', appearance: 'appearance', names: 'name' } as const;

// ---- heat map ----

export const HEAT_VALUES = { samples: 'samples', mean: 'mean latency', deep: 'share beyond L2' } as const;

export function heatItems(m: TabModel): readonly MenuItem[] {
  return m.heats.map((c) => ({
    label: titleOf(c),
    note: sayDistinct(c, 'value'),
    checked: c === m.heat,
    run: () => m.desk.store.option('heat.by', c === m.heats[0] ? undefined : c.name),
  }));
}

export function heatValueItems(m: TabModel): readonly MenuItem[] {
  return m.heatValues.map((v) => ({
    label: HEAT_VALUES[v],
    checked: v === m.heatValue,
    run: () => m.desk.store.option('heat.value', v),
  }));
}

// ---- calls ----

export const CALLS_AS = { flame: 'flame graph', tree: 'call tree' } as const;

export function callsAsItems(m: TabModel): readonly MenuItem[] {
  return (['flame', 'tree'] as const).map((v) => ({
    label: CALLS_AS[v],
    checked: v === m.callsAs,
    run: () => m.desk.store.option('calls.as', v === 'flame' ? undefined : v),
  }));
}

export function callValueItems(m: TabModel): readonly MenuItem[] {
  return (['samples', 'latency'] as const).map((v) => ({
    label: v,
    checked: v === m.callValue,
    disabled: v === 'latency' && !m.column('latency'),
    run: () => m.desk.store.option('calls.by', v === 'samples' ? undefined : v),
  }));
}

export function callsOfItems(m: TabModel, functions: readonly string[]): readonly MenuItem[] {
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

export function spreadItems(m: TabModel): readonly MenuItem[] {
  return m.spreads.map((s) => ({
    label: s.name,
    checked: s === m.spread,
    run: () => m.desk.store.option('spread.by', s === m.spreads[0] ? undefined : s.name),
  }));
}

export function otherItems(m: TabModel): readonly MenuItem[] {
  return m.others.map((r) => ({
    label: r.name,
    checked: r === m.other,
    run: () => m.desk.store.option('changes.with', r.id),
  }));
}

export function changeMetricItems(m: TabModel): readonly MenuItem[] {
  return METRICS.map((metric) => ({
    label: metric,
    checked: metric === m.changeMetric,
    run: () => m.desk.store.option('changes.metric', metric === 'cost' ? undefined : metric),
  }));
}

export function changeByItems(m: TabModel): readonly MenuItem[] {
  return m.changed.map((s) => ({
    label: s.name,
    checked: s === m.changeBy,
    run: () => m.desk.store.option('changes.by', s === m.changed[0] ? undefined : s.name),
  }));
}

export function categoryItems(m: TabModel): readonly MenuItem[] {
  return m.nominal.map((c) => ({
    label: titleOf(c),
    note: sayDistinct(c, 'name'),
    checked: c === m.category,
    run: () => m.desk.store.change({ category: c.name }),
  }));
}

export function orderName(m: TabModel): string {
  return ORDERS[(m.option('category.order') ?? 'rank') as 'rank'] ?? 'samples';
}

export function orderItems(m: TabModel): readonly MenuItem[] {
  const now = m.option('category.order') ?? 'rank';
  return (['rank', 'appearance', 'names'] as const).map((v) => ({
    label: ORDERS[v],
    checked: now === v,
    run: () => m.desk.store.option('category.order', v === 'rank' ? undefined : v),
  }));
}
