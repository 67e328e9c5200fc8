// Answers about a pair are kept as long as it is shown: panes come and go with A,
// B and their difference, and rows of a pair never change. A run that is read
// again has another Info, and nothing kept.
import type { Info } from '../../../api/wire';

const MOST = 16;
const answers = new WeakMap<Info, Map<string, unknown>>();

/** The answer that was given before, or a new one. Equal questions of one kind have one kind of answer. */
export async function keptFor<A>(
  info: Info | undefined,
  kind: string,
  question: unknown,
  load: () => Promise<A>,
): Promise<A> {
  if (!info) return load();
  const of = answers.get(info) ?? new Map<string, unknown>();
  answers.set(info, of);
  const key = `${kind} ${JSON.stringify(question)}`;
  if (of.has(key)) return of.get(key) as A;
  const answer = await load();
  for (const oldest of of.keys()) {
    if (of.size < MOST) break;
    of.delete(oldest);
  }
  of.set(key, answer);
  return answer;
}
