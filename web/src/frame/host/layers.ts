// The layers of a view on screen. Each remembers what it was drawn from and is
// drawn again when that is another, so that a picture belongs to one answer and
// a hover costs one layer.
import { alike } from '../../base/alike';
import { CanvasRenderer, prepare } from '../../base/canvas';
import { pageMeasure } from '../../base/measure';
import type { Theme } from '../../base/theme';
import type { KeptView } from '../view';

export interface Canvases {
  readonly under: HTMLCanvasElement | undefined; // of what is costly and changes least
  readonly below: HTMLCanvasElement;
  readonly above: HTMLCanvasElement; // of the hover
}

export interface Look {
  readonly theme: Theme;
  readonly ratio: number; // device pixels per CSS pixel
}

export class Layers {
  private under: unknown; // what each layer on screen was drawn from
  private below: unknown;
  private above: unknown;

  /** Draws what has changed; hovers says whether there is a hover at all. */
  paint<Mark>(on: Canvases, view: KeptView<Mark>, look: Look, hovers: boolean, title: string): void {
    // Measures are read by what waits for the first picture (pages/memory/later.svelte.ts),
    // by the browser benchmark and in the developer tools.
    const began = performance.now();
    const frame = { size: view.size, ...look };
    const layer = (canvas: HTMLCanvasElement): CanvasRenderer =>
      new CanvasRenderer(prepare(canvas, view.size, look.ratio), look.theme, pageMeasure(), look.ratio);

    const ground = { frame, basis: view.basisUnder };
    const grounds = on.under !== undefined && view.drawUnder !== undefined && !alike(ground, this.under);
    if (grounds) {
      this.under = ground;
      view.drawUnder!(layer(on.under!));
    }
    const still = { frame, basis: view.basis };
    const stale = !alike(still, this.below);
    if (stale) {
      this.below = still;
      view.draw(layer(on.below));
    }
    if (stale || grounds) performance.measure(`redraw ${title}`, { start: began });

    // An answer may be older than the pointer: without a hover, no layer of it.
    const hover = { frame, hovers, basis: hovers ? (view.basisOver ?? view) : undefined };
    if (!alike(hover, this.above)) {
      this.above = hover;
      const r = layer(on.above);
      if (hovers) view.drawHover(r);
    }
    performance.measure(`draw ${title}`, { start: began }); // all layers, or the upper alone
  }
}
