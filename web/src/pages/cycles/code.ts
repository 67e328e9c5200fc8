// The references of each line beside the source, in the colours of the walk: the
// gutter is its legend.
import type { CyclesInfo, Reference, SourceText } from '../../api/wire';
import { count, plural, short } from '../../base/format';
import type { Theme } from '../../base/theme';
import type { Code } from '../../frame/code/code';
import { lineColor } from './colours';
import type { Drawing } from './picture';
import type { Colouring } from './state';

const OTHERS = 9; // the colour of what has none of its own
const EXACT = 1e4; // up to here counts are written in full
const MOST_LABELS = 40; // where there is no source

export interface CodeInput {
  readonly info: CyclesInfo;
  readonly theme: Theme;
  readonly source: SourceText | undefined;
  readonly name: string; // of the source in the trace
  readonly drawing: Drawing | undefined;
  readonly by: Colouring;
  readonly references: readonly Reference[];
  readonly referencesFrom: number;
  readonly hovered: number; // window; -1: none
  readonly loopLine: number; // the header of a loop to point out; -1: none
  readonly selected: readonly number[]; // lines
  readonly from: number;
  readonly to: number;
  readonly follow: boolean; // the hovered window's line comes into view
}

/** Whether every selected reference is known, so that lines can be counted among them. */
export function countsSelected(
  of: Pick<CodeInput, 'from' | 'to' | 'references' | 'referencesFrom'>,
): boolean {
  const { from, to, references, referencesFrom } = of;
  return to > from && from >= referencesFrom && to <= referencesFrom + references.length;
}

/** References of each line of the source: of the selection where it is known. */
function countsOf(of: CodeInput): ReadonlyMap<number, number> {
  const out = new Map<number, number>();
  const add = (file: string, line: number, n: number): void => {
    if (line > 0 && file === of.name) out.set(line, (out.get(line) ?? 0) + n);
  };
  if (countsSelected(of)) {
    const [first, last] = [of.from - of.referencesFrom, of.to - of.referencesFrom];
    for (const r of of.references.slice(first, last)) add(r.file, r.line, 1);
  } else for (const l of of.info.lines) add(l.file, l.line, l.count);
  return out;
}

/** The colour of a line: its own, or that of the function it is folded into; -1: none. */
export function colourOfLine(of: CodeInput, line: number): number {
  if (of.by !== 'line' && of.by !== 'function' && of.by !== 'coordinate') return -1;
  const colours = of.drawing?.colours ?? [];
  const own = colours.findIndex((c) => c.file === of.name && c.line === line);
  if (own >= 0) return own;
  const inside = of.info.lines.find((l) => l.file === of.name && l.line === line)?.in;
  return inside ? colours.findIndex((c) => c.function === inside) : -1;
}

/** The line of the hovered window; -1 if it is in another file. */
function hoveredLine({ drawing, hovered, name, references, referencesFrom }: CodeInput): number {
  if (hovered < 0 || !drawing) return -1;
  const ref = references[hovered - referencesFrom];
  if (ref) return ref.file === name ? ref.line : -1;
  const shown = hovered >= drawing.first && hovered < drawing.last;
  const colour = shown ? drawing.colours[drawing.colour[hovered - drawing.first]!] : undefined;
  return colour?.line ?? -1;
}

/** The first window of a colour; undefined if none is drawn. */
export function firstWindow(drawing: Drawing | undefined, colour: number): number | undefined {
  const i = drawing?.colour.indexOf(colour) ?? -1;
  return drawing && i >= 0 ? drawing.first + i : undefined;
}

const written = (n: number): string => (n < EXACT ? count(n) : short(n));
const coloured = (theme: Theme, colour: number): string => lineColor(theme, colour < 0 ? OTHERS : colour);

/** The source with its references; undefined without a source. */
export function referencesCode(of: CodeInput): Code | undefined {
  const { source, theme } = of;
  if (!source) return undefined;
  const counts = countsOf(of);
  const current = hoveredLine(of);
  const first = Math.min(...counts.keys());
  const wanted = of.loopLine > 0 ? of.loopLine : (of.selected[0] ?? first);
  const shown = of.follow && current > 0 ? current : wanted;
  return {
    name: 'Code',
    file: source.file,
    text: source.text,
    columns: [
      {
        head: countsSelected(of) ? 'selected references' : 'references',
        values: counts,
        write: written,
        colour: (line) => coloured(theme, colourOfLine(of, line)),
      },
    ],
    tones: new Map([
      ...of.selected.map((line) => [line, 'here'] as const),
      ...(of.loopLine > 0 ? [[of.loopLine, 'here'] as const] : []),
      ...(current > 0 ? [[current, 'pointed'] as const] : []),
    ]),
    ...(Number.isFinite(shown) && { reveal: shown }),
    describe: (line) => ({
      name: `${of.name}:${line}`,
      more: `· ${plural(counts.get(line) ?? 0, 'reference')}`,
    }),
    summary: `${of.name}: references beside each line`,
  };
}

/** In place of a source that is not at hand: the labels with the most references. */
export function labelsCode({ info, drawing, theme }: CodeInput): Code {
  const labels = info.lines.toSorted((a, b) => b.count - a.count).slice(0, MOST_LABELS);
  return {
    name: 'Code',
    file: '',
    text: labels.map((l) => l.label).join('\n'),
    columns: [
      {
        head: 'references',
        values: new Map(labels.map((l, i) => [i + 1, l.count])),
        write: written,
        colour: (n) => coloured(theme, colourOfLabel(drawing, labels[n - 1]?.label)),
      },
    ],
    describe: (n) => ({
      name: labels[n - 1]?.label ?? '',
      more: `· ${plural(labels[n - 1]?.count ?? 0, 'reference')}`,
    }),
    summary: 'Places of the program by their references',
  };
}

export function colourOfLabel(drawing: Drawing | undefined, label: string | undefined): number {
  return drawing?.colours.findIndex((c) => c.label === label) ?? -1;
}
