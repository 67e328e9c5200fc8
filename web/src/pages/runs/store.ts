// Asks the server about a trial or a study, and opens the runs that they are of.
import type { Api } from '../../api/client';
import type { Failure, StudyAnswer, StudyAsk, TrialAnswer } from '../../api/wire';
import { PageStore } from '../../state/pagestore';
import type { Store } from '../../state/store';

export interface RunsSnapshot {
  readonly trial: TrialAnswer | undefined;
  readonly study: StudyAnswer | undefined;
  readonly busy: boolean;
  readonly problem: Failure | undefined;
}

const EMPTY: RunsSnapshot = { trial: undefined, study: undefined, busy: false, problem: undefined };

export class RunsStore extends PageStore<RunsSnapshot> {
  private readonly trials = this.resource<string, TrialAnswer>({
    load: (_, signal) => this.api.json('GET', this.path('trial'), undefined, signal),
    show: (trial) => ({ trial }),
  });
  private readonly studies = this.resource<StudyAsk, StudyAnswer>({
    load: (ask, signal) => this.json('study', ask, signal),
    show: (study) => ({ study }),
    busy: (busy) => ({ busy }),
  });

  constructor(api: Api, run: string) {
    super(api, run, EMPTY);
  }

  wantTrial(): void {
    this.trials.want(this.run);
  }

  wantStudy(ask: StudyAsk): void {
    this.studies.want(ask);
  }

  /** Opens two recordings and shows them as a pair. */
  async compare(store: Store, a: string, b: string): Promise<void> {
    const first = await this.opened(a);
    const second = first && (await this.opened(b));
    if (first && second) store.compare(first, second);
  }

  private opened(path: string): Promise<string | undefined> {
    return this.attempt(async (signal) => {
      const end = await this.api.follow((await this.api.open(path)).id, () => {}, signal);
      if (end.state !== 'done') throw new Error(end.failure?.error ?? `${path} was not opened`);
      return end.run;
    });
  }
}
