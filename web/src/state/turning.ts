// Another run in place of the one that is shown: what is selected and shown stays
// as far as that run has it, and what it has not is said.
import { ApiError, type Api } from '../api/client';
import { SELECTED } from '../api/decode';
import type { Info } from '../api/wire';
import { opening } from './before';
import { clauseText, text, type Clause, type Term } from './selection';
import type { Snapshot } from './store';
import { INITIAL, type State } from './url';

const REFUSED = 400;

/** The state for another run, and sentences; undefined where nothing of the state suits it. */
export async function fitted(
  api: Api,
  { home, info: before, state }: Snapshot,
  run: string,
): Promise<{ readonly state: State; readonly notes: readonly string[] } | undefined> {
  // Settings of other pages name what only the run has: its loops, ranks, cells.
  const pages = [state.page, ...[run, state.run].map((id) => opening(id, home?.runs ?? []).page)];
  if (!before?.columns.length || pages.some((p) => p !== INITIAL.page)) return undefined;
  const info = await api.info(run);
  if (info.columns.length === 0) return undefined;
  const left = new Set<string>();
  const has = (column: string): boolean => {
    const there = column === '' || info.columns.some((c) => c.name === column);
    if (!there) left.add(column);
    return there;
  };
  const keep = async (all: readonly Clause[]): Promise<readonly Clause[]> => {
    const there = await Promise.all(all.map((c) => found(api, info, c)));
    return all.filter((c, i) => {
      if (!there[i]) left.add(clauseText(c));
      return there[i];
    });
  };
  const [select, filter] = await Promise.all([keep(state.select), keep(state.filter)]);
  const resources = info.topology?.resources ?? [];
  const now: State = {
    ...state,
    run,
    select,
    filter,
    axes: state.axes.filter((a) => has(a.column)),
    axis: has(state.axis) ? state.axis : '',
    category: has(state.category) ? state.category : '',
    zoom: resources.some((r) => r.name === state.zoom) ? state.zoom : '',
  };
  if (state.zoom !== now.zoom) left.add(state.zoom);
  const notes = left.size > 0 ? [`${info.name} does not have, and leaves out: ${[...left].join('; ')}.`] : [];
  return { state: now, notes };
}

/** Whether a run has what a clause speaks of. Ranges may hold no sample; names that no sample has are of another run. */
async function found(api: Api, info: Info, clause: Clause): Promise<boolean> {
  try {
    const { counts } = await api.ask(info.id, { where: text([{ ...clause, not: false }]) });
    return counts[SELECTED] > 0 || !clause.terms.every(names);
  } catch (error) {
    if (error instanceof ApiError && error.status === REFUSED) return false;
    throw error;
  }
}

function names(t: Term): boolean {
  if (t.kind === 'all') return t.clauses.every((c) => c.terms.every(names));
  return t.kind === 'compare' ? t.op === '=' : t.kind !== 'range' && t.kind !== 'missing';
}
