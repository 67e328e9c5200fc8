// What takes longer than the first picture, and is not waited for by it.
import { whenIdle } from '../../base/idle';
import type { Desk } from '../../frame/context';

/** Turns true once the first answer is drawn and nothing else is to be done. */
export class Later {
  come = $state(false);

  constructor(desk: () => Desk) {
    $effect(() => {
      if (!desk().snap.answer || this.come) return undefined;
      return whenIdle(() => (this.come = true));
    });
  }
}
