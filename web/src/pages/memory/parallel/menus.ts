// The menu of an axis.
import { columnOf, correlate, moveAxis } from '../../../state/axes';
import { brushed } from '../../../state/selection';
import type { MenuItem } from '../../../frame/PopMenu.svelte';
import type { ParallelControl } from './controller';
import type { ParallelModel } from './model.svelte';

const SCALED = ['number', 'time', 'address'];

export function headItems(m: ParallelModel, c: ParallelControl, axis: number): MenuItem[] {
  const { axes, desk, info, link } = m;
  const a = axes[axis];
  const column = info && a && columnOf(info, a.column);
  if (!a || !column) return [];
  const names = axes.map((x) => x.column);
  const now = desk.snap.answers.get('parallel')?.axes[axis]?.scale;
  const scales = SCALED.includes(column.kind) ? (['linear', 'log', 'quantile'] as const) : [];
  return [
    ...scales.map((s) => ({
      label: `${s} scale`,
      checked: now === s,
      run: () => c.changeAxis(a, { scale: s }),
    })),
    { label: 'Move left', disabled: axis === 0, run: () => c.setAxes(moveAxis(names, axis, axis - 1)) },
    {
      label: 'Move right',
      disabled: axis === names.length - 1,
      run: () => c.setAxes(moveAxis(names, axis, axis + 1)),
    },
    ...names
      .filter((n) => n !== a.column && Math.abs(names.indexOf(n) - axis) > 1)
      .map((n) => ({ label: `Correlate with ${n}`, run: () => c.setAxes(correlate(names, n, a.column)) })),
    {
      label: 'Remove the axis',
      disabled: names.length < 2,
      run: () => c.setAxes(names.filter((n) => n !== a.column)),
    },
    { label: 'Show it alone', run: () => desk.store.change({ bottom: 'axis', axis: a.column }) },
    {
      label: 'Clear its brush',
      disabled: brushed(link.select, a.column).length === 0,
      run: () => desk.store.brush(a.column, []),
    },
  ];
}
