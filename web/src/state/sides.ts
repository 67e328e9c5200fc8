// Which run of a pair questions are about: a column "side" says of which a sample
// is, so one more clause of the filter leaves one of them.
import type { Info } from '../api/wire';
import { text, type Selection } from './selection';
import type { State } from './url';

export type Side = 'A' | 'B';

export function sideClause(side: Side): Selection[number] {
  return { not: false, terms: [{ kind: 'values', column: 'side', values: [side] }] };
}

/** The filter of one run of a pair. */
export function filterOf(state: Pick<State, 'filter'>, side: Side): string {
  return text([...state.filter, sideClause(side)]);
}

/** The filter of what is on screen: of a pair, the run that is shown, B beside a difference. */
export function shownFilter({
  info,
  state,
}: {
  readonly info: Info | undefined;
  readonly state: State;
}): string {
  return info?.pair ? filterOf(state, state.cmp === 'a' ? 'A' : 'B') : text(state.filter);
}
