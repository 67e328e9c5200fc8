// What takes longer than the first picture, and is not waited for by it.
import { whenIdle } from '../../base/idle';
import type { Desk } from '../../frame/context';

/** Turns true once the first answer is drawn and nothing else is to be done. */
export class Later {
  come = $state(false);

  constructor(desk: () => Desk) {
    $effect(() => {
      if (!desk().snap.answer || this.come) return undefined;
      let cancel: () => void;
      // The frame that draws the answer comes first, however idle the page is before it.
      const frame = requestAnimationFrame(() => (cancel = whenIdle(() => (this.come = true))));
      cancel = () => cancelAnimationFrame(frame);
      return () => cancel();
    });
  }
}
