// Who touched each data object first, in words, by the object's name.
import type { Api } from '../../api/client';
import { CodeApi } from '../../api/code';
import { count, percent, plural } from '../../base/format';
import type { Touched } from '../../api/wire';

export async function touchWords(
  api: Api,
  run: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const { objects } = await new CodeApi(api).touches(run, signal);
  const named = (symbol: string): readonly Touched[] => objects.filter((o) => o.symbol === symbol);
  return new Map([...new Set(objects.map((o) => o.symbol))].map((s) => [s, sayAll(named(s))]));
}

/** Of objects of one name in several processes, the one with most pages, and that there are others. */
export function sayAll([first, ...others]: readonly Touched[]): string {
  if (!first) return '';
  if (others.length === 0) return sayTouched(first);
  const where = [first.pid === null ? '' : `process ${first.pid}`, first.host ?? '']
    .filter(Boolean)
    .join(', ');
  return `${where}: ${sayTouched(first)}; ${plural(others.length, 'other process has', 'other processes have')} one, too`;
}

/** "512 pages first touched by thread 7 (all) on node 0 (all), measured". */
export function sayTouched(o: Touched): string {
  const part = (pages: number): string => (pages === o.pages ? 'all' : percent(pages, o.pages));
  const [thread] = o.threads;
  const [node] = o.nodes;
  const who = thread ? ` by thread ${thread.id} (${part(thread.pages)})` : '';
  const where = node ? ` on node ${node.id} (${part(node.pages)})` : '';
  const away = o.known > 0 && o.away > 0 ? `, ${percent(o.away, o.known)} of accesses from another node` : '';
  return `${count(o.pages)} pages first touched${who}${where}${away}, measured`;
}
