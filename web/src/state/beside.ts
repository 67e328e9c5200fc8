// How a run that was opened for it is compared with the one that is shown: by what
// both hold.
import type { RunSummary } from '../api/wire';

export type Beside =
  | { readonly pair: string } // A and B as one
  | { readonly against: string } // the trace that the page of traces compares with
  | { readonly why: string }; // why not

export function beside(a: RunSummary, b: RunSummary, page: string): Beside {
  const both = (part: string): boolean => [a, b].every((r) => r.parts.includes(part));
  if (a.id === b.id)
    return { why: `${a.name} is the run that was shown: a run is not compared with itself.` };
  if (a.trace && b.trace && (page === 'trace' || !both('memory'))) return { against: b.id };
  if (both('memory') || (a.kind === 'refs' && b.kind === 'refs')) return { pair: `${a.id},${b.id}` };
  const holds = (r: RunSummary): string => r.parts.join(' and ') || r.kind;
  return { why: `${b.name} is not compared with ${a.name}: it holds ${holds(b)}, the other ${holds(a)}.` };
}
