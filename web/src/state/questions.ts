// Views ask through one request: their questions are merged, equal ones once,
// and each view finds its own answers again.

import type { Answer, AxisAnswer, GroupAnswer, PairAnswer, PlacesAnswer, StatAnswer } from '../api/decode';
import type { Ask, Axis, Group, Page, RowsAnswer, Stat } from '../api/wire';

// Questions are what one view wants to know. Pairs are of its own axes.
export type Questions = Pick<Ask, 'axes' | 'pairs' | 'groups' | 'stats' | 'places'> & {
  readonly rows?: Page;
};

/** The columns that questions name. */
export function columnsOf(q: Questions): readonly string[] {
  return [
    ...(q.axes ?? []).map((a) => a.column),
    ...(q.groups ?? []).flatMap((g) => [...g.by, ...(g.sum ? [g.sum] : [])]),
    ...(q.stats ?? []).map((s) => s.column),
  ];
}

// Answers are a view's part of an answer, in the order of its questions.
export interface Answers {
  readonly axes: readonly AxisAnswer[];
  readonly pairs: readonly PairAnswer[];
  readonly groups: readonly GroupAnswer[];
  readonly stats: readonly StatAnswer[];
  readonly places: PlacesAnswer | undefined;
  readonly rows: RowsAnswer | undefined;
  // Statistics and rows are those of a moment ago: a brush is moving.
  readonly stale: boolean;
}

// Merged is one request for several views.
export interface Merged {
  readonly ask: Ask;
  // The part of ask that is cheap enough to follow a moving brush: exact order
  // statistics and sorted rows look at every row, the rest is differences of
  // prepared sums.
  readonly light: Ask;
  // split gives each view its part; what a light request left out comes from
  // the answers before.
  readonly split: (
    answer: Answer,
    rows: string, // what the answer is about: the run, what is selected, what is filtered
    before?: ReadonlyMap<string, Answers> | undefined,
  ) => ReadonlyMap<string, Answers>;
  // hasPairs reports whether answers have the pairs that are asked for, of the same rows.
  readonly hasPairs: (rows: string, answers: ReadonlyMap<string, Answers>) => boolean;
  // withPairs is split for a request without pairs: they are those of other answers.
  readonly withPairs: (
    answer: Answer,
    rows: string,
    of: ReadonlyMap<string, Answers>,
  ) => ReadonlyMap<string, Answers>;
}

// merge makes one request of the questions of all views. At most one view at a
// time may ask for rows; the last wins.
export function merge(views: ReadonlyMap<string, Questions>): Merged {
  const axes = new Distinct<Axis>();
  const pairs = new Distinct<readonly [number, number]>();
  const groups = new Distinct<Group>();
  const stats = new Distinct<Stat>();
  let places = false;
  let rows: Page | undefined;
  const parts = new Map<string, Part>();
  for (const [view, q] of views) {
    const own = (q.axes ?? []).map((a) => axes.add(a));
    parts.set(view, {
      question: JSON.stringify(q),
      axes: own,
      pairs: (q.pairs ?? []).map(([l, r]) => pairs.add([own[l] ?? 0, own[r] ?? 0])),
      groups: (q.groups ?? []).map((g) => groups.add(g)),
      stats: (q.stats ?? []).map((s) => stats.add(s)),
      places: q.places ?? false,
      rows: q.rows !== undefined,
    });
    places ||= q.places ?? false;
    rows = q.rows ?? rows;
  }
  const light: Ask = { axes: axes.items, pairs: pairs.items, groups: groups.items, places };
  const stillOf = (rows: string, part: Part): string => `${rows}\n${part.question}`;
  return {
    ask: { ...light, stats: stats.items, ...(rows && { rows }) },
    light,
    split: (answer, rows, before) =>
      new Map(
        [...parts].map(([view, part]) => [
          view,
          take(answer, part, stillOf(rows, part), before && (before.get(view) ?? NOTHING)),
        ]),
      ),
    hasPairs: (rows, answers) =>
      [...parts].every(([view, part]) =>
        part.pairs.every((_, k) => answers.get(view)?.pairs[k]?.still === named(stillOf(rows, part), k)),
      ),
    withPairs: (answer, rows, of) =>
      new Map(
        [...parts].map(([view, part]) => [
          view,
          {
            ...take(answer, { ...part, pairs: [] }, stillOf(rows, part), undefined),
            pairs: of.get(view)?.pairs ?? [],
          },
        ]),
      ),
  };
}

interface Part {
  readonly question: string;
  readonly axes: readonly number[];
  readonly pairs: readonly number[];
  readonly groups: readonly number[];
  readonly stats: readonly number[];
  readonly places: boolean;
  readonly rows: boolean;
}

const NOTHING: Answers = {
  axes: [],
  pairs: [],
  groups: [],
  stats: [],
  places: undefined,
  rows: undefined,
  stale: false,
};

// What comes from the answers before keeps the name of what it is about.
function take(answer: Answer, part: Part, still: string, before: Answers | undefined): Answers {
  return {
    axes: pick(answer.axes, part.axes, still),
    pairs: pick(answer.pairs, part.pairs, still),
    groups: pick(answer.groups, part.groups, still),
    stats: before ? before.stats : pick(answer.stats, part.stats, still),
    places: part.places && answer.places ? { ...answer.places, still } : undefined,
    rows: before ? before.rows : part.rows ? (answer.rows ?? undefined) : undefined,
    stale: before !== undefined && (part.stats.length > 0 || part.rows),
  };
}

function pick<T extends object>(from: readonly T[], indices: readonly number[], still: string): readonly T[] {
  return indices.map((i, k) => {
    const item = from[i];
    if (item === undefined) throw new Error('the server left a question unanswered');
    return { ...item, still: named(still, k) };
  });
}

function named(still: string, k: number): string {
  return `${still}\n${k}`;
}

// Distinct collects equal things once.
class Distinct<T> {
  readonly items: T[] = [];
  private readonly index = new Map<string, number>();

  add(item: T): number {
    const key = JSON.stringify(item);
    const known = this.index.get(key);
    if (known !== undefined) return known;
    this.index.set(key, this.items.length);
    return this.items.push(item) - 1;
  }
}
