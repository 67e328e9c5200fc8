// What draws a mesh: a graphics card through three.js, or the processor, which
// is several times quicker than a graphics library without a card.
import type { Theme } from '../../base/theme';
import type { Eye, Vec } from './camera';
import type { Geometry } from './picture';
import type { NumberScale } from '../../base/scale';

/** What one picture shows: a value for each drawn cell, NaN without one. */
export interface Pane {
  readonly values: Float64Array;
  readonly scale: NumberScale;
}

/** Whether pictures are the same, so that they need not be drawn again. */
export function samePanes(a: readonly Pane[], b: readonly Pane[]): boolean {
  return (
    a.length === b.length &&
    a.every(
      (p, i) =>
        p.values === b[i]!.values &&
        p.scale.min === b[i]!.scale.min &&
        p.scale.max === b[i]!.scale.max &&
        p.scale.log === b[i]!.scale.log,
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
export const SMALLEST_CELL = 5; // CSS pixels, below which edges would cover the colours

/** A mesh moved and scaled to radius 1 around the origin. */
export class Body {
  readonly points: Float32Array;
  readonly cellSize: number; // of a typical face, in units of the radius
  private made: Float32Array | undefined;

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
    this.cellSize = Math.sqrt(this.area() / Math.max(1, geometry.polygons));
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

  private area(): number {
    const c = this.corners;
    let sum = 0;
    for (let i = 0; i < c.length; i += 9) {
      const ux = c[i + 3]! - c[i]!,
        uy = c[i + 4]! - c[i + 1]!,
        uz = c[i + 5]! - c[i + 2]!;
      const vx = c[i + 6]! - c[i]!,
        vy = c[i + 7]! - c[i + 1]!,
        vz = c[i + 8]! - c[i + 2]!;
      const nx = uy * vz - uz * vy,
        ny = uz * vx - ux * vz,
        nz = ux * vy - uy * vx;
      sum += Math.sqrt(nx * nx + ny * ny + nz * nz) / 2;
    }
    return sum;
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
