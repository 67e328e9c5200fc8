// What draws a mesh: a graphics card through three.js, or the processor, which
// is several times quicker than a graphics library without a card.
import type { Theme } from '../../base/theme';
import type { Eye, Vec } from './camera';
import type { Geometry } from './picture';
import { opposites } from './edges';
import { sameScale, type ColourScale } from './scales';

/** What one picture shows: a value for each drawn cell, NaN without one. */
export interface Pane {
  readonly values: Float64Array;
  readonly scale: ColourScale;
  /** The samples of each cell, where a value of fewer than `few` of them is uncertain: it is striped. */
  readonly samples?: Uint32Array;
  readonly few?: number;
}

/** Whether the value of a cell is to be striped. */
export function uncertain({ few, samples }: Pane, cell: number): boolean {
  return few !== undefined && samples !== undefined && samples[cell]! < few;
}

/** Whether pictures are the same, so that they need not be drawn again. */
export function samePanes(a: readonly Pane[], b: readonly Pane[]): boolean {
  return (
    a.length === b.length &&
    a.every(
      (p, i) =>
        p.values === b[i]!.values &&
        p.samples === b[i]!.samples &&
        p.few === b[i]!.few &&
        sameScale(p.scale, b[i]!.scale),
    )
  );
}

export interface Drawer {
  readonly software: boolean;
  setBody(body: Body, box: readonly Line[]): void;
  setPanes(panes: readonly Pane[]): void;
  setTheme(theme: Theme): void;
  /** In CSS pixels, with so many pixels of the screen in each. */
  setSize(w: number, h: number, ratio: number): void;
  setEdges(on: boolean): void;
  /** Moves the eye; while it moves, a picture may be coarser. */
  setEye(eye: Eye, moving: boolean): void;
  /** The drawn cell under a point of the first picture, in CSS pixels; -1: none. */
  pick(x: number, y: number): number;
  dispose(): void;
}

/** A line of the box around what is cut away. */
export interface Line {
  readonly from: Vec;
  readonly to: Vec;
}

export const MOST_LINES = 200_000; // more of them cover the faces
export const SETTLE = 160; // ms without motion until the picture is drawn at full size

/** A mesh moved and scaled to radius 1 around the origin. */
export class Body {
  readonly points: Float32Array;
  private made: Float32Array | undefined;
  private beside: readonly [Int32Array, Int32Array] | undefined;

  constructor(
    readonly geometry: Geometry,
    readonly middle: Vec,
    readonly radius: number,
  ) {
    const { positions } = geometry;
    this.points = new Float32Array(positions.length);
    const [mx, my, mz] = middle;
    for (let i = 0; i < positions.length; i += 3) {
      this.points[i] = (positions[i]! - mx) / radius;
      this.points[i + 1] = (positions[i + 1]! - my) / radius;
      this.points[i + 2] = (positions[i + 2]! - mz) / radius;
    }
  }

  point(i: number): Vec {
    return [this.points[3 * i]!, this.points[3 * i + 1]!, this.points[3 * i + 2]!];
  }

  /** Nine numbers a triangle; made when they are first wanted. */
  get corners(): Float32Array {
    if (this.made) return this.made;
    const { triangles } = this.geometry;
    const c = new Float32Array(3 * triangles.length);
    for (let i = 0; i < triangles.length; i++) {
      const p = 3 * triangles[i]!;
      c[3 * i] = this.points[p]!;
      c[3 * i + 1] = this.points[p + 1]!;
      c[3 * i + 2] = this.points[p + 2]!;
    }
    return (this.made = c);
  }

  /** The points beside edges and features; found when they are first wanted. */
  private get besides(): readonly [Int32Array, Int32Array] {
    const { edges, features, triangles } = this.geometry;
    return (this.beside ??= [opposites(edges, triangles), opposites(features, triangles)]);
  }

  get besideEdges(): Int32Array {
    return this.besides[0];
  }

  get besideFeatures(): Int32Array {
    return this.besides[1];
  }
}

/** The name of the graphics card behind WebGL 2; undefined without one. */
export function card(): string | undefined {
  const gl = document.createElement('canvas').getContext('webgl2');
  if (!gl) return undefined;
  const debug = gl.getExtension('WEBGL_debug_renderer_info');
  const name = debug ? String(gl.getParameter(debug.UNMASKED_RENDERER_WEBGL)) : '';
  gl.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|software|softpipe|basic render/i.test(name) ? undefined : name;
}
