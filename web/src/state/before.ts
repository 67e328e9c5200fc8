// Records of references are compared side by side: the later run is shown, and
// every page about references has beside it what the earlier one had. One key of
// the link names the earlier run for all of them; the cycles page had it first.
import type { RunSummary } from '../api/wire';
import type { Options } from './link';
import type { State } from './url';

const KEY = 'c.before';

/** The runs that one with references can be compared with. */
export function earlierRuns(runs: readonly RunSummary[], shown: string | undefined): readonly RunSummary[] {
  return runs.filter((r) => r.id !== shown && r.parts.includes('references'));
}

/** The run that is compared with; none if the link names one that is not open. */
export function earlierRun(options: Options, runs: readonly RunSummary[]): RunSummary | undefined {
  return runs.find((r) => r.id === options[KEY]);
}

/** The options with another run to compare with; with none if it is empty. */
export function comparedWith(options: Options, run: string): Record<string, string> {
  const { [KEY]: _, ...rest } = options;
  return run === '' ? rest : { ...rest, [KEY]: run };
}

/** How runs are shown at first: references by their loops, two of them by their curves and loops. */
export function opening(id: string, runs: readonly RunSummary[]): Pick<State, 'run' | 'page' | 'options'> {
  const references = (run: string | undefined): boolean => runs.find((r) => r.id === run)?.kind === 'refs';
  const [a = '', b] = id.split(',');
  if (b !== undefined && references(a) && references(b))
    return { run: b, page: 'locality', options: comparedWith({ 'c.view': 'loops' }, a) };
  return { run: id, page: references(id) ? 'cycles' : 'memory', options: {} };
}
