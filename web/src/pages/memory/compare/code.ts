// The source of B with what each line costs in A and in B, lines that only A has
// between, and the numbers of A where they differ.
import type { MatchedLines, SourceText } from '../../../api/wire';
import { baseName, short } from '../../../base/format';
import { changeBar } from '../../../base/change';
import type { Theme } from '../../../base/theme';
import type { Code, CodeColumn } from '../../../frame/code/code';
import { signed } from '../views/changes';
import type { Heat } from '../views/heat';

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
}

/** A row of the text: a line of B, or one that only A has. */
interface Row {
  readonly b: number; // 0: only A has it
  readonly a: number; // 0: only B has it
  readonly how: string;
  readonly text: string;
}

export function rowsOf(text: string, matched: MatchedLines | undefined): Row[] {
  const lines = text.split('\n');
  const gone = new Map<number, Row[]>();
  for (const g of matched?.gone ?? []) {
    const row = { b: 0, a: g.line, how: 'only a', text: g.text };
    gone.set(g.before, [...(gone.get(g.before) ?? []), row]);
  }
  const known = (matched?.lines.length ?? 0) > 0;
  return [
    ...lines.flatMap((line, i) => {
      const a = known ? (matched!.lines[i] ?? 0) : i + 1;
      const own = { b: i + 1, a, how: known ? (matched!.how[i] ?? '') : 'by number', text: line };
      return [...(gone.get(i + 1) ?? []), own];
    }),
    ...(gone.get(lines.length + 1) ?? []),
  ];
}

export function changeCode(input: ChangeCodeInput): Code {
  const { source, a, b, theme, current } = input;
  const rows = rowsOf(source.text, input.matched);
  const value = (heat: Heat | undefined, line: number): number | undefined => {
    const l = heat?.lines.get(line);
    if (!l) return undefined;
    return l.sums[1] > 0 ? l.sums[1] : l.samples[1];
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
  };
}

/** The number of a line in B, with that of A where it was another; struck where B has none. */
function numberOf(row: Row | undefined): string {
  if (!row) return '';
  if (row.b === 0) return `−${row.a}`;
  if (row.a === 0) return `+${row.b}`;
  return row.a === row.b ? String(row.b) : `${row.a}→${row.b}`;
}
