// Asks the server for what the mesh page shows; the newest question wins.
import type { Api } from '../model/api';
import { Asker } from '../model/asker';
import { Latest } from '../model/latest';
import type { Failure, MeshCell, MeshFieldAsk, MeshGeometryAsk, MeshInfo, MeshRelateAsk, MeshRelation } from '../model/wire';
import { decodeField, decodeGeometry, type Field, type Geometry } from './picture';

export interface MeshSnapshot {
  readonly info: MeshInfo | undefined;
  readonly geometry: Geometry | undefined;
  readonly performance: Field | undefined;
  readonly physics: Field | undefined;
  readonly relation: MeshRelation | undefined;
  readonly busy: boolean;
  readonly problem: Failure | undefined;
}

const EMPTY: MeshSnapshot = {
  info: undefined, geometry: undefined, performance: undefined, physics: undefined, relation: undefined, busy: false, problem: undefined,
};

export class MeshStore extends Asker<MeshSnapshot> {
  private readonly infos: Latest<MeshInfo>;
  private readonly geometries: Latest<Geometry>;
  private readonly fields: Readonly<Record<'performance' | 'physics', Latest<Field>>>;
  private readonly relations: Latest<MeshRelation>;

  constructor(api: Api, run: string) {
    super(api, run, EMPTY);
    const fail = (error: unknown): void => this.failed(error);
    this.infos = new Latest((info) => this.set({ info, problem: undefined }), fail);
    this.geometries = new Latest((geometry) => this.set({ geometry, problem: undefined }), fail, (busy) => this.set({ busy }));
    this.fields = {
      performance: new Latest((performance) => this.set({ performance, problem: undefined }), fail, (busy) => this.set({ busy })),
      physics: new Latest((physics) => this.set({ physics, problem: undefined }), fail),
    };
    this.relations = new Latest((relation) => this.set({ relation }), fail);
  }

  wantInfo(step: number): void {
    this.once('info', step, () => this.infos.run((signal) => this.json('mesh', { step }, signal)));
  }

  wantGeometry(ask: MeshGeometryAsk, moving: boolean): void {
    this.once('geometry', ask, () => {
      const load = async (signal: AbortSignal): Promise<Geometry> => decodeGeometry(await this.binary('mesh/geometry', ask, signal));
      if (moving) this.geometries.follow(load);
      else this.geometries.run(load);
    });
  }

  wantField(slot: 'performance' | 'physics', ask: MeshFieldAsk): void {
    this.once(slot, ask, () => this.fields[slot].run(async (signal) => decodeField(await this.binary('mesh/field', ask, signal))));
  }

  wantRelation(ask: MeshRelateAsk): void {
    this.once('relation', ask, () => this.relations.run((signal) => this.json('mesh/relate', ask, signal)));
  }

  /** The cell under a click, with the selection of its samples. */
  async cell(step: number, cell: number): Promise<MeshCell | undefined> {
    try {
      return await this.json<MeshCell>('mesh/cell', { step, cell }, new AbortController().signal);
    } catch (error) {
      this.failed(error);
      return undefined;
    }
  }

  /** Puts the samples of another run on this mesh; true if that worked. */
  async attach(samples: string): Promise<boolean> {
    try {
      await this.api.request('POST', `runs/${encodeURIComponent(samples)}/mesh/attach`, {
        body: JSON.stringify({ mesh: this.run }), headers: { 'Content-Type': 'application/json' },
      });
      return true;
    } catch (error) {
      this.failed(error);
      return false;
    }
  }
}
