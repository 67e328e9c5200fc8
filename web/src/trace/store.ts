// Asks the server for what the trace page shows; the newest question wins.
import { ApiError, type Api } from '../model/api';
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

export class TraceStore {
  snapshot = EMPTY;
  private readonly listeners = new Set<(s: TraceSnapshot) => void>();
  private readonly infos: Latest<TraceInfo>;
  private readonly pictures: Latest<Picture>;
  private readonly selections: Latest<Operation>;
  private readonly causes: Latest<Operation>;
  private readonly reports: Latest<Report>;
  private readonly asked = new Map<string, string>(); // slot to its newest question

  constructor(
    private readonly api: Api,
    private readonly run: string,
  ) {
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

  subscribe(listener: (s: TraceSnapshot) => void): () => void {
    this.listeners.add(listener);
    listener(this.snapshot);
    return () => this.listeners.delete(listener);
  }

  wantInfo(ask: TraceAsk): void {
    this.once('info', ask, () => this.infos.run((signal) => this.post('trace', ask, signal)));
  }

  /** While something moves, the answer under way is let through. */
  wantPicture(ask: PictureAsk, moving: boolean): void {
    this.once('picture', ask, () => {
      const load = async (signal: AbortSignal): Promise<Picture> => {
        const r = await this.api.request('POST', this.path('trace/picture'), body(ask), signal);
        return decodePicture(await r.arrayBuffer());
      };
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
    this.once('report', ask, () => this.reports.run((signal) => this.post('trace/report', ask, signal)));
  }

  private operation(slot: 'selected' | 'cause', ask: TraceAsk, op: number, latest: Latest<Operation>): void {
    this.once(slot, { ...ask, op }, () => {
      if (op < 0) {
        latest.stop();
        this.set({ [slot]: undefined });
      } else {
        latest.run((signal) => this.post('trace/operation', { ...ask, op }, signal));
      }
    });
  }

  private once(slot: string, question: unknown, ask: () => void): void {
    const text = JSON.stringify(question);
    if (this.asked.get(slot) === text) return;
    this.asked.set(slot, text);
    ask();
  }

  private path(rest: string): string {
    return `runs/${encodeURIComponent(this.run)}/${rest}`;
  }

  private post<T>(path: string, ask: unknown, signal: AbortSignal): Promise<T> {
    return this.api.json('POST', this.path(path), body(ask), signal);
  }

  private failed(error: unknown): void {
    this.asked.clear(); // so that the same question can be asked again
    const failure = error instanceof ApiError ? error.failure : { error: error instanceof Error ? error.message : String(error) };
    this.set({ problem: failure });
  }

  private set(patch: Partial<TraceSnapshot>): void {
    this.snapshot = { ...this.snapshot, ...patch };
    for (const listener of this.listeners) listener(this.snapshot);
  }
}

function body(ask: unknown): RequestInit {
  return { body: JSON.stringify(ask), headers: { 'Content-Type': 'application/json' } };
}
