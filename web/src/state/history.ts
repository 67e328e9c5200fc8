// One history for all pages. Each page undoes its own part of the state: rows that
// are selected, what the link keeps of a page, or both. Another
// run has a history of its own: names of one mean nothing in the other.
import { equal, type Selection } from './selection';
import type { State } from './url';

/** What undo brings back, for every kind of page. */
export type Undoes = 'samples' | 'trace' | 'cycles';

/** Options of a page that say what is selected and what is in view. */
const OPTIONS: Readonly<Record<Exclude<Undoes, 'samples'>, readonly string[]>> = {
  trace: ['t.op', 't.cause', 't.function', 't.steps', 't.time', 't.rows'],
  cycles: ['c.class', 'c.other', 'c.part', 'c.epsilon', 'c.refs', 'c.time', 'c.zoom'],
};
const KINDS: readonly Undoes[] = ['samples', 'trace', 'cycles'];
const LIMIT = 200; // steps kept of each kind

interface Part {
  /** Undefined on a page that selects no rows. */
  readonly rows: { readonly select: Selection; readonly filter: Selection } | undefined;
  readonly options: Readonly<Record<string, string>>;
}

const optionsOf = (kind: Undoes): readonly string[] => (kind === 'samples' ? [] : OPTIONS[kind]);

function partOf(kind: Undoes, s: State): Part {
  return {
    rows: kind === 'trace' ? undefined : { select: s.select, filter: s.filter },
    options: Object.fromEntries(optionsOf(kind).flatMap((k) => (s.options[k] ? [[k, s.options[k]]] : []))),
  };
}

function withPart(kind: Undoes, s: State, part: Part): State {
  const own = optionsOf(kind);
  const rest = Object.entries(s.options).filter(([k]) => !own.includes(k));
  return { ...s, ...part.rows, options: { ...Object.fromEntries(rest), ...part.options } };
}

function sameParts(a: Part, b: Part): boolean {
  if (JSON.stringify(a.options) !== JSON.stringify(b.options)) return false;
  const [x, y] = [a.rows, b.rows];
  return !x || !y ? x === y : equal(x.select, y.select) && equal(x.filter, y.filter);
}

export class History {
  private readonly steps = new Map<Undoes, { past: Part[]; future: Part[] }>();

  /** The user went from one state of a run to another. */
  went(from: State, to: State): void {
    if (from.run !== to.run) return this.clear();
    for (const kind of KINDS) {
      const part = partOf(kind, from);
      if (sameParts(part, partOf(kind, to))) continue;
      const { past } = this.of(kind);
      this.steps.set(kind, { past: [...past.slice(1 - LIMIT), part], future: [] });
    }
  }

  /**
   * The browser went from one state to another. Back over a step moves the history
   * with it, so that undoing after Back does not undo the same step twice.
   */
  followed(from: State, to: State): void {
    if (from.run !== to.run) return this.clear();
    for (const kind of KINDS) {
      const [was, is] = [partOf(kind, from), partOf(kind, to)];
      if (sameParts(was, is)) continue;
      const { past, future } = this.of(kind);
      const [previous, next] = [past.at(-1), future.at(-1)];
      if (previous && sameParts(previous, is)) {
        past.pop();
        future.push(was);
      } else if (next && sameParts(next, is)) {
        future.pop();
        past.push(was);
      } else this.steps.set(kind, { past: [...past.slice(1 - LIMIT), was], future: [] });
    }
  }

  /** The state one step back, or forward; undefined at the end. */
  undo(kind: Undoes, now: State): State | undefined {
    const { past, future } = this.of(kind);
    return travel(kind, now, past, future);
  }

  redo(kind: Undoes, now: State): State | undefined {
    const { past, future } = this.of(kind);
    return travel(kind, now, future, past);
  }

  can(kind: Undoes): { readonly undo: boolean; readonly redo: boolean } {
    const { past, future } = this.of(kind);
    return { undo: past.length > 0, redo: future.length > 0 };
  }

  clear(): void {
    this.steps.clear();
  }

  private of(kind: Undoes): { past: Part[]; future: Part[] } {
    let own = this.steps.get(kind);
    if (!own) this.steps.set(kind, (own = { past: [], future: [] }));
    return own;
  }
}

function travel(kind: Undoes, now: State, from: Part[], to: Part[]): State | undefined {
  const part = from.pop();
  if (!part) return undefined;
  to.push(partOf(kind, now));
  return withPart(kind, now, part);
}
