// What every view is: a picture of an answer that can be pointed at, walked
// through by keys, described in words and listed as a table. Views know no
// framework, no store and no DOM beyond the renderer.
import type { Dir, Point, Size } from '../base/geometry';
import type { Renderer } from '../base/renderer';
import type { Theme } from '../base/theme';
import type { Term } from '../state/selection';
import type { ViewLegend } from './legend';

/** A mark in words: its name, then everything known about it, exact and untruncated. */
export interface Said {
  readonly name: string;
  readonly more: string;
  /** Samples counted so far; what they cost is added once the engine has answered. */
  readonly counted?: number;
  /** The name in the file, if it is not the one people read; tooltips show it. */
  readonly raw?: string;
  /** The column or metric it is about, which the glossary explains. */
  readonly term?: string;
}

export function sentence(s: Said): string {
  return s.more ? `${s.name} ${s.more}` : s.name;
}

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface View<Mark> {
  readonly size: Size;
  /** What lies under the rest and is costly to draw: lines between axes. */
  drawUnder?(r: Renderer): void;
  draw(r: Renderer): void;
  /** The layer that changes while the pointer moves; drawn over the rest. */
  drawHover(r: Renderer): void;
  hitTest(p: Point): Mark | undefined;
  /** Keyboard cursor. */
  step(from: Mark | undefined, dir: Dir): Mark | undefined;
  describe(mark: Mark): Said;
  /** The samples of a mark; undefined for marks that select nothing. */
  wanted(mark: Mark): Term | undefined;
  rows(): Table;
  /** What its colours mean, for the file it is exported to; on the page a header says so. */
  legendFor?(theme: Theme): ViewLegend | undefined;
  /** One sentence about the whole picture, for the accessible name. */
  summary(): string;
}

/**
 * A view on screen, whose layers are kept. It says itself what each was drawn
 * from: all that it was given, less what only the layers above show. A layer is
 * drawn again when that is not alike any more, so a picture belongs to one answer.
 */
export interface KeptView<Mark> extends View<Mark> {
  readonly basis: unknown; // of draw
  readonly basisUnder?: unknown; // of drawUnder, if the view has one
  readonly basisOver?: unknown; // of drawHover; without it that is drawn whenever the view changes
}

/** CSV of a table, RFC 4180. */
export function csv(table: Table): string {
  const cell = (s: string): string => (/[",\n]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s);
  return [table.head, ...table.rows].map((row) => row.map(cell).join(',')).join('\n') + '\n';
}
