// Paths of calls as selections: the stacks that go through some functions one
// after the other, wherever in them the calls were made.
import type { Term } from './selection';

// A stack is text, outermost frame first: "main (a.c:9);solve (a.c:5);kernel".
const PLACE = String.raw`( \([^;(]*:[0-9]+\))?`;
const [ANYWHERE, END] = ['(^|;)', '(;|$)'];

/** The samples whose stacks go through a path, outermost function first; from the start of the stack or anywhere in it. */
export function pathTerm(path: readonly string[], fromStart: boolean): Term {
  const frames = path.map((f) => f.replaceAll(';', ',').replace(/[\\^$.*+?()[\]{}|]/g, '\\$&') + PLACE);
  return { kind: 'match', column: 'stack', pattern: (fromStart ? '^' : ANYWHERE) + frames.join(';') + END };
}

/** Such a pattern as people read it; undefined for any other. */
export function pathText(pattern: string): string | undefined {
  const inner = /^(\^|\(\^\|;\))(.*)\(;\|\$\)$/.exec(pattern);
  if (!inner || !pattern.includes(PLACE)) return undefined;
  const frames = inner[2]!
    .split(PLACE)
    .map((f) => f.replace(/^;/, '').replace(/\\(.)/g, '$1'))
    .filter(Boolean);
  return (inner[1] === '^' ? '' : '… ') + frames.join(' › ');
}
