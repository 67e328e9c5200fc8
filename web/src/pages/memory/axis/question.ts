// Which column is shown alone, which part of it, and what a pane asks for it.
import type { Axis, ColumnInfo, Info } from '../../../api/wire';
import { axisQuestion, columnOf, isConstant, valueColumn } from '../../../state/axes';
import { real } from '../../../state/link';
import type { State } from '../../../state/url';
import { binsFor } from '../views/histogram';

export interface Stretch {
  readonly lo: number;
  readonly hi: number;
}

/** The column that is shown alone. */
export function shownColumn(info: Info | undefined, state: State): ColumnInfo | undefined {
  if (!info) return undefined;
  // The clocks of two runs tell nothing of their difference; iterations do. A and B
  // have the same axis, so that they replace each other.
  const apart = info.pair !== undefined;
  const named = columnOf(info, state.axis);
  return (
    (apart && state.cmp === 'diff' && named?.name === 'time' ? undefined : named) ??
    columnOf(info, apart ? 'iteration' : 'time') ??
    valueColumn(info) ??
    info.columns.find((c) => !isConstant(c))
  );
}

/** The part of the column that is shown; undefined for all of it. */
export function zoomOf(column: ColumnInfo | undefined, state: State): Stretch | undefined {
  const m = /^(\S+) (\S+) (\S+)$/.exec(state.options['axis.zoom'] ?? '');
  if (!m || m[1] !== column?.name) return undefined;
  const [lo, hi] = [real(0).read(m[2]!), real(0).read(m[3]!)];
  return lo !== undefined && hi !== undefined && lo < hi ? { lo, hi } : undefined;
}

/** What a pane of this width asks. */
export function question(info: Info | undefined, state: State, width: number): Axis | undefined {
  const column = shownColumn(info, state);
  const scale = state.options['axis.scale'];
  return (
    column &&
    axisQuestion(column, binsFor(width), {
      ...zoomOf(column, state),
      ...((scale === 'log' || scale === 'linear') && { scale }),
    })
  );
}
