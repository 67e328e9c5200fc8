// Asks the server for what the trace page shows; the newest question wins.
import type { Api } from '../../api/client';
import { PageStore } from '../../state/pagestore';
import type { Resource } from '../../state/resource';
import type {
  Failure,
  GainsAnswer,
  GainsAsk,
  Operation,
  PictureAsk,
  Ranking,
  Report,
  ReportAsk,
  ReportWhatIf,
  SamplesAnswer,
  SamplesAsk,
  SourceText,
  FindAnswer,
  TraceAsk,
  TraceInfo,
  TraceWindow,
  TraceWindowAsk,
} from '../../api/wire';
import { decodePicture, type Picture } from './picture';

export interface TraceSnapshot {
  readonly info: TraceInfo | undefined;
  readonly picture: Picture | undefined;
  readonly selected: Operation | undefined; // all about the selected operation
  readonly cause: Operation | undefined; // and about that of the active cause
  readonly ranking: Ranking | undefined; // causes by what removing them gains
  readonly whatif: ReportWhatIf | undefined; // the run with the changes
  readonly refused: string; // why a change cannot be made
  readonly report: Report | undefined; // profile, critical path, clusters
  readonly window: TraceWindow | undefined; // numbers of the time in view
  readonly hovered: Operation | undefined; // where the picture has no lines of messages
  readonly samples: SamplesAnswer | undefined; // taken while the selected operation ran
  readonly source: SourceText | undefined;
  readonly missing: Failure | undefined; // why there is no source
  readonly busy: boolean;
  readonly problem: Failure | undefined;
}

const EMPTY: TraceSnapshot = {
  info: undefined,
  picture: undefined,
  selected: undefined,
  cause: undefined,
  ranking: undefined,
  whatif: undefined,
  refused: '',
  report: undefined,
  window: undefined,
  hovered: undefined,
  samples: undefined,
  source: undefined,
  missing: undefined,
  busy: false,
  problem: undefined,
};

export class TraceStore extends PageStore<TraceSnapshot> {
  private readonly infos = this.resource<TraceAsk, TraceInfo>({
    load: (ask, signal) => this.json('trace', ask, signal),
    show: (info) => ({ info }),
  });
  private readonly pictures = this.resource<PictureAsk, Picture>({
    load: async (ask, signal) => decodePicture(await this.binary('trace/picture', ask, signal)),
    show: (picture) => ({
      picture: { ...picture, overview: picture.overview ?? this.snapshot.picture?.overview },
    }),
    busy: (busy) => ({ busy }),
  });
  private readonly operations = {
    selected: this.operation('selected'),
    cause: this.operation('cause'),
    hovered: this.operation('hovered'),
  };
  private readonly reports = this.resource<ReportAsk, Report>({
    load: (ask, signal) => this.json('trace/report', ask, signal),
    show: (report) => ({ report }),
  });
  private readonly rankings = this.resource<GainsAsk, GainsAnswer>({
    load: (ask, signal) => this.json('trace/gains', ask, signal),
    show: ({ ranking }) => ({ ranking }),
  });
  private readonly changed = this.resource<GainsAsk, GainsAnswer>({
    load: (ask, signal) => this.json('trace/gains', ask, signal),
    show: ({ ranking, refused }) => ({ whatif: ranking.whatif, refused }),
  });
  private readonly windows = this.resource<TraceWindowAsk, TraceWindow>({
    load: (ask, signal) => this.json('trace/window', ask, signal),
    show: (window) => ({ window }),
  });
  private readonly counts = this.resource<SamplesAsk, SamplesAnswer>({
    load: (ask, signal) => this.json('trace/samples', ask, signal),
    show: (samples) => ({ samples }),
  });
  private readonly sources = this.resource<{ file: string; found: boolean }, SourceText>({
    load: ({ file }, signal) => this.api.source(this.run, file, signal),
    show: (source) => ({ source, missing: undefined }),
    fail: (missing) => ({ source: undefined, missing }),
  });
  private counted = ''; // what samples are about

  constructor(api: Api, run: string) {
    super(api, run, EMPTY);
  }

  wantInfo(ask: TraceAsk): void {
    this.infos.want(ask);
  }

  /** While something moves, the answer under way is let through. */
  wantPicture(ask: PictureAsk, moving: boolean): void {
    this.pictures.want(ask, moving);
  }

  wantSelected(ask: TraceAsk, op: number): void {
    this.want('selected', ask, op);
  }

  wantCause(ask: TraceAsk, op: number): void {
    this.want('cause', ask, op);
  }

  wantHovered(ask: TraceAsk, op: number): void {
    this.want('hovered', ask, op);
  }

  wantRanking(ask: TraceAsk): void {
    this.rankings.want({ ...ask, top: 0, changes: [] });
  }

  wantChanges(ask: TraceAsk, changes: readonly string[]): void {
    this.changed.want(changes.length === 0 ? undefined : { ...ask, top: 1, changes: [...changes] });
    if (changes.length === 0 && (this.snapshot.whatif || this.snapshot.refused))
      this.set({ whatif: undefined, refused: '' });
  }

  wantWindow(ask: TraceWindowAsk | undefined): void {
    this.windows.want(ask);
  }

  /** The next operation that a text means, after one or before it. */
  find(
    ask: TraceAsk,
    text: string,
    from: number,
    back: boolean,
    signal?: AbortSignal,
  ): Promise<FindAnswer | undefined> {
    return this.attempt((ends) => this.json('trace/find', { ...ask, text, from, back }, ends), signal);
  }

  wantReport(ask: ReportAsk): void {
    this.reports.want(ask);
  }

  wantSamples(ask: SamplesAsk | undefined): void {
    const about = JSON.stringify(ask) ?? '';
    if (about !== this.counted) this.set({ samples: undefined }); // those of another operation would mislead
    this.counted = about;
    this.counts.want(ask);
  }

  /** Found tells whether the server knows the file by now: a folder may have been added. */
  wantSource(file: string, found: boolean): void {
    this.sources.want(file === '' ? undefined : { file, found });
    if (file === '' && (this.snapshot.source || this.snapshot.missing))
      this.set({ source: undefined, missing: undefined });
  }

  private operation(slot: 'selected' | 'cause' | 'hovered'): Resource<TraceAsk & { op: number }, Operation> {
    return this.resource({
      load: (ask, signal) => this.json('trace/operation', ask, signal),
      show: (operation) => ({ [slot]: operation }),
    });
  }

  private want(slot: 'selected' | 'cause' | 'hovered', ask: TraceAsk, op: number): void {
    this.operations[slot].want(op < 0 ? undefined : { ...ask, op });
    if (op < 0 && this.snapshot[slot]) this.set({ [slot]: undefined });
  }
}
