// What a link keeps about the mesh page, in the options of the page's state
// under keys that begin with "m.".
import { codec, real, flag, oneOf, typed, whole, words, type Options } from '../../state/link';
import type { Mode } from '../../api/wire';
import { SCALE_CHOICES, type ScaleChoice } from './scales';

export type MeshView = 'surface' | 'slice' | 'threshold' | 'contour';
export type Show = 'performance' | 'physics' | 'both';
/** What is seen below the mesh. */
export type Below = 'iterations' | 'overtime' | 'line' | 'ranked';
export type RendererKind = 'auto' | 'webgl' | 'software';

export interface MeshState {
  readonly step: number; // -1: the last dump
  readonly mode: Mode;
  readonly since: number; // dump that values are changes since; -1: they are no changes
  readonly view: MeshView;
  readonly axis: 0 | 1 | 2; // of the slice
  readonly at: number; // place of the slice between the bounds, 0 … 1
  readonly by: string; // of the threshold: "f:" a field, "v:" a variable; empty: what is shown
  readonly from: number; // of the threshold, parts of the range, 0 … 1
  readonly to: number;
  readonly iso: number; // of the contour, part of the range, 0 … 1
  readonly clip: string; // planes, "x<0.5,y>0.25" in parts of the bounds; empty: none
  readonly level: number; // of refinement; -1: all
  readonly show: Show;
  readonly field: string; // empty: the first that suits
  readonly variable: string;
  readonly scale: ScaleChoice;
  readonly min: string; // ends of the colours; empty: those of the values
  readonly max: string;
  readonly arrows: string; // vectors; empty: none
  readonly edges: boolean;
  readonly few: number; // values of fewer samples are striped; 1: none
  readonly cell: number; // -1: none
  readonly category: string;
  readonly least: number; // samples that a cell must have in the relation
  readonly below: Below;
  readonly regions: string; // over time, by this variable; empty: the first that suits
  readonly line: string; // "0,0,0:1,1,1"; empty: through the mesh from corner to corner
  readonly renderer: RendererKind; // auto: a graphics card if there is one
  readonly eye: string; // camera: azimuth, elevation, distance, target; empty: the first
}

/** A plane across an axis: what lies below it is drawn, or what lies above. */
export interface ClipPlane {
  readonly axis: 0 | 1 | 2;
  readonly below: boolean;
  readonly at: number; // part of the bounds, 0 … 1
}

const CLIP = /^([xyz])([<>])(\d*\.?\d+)$/;

/** The planes of a link; what is no plane is left out. */
export function readClip(text: string): ClipPlane[] {
  return text.split(',').flatMap((t) => {
    const m = CLIP.exec(t);
    const at = Number(m?.[3]);
    if (!m || !(at >= 0 && at <= 1)) return [];
    return [{ axis: 'xyz'.indexOf(m[1]!) as ClipPlane['axis'], below: m[2] === '<', at }];
  });
}

export function writeClip(planes: readonly ClipPlane[]): string {
  return planes.map((p) => `${'xyz'[p.axis]}${p.below ? '<' : '>'}${p.at}`).join(',');
}

const AXES: readonly MeshState['axis'][] = [0, 1, 2];
const part = { least: 0, most: 1 };

const LINK = codec<MeshState>('m.', {
  step: whole(-1, { least: -1 }),
  mode: oneOf(['all', 'upto', 'only'], 'all'),
  since: whole(-1, { least: -1 }),
  view: oneOf(['surface', 'slice', 'threshold', 'contour'], 'surface'),
  axis: { initial: 2, read: (text) => AXES.find((a) => String(a) === text), write: String },
  at: real(0.5, part),
  by: words(),
  from: real(0, part),
  to: real(1, part),
  iso: real(0.5, part),
  clip: words(),
  level: whole(-1, { least: -1 }),
  show: oneOf(['performance', 'physics', 'both'], 'performance'),
  field: words(),
  variable: words(),
  scale: oneOf(SCALE_CHOICES, 'auto'),
  min: typed(),
  max: typed(),
  arrows: words(),
  edges: flag(true, 'off'),
  few: whole(5, { least: 1 }),
  cell: whole(-1, { least: -1 }),
  category: words(),
  least: whole(1, { least: 1 }),
  below: oneOf(['iterations', 'overtime', 'line', 'ranked'], 'iterations'),
  regions: words(),
  line: words(),
  renderer: oneOf(['auto', 'webgl', 'software'], 'auto'),
  eye: words(),
});

export const INITIAL: MeshState = LINK.initial;

export function readMesh(o: Options): MeshState {
  return LINK.read(o);
}

/** The options with a mesh state in place of the one they hold. */
export function writeMesh(s: MeshState, options: Options): Record<string, string> {
  return LINK.write(s, options);
}
