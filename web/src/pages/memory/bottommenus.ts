// The menus of the parallel coordinates.
import type { MenuItem } from '../../frame/PopMenu.svelte';
import type { BottomModel } from './bottom.svelte';

const STRENGTHS = { pair: 'pair', left: 'first axis', right: 'second axis' } as const;
const STRENGTH_NOTES = {
  pair: 'within the pair',
  left: 'within the left bin',
  right: 'within the right bin',
} as const;
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
