// Reads the binary geometry and fields of a mesh.
import { Columns, header } from '../model/decode';
import type * as wire from '../model/wire';

export interface Geometry {
  readonly took: number;
  readonly positions: Float32Array; // x, y, z of each vertex
  readonly triangles: Uint32Array; // three vertices each
  readonly cells: Uint32Array; // of each triangle
  readonly edges: Uint32Array;
  readonly features: Uint32Array;
  readonly polygons: number;
  readonly kept: number;
}

export interface Field extends Omit<wire.MeshFieldAnswer, 'columns' | 'values' | 'samples' | 'picked'> {
  readonly values: Float64Array; // NaN without a value
  readonly samples: Uint32Array; // empty for variables of the simulation
  readonly picked: Uint32Array; // cells of the selection, in order
}

export function decodeGeometry(buffer: ArrayBuffer): Geometry {
  const { json, start } = header(buffer);
  const a = json as wire.MeshGeometryAnswer;
  const c = new Columns(buffer, start, a.columns);
  return {
    took: a.took, polygons: a.polygons, kept: a.kept, positions: c.f32(a.positions), triangles: c.u32(a.triangles),
    cells: c.u32(a.cells), edges: c.u32(a.edges), features: c.u32(a.features),
  };
}

export function decodeField(buffer: ArrayBuffer): Field {
  const { json, start } = header(buffer);
  const { columns, values, samples, picked, ...rest } = json as wire.MeshFieldAnswer;
  const c = new Columns(buffer, start, columns);
  const field = { ...rest, values: c.f64(values), samples: c.u32(samples), picked: c.u32(picked) };
  // The count of samples is 0 where nothing was seen; that is no value to colour.
  if (field.samples.length > 0) for (let i = 0; i < field.values.length; i++) if (field.samples[i] === 0) field.values[i] = Number.NaN;
  return field;
}
