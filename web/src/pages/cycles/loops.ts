// The loops of the code as rows of a table: order, folds, and words.
import { bytes, change, count, percent, plural, roughly, short } from '../../base/format';
import type { LoopRow, LoopsInfo } from '../../api/wire';

export type LoopOrder = 'tree' | 'trips' | 'references' | 'bytes' | 'lines' | 'misses';

/** A row to show: the loop, how deep it stands, and whether loops inside it are hidden. */
export interface ShownLoop {
  readonly index: number;
  readonly loop: LoopRow;
  readonly depth: number;
  readonly inner: number; // loops inside, at any depth
  readonly folded: boolean;
}

/** Loops that make references, outer before inner, without those inside a folded one. */
export function shownLoops(
  info: LoopsInfo,
  order: LoopOrder,
  level: number,
  folded: ReadonlySet<number>,
): readonly ShownLoop[] {
  const inside = new Map<number, number[]>();
  info.loops.forEach((l, i) => {
    if (l.references > 0) inside.set(l.parent, [...(inside.get(l.parent) ?? []), i]);
  });
  const below = (i: number, left: number): number =>
    left === 0 ? 0 : (inside.get(i) ?? []).reduce((n, k) => n + 1 + below(k, left - 1), 0);
  const all: ShownLoop[] = [];
  const walk = (parent: number, depth: number, hidden: boolean): void => {
    if (depth > info.loops.length) return; // a circle of parents would never end
    for (const i of inside.get(parent) ?? []) {
      const shut = folded.has(i) && order === 'tree';
      if (!hidden)
        all.push({
          index: i,
          loop: info.loops[i]!,
          depth: order === 'tree' ? depth : 0,
          inner: below(i, info.loops.length),
          folded: shut,
        });
      walk(i, depth + 1, hidden || shut);
    }
  };
  walk(-1, 0, false);
  if (order === 'tree') return all;
  const by = (l: LoopRow): number => (order === 'misses' ? (l.misses[level] ?? 0) : l[order]);
  return all.toSorted((a, b) => by(b.loop) - by(a.loop));
}

/** The lines with instructions of a loop and of the loops inside it. */
export function loopLines(info: LoopsInfo, loop: number): readonly { file: string; line: number }[] {
  const of = info.loops[loop];
  if (!of) return [];
  // Loops that only the text or addresses tell of stand behind those inside them.
  const inside = new Set([loop]);
  for (let before = 0; before < inside.size;) {
    before = inside.size;
    info.loops.forEach((l, i) => {
      if (inside.has(l.parent)) inside.add(i);
    });
  }
  const found = [...inside].flatMap((i) => {
    const l = info.loops[i]!;
    return l.strides.map((s) => ({ file: l.file, line: s.line }));
  });
  return [...new Map(found.filter((p) => p.line > 0).map((p) => [`${p.file}:${p.line}`, p])).values()];
}

/** Whether two names can be of one file: one ends with the other. */
export function sameFile(a: string, b: string): boolean {
  return a === b || a.endsWith(`/${b}`) || b.endsWith(`/${a}`);
}

/** "≈ 1 204": a count that is not certain says so. */
export function counted(n: number, exact: boolean): string {
  return `${roughly(!exact)}${n < 1e6 ? count(n) : short(n)}`;
}

/** What stands before a count that may be another: one of a loop that the recording cut is the least. */
export function markOf(l: LoopRow): string {
  return l.atLeast ? '≥ ' : roughly(!l.exact);
}

/** A count of a loop, "?" where neither the code nor the text tells it. */
export function countOf(l: LoopRow, of: 'entries' | 'trips'): string {
  return l.unknown[of] ? '?' : `${markOf(l)}${counted(l[of], true)}`;
}

/** "1 … 6 … 8", or one number where all entries are alike. */
export function spread(l: LoopRow): string {
  if (l.kind === 'recursion' || l.unknown.spread) return '';
  return l.min === l.max ? counted(l.min, true) : [l.min, l.median, l.max].map((n) => short(n)).join(' … ');
}

/** What is between two loops' references and all of them. */
export function shareOf(l: LoopRow, info: LoopsInfo): number {
  return info.references > 0 ? l.references / info.references : 0;
}

function turnsText(l: LoopRow): string {
  if (l.unknown.trips && l.unknown.entries) return 'turns and entries are not known';
  const entries = plural(l.entries, 'entry', 'entries');
  if (l.unknown.trips) return `turns are not known, ${markOf(l)}${entries}`;
  const turns = `${countOf(l, 'trips')} ${l.trips === 1 ? 'turn' : 'turns'}`;
  return l.unknown.entries ? `${turns}, entries are not known` : `${turns} in ${entries}`;
}

/** Everything a row says, for the status line and screen readers. */
export function describeLoop(l: LoopRow, info: LoopsInfo): string {
  return [
    turnsText(l),
    `${plural(l.references, 'reference')} (${percent(l.references, info.references)})`,
    `${bytes(l.bytes)} on ${l.linesExact ? '' : 'about '}${plural(l.lines, 'cache line')}`,
    ...info.levels.flatMap((name, i) =>
      l.misses[i] === undefined ? [] : [`${plural(l.misses[i], 'miss', 'misses')} in ${name}, modelled`],
    ),
  ].join(' · ');
}

interface TextTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The loops of an earlier run. */
export interface Earlier {
  readonly name: string;
  readonly info: LoopsInfo;
}

/** What a loop counts, as columns of a table. */
const COUNTS: readonly { readonly head: string; readonly of: (l: LoopRow) => string }[] = [
  { head: 'entries', of: (l) => (l.unknown.entries ? '' : String(l.entries)) },
  { head: 'turns', of: (l) => (l.unknown.trips ? '' : String(l.trips)) },
  { head: 'exact', of: (l) => (l.exact ? 'yes' : 'no') },
  { head: 'least', of: (l) => (l.unknown.spread ? '' : String(l.min)) },
  { head: 'median', of: (l) => (l.unknown.spread ? '' : String(l.median)) },
  { head: 'most', of: (l) => (l.unknown.spread ? '' : String(l.max)) },
  { head: 'references', of: (l) => String(l.references) },
  { head: 'loads', of: (l) => String(l.loads + l.modifies) },
  { head: 'stores', of: (l) => String(l.stores + l.modifies) },
  { head: 'bytes', of: (l) => String(l.bytes) },
  { head: 'cache lines', of: (l) => String(l.lines) },
];

/** The table as text, as the command prints it; with the same columns of the loops of an earlier run. */
export function loopTable(info: LoopsInfo, before?: LoopsInfo): TextTable {
  const counts = [
    ...COUNTS,
    ...info.levels.map((n, i) => ({
      head: `${n} misses (modelled)`,
      of: (l: LoopRow) => String(l.misses[i] ?? ''),
    })),
  ];
  const row = (l: LoopRow, now: LoopRow | undefined, was: LoopRow | undefined): readonly string[] => [
    `${'  '.repeat(l.depth)}${l.text || l.title}`,
    l.file,
    String(l.line),
    ...counts.map((c) => (now ? c.of(now) : '')),
    l.why,
    ...(before ? counts.map((c) => (was ? c.of(was) : '')) : []),
  ];
  const pairs = before ? pairLoops(info, before) : undefined;
  return {
    head: [
      'loop',
      'file',
      'line',
      ...counts.map((c) => c.head),
      'why not exact',
      ...(before ? counts.map((c) => `A ${c.head}`) : []),
    ],
    rows: [
      ...info.loops.flatMap((l, i) => (l.references > 0 ? [row(l, l, pairs?.get(i))] : [])),
      ...(before ? goneLoops(info, before).map((l) => row(l, undefined, l)) : []),
    ],
  };
}

/** What became of all references and, where both are modelled on one machine, of their misses. */
export function comparedLoops(info: LoopsInfo, before: LoopsInfo): string {
  const became = (what: string, a: number, b: number): string =>
    `${what} ${count(a)} → ${count(b)} (${change(a, b)})`;
  const alike = info.machine !== '' && info.machine === before.machine;
  return [
    became('References', before.references, info.references),
    ...info.levels.flatMap((name, i) =>
      alike && info.misses[i] !== undefined && before.misses[i] !== undefined
        ? [became(`${name} misses`, before.misses[i], info.misses[i])]
        : [],
    ),
  ]
    .join(', ')
    .concat(
      alike || info.machine === '' || before.machine === ''
        ? '.'
        : `; misses are modelled on ${before.machine} in A and on ${info.machine} in B.`,
    );
}

/**
 * The loops of an earlier run by the index of those of this one: the same text in the same function,
 * in order. Lines may have moved.
 */
export function pairLoops(info: LoopsInfo, before: LoopsInfo): ReadonlyMap<number, LoopRow> {
  const header = (l: LoopRow): string => `${l.kind}\n${l.function}\n${l.text}`;
  const earlier = new Map<string, LoopRow[]>();
  for (const l of before.loops)
    if (l.references > 0) earlier.set(header(l), [...(earlier.get(header(l)) ?? []), l]);
  const pairs = new Map<number, LoopRow>();
  info.loops.forEach((l, i) => {
    const same = l.references > 0 ? earlier.get(header(l))?.shift() : undefined;
    if (same) pairs.set(i, same);
  });
  return pairs;
}

/** Loops of an earlier run that this one does not have any more. */
export function goneLoops(info: LoopsInfo, before: LoopsInfo): readonly LoopRow[] {
  const kept = new Set(pairLoops(info, before).values());
  return before.loops.filter((l) => l.references > 0 && !kept.has(l));
}
