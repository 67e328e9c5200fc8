// A rectangle of bins that pointer or keys draw over a plot: drag, or Shift and arrow
// keys, then Enter.
import type { Dir, Point } from '../../base/geometry';
import { modeOf, type Gesture } from '../../frame/context';
import type { Action } from '../../frame/keymap';
import type { Mode } from '../../state/selection';

export interface Bin {
  readonly x: number;
  readonly y: number;
}

export interface Brushed {
  readonly from: Bin;
  readonly to: Bin;
}

/** A plot made of bins. */
export interface Binned {
  /** The bin at a point, or the nearest one. */
  binAt(p: Point): Bin;
  step(from: Bin | undefined, dir: Dir): Bin;
}

export class BinBrush {
  brushed = $state.raw<Brushed | undefined>();

  constructor(
    private readonly view: () => Binned | undefined,
    private readonly done: (brushed: Brushed, mode: Mode | undefined) => void,
  ) {}

  grab(p: Point, e: PointerEvent): Gesture | undefined {
    const view = this.view();
    if (!view) return undefined;
    const from = view.binAt(p); // also from beside the plot, so that its edge can be reached
    const till = (to: Point): Brushed => ({ from, to: (this.view() ?? view).binAt(to) });
    return {
      move: (to) => (this.brushed = till(to)),
      end: (to) => this.end(till(to), modeOf(e)),
      cancel: () => (this.brushed = undefined),
    };
  }

  end(brushed: Brushed, mode: Mode | undefined): void {
    this.brushed = undefined;
    if (this.view()) this.done(brushed, mode);
  }

  /** Enter selects what keys have marked, also without a mark of the cursor. */
  act(action: Action, mark: Bin | undefined, e?: Event): boolean {
    const view = this.view();
    if (action === 'pick' && this.brushed) {
      this.end(this.brushed, undefined);
      return true;
    }
    if (action === 'close' && this.brushed) {
      this.brushed = undefined;
      return true;
    }
    if (action !== 'extend' || !view || !(e instanceof KeyboardEvent)) return false;
    const from = this.brushed?.from ?? mark ?? view.step(undefined, 'left');
    const dir = e.key.replace('Arrow', '').toLowerCase() as Dir;
    this.brushed = { from, to: view.step(this.brushed?.to ?? from, dir) };
    return true;
  }
}
