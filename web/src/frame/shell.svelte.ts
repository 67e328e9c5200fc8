// What the frame does for every page: actions of keys and menus, exports, files
// that are dropped, dialogs. It holds what App.svelte shows of these.
import type { Api } from '../api/client';
import { isTyping } from '../base/keys';
import type { Snapshot, Store } from '../state/store';
import type { Appearance } from './appearance.svelte';
import type { DialogName } from './context';
import type { Format } from './export';
import { actionOf, type Action } from './keymap';
import type { Page, PageHandle } from './pages';
import type { Saved, Whole } from './saving';
import type { Said, View } from './view';

const COPIED = 1500; // ms that "copied" is said
const REFUSED = 'This server is shared: it shows the runs it was started with. Others: isobath open FILE';

/** What the shell needs of what is shown now. */
export interface Shown {
  readonly snap: Snapshot;
  readonly page: Page;
  readonly selects: boolean; // samples can be selected on the page
  readonly handle: PageHandle | undefined;
  readonly focusCommand: () => void;
}

/** What the export menu and the commands offer. */
export type ExportFormat = Format | Whole;

export class Shell {
  said = $state.raw<Said | undefined>();
  dialog = $state<DialogName | undefined>();
  table = $state.raw<{ readonly title: string; readonly view: View<unknown> } | undefined>();
  focused = $state('Topology'); // the view that had the focus last
  private touched: Element | undefined; // the pane or view that had the focus last
  copied = $state(false);
  dropping = $state(false);
  exportProblem = $state('');
  refused = $state('');
  unloaded = $state(false); // code of a page, a pane or a dialog did not come

  constructor(
    private readonly store: Store,
    private readonly api: Api,
    private readonly appearance: Appearance,
    private readonly shown: () => Shown,
  ) {}

  say(s: Said | undefined): void {
    if (s?.name !== this.said?.name || s?.more !== this.said?.more) this.said = s;
  }

  get shared(): boolean {
    return this.shown().snap.home?.shared ?? false;
  }

  // ---- export ----

  private get saved(): Saved {
    return { snap: this.shown().snap, theme: this.appearance.theme };
  }

  async save(title: string, view: View<unknown>, format: Format): Promise<void> {
    await this.attempt(async () => (await import('./saving')).saveView(this.saved, title, view, format));
  }

  async exportAs(format: ExportFormat): Promise<void> {
    if (format === 'png' || format === 'svg' || format === 'csv') this.askView('export', format);
    else
      await this.attempt(async () =>
        (await import('./saving')).saveAll(this.saved, this.shown().page.title, this.api, format),
      );
  }

  /** Says what failed, in the banner of exports. */
  private async attempt(what: () => Promise<void>): Promise<boolean> {
    this.exportProblem = '';
    try {
      await what();
      return true;
    } catch (error) {
      this.exportProblem = error instanceof Error ? error.message : String(error);
      return false;
    }
  }

  private askView(action: string, format?: Format): void {
    const host =
      document.querySelector(`[data-view="${this.focused}"]`) ?? document.querySelector('[data-view]');
    host?.dispatchEvent(new CustomEvent('isobath-ask', { detail: { action, format } }));
  }

  // ---- actions ----

  /** The address of the server as others have it, which one behind a tunnel has not. */
  private get base(): string {
    const here = location.href.split('#')[0]!;
    const shared = this.shown().snap.home?.address;
    return shared && /^(localhost|127\.|\[::1\])/.test(location.hostname) ? shared : here;
  }

  /** With the key the link opens for whoever gets it; without it they need one of their own. */
  private async copyLink(withKey: boolean): Promise<void> {
    const done = await this.attempt(async () => {
      const link = await this.store.address(this.base);
      const key = withKey && this.api.token !== '' ? `k=${this.api.token}&` : '';
      await navigator.clipboard?.writeText(link.replace('#', `#${key}`));
    });
    if (!done) return;
    this.copied = true;
    setTimeout(() => (this.copied = false), COPIED);
  }

  private actOnSelection(action: 'invert' | 'filter' | 'hide' | 'select-all' | 'save'): boolean {
    const { snap, selects } = this.shown();
    if (!selects) return false; // what is selected must be in sight to be changed
    if (action === 'invert') this.store.invert();
    else if (action === 'hide') this.store.hideSelected();
    else if (action === 'select-all') this.store.selectAll();
    else if (action === 'save') this.dialog = 'save';
    else if (snap.state.select.length > 0) this.store.showSelected();
    return true;
  }

  private showSide(cmp: 'a' | 'b' | 'diff'): boolean {
    if (!this.shown().snap.info?.pair) return false;
    this.store.change({ cmp });
    return true;
  }

  private open(): void {
    if (this.shared) this.refused = REFUSED;
    else this.dialog = 'open';
  }

  /** Actions that always do something; the rest are of the selection or of the page. */
  private readonly always: Readonly<Partial<Record<Action, () => void>>> = {
    undo: () => this.store.undo(this.shown().page.undoes),
    redo: () => this.store.redo(this.shown().page.undoes),
    command: () => this.shown().focusCommand(),
    help: () => (this.dialog = 'help'),
    open: () => this.open(),
    export: () => this.askView('export', 'png'),
    table: () => this.askView('table'),
    'copy-link': () => void this.copyLink(true),
    'copy-link-only': () => void this.copyLink(false),
    theme: () => this.appearance.toggle(),
    back: () => history.back(),
    forward: () => history.forward(),
  };

  /** Whether the action did anything. */
  act(action: Action): boolean {
    const known = this.always[action];
    if (known) {
      known();
      return true;
    }
    switch (action) {
      case 'invert':
      case 'filter':
      case 'hide':
      case 'select-all':
      case 'save':
        return this.actOnSelection(action);
      case 'show-a':
      case 'show-b':
      case 'show-change':
        return this.showSide(({ 'show-a': 'a', 'show-b': 'b', 'show-change': 'diff' } as const)[action]);
      default:
        return this.shown().handle?.act?.(action) ?? false;
    }
  }

  keydown(e: KeyboardEvent): void {
    if (e.defaultPrevented || this.dialog || this.table) return;
    const action = actionOf(e, isTyping(e.target));
    if (action && this.act(action)) e.preventDefault();
  }

  /** What the pointer or the keys have reached gets its words from the glossary. */
  explain(e: Event): void {
    const of = (e.target as HTMLElement).closest?.<HTMLElement>('th, [data-term]');
    if (of) void import('./glossary').then((g) => g.explainElement(this.api, of));
  }

  focusin(e: FocusEvent): void {
    this.explain(e);
    const near = (e.target as HTMLElement).closest?.('[data-view], section');
    if (near) this.touched = near;
    this.findTouched();
  }

  /** What was touched last as it is now: a pane may show another view since then, or be gone. */
  findTouched(): void {
    const { touched } = this;
    const here = touched?.isConnected ? touched : document;
    const view =
      touched?.isConnected && touched.matches('[data-view]') ? touched : here.querySelector('[data-view]');
    this.focused = view?.getAttribute('data-view') ?? this.focused;
  }

  // ---- files that are dropped ----

  dragover(e: DragEvent): void {
    e.preventDefault();
    this.dropping = !this.shared;
  }

  dragleave(e: DragEvent): void {
    if (!e.relatedTarget) this.dropping = false;
  }

  async drop(e: DragEvent): Promise<void> {
    e.preventDefault();
    this.dropping = false;
    if (this.shared) {
      this.refused = REFUSED;
      return;
    }
    // What was dropped is there only until the event ends.
    const [roots, files] = [
      [...(e.dataTransfer?.items ?? [])].flatMap((i) => i.webkitGetAsEntry?.() ?? []),
      [...(e.dataTransfer?.files ?? [])],
    ];
    const { droppedFiles } = await import('./drop');
    const dropped = await droppedFiles(roots, files);
    if (typeof dropped === 'string') this.refused = dropped;
    else if (dropped) await this.store.upload(dropped.name, dropped.content);
  }
}
