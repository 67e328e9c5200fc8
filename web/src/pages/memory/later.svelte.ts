// What takes longer than the first picture, and is not waited for by it.
import { whenIdle } from '../../base/idle';
import type { Desk } from '../../frame/context';

const PATIENCE = 5000; // ms; a view that has nothing to draw, or fails, keeps nothing back for longer

/** Turns true once every view on screen is drawn and nothing else is to be done. */
export class Later {
  come = $state(false);

  constructor(desk: () => Desk) {
    $effect(() => {
      const { answer, problem } = desk().snap;
      if (this.come || (!answer && !problem)) return undefined;
      let cancel = (): void => {};
      const soon = (): void => {
        cancel();
        cancel = whenIdle(() => (this.come = true));
      };
      // The first answer may be about totals alone, before the views have asked: only
      // a picture says that there is one.
      const watch = new PerformanceObserver(() => {
        if (!drawn()) return;
        watch.disconnect();
        soon();
      });
      watch.observe({ type: 'measure', buffered: true });
      // An answer under way ends in another snapshot.
      const late = setTimeout(() => desk().store.snapshot.busy || soon(), PATIENCE);
      return () => {
        watch.disconnect();
        clearTimeout(late);
        cancel();
      };
    });
  }
}

/** By the measures of host/layers.ts. */
function drawn(): boolean {
  const views = [...document.querySelectorAll<HTMLElement>('[role="application"]')];
  const measured = (v: HTMLElement): boolean =>
    performance.getEntriesByName(`draw ${v.dataset['view']}`).length > 0;
  return views.length > 0 && views.every(measured);
}
