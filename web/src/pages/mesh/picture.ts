// Reads the binary pictures of a mesh: what is drawn, and the fields on it.
import { Columns, header } from '../../api/decode';
import type * as wire from '../../api/wire';
import { longestOf, type Arrows } from './arrows';

export interface Geometry extends Pick<wire.MeshGeometry, 'took' | 'polygons' | 'kept'> {
  readonly key: string;
  readonly positions: Float32Array; // x, y, z of each vertex
  readonly triangles: Uint32Array; // three vertices each
  readonly of: Uint32Array; // each triangle's place in cells
  readonly cells: Uint32Array; // that are drawn, rising
  readonly edges: Uint32Array;
  readonly features: Uint32Array;
}

/** A field on the cells that are drawn. */
export interface Field extends Omit<wire.MeshFieldAnswer, 'columns' | 'values' | 'samples' | 'picked'> {
  readonly values: Float64Array; // NaN without a value
  readonly samples: Uint32Array; // empty for variables of the simulation
  readonly picked: Uint32Array; // places of selected cells, rising
}

export interface Picture {
  readonly took: number;
  readonly geometry: Geometry;
  readonly performance: Field | undefined;
  readonly physics: Field | undefined;
  readonly arrows: Arrows | undefined;
}

/** Undefined if the picture is of a geometry that is not there any more. */
export function decodePicture(buffer: ArrayBuffer, had: Geometry | undefined): Picture | undefined {
  const { json, start } = header(buffer);
  const p = json as wire.MeshPicture;
  const c = new Columns(buffer, start, p.columns);
  const geometry = p.geometry ? decodeGeometry(p.geometry, p.key, c) : had?.key === p.key ? had : undefined;
  if (!geometry) return undefined;
  return {
    took: p.took,
    geometry,
    performance: p.performance ? decodeField(p.performance, c) : undefined,
    physics: p.physics ? decodeField(p.physics, c) : undefined,
    arrows: p.arrows ? decodeArrows(p.arrows, c) : undefined,
  };
}

function decodeArrows({ name, values: column }: wire.MeshArrows, c: Columns): Arrows {
  const values = c.f64(column);
  return { name, values, longest: longestOf(values) };
}

function decodeGeometry(g: wire.MeshGeometry, key: string, c: Columns): Geometry {
  return {
    key,
    took: g.took,
    polygons: g.polygons,
    kept: g.kept,
    positions: c.f32(g.positions),
    triangles: c.u32(g.triangles),
    of: c.u32(g.of),
    cells: c.u32(g.cells),
    edges: c.u32(g.edges),
    features: c.u32(g.features),
  };
}

function decodeField(f: wire.MeshFieldAnswer, c: Columns): Field {
  const { columns: _, values, samples, picked, ...rest } = f;
  const field = { ...rest, values: c.f64(values), samples: c.u32(samples), picked: c.u32(picked) };
  // The count of samples is 0 where nothing was seen; that is no value to colour.
  if (field.samples.length > 0)
    for (let i = 0; i < field.values.length; i++) if (field.samples[i] === 0) field.values[i] = Number.NaN;
  return field;
}
