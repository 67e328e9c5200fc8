// Asks the server for what the mesh page shows; the newest question wins.
import type { Api } from '../../api/client';
import { Asker } from '../../state/asker';
import { Latest } from '../../base/latest';
import type {
  Failure,
  MeshBrush,
  MeshBrushAsk,
  MeshCell,
  MeshCells,
  MeshCellsAsk,
  MeshInfo,
  MeshPictureAsk,
  MeshRelateAsk,
  MeshRelation,
  MeshSummary,
  MeshSummaryAsk,
} from '../../api/wire';
import { decodePicture, type Picture } from './picture';

export interface MeshSnapshot {
  readonly info: MeshInfo | undefined;
  readonly picture: Picture | undefined;
  readonly summary: MeshSummary | undefined;
  readonly tested: { readonly ask: MeshRelateAsk; readonly relation: MeshRelation } | undefined; // with p-values
  readonly hovered: MeshCells | undefined; // cells that other views point at
  readonly busy: boolean;
  readonly problem: Failure | undefined;
}

const EMPTY: MeshSnapshot = {
  info: undefined,
  picture: undefined,
  summary: undefined,
  tested: undefined,
  hovered: undefined,
  busy: false,
  problem: undefined,
};

export class MeshStore extends Asker<MeshSnapshot> {
  private readonly infos: Latest<MeshInfo>;
  private readonly pictures: Latest<Picture | undefined>;
  private readonly summaries: Latest<MeshSummary>;
  private readonly tests: Latest<NonNullable<MeshSnapshot['tested']>>;
  private readonly hovers: Latest<MeshCells>;

  constructor(api: Api, run: string) {
    super(api, run, EMPTY);
    const fail = (error: unknown): void => this.failed(error);
    this.infos = new Latest((info) => this.set({ info, problem: undefined }), fail);
    this.pictures = new Latest(
      (picture) => picture && this.set({ picture, problem: undefined }),
      fail,
      (busy) => this.set({ busy }),
    );
    this.summaries = new Latest((summary) => this.set({ summary }), fail);
    this.tests = new Latest((tested) => this.set({ tested }), fail);
    this.hovers = new Latest((hovered) => this.set({ hovered }), fail);
  }

  wantInfo(step: number): void {
    this.once('info', step, () => this.infos.run((signal) => this.json('mesh', { step }, signal)));
  }

  wantPicture(ask: Omit<MeshPictureAsk, 'have'>, moving: boolean): void {
    this.once('picture', ask, () => {
      const load = async (signal: AbortSignal): Promise<Picture | undefined> => {
        const had = this.snapshot.picture?.geometry;
        return decodePicture(
          await this.binary('mesh/picture', { ...ask, have: had?.key ?? '' }, signal),
          had,
        );
      };
      if (moving) this.pictures.follow(load);
      else this.pictures.run(load);
    });
  }

  wantSummary(ask: MeshSummaryAsk): void {
    this.once('summary', ask, () => this.summaries.run((signal) => this.json('mesh/summary', ask, signal)));
  }

  /** The same relation with its p-values, which take a while. */
  wantTest(ask: MeshRelateAsk): void {
    this.once('test', ask, () =>
      this.tests.run(async (signal) => ({
        ask,
        relation: await this.json<MeshRelation>('mesh/relate', { ...ask, permute: true }, signal),
      })),
    );
  }

  /** The cells that other views point at; undefined for none. */
  wantHovered(ask: MeshCellsAsk | undefined): void {
    this.once('hover', ask ?? null, () => {
      if (ask) this.hovers.run((signal) => this.json('mesh/cells', ask, signal));
      else {
        this.hovers.stop();
        this.set({ hovered: undefined });
      }
    });
  }

  /** The cell under a click, with the selection of its samples. */
  cell(step: number, cell: number): Promise<MeshCell | undefined> {
    return this.attempt(() => this.json<MeshCell>('mesh/cell', { step, cell }, new AbortController().signal));
  }

  /** The selection of the cells in a rectangle of the plot. */
  brush(ask: MeshBrushAsk): Promise<MeshBrush | undefined> {
    return this.attempt(() => this.json<MeshBrush>('mesh/brush', ask, new AbortController().signal));
  }

  private async attempt<T>(ask: () => Promise<T>): Promise<T | undefined> {
    try {
      return await ask();
    } catch (error) {
      this.failed(error);
      return undefined;
    }
  }

  /** Puts the samples of another run on this mesh; true if that worked. */
  async attach(samples: string): Promise<boolean> {
    const done = await this.attempt(() =>
      this.api.request('POST', `runs/${encodeURIComponent(samples)}/mesh/attach`, {
        body: JSON.stringify({ mesh: this.run }),
        headers: { 'Content-Type': 'application/json' },
      }),
    );
    return done !== undefined;
  }
}
