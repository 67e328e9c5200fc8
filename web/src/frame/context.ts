// What every pane gets: the store and its snapshot, the theme, and the ways to
// speak to the rest of the page.
import type { Point } from '../base/geometry';
import type { Theme } from '../base/theme';
import type { Snapshot, Store } from '../state/store';
import type { Mode, Term } from '../state/selection';
import type { Said, View } from './view';

export interface Desk {
  readonly store: Store;
  readonly snap: Snapshot;
  readonly theme: Theme;
  /** Puts a mark into the status line; undefined when the pointer leaves. */
  readonly say: (said: Said | undefined) => void;
  /** What the hovered samples are, once that is known: source line, object, instruction. */
  readonly about: readonly string[];
  /** Opens a view as a table; exports it. */
  readonly showTable: (title: string, view: View<unknown>) => void;
  /** Why samples have their level, by one of those that a term matches. */
  readonly why: (term: Term) => Promise<string>;
  /** What a column or a metric means, by the glossary. */
  readonly explain: (term: string) => Promise<readonly string[]>;
  readonly exportView: (title: string, view: View<unknown>, format: 'png' | 'svg' | 'csv') => void;
  readonly openDialog: (name: DialogName) => void;
}

/** Something that follows the pointer from press to release. */
export interface Gesture {
  readonly begin?: () => void; // the pointer has moved: it is a drag, not a click
  readonly move: (p: Point) => void;
  readonly end: (p: Point) => void;
  readonly cancel: () => void;
  readonly cursor?: string;
}

export type DialogName = 'help' | 'open' | 'compare' | 'axes' | 'sources' | 'save' | 'samples' | 'columns';

/** How the modifier keys of a click or Enter change the selection. */
export function modeOf(e: {
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}): Mode | undefined {
  if (e.altKey) return 'remove';
  if (e.ctrlKey || e.metaKey) return 'only';
  return e.shiftKey ? 'add' : undefined;
}
