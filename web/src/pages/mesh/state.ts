// What a link keeps about the mesh page, in the options of the page's state
// under keys that begin with "m.".
import type { Mode } from '../../api/wire';

export type MeshView = 'surface' | 'slice' | 'threshold';
export type Show = 'performance' | 'physics' | 'both';
export type ScaleKind = 'auto' | 'linear' | 'log';
export type RendererKind = 'auto' | 'webgl' | 'software';

export interface MeshState {
  readonly step: number; // -1: the last dump
  readonly mode: Mode;
  readonly view: MeshView;
  readonly axis: 0 | 1 | 2; // of the slice
  readonly at: number; // place of the slice between the bounds, 0 … 1
  readonly by: string; // of the threshold: "f:" a field, "v:" a variable; empty: what is shown
  readonly from: number; // of the threshold, parts of the range, 0 … 1
  readonly to: number;
  readonly level: number; // of refinement; -1: all
  readonly show: Show;
  readonly field: string; // empty: the first that suits
  readonly variable: string;
  readonly scale: ScaleKind;
  readonly min: string; // ends of the colours; empty: those of the values
  readonly max: string;
  readonly edges: boolean;
  readonly cell: number; // -1: none
  readonly category: string;
  readonly least: number; // samples that a cell must have in the relation
  readonly renderer: RendererKind; // auto: a graphics card if there is one
  readonly eye: string; // camera: azimuth, elevation, distance, target; empty: the first
}

export const INITIAL: MeshState = {
  step: -1,
  mode: 'all',
  view: 'surface',
  axis: 2,
  at: 0.5,
  by: '',
  from: 0,
  to: 1,
  level: -1,
  show: 'performance',
  field: '',
  variable: '',
  scale: 'auto',
  min: '',
  max: '',
  edges: true,
  cell: -1,
  category: '',
  least: 1,
  renderer: 'auto',
  eye: '',
};

type Options = Readonly<Record<string, string>>;

function whole(text: string | undefined, initial: number): number {
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : initial;
}

function part(text: string | undefined, initial: number): number {
  const n = text === undefined ? Number.NaN : Number(text);
  return n >= 0 && n <= 1 ? n : initial;
}

function number(text: string | undefined): string {
  return text !== undefined && text.trim() !== '' && Number.isFinite(Number(text)) ? text : '';
}

function one<T extends string>(text: string | undefined, known: readonly T[], initial: T): T {
  return known.find((k) => k === text) ?? initial;
}

export function readMesh(o: Options): MeshState {
  const axis = whole(o['m.axis'], 2);
  return {
    step: Math.max(-1, whole(o['m.step'], -1)),
    mode: one(o['m.mode'], ['all', 'upto', 'only'], INITIAL.mode),
    view: one(o['m.view'], ['surface', 'slice', 'threshold'], INITIAL.view),
    axis: axis === 0 || axis === 1 ? axis : 2,
    at: part(o['m.at'], INITIAL.at),
    by: o['m.by'] ?? '',
    from: part(o['m.from'], 0),
    to: part(o['m.to'], 1),
    level: Math.max(-1, whole(o['m.level'], -1)),
    show: one(o['m.show'], ['performance', 'physics', 'both'], INITIAL.show),
    field: o['m.field'] ?? '',
    variable: o['m.variable'] ?? '',
    scale: one(o['m.scale'], ['auto', 'linear', 'log'], INITIAL.scale),
    min: number(o['m.min']),
    max: number(o['m.max']),
    edges: o['m.edges'] !== 'off',
    cell: Math.max(-1, whole(o['m.cell'], -1)),
    category: o['m.category'] ?? '',
    least: Math.max(1, whole(o['m.least'], 1)),
    renderer: one(o['m.renderer'], ['auto', 'webgl', 'software'], INITIAL.renderer),
    eye: o['m.eye'] ?? '',
  };
}

/** The options with a mesh state in place of the one they hold. */
export function writeMesh(s: MeshState, options: Options): Record<string, string> {
  const out = Object.fromEntries(Object.entries(options).filter(([k]) => !k.startsWith('m.')));
  for (const key of Object.keys(INITIAL) as (keyof MeshState)[]) {
    if (s[key] === INITIAL[key]) continue;
    out[`m.${key}`] = key === 'edges' ? 'off' : String(s[key]);
  }
  return out;
}
