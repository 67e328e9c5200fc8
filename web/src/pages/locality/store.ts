// Asks the server for what the locality page shows; the newest question wins.
import type { Api } from '../../api/client';
import { Columns, header } from '../../api/decode';
import type {
  Advise,
  AdviseAsk,
  Failure,
  LocalityAnswer,
  LocalityAsk,
  LocalityMap,
  LocalityMapAsk,
  MachineMisses,
  MachinesAsk,
  Paired,
  PairedAsk,
  Progress,
  SharedLines,
  SharingAsk,
  SourceText,
} from '../../api/wire';
import { PageStore } from '../../state/pagestore';
import type { MissMap } from './map';

/** A question about rows, and what these are called. */
export interface Pairing {
  readonly about: string; // the run and the table: a selection changes no names
  readonly ask: PairedAsk;
  readonly names: { readonly a: readonly string[]; readonly b: readonly string[] };
}

export interface LocalitySnapshot {
  readonly answer: LocalityAnswer | undefined;
  /** The answer of the run that is compared with, and which that is. */
  readonly before: { readonly run: string; readonly answer: LocalityAnswer } | undefined;
  readonly beforeProblem: Failure | undefined;
  readonly comparing: boolean;
  /** Names of rows here by those of the run that is compared with, and of which rows. */
  readonly paired: { readonly about: string; readonly here: ReadonlyMap<string, string> } | undefined;
  readonly map: MissMap | undefined;
  readonly advise: Advise | undefined;
  readonly machines: readonly MachineMisses[];
  readonly source: SourceText | undefined;
  readonly sharing: SharedLines | undefined;
  readonly sharingProblem: Failure | undefined;
  readonly busy: boolean;
  readonly advising: boolean;
  readonly progress: Progress | undefined;
  readonly adviceProgress: Progress | undefined;
  readonly adviceProblem: Failure | undefined;
  readonly problem: Failure | undefined;
}

const EMPTY: LocalitySnapshot = {
  answer: undefined,
  before: undefined,
  beforeProblem: undefined,
  comparing: false,
  paired: undefined,
  map: undefined,
  advise: undefined,
  machines: [],
  source: undefined,
  sharing: undefined,
  sharingProblem: undefined,
  busy: false,
  advising: false,
  progress: undefined,
  adviceProgress: undefined,
  adviceProblem: undefined,
  problem: undefined,
};

function decodeMap(b: ArrayBuffer): MissMap {
  const { json, start } = header(b);
  const a = json as LocalityMap;
  const c = new Columns(b, start, a.columns);
  return {
    took: a.took,
    width: a.width,
    window: a.window,
    set: c.u32(a.set),
    chosen: c.u32(a.chosen),
    functions: c.u16(a.functions),
    names: a.names,
    lanes: a.lanes.map((l) => ({
      object: l.object,
      bytes: l.bytes,
      rows: l.rows,
      all: c.u16(l.all),
      selected: c.u16(l.selected),
    })),
  };
}

export class LocalityStore extends PageStore<LocalitySnapshot> {
  private readonly answers = this.resource<LocalityAsk, LocalityAnswer>({
    load: (ask, signal) =>
      this.api.watch(this.path('locality'), ask, (progress) => this.set({ progress }), signal),
    show: (answer) => ({ answer, progress: undefined }),
    busy: (busy) => ({ busy }),
  });
  private readonly earlier = this.resource<{ run: string; ask: LocalityAsk }, LocalityAnswer>({
    load: ({ run, ask }, signal) =>
      this.api.watch(
        `runs/${encodeURIComponent(run)}/locality`,
        ask,
        () => {}, // the bar is of the run that is shown
        signal,
      ),
    show: (answer, { run }) => ({ before: { run, answer }, beforeProblem: undefined }),
    fail: (beforeProblem) => ({ before: undefined, beforeProblem }),
    busy: (comparing) => ({ comparing }),
  });
  private readonly pairs = this.resource<Pairing, Paired>({
    load: ({ ask }, signal) => this.json('locality/paired', ask, signal),
    show: ({ rows }, { about, names }) => ({
      paired: {
        about,
        here: new Map(
          rows.flatMap((b, a): readonly (readonly [string, string])[] =>
            b < 0 ? [] : [[names.a[a]!, names.b[b]!]],
          ),
        ),
      },
    }),
    fail: () => ({ paired: undefined }),
  });
  private readonly maps = this.resource<LocalityMapAsk, MissMap>({
    load: async (ask, signal) => decodeMap(await this.binary('locality/map', ask, signal)),
    show: (map) => ({ map }),
  });
  private readonly advice = this.resource<AdviseAsk, Advise>({
    load: (ask, signal) =>
      this.api.watch(
        this.path('locality/advise'),
        ask,
        (adviceProgress) => this.set({ adviceProgress }),
        signal,
      ),
    show: (advise) => ({ advise, adviceProgress: undefined, adviceProblem: undefined }),
    fail: (adviceProblem) => ({ adviceProblem }),
    busy: (advising) => ({ advising }),
  });
  private readonly others = this.resource<MachinesAsk, MachineMisses[]>({
    load: (ask, signal) => this.json('locality/machines', ask, signal),
    show: (machines) => ({ machines }),
  });
  private readonly sources = this.resource<string, SourceText>({
    load: (file, signal) => this.api.source(this.run, file, signal),
    show: (source) => ({ source }),
    fail: () => ({ source: undefined }),
  });

  private readonly shared = this.resource<SharingAsk, SharedLines>({
    load: (ask, signal) => this.json('locality/sharing', ask, signal),
    show: (sharing) => ({ sharing, sharingProblem: undefined }),
    fail: (sharingProblem) => ({ sharingProblem }),
  });

  constructor(api: Api, run: string) {
    super(api, run, EMPTY);
  }

  want(ask: LocalityAsk): void {
    this.answers.want(ask);
  }

  /** The same question about the run to compare with; none if it is undefined. */
  wantBefore(run: string | undefined, ask: LocalityAsk): void {
    if (run !== undefined) return this.earlier.want({ run, ask });
    this.earlier.stop();
    if (this.snapshot.before || this.snapshot.beforeProblem)
      this.set({ before: undefined, beforeProblem: undefined });
  }

  /** Which rows of the run to compare with are which here. */
  wantPaired(pairing: Pairing): void {
    this.pairs.want(pairing);
  }

  wantMap(ask: LocalityMapAsk): void {
    this.maps.want(ask);
  }

  wantAdvice(ask: AdviseAsk): void {
    this.advice.want(ask);
  }

  wantMachines(ask: MachinesAsk): void {
    this.others.want(ask);
  }

  wantSharing(ask: SharingAsk): void {
    this.shared.want(ask);
  }

  wantSource(file: string): void {
    this.sources.want(file);
  }
}
