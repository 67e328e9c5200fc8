// The source of B with what each line costs in A and in B, lines that only A has
// between, and the numbers of A where they differ.
import type { Api } from '../../../api/client';
import { CodeApi } from '../../../api/code';
import type { Compared, ComparedRow, MatchedLines, SourceText } from '../../../api/wire';
import { baseName, short } from '../../../base/format';
import { changeBar } from '../../../base/change';
import type { Theme } from '../../../base/theme';
import type { Code, CodeColumn, Further } from '../../../frame/code/code';
import { text } from '../../../state/selection';
import type { Snapshot } from '../../../state/store';
import { signed } from '../views/changes';
import type { Heat } from '../views/heat';
import { keptFor } from './kept';
import { NOT_TESTED, VERDICT_HEAD } from './verdict';

export interface ChangeCodeInput {
  readonly source: SourceText; // of B
  readonly matched: MatchedLines | undefined;
  readonly a: Heat; // in B's lines
  readonly b: Heat;
  readonly gone: Heat | undefined; // lines that only A has, in A's lines
  readonly goneFile: string; // the name of the file that they are in
  readonly current: number | undefined;
  readonly unit: string;
  readonly theme: Theme;
  readonly places: boolean;
  /** The lines as they were tested, with all others. */
  readonly tested: () => Promise<Compared>;
}

/** A row of the text: a line of B, or one that only A has. */
interface Row {
  readonly b: number; // 0: only A has it
  readonly a: number; // 0: only B has it
  readonly how: string;
  readonly text: string;
  readonly from?: string | undefined; // the file of A, where it is another
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

/** Every line of two runs as the server tests it. */
export function testedLines(api: Api, { info, state }: Snapshot): Promise<Compared> {
  const where = text([...state.filter, ...state.select]);
  const ask = { with: '', where, by: ['file', 'line'], metric: 'cost' };
  const never = new AbortController().signal;
  return keptFor(info, 'compare', ask, () => new CodeApi(api).compare(info!.id, ask, never));
}

export function changeCode(input: ChangeCodeInput): Code {
  const { source, a, b, theme, current } = input;
  const rows = rowsOf(source.text, input.matched);
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
  const at = rows.findIndex((r) => r.b === current && r.b > 0) + 1;
  return {
    name: 'Code',
    file: source.file,
    text: rows.map((r) => r.text).join('\n'),
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
    ...(at > 0 && { tones: new Map([[at, 'here' as const]]), reveal: at }),
    places: input.places,
    numbering: {
      head: 'line',
      text: 'source',
      of: (line) => numberOf(rows[line - 1]),
      digits: rows.reduce((n, r) => Math.max(n, numberOf(r).length), 1),
    },
    term: (line) => {
      const row = rows[line - 1];
      if (!row) return undefined;
      return row.b === 0
        ? { kind: 'line', file: input.goneFile, line: row.a }
        : { kind: 'line', file: source.file, line: row.b };
    },
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
        const found = tested.get(row.b === 0 ? placeOf(input.goneFile, row.a) : placeOf(source.file, row.b));
        return found ? verdictOn(found, sideOf(row)[0]) : NOT_TESTED;
      };
      return { head: VERDICT_HEAD.slice(3), of: judged } satisfies Further;
    },
  };
}

const placeOf = (file: string, line: number | string): string => `${file}:${line}`;

/** Rows by where the lines are in the names of both runs. */
function byPlace(groups: readonly ComparedRow[]): ReadonlyMap<string, ComparedRow> {
  return new Map(
    groups.flatMap((g) => {
      const [file, line] = g.keyB ?? g.keyA ?? [];
      return file !== undefined && line !== undefined ? [[placeOf(file, line), g] as const] : [];
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
