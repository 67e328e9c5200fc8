// Asks the server for what the mesh page shows; the newest question wins.
import type { Api } from '../../api/client';
import { PageStore } from '../../state/pagestore';
import type {
  Failure,
  MeshBrush,
  MeshBrushAsk,
  MeshCell,
  MeshCells,
  MeshCellsAsk,
  MeshInfo,
  MeshLine,
  MeshLineAsk,
  MeshOverTime,
  MeshOverTimeAsk,
  MeshPictureAsk,
  MeshRankAsk,
  MeshRanked,
  MeshRelateAsk,
  MeshRelation,
  MeshSummary,
  MeshSummaryAsk,
  MeshTimeBrushAsk,
  MeshWhere,
} from '../../api/wire';
import { decodePicture, type Picture } from './picture';

export interface MeshSnapshot {
  readonly info: MeshInfo | undefined;
  readonly picture: Picture | undefined;
  readonly outdated: boolean; // the last question about the picture has no answer
  readonly summary: MeshSummary | undefined;
  readonly tested: { readonly ask: MeshRelateAsk; readonly relation: MeshRelation } | undefined; // with p-values
  readonly hovered: MeshCells | undefined; // cells that other views point at
  readonly over: MeshOverTime | undefined;
  readonly line: MeshLine | undefined;
  readonly ranked: MeshRanked | undefined;
  readonly busy: boolean;
  readonly problem: Failure | undefined;
}

const EMPTY: MeshSnapshot = {
  info: undefined,
  picture: undefined,
  outdated: false,
  summary: undefined,
  tested: undefined,
  hovered: undefined,
  over: undefined,
  line: undefined,
  ranked: undefined,
  busy: false,
  problem: undefined,
};

type Wanted = Omit<MeshPictureAsk, 'have'>;

export class MeshStore extends PageStore<MeshSnapshot> {
  private readonly infos = this.resource<{ step: number }, MeshInfo>({
    load: (ask, signal) => this.json('mesh', ask, signal),
    show: (info) => ({ info }),
  });
  private readonly pictures = this.resource<Wanted, Picture | undefined>({
    load: async (ask, signal) => {
      const had = this.snapshot.picture?.geometry;
      try {
        return decodePicture(
          await this.binary('mesh/picture', { ...ask, have: had?.key ?? '' }, signal),
          had,
        );
      } catch (error) {
        if (!signal.aborted) this.set({ outdated: true });
        throw error;
      }
    },
    show: (picture) => ({ ...(picture && { picture }), outdated: false }),
    busy: (busy) => ({ busy }),
  });
  private readonly summaries = this.resource<MeshSummaryAsk, MeshSummary>({
    load: (ask, signal) => this.json('mesh/summary', ask, signal),
    show: (summary) => ({ summary }),
  });
  private readonly tests = this.resource<MeshRelateAsk, MeshRelation>({
    load: (ask, signal) => this.json('mesh/relate', { ...ask, permute: true }, signal),
    show: (relation, ask) => ({ tested: { ask, relation } }),
  });
  private readonly hovers = this.resource<MeshCellsAsk, MeshCells>({
    load: (ask, signal) => this.json('mesh/cells', ask, signal),
    show: (hovered) => ({ hovered }),
  });

  private readonly overs = this.resource<MeshOverTimeAsk, MeshOverTime>({
    load: (ask, signal) => this.json('mesh/overtime', ask, signal),
    show: (over) => ({ over }),
  });
  private readonly lines = this.resource<MeshLineAsk, MeshLine>({
    load: (ask, signal) => this.json('mesh/line', ask, signal),
    show: (line) => ({ line }),
  });
  private readonly ranks = this.resource<MeshRankAsk, MeshRanked>({
    load: (ask, signal) => this.json('mesh/rank', ask, signal),
    show: (ranked) => ({ ranked }),
  });

  constructor(api: Api, run: string) {
    super(api, run, EMPTY);
  }

  wantInfo(step: number): void {
    this.infos.want({ step });
  }

  wantPicture(ask: Wanted, moving: boolean): void {
    this.pictures.want(ask, moving);
  }

  wantSummary(ask: MeshSummaryAsk): void {
    this.summaries.want(ask);
  }

  /** The same relation with its p-values, which take a while. */
  wantTest(ask: MeshRelateAsk): void {
    this.tests.want(ask);
  }

  wantOver(ask: MeshOverTimeAsk): void {
    this.overs.want(ask);
  }

  wantLine(ask: MeshLineAsk): void {
    this.lines.want(ask);
  }

  wantRanked(ask: MeshRankAsk): void {
    this.ranks.want(ask);
  }

  /** The selection of the samples in some regions at some dumps. */
  brushTime(ask: MeshTimeBrushAsk): Promise<MeshWhere | undefined> {
    return this.attempt((signal) => this.json<MeshWhere>('mesh/overtime/select', ask, signal));
  }

  /** The cells that other views point at; undefined for none. */
  wantHovered(ask: MeshCellsAsk | undefined): void {
    this.hovers.want(ask);
    if (!ask && this.snapshot.hovered) this.set({ hovered: undefined });
  }

  /** The cell under a click, with the selection of its samples. */
  cell(step: number, cell: number): Promise<MeshCell | undefined> {
    return this.attempt((signal) => this.json<MeshCell>('mesh/cell', { step, cell }, signal));
  }

  /** The selection of the cells in a rectangle of the plot. */
  brush(ask: MeshBrushAsk): Promise<MeshBrush | undefined> {
    return this.attempt((signal) => this.json<MeshBrush>('mesh/brush', ask, signal));
  }

  /** Puts the samples of another run on this mesh; true if that worked. */
  async attach(samples: string): Promise<boolean> {
    const done = await this.attempt((signal) =>
      this.api.request(
        'POST',
        `runs/${encodeURIComponent(samples)}/mesh/attach`,
        {
          body: JSON.stringify({ mesh: this.run }),
          headers: { 'Content-Type': 'application/json' },
        },
        signal,
      ),
    );
    return done !== undefined;
  }
}
