// Guided analysis: what views asked about metrics, clusters, insights and single
// subsets, each in a slot of its own. A slot keeps its last answer while the
// next one is worked out, so that a picture never goes blank.

import { Gone, runPath, type Api } from '../../api/client';
import type { PlacesAnswer } from '../../api/decode';
import type { Clock } from '../../base/clock';
import { failureOf } from '../../state/resource';
import type * as wire from '../../api/wire';

export interface Asks {
  metrics: wire.AskStrip;
  clusters: wire.AskTree;
  insights: wire.AskInsights;
  /** The resources that the samples of a subset touched: what a glyph shows. */
  places: { readonly where: string; readonly filter: string };
}

export interface Answers {
  metrics: wire.StripAnswer;
  clusters: wire.TreeAnswer;
  insights: wire.InsightsAnswer;
  places: PlacesAnswer | undefined;
}

export type Kind = keyof Asks;

export interface Slot<K extends Kind = Kind> {
  readonly kind: K;
  readonly asked: string; // the newest question
  readonly value: Answers[K] | undefined;
  readonly answers: string; // the question that value belongs to
  readonly busy: boolean;
  readonly progress: wire.Progress | undefined;
  readonly problem: wire.Failure | undefined;
  readonly cancelled: boolean;
}

export interface Guided {
  readonly run: string;
  readonly info: wire.GuideInfo | undefined; // what the data of the run supports
  readonly slots: ReadonlyMap<string, Slot>;
}

export const NOTHING: Guided = { run: '', info: undefined, slots: new Map() };

/** The slot of a view, if it was asked for this kind of answer. */
export function slotOf<K extends Kind>(guided: Guided, name: string, kind: K): Slot<K> | undefined {
  const s = guided.slots.get(name);
  return s?.kind === kind ? (s as Slot<K>) : undefined;
}

const MOMENT = /\./; // ids of moments of the one recording of a server have a number behind a dot
const REST = 40; // ms; a brush that still moves is not worth a question
const KEPT = 64; // answers remembered

export class Guide {
  private snap = NOTHING;
  private readonly listeners = new Set<(g: Guided) => void>();
  private readonly running = new Map<string, AbortController>();
  private readonly waiting = new Map<string, () => void>(); // cancels a question not yet sent
  private readonly bodies = new Map<string, unknown>(); // by slot
  private readonly kept = new Map<string, unknown>(); // answers by question
  private readonly lost = new Set<string>(); // slots whose question did not reach the server
  private readonly unsubscribe: () => void;

  constructor(
    private readonly api: Api,
    private readonly clock: Clock,
  ) {
    this.unsubscribe = api.connection.subscribe((gone) => {
      if (gone) return;
      for (const name of [...this.lost]) this.again(name);
      if (this.snap.run !== '' && !this.snap.info) this.ask(this.snap.run);
    });
  }

  /** The page is left. */
  close(): void {
    this.unsubscribe();
    this.open('');
    this.listeners.clear();
  }

  get snapshot(): Guided {
    return this.snap;
  }

  subscribe(listener: (g: Guided) => void): () => void {
    this.listeners.add(listener);
    listener(this.snap);
    return () => this.listeners.delete(listener);
  }

  /** Turns to a run: answers about another one are forgotten. */
  open(run: string): void {
    if (run === this.snap.run) return;
    this.kept.clear();
    // Of a later moment of a recording answers take the place of others when they are there.
    const grown = MOMENT.test(this.snap.run) && MOMENT.test(run);
    const { slots } = this.snap;
    if (grown) this.set({ ...this.snap, run });
    for (const name of [...slots.keys()]) this[grown ? 'again' : 'drop'](name);
    if (grown) return;
    this.set({ run, info: undefined, slots: new Map() });
    if (run !== '') this.ask(run);
  }

  private ask(run: string): void {
    this.api.json<wire.GuideInfo>('GET', runPath(run, 'guide')).then(
      (info) => {
        if (this.snap.run === run) this.set({ ...this.snap, info });
      },
      // Without it views say that nothing is known; the store reports a server that is gone.
      () => {},
    );
  }

  /** Says what a view wants to know from now on; undefined when it closes. */
  want<K extends Kind>(name: string, kind: K, body: Asks[K] | undefined): void {
    if (body === undefined || this.snap.run === '') {
      if (this.snap.slots.has(name)) this.drop(name);
      return;
    }
    const asked = `${kind} ${JSON.stringify(body)}`;
    const was = this.snap.slots.get(name);
    if (was?.asked === asked) return;
    this.stop(name);
    this.bodies.set(name, body);
    const same = was?.kind === kind ? was : undefined;
    const slot: Slot = {
      kind,
      asked,
      value: same?.value,
      answers: same?.answers ?? '',
      busy: true,
      progress: undefined,
      problem: undefined,
      cancelled: false,
    };
    if (this.kept.has(asked)) {
      this.put(name, { ...slot, value: this.kept.get(asked) as Answers[K], answers: asked, busy: false });
      return;
    }
    this.put(name, slot);
    this.waiting.set(
      name,
      this.clock.after(REST, () => void this.send(name)),
    );
  }

  /** Takes a question back; again() asks it once more. */
  cancel(name: string): void {
    const slot = this.snap.slots.get(name);
    if (!slot?.busy) return;
    this.stop(name);
    this.put(name, { ...slot, busy: false, progress: undefined, cancelled: true });
  }

  again(name: string): void {
    const slot = this.snap.slots.get(name);
    if (!slot || slot.busy) return;
    this.put(name, { ...slot, busy: true, problem: undefined, cancelled: false });
    void this.send(name);
  }

  private async send(name: string): Promise<void> {
    const slot = this.snap.slots.get(name);
    if (!slot) return;
    this.stop(name);
    const mine = new AbortController();
    this.running.set(name, mine);
    const current = (): Slot | undefined =>
      this.running.get(name) === mine ? this.snap.slots.get(name) : undefined;
    try {
      const value = await this.load(slot.kind, this.bodies.get(name), mine.signal, (progress) => {
        const now = current();
        if (now) this.put(name, { ...now, progress });
      });
      this.keep(slot.asked, value);
      const now = current();
      if (now)
        this.put(name, {
          ...now,
          value,
          answers: now.asked,
          busy: false,
          progress: undefined,
          problem: undefined,
        });
    } catch (error) {
      const now = current();
      if (now && error instanceof Gone) this.lost.add(name);
      if (now) this.put(name, { ...now, busy: false, progress: undefined, problem: failureOf(error) });
    }
    if (this.running.get(name) === mine) this.running.delete(name);
  }

  private async load(
    kind: Kind,
    body: unknown,
    signal: AbortSignal,
    progress: (p: wire.Progress) => void,
  ): Promise<Answers[Kind]> {
    const { run } = this.snap;
    switch (kind) {
      case 'metrics':
        return this.api.json(
          'POST',
          runPath(run, 'metrics'),
          { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } },
          signal,
        );
      case 'clusters':
      case 'insights':
        return this.api.watch(runPath(run, kind), body, progress, signal);
      case 'places':
        return (await this.api.ask(run, { ...(body as Asks['places']), places: true }, signal)).places;
      default:
        return kind satisfies never;
    }
  }

  private keep(asked: string, value: unknown): void {
    this.kept.set(asked, value);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= KEPT) break;
      this.kept.delete(oldest);
    }
  }

  private stop(name: string): void {
    this.lost.delete(name);
    this.waiting.get(name)?.();
    this.waiting.delete(name);
    this.running.get(name)?.abort();
    this.running.delete(name);
  }

  private drop(name: string): void {
    this.stop(name);
    this.bodies.delete(name);
    const slots = new Map(this.snap.slots);
    slots.delete(name);
    this.set({ ...this.snap, slots });
  }

  private put(name: string, slot: Slot): void {
    this.set({ ...this.snap, slots: new Map(this.snap.slots).set(name, slot) });
  }

  private set(snap: Guided): void {
    this.snap = snap;
    for (const listener of this.listeners) listener(snap);
  }
}
