// What a text typed into the command field means on the locality page: another
// cache, another machine, another layout, an advice, or what to select.
import type { Advise, MachineLevel } from '../../api/wire';
import type { PageFound } from '../../frame/pages';
import type { LocalityState } from './state';
import { size as sizeText, title } from './words';

export interface CommandInput {
  readonly levels: readonly MachineLevel[];
  readonly presets: readonly string[];
  readonly objects: readonly string[];
  readonly advise: Advise | undefined;
  readonly set: string; // what is tried already
  readonly commit: (patch: Partial<LocalityState>) => void;
}

const UNITS: Readonly<Record<string, number>> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

/** Bytes of a size such as 64K or 1 MiB; undefined for other texts. */
export function bytesOf(text: string): number | undefined {
  const m = /^(\d+(?:\.\d+)?)\s*([KMG]?)(?:i?B)?$/i.exec(text.trim());
  const n = m ? Number(m[1]) * UNITS[m[2]!.toUpperCase()]! : NaN;
  return Number.isInteger(n) && n > 0 ? n : undefined;
}

const sizeSetting = (bytes: number): string =>
  bytes % 1024 ** 2 === 0 ? `${bytes / 1024 ** 2}M` : bytes % 1024 === 0 ? `${bytes / 1024}K` : String(bytes);

/**
 * The settings with another size of a cache. Its ways stay, unless its lines do
 * not fill them: then those nearest that do. Empty if there are none.
 */
export function resized(
  set: string,
  level: string,
  bytes: number,
  levels: readonly MachineLevel[],
): string | undefined {
  const l = levels.find((x) => x.level === level);
  if (!l || bytes < l.line_bytes || bytes % l.line_bytes !== 0) return undefined;
  const lines = bytes / l.line_bytes;
  const others = set.split(',').filter((s) => s && !s.startsWith(`${level}.`));
  if (bytes === l.size) return others.join(',');
  const fits = Array.from({ length: Math.min(64, lines) }, (_, i) => i + 1).filter((w) => lines % w === 0);
  const ways = fits.toSorted((a, b) => Math.abs(a - l.ways) - Math.abs(b - l.ways))[0] ?? 1;
  const own = [`${level}.size=${sizeSetting(bytes)}`, ...(ways === l.ways ? [] : [`${level}.ways=${ways}`])];
  return [...others, ...own].join(',');
}

const USUAL_LINE = 64; // bytes

/**
 * The settings that still make caches of whole sets where lines have so many bytes, 0 for
 * those of the machine: of a smaller cache long lines may not fill the ways.
 */
export function fitting(set: string, line: number, levels: readonly MachineLevel[]): string {
  const all = set.split(',').filter(Boolean);
  const value = (key: string): string | undefined =>
    all.findLast((s) => s.startsWith(`${key}=`))?.slice(key.length + 1);
  const fits = (name: string): boolean => {
    const l = levels.find((x) => x.level === name);
    if (!l) return false;
    const bytes = bytesOf(value(`${name}.size`) ?? '') ?? l.size;
    const ways = Number(value(`${name}.ways`) ?? l.ways);
    const each = bytesOf(value('line') ?? '') ?? (line > 0 ? line : Math.max(USUAL_LINE, l.line_bytes));
    return bytes % (ways * each) === 0;
  };
  return all.filter((s) => !/^L\d\./.test(s) || fits(s.slice(0, 2))).join(',');
}

/** What the text means; nothing if it is no command of this page. */
export function commands(typed: string, input: CommandInput): readonly PageFound[] {
  const text = typed.trim().replace(/\s+/g, ' ');
  return [cache, machine, change, numbered].flatMap((read) => read(text, input));
}

/** "what if L2 1 MiB", "what if 64K L1". */
function cache(text: string, { levels, set, commit }: CommandInput): PageFound[] {
  const m = /^what if (?:(L\d)\s+(.+)|(.+?)\s+(L\d))$/i.exec(text);
  const level = (m?.[1] ?? m?.[4] ?? '').toUpperCase();
  const bytes = bytesOf(m?.[2] ?? m?.[3] ?? '');
  const to = bytes === undefined ? undefined : resized(set, level, bytes, levels);
  if (bytes === undefined || to === undefined) return [];
  const now = levels.find((l) => l.level === level)!;
  return [
    {
      text: `What if ${level} ${sizeText(bytes)}`,
      does: `replays the references with a cache of ${sizeText(bytes)} in place of ${sizeText(now.size)}`,
      note: '',
      run: () => commit({ other: '', set: to }),
    },
  ];
}

/** "what if machine zen2", "what if zen2". */
function machine(text: string, { presets, commit }: CommandInput): PageFound[] {
  const m = /^what if (?:machine |on )?(\S+)$/i.exec(text);
  const name = m?.[1]?.toLowerCase() ?? '';
  return presets
    .filter((p) => name !== '' && p.toLowerCase().startsWith(name))
    .map((p) => ({
      text: `What if machine ${p}`,
      does: 'replays the references on that machine',
      note: '',
      run: () => commit({ other: p, set: '' }),
    }));
}

/** "what if split p x y", "what if soa p", "what if align c", "what if pad m 4096 64", "what if huge pages". */
function change(text: string, { objects, commit }: CommandInput): PageFound[] {
  const words = text.split(' ');
  const [kind, object = '', ...rest] = words.slice(2);
  if (!/^what if /i.test(text) || kind === undefined || !objects.includes(object)) return [];
  const maps: Readonly<Record<string, string | undefined>> = {
    split:
      rest.length > 0
        ? `object ${object} fields ${rest.join(',')} to ${object}.hot; rest to ${object}.cold`
        : undefined,
    reorder: rest.length > 0 ? `object ${object} fields ${rest.join(',')}` : undefined,
    pad:
      rest.length === 2
        ? `object ${object} element ${rest[0]} is ${Number(rest[0]) + Number(rest[1])}`
        : undefined,
    align: `object ${object} start 0 of ${rest[0] ?? 64}`,
    order: `object ${object} order first-use`,
    pages: `pages ${rest[0] ?? '2M'} for ${object}`,
  };
  const map = maps[kind.toLowerCase()];
  if (map === undefined) return [];
  return [
    {
      text: `What if ${kind} ${object}`,
      does: `replays: ${map}`,
      note: '',
      run: () => commit({ map: `${map}\n` }),
    },
  ];
}

/** "try 2". */
function numbered(text: string, { advise, commit }: CommandInput): PageFound[] {
  const n = Number(/^try (\d+)$/i.exec(text)?.[1] ?? 0);
  const a = advise?.advice[n - 1];
  if (!a?.map) return [];
  return [{ text: `Try advice ${n}`, does: title(a), note: '', run: () => commit({ map: a.map }) }];
}
