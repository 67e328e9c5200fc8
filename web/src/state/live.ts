// Follows a recording while it goes on: each moment of it takes the place of the
// one before, and what is selected and shown stays.
import { events, Gone, type Api } from '../api/client';
import { backOff } from '../api/connection';
import type { Home, Live } from '../api/wire';
import { browserPlace } from './browser';
import type { Store } from './store';
import { write } from './url';

/** The id of the recording in that of one of its moments. */
const recordingOf = (run: string): string => run.slice(0, run.lastIndexOf('.'));

export interface Following {
  /** Shows the newest moment, or the run, although the page holds still. */
  readonly show: () => void;
  readonly stop: () => void;
}

/** Tells how far the recording is, until its run is there. */
export function follow(api: Api, store: Store, tell: (now: Live) => void): Following {
  const end = new AbortController();
  let pressed = false; // a brush that is dragged ends on the axes it began on
  const press = (e: Event): void => void (pressed = e.type === 'pointerdown');
  for (const type of ['pointerdown', 'pointerup', 'pointercancel'])
    addEventListener(type, press, { signal: end.signal, capture: true });

  let turning = false;
  let newest: Live | undefined;
  async function turn(live: Live): Promise<void> {
    const shown = store.snapshot.info;
    if (turning || !shown || live.run === '' || live.run === shown.id) return;
    // The next moment comes soon: the question about this one is not taken back for it.
    const busy = (): boolean => live.state !== 'done' && (pressed || store.snapshot.busy);
    if (busy() || document.hidden) return;
    turning = true;
    try {
      const [info, home] = await Promise.all([api.info(live.run, end.signal), api.home(end.signal)]);
      if (end.signal.aborted || store.snapshot.info !== shown || busy()) return;
      const own = info.live ? recordingOf(info.id) : info.id;
      const listed: Home = { ...home, runs: home.runs.map((r) => (r.id === own ? info : r)) };
      const state = { ...store.snapshot.state, run: own };
      browserPlace.replace(write(state));
      store.renew({ state, info, home: listed });
    } finally {
      turning = false;
    }
  }

  // The next moment tries again; that the server is gone is said for all pages at once.
  const show = (): void => void (newest && turn(newest).catch(() => {}));

  async function listen(): Promise<void> {
    for (let tries = 0; !end.signal.aborted; tries++) {
      try {
        const r = await api.request('GET', 'live/events', undefined, end.signal);
        if (!r.body) throw new Gone();
        for await (const data of events(r.body)) {
          const now = JSON.parse(data) as Live;
          tries = 0;
          newest = now;
          tell(now);
          if (!now.paused) show();
          if (now.state === 'done' || now.state === 'failed') return;
        }
      } catch {
        // As above.
      }
      await new Promise((done) => setTimeout(done, backOff(tries)));
    }
  }
  void listen();
  return { show, stop: () => end.abort() };
}
