// Asks the server for what the trace page shows; the newest question wins.
import { ApiError, type Api } from '../../api/client';
import { Asker } from '../../state/asker';
import { Latest } from '../../base/latest';
import type {
  Failure,
  Operation,
  PictureAsk,
  Report,
  ReportAsk,
  SamplesAnswer,
  SamplesAsk,
  SourceText,
  TraceAsk,
  TraceInfo,
} from '../../api/wire';
import { decodePicture, type Picture } from './picture';

export interface TraceSnapshot {
  readonly info: TraceInfo | undefined;
  readonly picture: Picture | undefined;
  readonly selected: Operation | undefined; // all about the selected operation
  readonly cause: Operation | undefined; // and about that of the active cause
  readonly report: Report | undefined; // profile, critical path, clusters
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
  report: undefined,
  hovered: undefined,
  samples: undefined,
  source: undefined,
  missing: undefined,
  busy: false,
  problem: undefined,
};

export class TraceStore extends Asker<TraceSnapshot> {
  private readonly infos: Latest<TraceInfo>;
  private readonly pictures: Latest<Picture>;
  private readonly selections: Latest<Operation>;
  private readonly causes: Latest<Operation>;
  private readonly reports: Latest<Report>;
  private readonly hovers: Latest<Operation>;
  private readonly counts: Latest<SamplesAnswer>;
  private readonly sources: Latest<SourceText>;

  constructor(api: Api, run: string) {
    super(api, run, EMPTY);
    const slot = <K extends keyof TraceSnapshot>(key: K): Latest<NonNullable<TraceSnapshot[K]>> =>
      new Latest(
        (value) => this.set({ [key]: value, problem: undefined } as Partial<TraceSnapshot>),
        (error) => this.failed(error),
      );
    this.infos = slot('info');
    this.pictures = new Latest(
      (picture) =>
        this.set({
          picture: { ...picture, overview: picture.overview ?? this.snapshot.picture?.overview },
          problem: undefined,
        }),
      (error) => this.failed(error),
      (busy) => this.set({ busy }),
    );
    this.selections = slot('selected');
    this.causes = slot('cause');
    this.reports = slot('report');
    this.hovers = slot('hovered');
    this.counts = slot('samples');
    this.sources = new Latest(
      (source) => this.set({ source, missing: undefined }),
      (error) =>
        this.set({
          source: undefined,
          missing: error instanceof ApiError ? error.failure : { error: String(error) },
        }),
    );
  }

  wantInfo(ask: TraceAsk): void {
    this.once('info', ask, () => this.infos.run((signal) => this.json('trace', ask, signal)));
  }

  /** While something moves, the answer under way is let through. */
  wantPicture(ask: PictureAsk, moving: boolean): void {
    this.once('picture', ask, () => {
      const load = async (signal: AbortSignal): Promise<Picture> =>
        decodePicture(await this.binary('trace/picture', ask, signal));
      if (moving) this.pictures.follow(load);
      else this.pictures.run(load);
    });
  }

  wantSelected(ask: TraceAsk, op: number): void {
    this.operation('selected', ask, op, this.selections);
  }

  wantCause(ask: TraceAsk, op: number): void {
    this.operation('cause', ask, op, this.causes);
  }

  wantReport(ask: ReportAsk): void {
    this.once('report', ask, () => this.reports.run((signal) => this.json('trace/report', ask, signal)));
  }

  wantHovered(ask: TraceAsk, op: number): void {
    this.operation('hovered', ask, op, this.hovers);
  }

  wantSamples(ask: SamplesAsk | undefined): void {
    this.once('samples', ask, () => {
      this.set({ samples: undefined }); // those of another operation would mislead
      if (ask) this.counts.run((signal) => this.json('trace/samples', ask, signal));
    });
  }

  /** Found tells whether the server knows the file by now: a folder may have been added. */
  wantSource(file: string, found: boolean): void {
    this.once('source', { file, found }, () => {
      if (file === '') this.set({ source: undefined, missing: undefined });
      else this.sources.run((signal) => this.api.source(this.run, file, signal));
    });
  }

  private operation(
    slot: 'selected' | 'cause' | 'hovered',
    ask: TraceAsk,
    op: number,
    latest: Latest<Operation>,
  ): void {
    this.once(slot, { ...ask, op }, () => {
      if (op < 0) {
        latest.stop();
        this.set({ [slot]: undefined });
      } else {
        latest.run((signal) => this.json('trace/operation', { ...ask, op }, signal));
      }
    });
  }
}
