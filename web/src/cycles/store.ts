// Asks the server for what the cycles page shows; the newest question wins.
import type { Api } from '../model/api';
import { Asker } from '../model/asker';
import { Latest } from '../model/latest';
import type { CyclesAsk, CyclesInfo, Failure, ProjectionAnswer, ProjectionAsk, Reference, SourceText, SpiralAsk } from '../model/wire';
import { decodeDrawing, type Drawing } from './picture';

export interface CyclesSnapshot {
  readonly info: CyclesInfo | undefined;
  readonly drawing: Drawing | undefined;
  readonly projection: ProjectionAnswer | undefined;
  readonly references: readonly Reference[]; // from `referencesFrom` on
  readonly referencesFrom: number;
  readonly source: SourceText | undefined;
  readonly analysing: boolean;
  readonly busy: boolean;
  readonly problem: Failure | undefined;
}

const EMPTY: CyclesSnapshot = {
  info: undefined, drawing: undefined, projection: undefined, references: [], referencesFrom: 0, source: undefined,
  analysing: false, busy: false, problem: undefined,
};

export class CyclesStore extends Asker<CyclesSnapshot> {
  private readonly infos: Latest<CyclesInfo>;
  private readonly drawings: Latest<Drawing>;
  private readonly projections: Latest<ProjectionAnswer>;
  private readonly lists: Latest<{ readonly from: number; readonly list: readonly Reference[] }>;
  private readonly sources: Latest<SourceText>;

  constructor(api: Api, run: string) {
    super(api, run, EMPTY);
    const fail = (error: unknown): void => this.failed(error);
    this.infos = new Latest((info) => this.set({ info, problem: undefined }), fail, (analysing) => this.set({ analysing }));
    this.drawings = new Latest((drawing) => this.set({ drawing, problem: undefined }), fail, (busy) => this.set({ busy }));
    this.projections = new Latest((projection) => this.set({ projection, problem: undefined }), fail);
    this.lists = new Latest(({ from, list }) => this.set({ references: list, referencesFrom: from }), fail);
    this.sources = new Latest((source) => this.set({ source }), () => this.set({ source: undefined }));
  }

  wantInfo(ask: CyclesAsk): void {
    this.once('info', ask, () => this.infos.run((signal) => this.json('cycles', ask, signal)));
  }

  cancel(): void {
    this.infos.stop();
    this.forget('info');
    this.set({ problem: { error: 'The analysis was cancelled.', hint: 'Change a setting to start again.' } });
  }

  wantDrawing(ask: SpiralAsk, moving: boolean): void {
    this.once('drawing', ask, () => {
      const load = async (signal: AbortSignal): Promise<Drawing> => decodeDrawing(await this.binary('cycles/spiral', ask, signal));
      if (moving) this.drawings.follow(load);
      else this.drawings.run(load);
    });
  }

  wantProjection(ask: ProjectionAsk): void {
    this.once('projection', ask, () => this.projections.run((signal) => this.json('cycles/projection', ask, signal)));
  }

  wantReferences(ask: CyclesAsk, first: number, last: number): void {
    const question = { ...ask, first, last };
    this.once('references', question, () =>
      this.lists.run(async (signal) => ({ from: first, list: await this.json<readonly Reference[]>('cycles/references', question, signal) })),
    );
  }

  wantSource(file: string): void {
    this.once('source', file, () => this.sources.run((signal) => this.api.source(this.run, file, signal)));
  }
}
