// Which column the categories are of, in which order, and what a pane asks for it.
import type { Axis, ColumnInfo, Info, Scale } from '../../api/wire';
import { axisQuestion, columnOf, isNaming } from '../../state/axes';
import type { State } from '../../state/url';

const MOST_NAMES = 256;

export function categoryOf(info: Info, state: State): ColumnInfo | undefined {
  return (
    columnOf(info, state.category) ??
    info.columns.find((c) => (c.kind === 'category' || isNaming(c)) && c.distinct > 1)
  );
}

export function categoryOrder(state: State): Scale {
  return (state.options['category.order'] ?? 'rank') as Scale;
}

export function categoryQuestion(info: Info, state: State): Axis | undefined {
  const column = categoryOf(info, state);
  return (
    column &&
    axisQuestion(column, MOST_NAMES, column.kind === 'category' ? { scale: categoryOrder(state) } : {})
  );
}
