// Asks the server for what the cycles page shows; the newest question wins.
import type { Api } from '../../api/client';
import { Asker } from '../../state/asker';
import { Latest } from '../../base/latest';
import type {
  CyclesAsk,
  CyclesInfo,
  Failure,
  Progress,
  ProjectionAnswer,
  ProjectionAsk,
  Reference,
  SectorAsk,
  SourceText,
  SpiralAsk,
} from '../../api/wire';
import { decodeDrawing, decodeSector, type Drawing, type Walked } from './picture';

export interface CyclesSnapshot {
  readonly info: CyclesInfo | undefined;
  readonly drawing: Drawing | undefined;
  readonly sector: Walked | undefined; // of the drawing
  readonly projection: ProjectionAnswer | undefined;
  readonly references: readonly Reference[]; // from `referencesFrom` on
  readonly referencesFrom: number;
  readonly source: SourceText | undefined;
  readonly analysing: boolean;
  readonly progress: Progress | undefined; // of the analysis
  readonly cancelled: boolean;
  readonly busy: boolean;
  readonly problem: Failure | undefined;
}

const EMPTY: CyclesSnapshot = {
  info: undefined,
  drawing: undefined,
  sector: undefined,
  projection: undefined,
  references: [],
  referencesFrom: 0,
  source: undefined,
  analysing: false,
  progress: undefined,
  cancelled: false,
  busy: false,
  problem: undefined,
};

export class CyclesStore extends Asker<CyclesSnapshot> {
  private readonly infos: Latest<CyclesInfo>;
  private readonly drawings: Latest<Drawing>;
  private readonly sectors: Latest<Walked>;
  private readonly projections: Latest<ProjectionAnswer>;
  private readonly lists: Latest<{ readonly from: number; readonly list: readonly Reference[] }>;
  private readonly sources: Latest<SourceText>;
  private newest: CyclesAsk | undefined;

  constructor(api: Api, run: string) {
    super(api, run, EMPTY);
    const fail = (error: unknown): void => this.failed(error);
    this.infos = new Latest(
      (info) => this.set({ info, problem: undefined }),
      fail,
      (analysing) => this.set({ analysing, progress: undefined }),
    );
    this.drawings = new Latest(
      (drawing) => this.set({ drawing, sector: undefined, problem: undefined }),
      fail,
      (busy) => this.set({ busy }),
    );
    this.sectors = new Latest((sector) => this.set({ sector, problem: undefined }), fail);
    this.projections = new Latest(
      (projection) => this.set({ projection, problem: undefined }),
      fail,
      (busy) => this.set({ busy }),
    );
    this.lists = new Latest(({ from, list }) => this.set({ references: list, referencesFrom: from }), fail);
    this.sources = new Latest(
      (source) => this.set({ source }),
      () => this.set({ source: undefined }),
    );
  }

  wantInfo(ask: CyclesAsk): void {
    this.newest = ask;
    this.once('info', ask, () => {
      this.set({ cancelled: false });
      this.infos.run((signal) =>
        this.api.watch(
          `runs/${encodeURIComponent(this.run)}/cycles`,
          ask,
          (progress) => this.set({ progress }),
          signal,
        ),
      );
    });
  }

  cancel(): void {
    this.infos.stop();
    this.set({ cancelled: true });
  }

  /** Starts the analysis that was cancelled. */
  again(): void {
    this.forget('info');
    if (this.newest) this.wantInfo(this.newest);
  }

  /** Takes a drawing back; the one on screen stays. */
  cancelDrawing(): void {
    this.drawings.stop();
    this.projections.stop();
  }

  wantDrawing(ask: SpiralAsk, moving: boolean): void {
    this.once('drawing', ask, () => {
      this.sectors.stop();
      this.forget('sector');
      const load = (signal: AbortSignal): Promise<Drawing> => this.draw(ask, signal);
      if (moving) this.drawings.follow(load);
      else this.drawings.run(load);
    });
  }

  async draw(ask: SpiralAsk, signal: AbortSignal): Promise<Drawing> {
    return decodeDrawing(await this.binary('cycles/spiral', ask, signal));
  }

  wantSector(ask: SectorAsk): void {
    this.once('sector', ask, () =>
      this.sectors.follow(async (signal) => decodeSector(await this.binary('cycles/sector', ask, signal))),
    );
  }

  wantProjection(ask: ProjectionAsk): void {
    this.once('projection', ask, () =>
      this.projections.run((signal) => this.json('cycles/projection', ask, signal)),
    );
  }

  wantReferences(ask: CyclesAsk, first: number, last: number): void {
    const question = { ...ask, first, last };
    this.once('references', question, () =>
      this.lists.run(async (signal) => ({
        from: first,
        list: await this.json<readonly Reference[]>('cycles/references', question, signal),
      })),
    );
  }

  wantSource(file: string): void {
    this.once('source', file, () => this.sources.run((signal) => this.api.source(this.run, file, signal)));
  }
}
