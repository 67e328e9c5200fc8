// Shares the selection of the page with mesh viewers that are linked to the run.
import { namedEvents, runPath, type Api } from '../api/client';
import { text } from './selection';
import type { Store } from './store';
import type { MeshSelect, MeshViewers } from '../api/wire';

const AGAIN = 2000; // ms until a broken connection is tried again

/** Waits, or less if the signal comes. */
function rested(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const id = setTimeout(done, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(id);
      done();
    });
  });
}

/** Follows the link of a run until the returned function is called. */
export function follow(
  api: Api,
  store: Store,
  run: string,
  show: (viewers: readonly string[]) => void,
): () => void {
  const origin = `page-${Math.random().toString(36).slice(2, 10)}`;
  const end = new AbortController();
  let agreed: string | undefined; // what page and server both have; undefined before the first news
  let rev = 0; // of the newest news
  let applying = false;
  let telling = false;

  const now = (): MeshSelect => ({
    where: text(store.snapshot.state.select),
    filter: text(store.snapshot.state.filter),
    origin,
  });
  const said = (s: MeshSelect): string => `${s.filter}\n${s.where}`;

  /** Tells the server what is selected here, until it knows. */
  async function tell(): Promise<void> {
    if (telling || applying || agreed === undefined || store.snapshot.info?.id !== run) return;
    telling = true;
    try {
      for (let s = now(); said(s) !== agreed; s = now()) {
        agreed = said(s);
        await api.request(
          'POST',
          runPath(run, 'mesh/select'),
          { body: JSON.stringify(s), headers: { 'Content-Type': 'application/json' } },
          end.signal,
        );
      }
    } catch {
      // A selection that the server refuses is said where it was made; one that
      // did not arrive is told again when the stream is back.
    }
    telling = false;
  }

  function hear(news: MeshViewers): void {
    show(news.viewers);
    const first = agreed === undefined;
    if (!first && (news.rev <= rev || news.origin === origin)) {
      rev = Math.max(rev, news.rev);
      return;
    }
    rev = news.rev;
    const own = now();
    if (first && own.where !== '')
      agreed = ''; // a page that comes with a selection brings it
    else if (first || said(own) === agreed) {
      applying = true;
      if (news.where !== own.where) store.selectText(news.where);
      applying = false;
      agreed = said({ ...now(), filter: first ? '' : own.filter });
    }
    void tell(); // what was selected here meanwhile
  }

  async function listen(): Promise<void> {
    while (!end.signal.aborted) {
      try {
        const r = await api.request('GET', runPath(run, 'mesh/viewers'), undefined, end.signal);
        for await (const e of namedEvents(r.body!)) hear(JSON.parse(e.data) as MeshViewers);
      } catch {
        // tried again below
      }
      if (end.signal.aborted) return;
      show([]);
      agreed = undefined;
      rev = 0;
      await rested(AGAIN, end.signal);
    }
  }

  void listen();
  const unsubscribe = store.subscribe(() => void tell());
  return () => {
    end.abort();
    unsubscribe();
    show([]);
  };
}
