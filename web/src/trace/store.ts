// Asks the server for what the trace page shows; the newest question wins.
import type { Api } from '../model/api';
import { Asker } from '../model/asker';
import { Latest } from '../model/latest';
import type { Failure, Operation, PictureAsk, Report, ReportAsk, TraceAsk, TraceInfo } from '../model/wire';
import { decodePicture, type Picture } from './picture';

export interface TraceSnapshot {
  readonly info: TraceInfo | undefined;
  readonly picture: Picture | undefined;
  readonly selected: Operation | undefined; // all about the selected operation
  readonly cause: Operation | undefined; // and about that of the active cause
  readonly report: Report | undefined; // profile, critical path, clusters
  readonly busy: boolean;
  readonly problem: Failure | undefined;
}

const EMPTY: TraceSnapshot = {
  info: undefined, picture: undefined, selected: undefined, cause: undefined, report: undefined, busy: false, problem: undefined,
};

export class TraceStore extends Asker<TraceSnapshot> {
  private readonly infos: Latest<TraceInfo>;
  private readonly pictures: Latest<Picture>;
  private readonly selections: Latest<Operation>;
  private readonly causes: Latest<Operation>;
  private readonly reports: Latest<Report>;

  constructor(api: Api, run: string) {
    super(api, run, EMPTY);
    const slot = <K extends keyof TraceSnapshot>(key: K): Latest<NonNullable<TraceSnapshot[K]>> =>
      new Latest(
        (value) => this.set({ [key]: value, problem: undefined } as Partial<TraceSnapshot>),
        (error) => this.failed(error),
      );
    this.infos = slot('info');
    this.pictures = new Latest(
      (picture) => this.set({ picture: { ...picture, overview: picture.overview ?? this.snapshot.picture?.overview }, problem: undefined }),
      (error) => this.failed(error),
      (busy) => this.set({ busy }),
    );
    this.selections = slot('selected');
    this.causes = slot('cause');
    this.reports = slot('report');
  }

  wantInfo(ask: TraceAsk): void {
    this.once('info', ask, () => this.infos.run((signal) => this.json('trace', ask, signal)));
  }

  /** While something moves, the answer under way is let through. */
  wantPicture(ask: PictureAsk, moving: boolean): void {
    this.once('picture', ask, () => {
      const load = async (signal: AbortSignal): Promise<Picture> => decodePicture(await this.binary('trace/picture', ask, signal));
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

  private operation(slot: 'selected' | 'cause', ask: TraceAsk, op: number, latest: Latest<Operation>): void {
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
