// The source of two runs: that of B with what each line costs in A and in B, lines
// that only A has between, and the numbers of A where they differ; or that of either.
import type { Api } from '../../../api/client';
import { CodeApi } from '../../../api/code';
import { SELECTED } from '../../../api/decode';
import type { Compared, ComparedRow, MatchedLines, SourceText } from '../../../api/wire';
import { baseName, short } from '../../../base/format';
import { changeBar } from '../../../base/change';
import type { Theme } from '../../../base/theme';
import type { Provenance } from '../../../frame/badge';
import type { Code, CodeColumn, Further } from '../../../frame/code/code';
import { text } from '../../../state/selection';
import type { Snapshot } from '../../../state/store';
import { signed } from '../views/changes';
import { codeOf, type Heat, type LineHeat } from '../views/heat';
import { keptFor } from './kept';
import { NOT_TESTED, VERDICT_HEAD } from './verdict';

/** A line in the names that both runs have: B's, or those of a line that only A has. */
export interface Place {
  readonly file: string;
  readonly line: number;
}

interface Shown {
  readonly source: SourceText; // of B
  readonly matched: MatchedLines | undefined;
  readonly current: Place | undefined;
  readonly unit: string;
  readonly places: boolean;
}

export interface ChangeCodeInput extends Shown {
  readonly a: Heat; // in B's lines
  readonly b: Heat;
  readonly gone: Heat | undefined; // lines that only A has, in A's lines
  readonly theme: Theme;
  /** The lines as they were tested, with all others. */
  readonly tested: () => Promise<Compared>;
}

export interface SideCodeInput extends Shown {
  readonly side: 'A' | 'B';
  readonly own: (file: string) => Heat;
  readonly other: (file: string) => Heat; // bars are measured by both
  readonly provenance: Provenance | undefined;
  readonly counted: string; // how many samples are selected, in words
}

/** A row of the text: a line of B, or one that only A has. */
interface Row {
  readonly b: number; // 0: only A has it
  readonly a: number; // 0: only B has it
  readonly how: string;
  readonly text: string;
  readonly from?: string | undefined; // the file of A, where it is another
  readonly left?: Place | undefined; // where B has it, if that is another file
}

/** The name that lines of a file have which only A has. */
export function goneFile(file: string, matched: MatchedLines | undefined): string {
  return `${matched?.fileA || file} (only in A)`;
}

export function rowsOf(text: string, matched: MatchedLines | undefined): Row[] {
  const lines = text.split('\n');
  const gone = new Map<number, Row[]>();
  for (const g of matched?.gone ?? []) {
    const row = { b: 0, a: g.line, how: 'only a', text: g.text };
    gone.set(g.before, [...(gone.get(g.before) ?? []), row]);
  }
  const from = new Map((matched?.from ?? []).map((f) => [f.line, f.file]));
  const known = (matched?.lines.length ?? 0) > 0;
  return [
    ...lines.flatMap((line, i) => {
      const a = known ? (matched!.lines[i] ?? 0) : i + 1;
      const how = known ? (matched!.how[i] ?? '') : 'by number';
      const own = { b: i + 1, a, how, text: line, from: from.get(i + 1) };
      return [...(gone.get(i + 1) ?? []), own];
    }),
    ...(gone.get(lines.length + 1) ?? []),
  ];
}

/** The lines of the file that A has; without one, those of B. */
export function rowsOfA(text: string, matched: MatchedLines | undefined): Row[] {
  if (!matched?.textA) return rowsOf(text, matched).filter((r) => r.b > 0);
  const from = new Set(matched.from.map((f) => f.line));
  const inB = new Map<number, number>();
  matched.lines.forEach((a, i) => {
    if (a > 0 && !from.has(i + 1)) inB.set(a, i + 1);
  });
  const left = new Map(matched.left.map((l) => [l.line, { file: l.file, line: l.in }]));
  return matched.textA.split('\n').map((line, i) => {
    const b = inB.get(i + 1) ?? 0;
    return { b, a: i + 1, how: (b && matched.how[b - 1]) || 'only a', text: line, left: left.get(i + 1) };
  });
}

interface Laid {
  readonly matched: MatchedLines | undefined;
  readonly digits: number; // of the longest number before a line, in all three
  readonly rows: Readonly<Record<'A' | 'B' | 'change', readonly Row[]>>;
  readonly texts: Readonly<Record<'A' | 'B' | 'change', string>>;
}

// A hover shows other numbers beside the same text.
const laidOut = new WeakMap<SourceText, Laid>();

function lay(source: SourceText, matched: MatchedLines | undefined): Laid {
  const known = laidOut.get(source);
  if (known && known.matched === matched) return known;
  const change = rowsOf(source.text, matched);
  const rows = { A: rowsOfA(source.text, matched), B: change.filter((r) => r.b > 0), change };
  const textOf = (of: readonly Row[]): string => of.map((r) => r.text).join('\n');
  const laid = {
    matched,
    digits: change.reduce((n, r) => Math.max(n, numberOf(r).length), 1),
    rows,
    texts: { A: textOf(rows.A), B: textOf(rows.B), change: textOf(change) },
  };
  laidOut.set(source, laid);
  return laid;
}

/** What A, B and their change have in common: the line at the top, the mark, the room for numbers. */
function inCommon(
  { source, matched, current, places }: Shown,
  of: 'A' | 'B' | 'change',
): Pick<Code, 'text' | 'kin' | 'tones' | 'reveal' | 'places' | 'numbering' | 'term'> & {
  readonly rows: readonly Row[];
  readonly placeOf: (row: Row) => Place;
} {
  const laid = lay(source, matched);
  const rows = laid.rows[of];
  const gone = goneFile(source.file, matched);
  const placeOf = (row: Row): Place =>
    row.left ?? (row.b > 0 ? { file: source.file, line: row.b } : { file: gone, line: row.a });
  const isCurrent = (row: Row): boolean => {
    const { file, line } = placeOf(row);
    return file === current?.file && line === current.line;
  };
  const at = current ? rows.findIndex(isCurrent) + 1 : 0;
  // The text of A has its own numbers; without one it is that of B.
  const own = (row: Row): number => (of === 'A' && matched?.textA ? row.a : row.b);
  return {
    rows,
    placeOf,
    text: laid.texts[of],
    kin: {
      of: source.file,
      key: (line) => {
        const row = rows[line - 1];
        return !row ? '' : row.b > 0 ? String(row.b) : `a${row.a}`;
      },
    },
    ...(at > 0 && { tones: new Map([[at, 'here' as const]]), reveal: at }),
    places,
    numbering: {
      head: 'line',
      text: 'source',
      of: (line) => {
        const row = rows[line - 1];
        return of === 'change' ? numberOf(row) : row ? String(own(row)) : '';
      },
      digits: laid.digits,
    },
    term: (line) => {
      const row = rows[line - 1];
      return row && { kind: 'line', ...placeOf(row) };
    },
  };
}

/** The source of one of two runs with what its lines cost, in the room that both have beside their change. */
export function sideCode(input: SideCodeInput): Code {
  const { source, side, matched } = input;
  const { rows, placeOf, ...common } = inCommon(input, side);
  const of = (heat: SideCodeInput['own'], row: Row): LineHeat | undefined => {
    const { file, line } = placeOf(row);
    return heat(file).lines.get(line);
  };
  const lines = new Map<number, LineHeat>();
  let [samples, sums] = [0, 0]; // the most of both runs
  rows.forEach((row, i) => {
    const own = of(input.own, row);
    if (own) lines.set(i + 1, { ...own, line: i + 1 });
    for (const l of [own, of(input.other, row)]) {
      samples = Math.max(samples, l?.samples[SELECTED] ?? 0);
      sums = Math.max(sums, l?.sums[SELECTED] ?? 0);
    }
  });
  const weight = (l: LineHeat | undefined): number => (l && (sums > 0 ? l.sums : l.samples)[SELECTED]) ?? 0;
  const top = [...lines.values()].reduce<LineHeat | undefined>(
    (most, l) => (weight(l) > weight(most) ? l : most),
    undefined,
  );
  const file = side === 'A' && matched?.textA ? matched.fileA : source.file;
  const plain = codeOf({
    source: { ...source, file, text: common.text },
    heat: { lines, top: top?.line, topHover: undefined },
    current: common.reveal,
    unit: input.unit,
    provenance: input.provenance,
    places: input.places,
    counted: input.counted,
  });
  return {
    ...plain,
    ...common,
    columns: plain.columns.map((c) =>
      c.tableOnly
        ? c
        : {
            ...c,
            head: `${side}, ${c.head}`,
            listed: c.head,
            wide: true,
            most: c.head === 'samples' ? samples : sums,
          },
    ),
  };
}

/** Every line of two runs as the server tests it. */
export function testedLines(api: Api, { info, state }: Snapshot): Promise<Compared> {
  const where = text([...state.filter, ...state.select]);
  const ask = { with: '', where, by: ['file', 'line'], metric: 'cost' };
  const never = new AbortController().signal;
  return keptFor(info, 'compare', ask, () => new CodeApi(api).compare(info!.id, ask, never));
}

export function changeCode(input: ChangeCodeInput): Code {
  const { source, a, b, theme } = input;
  const { rows, placeOf, ...common } = inCommon(input, 'change');
  const summed = [a, b, input.gone].some((h) => [...(h?.lines.values() ?? [])].some((l) => l.sums[1] > 0));
  const value = (heat: Heat | undefined, line: number): number | undefined => {
    const l = heat?.lines.get(line);
    return summed ? l?.sums[1] : l?.samples[1];
  };
  const sideOf = (row: Row): readonly [a: number | undefined, b: number | undefined] =>
    row.b === 0 ? [value(input.gone, row.a), undefined] : [value(a, row.b), value(b, row.b)];
  const columns: [Map<number, number>, Map<number, number>, Map<number, number>] = [
    new Map(),
    new Map(),
    new Map(),
  ];
  rows.forEach((row, i) => {
    const [x, y] = sideOf(row);
    if (x === undefined && y === undefined) return;
    columns[0].set(i + 1, x ?? 0);
    columns[1].set(i + 1, y ?? 0);
    columns[2].set(i + 1, (y ?? 0) - (x ?? 0));
  });
  const side = (head: string, values: ReadonlyMap<number, number>): CodeColumn => ({
    head,
    values,
    write: short,
    narrow: 'number',
  });
  return {
    ...common,
    name: 'Code',
    file: source.file,
    columns: [
      side('A', columns[0]),
      side('B', columns[1]),
      {
        head: `B − A ${input.unit}`,
        listed: VERDICT_HEAD[2],
        values: columns[2],
        write: (v) => signed(v, short),
        colour: (line) => changeBar(theme, columns[2].get(line) ?? 0),
        narrow: 'around',
      },
    ],
    describe: (line) => {
      const row = rows[line - 1];
      if (!row) return undefined;
      const [x, y] = sideOf(row);
      const d = (y ?? 0) - (x ?? 0);
      const was =
        row.b === 0
          ? ' · only in A'
          : row.a === 0
            ? ' · only in B'
            : row.from !== undefined
              ? ` · line ${row.a} of ${row.from} in A, ${row.how}`
              : row.a !== row.b || row.how === 'modified'
                ? ` · line ${row.a} in A, ${row.how}`
                : '';
      const part = x ? ` (${signed((100 * d) / x, (v) => v.toFixed(1))} %)` : '';
      return {
        name: `${baseName(source.file)}:${numberOf(row)}`,
        more: `· A ${short(x ?? 0)} · B ${short(y ?? 0)} · B − A ${signed(d, short)}${part}${was}`,
      };
    },
    summary: `${source.file}: ${columns[2].size} lines have samples in A or B`,
    further: async () => {
      const tested = byPlace((await input.tested()).groups);
      const judged = (line: number): readonly string[] => {
        const row = rows[line - 1];
        if (!row) return [];
        const found = tested.get(nameOf(placeOf(row)));
        return found ? verdictOn(found, sideOf(row)[0]) : NOT_TESTED;
      };
      return { head: VERDICT_HEAD.slice(3), of: judged } satisfies Further;
    },
  };
}

const nameOf = ({ file, line }: { readonly file: string; readonly line: number | string }): string =>
  `${file}:${line}`;

/** Rows by where the lines are in the names of both runs. */
function byPlace(groups: readonly ComparedRow[]): ReadonlyMap<string, ComparedRow> {
  return new Map(
    groups.flatMap((g) => {
      const [file, line] = g.keyB ?? g.keyA ?? [];
      return file !== undefined && line !== undefined ? [[nameOf({ file, line }), g] as const] : [];
    }),
  );
}

/** Low, high and verdict of a line that A has so much of. */
function verdictOn({ low, high, verdict }: ComparedRow, a = 0): readonly string[] {
  const end = (ratio: number | undefined): string => (ratio === undefined ? '' : String(a * (ratio - 1)));
  return [end(low), end(high), verdict];
}

/** The number of a line in B, with that of A where it was another; struck where B has none. */
function numberOf(row: Row | undefined): string {
  if (!row) return '';
  if (row.b === 0) return `−${row.a}`;
  if (row.a === 0) return `+${row.b}`;
  return row.a === row.b && row.from === undefined ? String(row.b) : `${row.a}→${row.b}`;
}
