// What pointer and keys do in a view: the mark under them, the gesture that is
// going on, the tooltip and the menu. It knows no markup; ViewHost.svelte shows
// what it holds.
import type { Dir, Point } from '../../base/geometry';
import type { Mode, Term } from '../../state/selection';
import { modeOf, type Desk, type Gesture } from '../context';
import type { Action } from '../keymap';
import type { MenuItem } from '../PopMenu.svelte';
import type { KeptView, Said, View } from '../view';
import { viewItems } from '../viewactions';
import { markItems } from './menu';

/** What a pane gives its host; all but the first three only where it differs from other panes. */
export interface Carried<Mark> {
  readonly desk: Desk;
  readonly view: KeptView<Mark> | undefined;
  readonly title: string;
  readonly grab?: ((p: Point, e: PointerEvent) => Gesture | undefined) | undefined;
  readonly act?:
    ((action: Action, mark: Mark | undefined, at: Point | undefined, e?: Event) => boolean) | undefined;
  readonly pick?: ((mark: Mark, mode: Mode | undefined) => boolean) | undefined;
  readonly reveal?: ((mark: Mark) => void) | undefined;
  readonly cursorAt?: ((p: Point) => string | undefined) | undefined;
  readonly items?: ((mark: Mark | undefined) => readonly MenuItem[]) | undefined;
  readonly untold?: ((mark: Mark) => boolean) | undefined; // marks that have a card in place of the tooltip
  readonly onwheel?: ((e: WheelEvent, p: Point) => void) | undefined;
  /** For views whose marks are not samples: what is hovered. */
  readonly onhover?: ((mark: Mark | undefined) => void) | undefined;
}

export interface Tip {
  readonly said: Said;
  readonly x: number;
  readonly y: number;
  readonly pinned: boolean;
  readonly why?: string;
  readonly means?: readonly string[]; // by the glossary
}

const CLICK_SLOP = 5; // px; shaky hands still click
const TIP_REST = 700; // ms
const CORNER: Point = { x: 24, y: 24 }; // of what is opened by keys

const DIRS: Readonly<Record<string, Dir>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
  Home: 'first',
  End: 'last',
};

/** Whether a view can say what a mark of an earlier one is: each describes all of its own. */
function tells<Mark>(view: KeptView<Mark>, mark: Mark): boolean {
  try {
    view.describe(mark);
    return true;
  } catch {
    return false;
  }
}

export class HostControl<Mark> {
  mark = $state.raw<Mark | undefined>();
  tip = $state.raw<Tip | undefined>();
  menu = $state.raw<{ x: number; y: number; items: readonly MenuItem[] } | undefined>();
  cursor = $state('default');
  private keyed = false; // the mark was set by keys: it stays when the pointer leaves
  private marked: KeptView<Mark> | undefined; // the view that the mark was found in
  private pointer: Point | undefined; // where the pointer was last
  private gesture: { start: Point; run: Gesture | undefined; begun: boolean } | undefined;
  private rest: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly carried: () => Carried<Mark>) {}

  private get view(): KeptView<Mark> | undefined {
    return this.carried().view;
  }

  private setMark(next: Mark | undefined, byKey = false): void {
    const { desk, view, onhover } = this.carried();
    const same = JSON.stringify(next) === JSON.stringify(this.mark);
    this.keyed = byKey;
    this.marked = view;
    if (next === undefined && same) return;
    if (!same) this.mark = next;
    desk.store.hover(next === undefined ? undefined : view?.wanted(next));
    onhover?.(next);
    if (next === undefined) desk.say(undefined);
  }

  /**
   * Called when there is another view: a row or a bin that the mark was may not be in it.
   * Then the pointer is at what the view has there now, and keys begin anew.
   */
  follow(): void {
    const { view } = this.carried();
    if (this.mark === undefined || !view || view === this.marked) return;
    this.marked = view;
    if (tells(view, this.mark)) return;
    clearTimeout(this.rest);
    this.tip = undefined;
    this.setMark(this.keyed || !this.pointer ? undefined : view.hitTest(this.pointer));
  }

  // ---- pointer ----

  moved(p: Point): void {
    this.pointer = p;
    if (this.gesture) {
      this.drag(p);
      return;
    }
    const next = this.view?.hitTest(p);
    const { cursorAt, untold } = this.carried();
    this.setMark(next);
    this.cursor = cursorAt?.(p) ?? 'default';
    if (this.tip?.pinned) return;
    this.tip = undefined;
    clearTimeout(this.rest);
    // The status line has the words at once; the tooltip waits for a rest.
    if (next !== undefined && !untold?.(next))
      this.rest = setTimeout(() => this.mark !== undefined && this.showTip(next, p, false), TIP_REST);
  }

  private drag(p: Point): void {
    const g = this.gesture!;
    if (!g.begun && Math.hypot(p.x - g.start.x, p.y - g.start.y) < CLICK_SLOP) return;
    if (!g.begun) {
      g.begun = true;
      this.setMark(undefined);
      this.tip = undefined;
      g.run?.begin?.();
    }
    g.run?.move(p);
  }

  pressed(p: Point, e: PointerEvent): void {
    this.menu = undefined;
    this.gesture = { start: p, run: this.carried().grab?.(p, e), begun: false };
  }

  released(p: Point, e: PointerEvent): void {
    const g = this.gesture;
    this.gesture = undefined;
    if (!g || e.button !== 0) return;
    if (g.begun) {
      g.run?.end(p);
      this.moved(p);
      return;
    }
    g.run?.cancel();
    const hit = this.view?.hitTest(p);
    if (hit !== undefined) this.choose(hit, modeOf(e));
  }

  giveUp(): void {
    this.gesture?.run?.cancel();
    this.gesture = undefined;
  }

  left(): void {
    clearTimeout(this.rest);
    if (!this.keyed && !this.gesture) this.setMark(undefined);
    if (!this.tip?.pinned) this.tip = undefined;
  }

  doubleClicked(p: Point): void {
    const hit = this.view?.hitTest(p);
    this.carried().act?.(hit === undefined ? 'reset' : 'zoom-in', hit, p);
  }

  wheel(p: Point, e: WheelEvent): void {
    const { act, onwheel, view } = this.carried();
    if (!e.ctrlKey && !e.metaKey) {
      onwheel?.(e, p);
      return;
    }
    e.preventDefault(); // else the whole page zooms
    const by = e.deltaY || e.deltaX; // with Shift, browsers turn the wheel sideways
    if (by !== 0) act?.(by < 0 ? 'zoom-in' : 'zoom-out', view?.hitTest(p), p, e);
  }

  // ---- keys ----

  /** Whether the action was one for this view. */
  key(action: Action, e: KeyboardEvent): boolean {
    const { act, desk, title, view } = this.carried();
    if (!view) return false;
    if (act?.(action, this.mark, undefined, e)) return true;
    switch (action) {
      case 'move':
        return this.walk(DIRS[e.key]!);
      case 'next':
      case 'previous':
        return this.walk(action);
      case 'pick':
      case 'pick-add':
      case 'pick-remove':
      case 'pick-only':
        if (this.mark === undefined) return false;
        this.choose(this.mark, modeOf(e));
        return true;
      case 'table':
        desk.showTable(title, view as View<unknown>);
        return true;
      case 'pin':
        return this.pin();
      case 'menu':
        this.openMenu(this.mark, CORNER);
        return true;
      case 'close':
        return this.clear();
      default:
        return false;
    }
  }

  private walk(dir: Dir): boolean {
    const next = this.view?.step(this.mark, dir);
    if (next !== undefined) {
      this.carried().reveal?.(next);
      this.setMark(next, true);
    }
    return true;
  }

  private clear(): boolean {
    if (this.gesture) this.giveUp();
    else if (this.menu) this.menu = undefined;
    else if (this.tip?.pinned) this.tip = undefined;
    else if (this.mark !== undefined) this.setMark(undefined);
    else return false;
    return true;
  }

  /** The focus has gone: a mark of the keys goes with it. */
  blurred(): void {
    if (this.keyed) this.setMark(undefined);
  }

  // ---- what marks do ----

  private choose(m: Mark, mode: Mode | undefined): void {
    const { desk, pick, view } = this.carried();
    if (pick?.(m, mode)) return;
    const term = view?.wanted(m);
    if (term) desk.store.select(term, mode);
  }

  openMenu(m: Mark | undefined, p: Point): void {
    const { desk, items, title, view } = this.carried();
    if (!view) return;
    const marks = markItems(view, m, (mark, mode) => this.choose(mark, mode));
    const whole = viewItems({ desk, title, view: () => this.view as View<unknown> | undefined });
    this.menu = { ...p, items: [...marks, ...(items?.(m) ?? []), ...whole] };
  }

  private pin(): boolean {
    if (this.tip) this.tip = { ...this.tip, pinned: !this.tip.pinned };
    else if (this.mark !== undefined) this.showTip(this.mark, CORNER, true);
    return this.tip !== undefined;
  }

  private showTip(m: Mark, p: Point, pinned: boolean): void {
    const view = this.view;
    if (!view) return;
    this.tip = { said: view.describe(m), ...p, pinned };
    this.reason(view.wanted(m));
    this.explain();
  }

  /** Adds to the tooltip of a level how it was decided, by one of its samples. */
  private reason(term: Term | undefined): void {
    if (term?.kind !== 'values' || term.column !== 'level') return;
    const shown = this.tip;
    void this.carried()
      .desk.why(term)
      .then((why) => {
        if (this.tip && this.tip.said === shown?.said) this.tip = { ...this.tip, why };
      });
  }

  /** Adds what the column or metric means. */
  private explain(): void {
    const shown = this.tip?.said;
    if (!shown?.term) return;
    void this.carried()
      .desk.explain(shown.term)
      .then((means) => {
        if (this.tip?.said === shown) this.tip = { ...this.tip, means };
      })
      .catch(() => {}); // without the server a tooltip says what it knew
  }

  /** Nothing of a view outlives it: no tooltip to come, no drag, no hover. */
  destroy(): void {
    clearTimeout(this.rest);
    this.giveUp();
    if (this.mark === undefined) return;
    const { desk } = this.carried();
    desk.store.hover(undefined);
    desk.say(undefined);
  }
}
