// What each place of a program allocates, as columns of a list: the words are those
// of `isobath report --allocations`.
import type { AllocationFrame, Allocations, AllocationSite } from '../../../api/wire';
import { bytes, count, DASH, decimal, percent, roughly, THIN } from '../../../base/format';
import type { Point, Size } from '../../../base/geometry';
import type { Renderer } from '../../../base/renderer';
import type { ListInput } from '../../../frame/list';
import type { Term } from '../../../state/selection';

export const ALLOCATED: Size = { w: 120, h: 12 };

/** All bytes of a place; those of small allocations are an estimate. */
export const allBytes = (s: AllocationSite): number => s.bytes + s.small_bytes;
const allCalls = (s: AllocationSite): number => s.calls + s.small_calls;

/** The bytes of a place as a bar, what was never freed filled. */
export function drawAllocated(r: Renderer, s: AllocationSite, most: number, at: Point): void {
  const width = (n: number): number => (ALLOCATED.w * n) / Math.max(most, 1);
  const all = Math.max(width(allBytes(s)), 1);
  r.rect({ ...at, w: all, h: ALLOCATED.h }, { fill: r.theme['rest-bar'] });
  if (s.at_end > 0)
    r.rect(
      { ...at, w: Math.min(Math.max(width(s.at_end), 1), all), h: ALLOCATED.h },
      {
        fill: r.theme['selected-bar'],
      },
    );
}

/** "6.2 ms": the median of how long blocks live. */
export function lifetime(s: AllocationSite): string {
  if (s.lifetime === null) return s.peak === 0 ? DASH : 'to the end';
  const units = ['ns', 'µs', 'ms', 's'];
  let v = s.lifetime;
  let i = 0;
  for (; v >= 1000 && i < units.length - 1; i++) v /= 1000;
  return `${decimal(v, v < 10 && i > 0 ? 1 : 0)}${THIN}${units[i]!}`;
}

const SHOWN = 4; // functions that fit into a row
const functionOf = (f: AllocationFrame): string => f.function || '?';
const frameOf = (f: AllocationFrame): string =>
  functionOf(f) + (f.file ? ` (${f.file}${f.line ? `:${f.line}` : ''})` : '');

/** The functions that lead to a place, innermost first, up to the program's own first. */
export function callsOf(s: AllocationSite): string {
  const main = s.frames.findIndex((f) => f.function === 'main');
  const own = main < 0 ? s.frames : s.frames.slice(0, main + 1);
  const names = own.slice(0, SHOWN).map(functionOf);
  if (own.length > SHOWN) names.push('…');
  return names.join(' < ') || '(not recorded)';
}

/** The whole chain of calls, a line each. */
const chainOf = (s: AllocationSite): string => s.frames.map(frameOf).join('\n');

/** The samples in the memory of a place: by its line, which places of other callers may share. */
export function termOfSite(
  s: AllocationSite,
  columns: readonly { readonly name: string }[],
): Term | undefined {
  const has = (name: string): boolean => columns.some((c) => c.name === name);
  if (s.samples === 0) return undefined;
  if (s.allocation && has('allocation'))
    return { kind: 'values', column: 'allocation', values: [s.allocation] };
  if (s.symbols.length > 0 && has('symbol'))
    return { kind: 'values', column: 'symbol', values: [...s.symbols] };
  return undefined;
}

export function allocationList(
  a: Allocations,
  columns: readonly { readonly name: string }[],
): ListInput<AllocationSite> {
  const most = Math.max(0, ...a.sites.map(allBytes));
  return {
    name: 'Allocations',
    rows: a.sites,
    samples: (s) => s.samples,
    term: (s) => termOfSite(s, columns),
    columns: [
      {
        head: 'place',
        tip: 'The line that allocates, or what calls the allocator where lines are not known',
        link: true,
        mono: true,
        most: 260,
        text: (s) => s.allocation || callsOf(s),
        title: chainOf,
      },
      {
        head: 'allocated',
        tip: 'Of all its allocations; ≈ where small ones, of which some were looked at, are among them',
        right: true,
        text: (s) => roughly(s.small_bytes > 0) + bytes(allBytes(s)),
        exact: (s) => String(allBytes(s)),
      },
      {
        head: 'allocated, never freed filled',
        text: (s) => `${bytes(s.at_end)} of ${bytes(allBytes(s))} never freed`,
        exact: (s) => String(s.at_end),
        picture: { size: ALLOCATED, draw: (r, s, at) => drawAllocated(r, s, most, at) },
      },
      {
        head: 'allocation calls',
        right: true,
        text: (s) => roughly(s.small_calls > 0) + count(allCalls(s)),
        exact: (s) => String(allCalls(s)),
      },
      {
        head: 'peak bytes',
        tip: 'The most that lived at once in one process; ≥ where the log was too short for all',
        right: true,
        text: (s) => (s.peak === 0 ? DASH : (s.peak_at_least ? '≥' : '') + bytes(s.peak)),
        exact: (s) => (s.peak === 0 ? '' : String(s.peak)),
      },
      {
        head: 'life',
        tip: 'The median of how long its blocks live',
        right: true,
        text: lifetime,
        exact: (s) => (s.lifetime === null ? '' : String(s.lifetime)),
      },
      {
        head: 'samples',
        tip: 'In its memory, in the whole run',
        right: true,
        text: (s) => count(s.samples),
        title: (s) =>
          `${percent(s.samples, a.samples)} of all; ${count(s.reads)} read, ${count(s.writes)} write`,
      },
      { head: 'called by', mono: true, most: 300, text: callsOf, exact: chainOf, title: chainOf },
    ],
  };
}
