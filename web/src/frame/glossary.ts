// What a column, a metric or the head of a table means, from the glossary of the
// program, which is asked for once.
import type { Api } from '../api/client';
import type { Term } from '../api/wire';

const asked = new WeakMap<Api, Promise<readonly Term[]>>();

function glossary(api: Api): Promise<readonly Term[]> {
  const known = asked.get(api) ?? api.guide().then((b) => b.terms);
  asked.set(api, known);
  known.catch(() => asked.delete(api)); // the next one asks again
  return known;
}

/** The names that a text may be of: itself, without what is in brackets or behind a dot, its last and first word, also of latency_avg. */
export function namesIn(text: string): readonly string[] {
  const whole = text.trim().toLowerCase();
  const bare = whole.replace(/ \(.*\)$/, '').replace(/ · .*$/, '');
  const words = bare.split(/[\s:,_]+/);
  return [...new Set([whole, bare, words.at(-1)!, words[0]!])];
}

/** The term of a text, the longest name first. */
export function termOf(terms: readonly Term[], text: string): Term | undefined {
  for (const name of namesIn(text)) {
    const found = terms.find((t) => [t.name, ...t.also].some((n) => n.toLowerCase() === name));
    if (found) return found;
  }
  return undefined;
}

/** What a term means, its equation, and what to do about it: a line each. */
export function words(t: Term): readonly string[] {
  return [t.means, t.equation && `= ${t.equation}`, t.advice && `What to do: ${t.advice}`].filter(Boolean);
}

/** The lines about a name; none if it is not in the glossary. */
export async function explain(api: Api, name: string): Promise<readonly string[]> {
  const term = termOf(await glossary(api), name);
  return term ? words(term) : [];
}

/** Adds to the tooltip of a head, a legend or a choice what it means. */
export async function explainElement(api: Api, of: HTMLElement): Promise<void> {
  const name = of.dataset['term'] ?? of.textContent;
  if (of.dataset['explained'] === name) return;
  of.dataset['explained'] = name; // before the answer: the pointer moves on and back
  const lines = await explain(api, name).catch(() => {
    delete of.dataset['explained'];
    return [];
  });
  if (lines.length > 0) of.title = [of.title, ...lines].filter(Boolean).join('\n');
}
