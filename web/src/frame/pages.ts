// What the frame knows of a page. The list of pages is in ../pages.ts.
import type { Component } from 'svelte';
import type { Api } from '../api/client';
import type { Info } from '../api/wire';
import type { Undoes } from '../state/history';
import type { PageName } from '../state/url';
import type { Desk, DialogName } from './context';
import type { Action } from './keymap';
import type { Said } from './view';

export interface PageProps {
  readonly desk: Desk;
  readonly api: Api;
  readonly act: (a: Action) => void;
  readonly copied: boolean; // the link, a moment ago
  readonly said: Said | undefined; // the mark under the pointer
  readonly viewers: readonly string[]; // mesh viewers that are linked to the run
}

/** What a page that is shown can do for the frame. */
export interface PageHandle {
  /** Carries out an action of its own; reports whether it did. */
  readonly act?: (a: Action) => boolean;
  /** What a text typed into the command field means on it, before what it means everywhere. */
  readonly find?: (text: string, signal: AbortSignal) => Promise<readonly PageFound[]>;
}

/** Something of a page that a typed text may mean. */
export interface PageFound {
  readonly text: string;
  readonly does: string;
  readonly note: string; // how much there is
  readonly run: () => void;
}

export interface DialogProps {
  readonly desk: Desk;
  readonly api: Api;
  readonly pages: readonly Page[];
  readonly onclose: () => void;
}

export type LoadDialog = () => Promise<{ readonly default: Component<DialogProps> }>;

/** A key of a page, for the list of keys. */
export interface PageKey {
  readonly keys: readonly string[];
  readonly label: string;
  readonly pointer: string;
}

export interface Page {
  readonly id: PageName;
  readonly title: string;
  readonly without: string; // why it cannot be shown
  /** Whether a run has what the page shows. */
  readonly fills: (info: Info | undefined) => boolean;
  /** What Ctrl+Z takes back on it. */
  readonly undoes: Undoes;
  /** Whether samples can be selected on it, which the bar of the selection shows. */
  readonly selects?: (info: Info) => boolean;
  readonly load: () => Promise<{ readonly default: Component<PageProps, PageHandle> }>;
  readonly perRun?: true; // made anew for another run
  readonly own?: true; // in the bar only with a run that fills it
  readonly dialogs?: Partial<Record<DialogName, LoadDialog>>;
  /** Keys of its own while its picture has the focus, for the list of keys. */
  readonly keys?: () => Promise<readonly PageKey[]>;
}

/** The page to show: the one asked for, or the first that the run fills. */
export function pageOf(pages: readonly Page[], asked: PageName, info: Info | undefined): Page {
  const filled = pages.filter((p) => p.fills(info));
  return filled.find((p) => p.id === asked) ?? filled[0]!;
}
