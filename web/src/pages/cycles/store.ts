// Asks the server for what the cycles page shows; the newest question wins.
import type { Api } from '../../api/client';
import { PageStore } from '../../state/pagestore';
import type {
  CyclesAsk,
  CyclesInfo,
  Failure,
  LoopsInfo,
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
  readonly loops: LoopsInfo | undefined;
  /** The loops of the run that they are compared with, and which that is. */
  readonly before: { readonly run: string; readonly info: LoopsInfo } | undefined;
  readonly counting: boolean; // the loops
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
  loops: undefined,
  before: undefined,
  counting: false,
  analysing: false,
  progress: undefined,
  cancelled: false,
  busy: false,
  problem: undefined,
};

export class CyclesStore extends PageStore<CyclesSnapshot> {
  private readonly infos = this.resource<CyclesAsk, CyclesInfo>({
    load: (ask, signal) =>
      this.api.watch(this.path('cycles'), ask, (progress) => this.set({ progress }), signal),
    show: (info) => ({ info }),
    busy: (analysing) => ({ analysing, progress: undefined }),
  });
  private readonly drawings = this.resource<SpiralAsk, Drawing>({
    load: (ask, signal) => this.draw(ask, signal),
    show: (drawing) => ({ drawing, sector: undefined }),
    busy: (busy) => ({ busy }),
  });
  private readonly sectors = this.resource<SectorAsk, Walked>({
    load: async (ask, signal) => decodeSector(await this.binary('cycles/sector', ask, signal)),
    show: (sector) => ({ sector }),
  });
  private readonly projections = this.resource<ProjectionAsk, ProjectionAnswer>({
    load: (ask, signal) => this.json('cycles/projection', ask, signal),
    show: (projection) => ({ projection }),
    busy: (busy) => ({ busy }),
  });
  private readonly lists = this.resource<CyclesAsk & { first: number; last: number }, readonly Reference[]>({
    load: (ask, signal) => this.json('cycles/references', ask, signal),
    show: (references, { first }) => ({ references, referencesFrom: first }),
  });
  private readonly sources = this.resource<string, SourceText>({
    load: (file, signal) => this.api.source(this.run, file, signal),
    show: (source) => ({ source }),
    fail: () => ({ source: undefined }),
  });
  private readonly tables = this.resource<'loops', LoopsInfo>({
    load: (_, signal) => this.api.watch(this.path('loops'), {}, (progress) => this.set({ progress }), signal),
    show: (loops) => ({ loops }),
    busy: (counting) => ({ counting, progress: undefined }),
  });
  private readonly others = this.resource<string, LoopsInfo>({
    load: (run, signal) =>
      this.api.watch(
        `runs/${encodeURIComponent(run)}/loops`,
        {},
        (progress) => this.set({ progress }),
        signal,
      ),
    show: (info, run) => ({ before: { run, info } }),
    busy: (counting) => ({ counting, progress: undefined }),
  });
  private newest: CyclesAsk | undefined;
  private drawn = ''; // what the drawing is wanted of

  constructor(api: Api, run: string) {
    super(api, run, EMPTY);
  }

  wantInfo(ask: CyclesAsk): void {
    if (JSON.stringify(ask) !== JSON.stringify(this.newest)) this.set({ cancelled: false });
    this.newest = ask;
    if (!this.snapshot.cancelled) this.infos.want(ask);
  }

  cancel(): void {
    this.set({ cancelled: true });
    this.infos.stop();
  }

  /** Starts the analysis that was cancelled. */
  again(): void {
    this.set({ cancelled: false });
    this.infos.stop();
    if (this.newest) this.infos.want(this.newest);
  }

  /** Takes a drawing back; the one on screen stays. */
  cancelDrawing(): void {
    this.drawings.cancel();
    this.projections.cancel();
  }

  wantDrawing(ask: SpiralAsk, moving: boolean): void {
    const about = JSON.stringify(ask);
    if (about !== this.drawn) this.sectors.stop(); // that of another drawing
    this.drawn = about;
    this.drawings.want(ask, moving);
  }

  async draw(ask: SpiralAsk, signal: AbortSignal): Promise<Drawing> {
    return decodeDrawing(await this.binary('cycles/spiral', ask, signal));
  }

  wantSector(ask: SectorAsk): void {
    this.sectors.want(ask, true);
  }

  wantProjection(ask: ProjectionAsk): void {
    this.projections.want(ask);
  }

  wantReferences(ask: CyclesAsk, first: number, last: number): void {
    this.lists.want({ ...ask, first, last });
  }

  wantLoops(): void {
    this.tables.want('loops');
  }

  /** The loops of the run to compare with; none if it is undefined. */
  wantBefore(run: string | undefined): void {
    if (run !== undefined) this.others.want(run);
    else {
      this.others.stop();
      if (this.snapshot.before) this.set({ before: undefined });
    }
  }

  wantSource(file: string): void {
    this.sources.want(file);
  }
}
