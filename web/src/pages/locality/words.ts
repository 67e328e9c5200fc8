// Sizes, names and sentences of the locality page.
import { change, count, plural, percent, short, THIN } from '../../base/format';
import type { Advice, LocalityAnswer, MissCounts, MissCurve } from '../../api/wire';

/** Cache sizes as people say them: 48 KiB, 1.2 MiB. */
export function size(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let [v, i] = [bytes, 0];
  while (v >= 1024 && i < units.length - 1) {
    v /= 1024;
    i++;
  }
  const text = v >= 100 || Number.isInteger(v) ? String(Math.round(v)) : v.toFixed(v < 10 ? 1 : 0);
  return `${text.replace(/\.0$/, '')}${THIN}${units[i]}`;
}

/** What sentences call the selection, and whether it is several things. */
export interface Called {
  readonly name: string; // empty: nothing is selected
  readonly several: boolean;
}

export interface Headline {
  readonly head: string;
  readonly more: readonly string[];
}

/** What the lower part of the map is, and that it has not all objects where it does not. */
export function mapNote(
  map: { readonly window: number; readonly lanes: readonly unknown[] } | undefined,
  objects: number,
): string {
  const set = `set in use = lines met in the last ${plural(map?.window ?? 50_000, 'reference')}`;
  return map && map.lanes.length < objects
    ? `${set} · the ${map.lanes.length} of ${plural(objects, 'object')} with the most misses`
    : set;
}

/** One sentence about how large a cache the selection needs. */
export function headline({ name, several }: Called, a: LocalityAnswer): Headline {
  const { now, then } = a;
  const is = several ? 'are' : 'is';
  const l1 = now.levels[0]!;
  const ninety = now.needs.find((n) => n.hits === 0.9);
  const needs =
    ninety && ninety.bytes > 0
      ? `90${THIN}% hits of everything: ${size(ninety.bytes)}${
          then ? `, what if ${needOf(then.needs, 0.9)}` : ''
        }`
      : `90${THIN}% hits are not reachable: ${percent(firstOf(now), now.references)} are first touches`;
  if (now.footprint <= l1.bytes)
    return { head: `Everything fits ${l1.level}: ${size(now.footprint)}`, more: [needs] };
  if (now.reused_from === 0)
    return {
      head:
        now.at_first <= now.first_above
          ? `${name} ${several ? 'fit' : 'fits'} ${size(l1.bytes)}`
          : `${name} ${is} never reused in time`,
      more: [
        `${plural(now.at_first, 'miss', 'misses')}, ${count(now.first_above)} of them first touches`,
        needs,
      ],
    };
  return {
    head: `${name} ${is} reused from ${size(now.reused_from)} on`,
    more: [
      ...(then && then.reused_from > 0 && then.reused_from !== now.reused_from
        ? [`what if, from ${size(then.reused_from)}`]
        : []),
      `${plural(now.at_first, 'miss', 'misses')} below, ${plural(now.first_above, 'first touch', 'first touches')} above`,
      needs,
    ],
  };
}

function needOf(needs: MissCounts['needs'], hits: number): string {
  const n = needs.find((x) => x.hits === hits);
  return n && n.bytes > 0 ? size(n.bytes) : 'not reachable';
}

function firstOf(now: MissCounts): number {
  return now.objects.reduce((sum, o) => sum + o.first, 0);
}

/** The same references of an earlier run. */
export interface Earlier {
  readonly name: string;
  readonly answer: LocalityAnswer;
}

/** What became of the misses of an earlier run, level by level, where one machine has both. */
export function against(a: Earlier, b: LocalityAnswer): readonly string[] {
  const became = (what: string, was: number, is: number): string =>
    `${what} ${count(was)} → ${count(is)} (${change(was, is)})`;
  const { now } = a.answer;
  const references = became('A → B: references', now.references, b.now.references);
  if (a.answer.machine.name !== b.machine.name)
    return [references, `misses are of ${a.answer.machine.name} in A and of ${b.machine.name} in B`];
  const levels = b.now.levels.flatMap((l, i) => {
    const was = now.levels[i];
    return was?.level === l.level ? [became(l.level, was.misses, l.misses)] : [];
  });
  return [references, `misses: ${levels.join(' · ')}`];
}

/** The misses of everything in a cache of some bytes; undefined between two sizes that are known. */
export function missesAt(curve: MissCurve, bytes: number): number | undefined {
  const i = curve.sizes.indexOf(bytes);
  // The last size holds everything twice: a larger cache misses what is touched first.
  return bytes > (curve.sizes.at(-1) ?? Infinity) ? curve.total.at(-1) : curve.total[i];
}

/** The level at which an advice saves most, and by how much of its misses. */
export function saving(a: Advice): { readonly of: string; readonly text: string } | undefined {
  let best: Advice['levels'][number] | undefined;
  const saved = (l: Advice['levels'][number]): number => (l.now - l.then[1]) / Math.max(l.now, 1);
  for (const l of a.levels) if (l.level !== 'walks' && saved(l) > (best ? saved(best) : 0)) best = l;
  // Larger pages save walks alone.
  best ??= a.levels.find((l) => l.level === 'walks' && saved(l) > 0);
  if (!best) return undefined;
  const of = best.level === 'walks' ? 'page walks' : `${best.level} misses`;
  return { of, text: change(best.now, best.then[1]) };
}

/** The part of the cost that a change saves, as a loss. */
export function lossText(gain: readonly [number, number] | null): string {
  if (!gain) return '';
  const [a, b] = [change(1, 1 - gain[0]), change(1, 1 - gain[1])];
  return a === b ? a : `${a} to ${b}`;
}

const ofPlace = (a: Advice): string => (a.place ? ` of ${a.place}` : '');

/** An advice in a few words. */
export function title(a: Advice): string {
  switch (a.kind) {
    case 'split':
      return `Split ${a.object}: keep ${a.change.split(' apart')[0]}`;
    case 'soa':
      return `Store ${a.object} as ${a.change}`;
    case 'reorder':
      return `Reorder the fields of ${a.object}`;
    case 'pad':
      return `Pad ${a.object}: ${a.change}`;
    case 'align':
      return `Align ${a.object}: ${a.change}`;
    case 'interchange':
      return `Interchange the loops${ofPlace(a)}: ${a.change}`;
    case 'block':
      return `Cut the loops${ofPlace(a)} into ${a.change}`;
    case 'huge':
      return `Put ${a.object} on ${a.change}`;
    case 'place':
      return `Place ${a.object}: ${a.change}`;
    default:
      return `Keep ${a.object} with its ${a.change}`;
  }
}

/** What a what if is called on its chip. */
export function whatIfName(map: string, other: string, set: string): string {
  const parts = [
    ...map
      .split('\n')
      .filter(Boolean)
      .map((line) => line.replace(/^object /, '').replace(/ fields .*; rest to .*/, ' split')),
    ...(other ? [`on ${other}`] : []),
    ...(set ? [set] : []),
  ];
  return parts.join('; ');
}

export const thousands = (n: number): string => short(n);
