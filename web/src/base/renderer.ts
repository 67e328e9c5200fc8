// What a view may draw with. canvas.ts puts it on screen, svg.ts into a file;
// both get the same calls, so an export is the picture that was seen.
import type { Point, Rect } from './geometry';
import type { Font, Measure } from './text';
import type { Theme } from './theme';

/** Angles in radians, clockwise from three o'clock, as canvas has them. */
export type Segment =
  | { readonly to: 'move' | 'line'; readonly x: number; readonly y: number }
  | {
      readonly to: 'arc';
      readonly c: Point;
      readonly r: number;
      readonly from: number;
      readonly till: number;
    }
  | { readonly to: 'close' };

export type Path = readonly Segment[];

/** Lines at 45° over an optional ground: tells "empty" and "qualified" apart without hue. */
export interface Hatch {
  readonly line: string;
  readonly width: number;
  readonly period: number;
  readonly alpha?: number;
  readonly ground?: string;
}

export interface Paint {
  readonly fill?: string | undefined;
  readonly hatch?: Hatch | undefined;
  readonly stroke?: string | undefined;
  readonly width?: number;
  readonly dash?: readonly number[];
  readonly alpha?: number;
}

export interface TextStyle {
  readonly font: Font;
  readonly fill: string;
  readonly align?: 'left' | 'center' | 'right';
  /** Turned clockwise about the anchor, radians. */
  readonly turn?: number;
}

/**
 * Many straight strokes between two vertical edges, in drawing order. Kept in
 * columns because there are thousands and they are drawn while a pointer moves.
 */
export interface Strokes {
  readonly n: number;
  readonly x0: Float32Array;
  readonly y0: Float32Array;
  readonly x1: Float32Array;
  readonly y1: Float32Array;
  readonly width: Float32Array;
  readonly rgb: Uint32Array; // 0xrrggbb
  readonly alpha: Float32Array;
  /** Where they lie: nothing is drawn outside. */
  readonly area: Rect;
  /** These same strokes are drawn many times: their pixels are worth keeping. */
  readonly kept?: boolean;
}

/** A grid of colours stretched over an area, each cell with sharp edges. */
export interface Cells {
  readonly columns: number;
  readonly rows: number;
  readonly rgba: Uint8ClampedArray<ArrayBuffer>; // straight, row by row
  readonly area: Rect;
}

export interface Renderer {
  readonly theme: Theme;
  readonly measure: Measure;
  rect(r: Rect, paint: Paint, radius?: number): void;
  line(x0: number, y0: number, x1: number, y1: number, paint: Paint): void;
  path(path: Path, paint: Paint): void;
  /** Text with its middle line at y. */
  text(text: string, x: number, y: number, style: TextStyle): void;
  strokes(strokes: Strokes): void;
  cells(cells: Cells): void;
  clip(r: Rect, draw: () => void): void;
}

export function circle(c: Point, r: number): Path {
  return [{ to: 'arc', c, r, from: 0, till: 2 * Math.PI }, { to: 'close' }];
}

export function polygon(points: readonly Point[]): Path {
  const path: Segment[] = points.map((p, i) => ({ to: i === 0 ? 'move' : 'line', x: p.x, y: p.y }));
  path.push({ to: 'close' });
  return path;
}
