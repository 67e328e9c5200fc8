// The one code viewer of all pages: lines of a source file or of machine code,
// with numbers beside them. A page says what stands beside the lines (`Code`),
// `CodeViewer.svelte` shows it, walks through it by keys and gives it to tables
// and files. To use it in a page:
//
//   <CodeViewer {desk} {code} onpoint={…} onpick={…} />
//
// with `code` made from the page's own answer; `MissingSource.svelte` is what to
// show while the text is not at hand, `Switch.svelte` the switch "Follow hover".
import type { Term } from '../../state/selection';
import type { Provenance } from '../badge';
import type { Said } from '../view';

/** A number beside each line that has one. */
export interface CodeColumn {
  readonly head: string; // with the unit: it heads the table and the gutter
  readonly listed?: string; // heads the table, where that is another
  readonly values: ReadonlyMap<number, number>; // by line; zeros are listed, not drawn
  /** The hovered part of a value, on the same scale. */
  readonly hovered?: ReadonlyMap<number, number>;
  /** How the gutter writes a value; files get all its digits. */
  readonly write?: (value: number) => string;
  /** The colour of a line's bar and swatch: the gutter then is a legend. */
  readonly colour?: (line: number) => string | undefined;
  readonly provenance?: Provenance;
  /** In tables and files, not in the gutter. */
  readonly tableOnly?: true;
  /**
   * Narrow columns: a muted number without a bar, or a bar alone, to the left of a
   * centre line for what is below zero and to the right for what is above.
   */
  readonly narrow?: 'number' | 'around';
  /** As wide as two narrow numbers and a bar around a centre line: it takes their place. */
  readonly wide?: true;
  /** The value of the longest bar, where that is larger than all of the column. */
  readonly most?: number;
}

/**
 * Texts of one thing replace each other, such as a file before and after an edit: the
 * line at the top stays where it is. A line has the same key in every text that has it.
 */
export interface Kin {
  readonly of: string;
  readonly key: (line: number) => string;
}

/** Columns that tables and files have behind the numbers, such as what may be said of them. */
export interface Further {
  readonly head: readonly string[];
  readonly of: (line: number) => readonly string[];
}

/** What a line stands out for: it is meant, or pointed at elsewhere. */
export type LineTone = 'here' | 'pointed';

export interface Numbering {
  readonly head: string; // of its column in tables
  readonly text: string; // head of the column with the lines themselves
  readonly of: (line: number) => string;
  readonly digits?: number; // of the longest; an address, if not said
}

export interface Code {
  readonly name: string; // of the view: Code, Assembly
  readonly file: string; // chooses the language, and names the source
  readonly text: string;
  readonly columns: readonly CodeColumn[];
  readonly tones?: ReadonlyMap<number, LineTone>;
  /** Brought into sight whenever it changes. */
  readonly reveal?: number | undefined;
  readonly kin?: Kin;
  /** Only the lines with numbers and those around them; the rest is folded. */
  readonly places?: boolean;
  /** What stands for a line where that is not its number: the address of an instruction. */
  readonly numbering?: Numbering;
  readonly term?: (line: number) => Term | undefined;
  readonly describe: (line: number) => Said | undefined;
  readonly summary: string;
  /** Asked for when a table or a file is made. */
  readonly further?: () => Promise<Further>;
}

const AROUND = 3; // lines kept before and after a place

/** The lines with a number in any column, in order: where keys go. */
export function places(code: Code): number[] {
  const lines = new Set(code.columns.flatMap((c) => [...c.values.keys()]));
  return [...lines].sort((a, b) => a - b);
}

export interface Fold {
  readonly from: number; // first line that is hidden
  readonly to: number; // and the last
}

/** The stretches between places; a single line is not worth folding. */
export function folds(code: Code, lines: number): Fold[] {
  if (!code.places) return [];
  const kept = [...places(code), ...(code.tones?.keys() ?? [])].filter((l) => l >= 1 && l <= lines);
  if (kept.length === 0) return [];
  const found: Fold[] = [];
  let next = 1; // first line that nothing has kept
  for (const line of [...kept.sort((a, b) => a - b), lines + 1 + AROUND]) {
    const to = Math.min(lines, line - AROUND - 1);
    if (to > next) found.push({ from: next, to });
    next = Math.max(next, line + AROUND + 1);
  }
  return found;
}

/** The place that a key goes to; undefined for other keys. */
export function walk(lines: readonly number[], from: number, key: string): number | undefined {
  switch (key) {
    case 'ArrowDown':
      return lines.find((l) => l > from) ?? lines.at(-1);
    case 'ArrowUp':
      return lines.findLast((l) => l < from) ?? lines[0];
    case 'Home':
      return lines[0];
    case 'End':
      return lines.at(-1);
    default:
      return undefined;
  }
}

/** The line of another text of the kin for a line of one, or for the nearest before it that both have. */
export function kinLine(from: Kin, line: number, to: Kin, lines: number): number {
  const found = new Map<string, number>();
  for (let l = lines; l >= 1; l--) found.set(to.key(l), l);
  for (let l = line; l >= 1; l--) {
    const partner = found.get(from.key(l));
    if (partner !== undefined) return partner;
  }
  return 1;
}

/** The value that the bars of a column are measured by: its largest, if it names no larger. */
export function largest(column: CodeColumn): number {
  let most = column.most ?? 0;
  for (const v of column.values.values()) most = Math.max(most, Math.abs(v));
  return most;
}
