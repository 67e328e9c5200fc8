// Where a spiral lies on screen: its centre, its radius, and what of it is seen
// when it is magnified. Lengths are in units of the spiral's radius.
import { clamp, type Point, type Size } from '../../base/geometry';

/** Magnification, and the point in the middle of the pane: (0, 0) is the centre, 1 the rim. */
export interface Zoom {
  readonly k: number;
  readonly x: number;
  readonly y: number;
}

export const NO_ZOOM: Zoom = { k: 1, x: 0, y: 0 };
export const MAX_ZOOM = 4000;
export const TAU = 2 * Math.PI;
/** Time begins at this part of the radius. */
export const HOLE = 0.1;

export class Plane {
  readonly c: Point; // of the spiral, on screen
  readonly R: number;
  readonly r0: number;

  constructor(
    readonly size: Size,
    readonly zoom: Zoom,
  ) {
    const { w, h } = size;
    const fit = Math.max(40, Math.min((h - 24 - 44) / 2, w / 2 - 60));
    this.R = fit * zoom.k;
    this.c = { x: w / 2 + Math.min(34, w / 20) - this.R * zoom.x, y: 24 + fit - this.R * zoom.y };
    this.r0 = HOLE * this.R;
  }

  at(turns: number, r: number): Point {
    return { x: this.c.x + r * Math.sin(TAU * turns), y: this.c.y - r * Math.cos(TAU * turns) };
  }

  /** Turns clockwise from the top, 0 … 1, and pixels from the centre. */
  polar(p: Point): { readonly turn: number; readonly r: number } {
    const [dx, dy] = [p.x - this.c.x, p.y - this.c.y];
    return { turn: (Math.atan2(dx, -dy) / TAU + 1) % 1, r: Math.hypot(dx, dy) };
  }

  sees(p: Point, slack: number): boolean {
    return p.x >= -slack && p.y >= -slack && p.x <= this.size.w + slack && p.y <= this.size.h + slack;
  }

  /** The radii, 0 … 1 between hole and rim, and the angles that are on screen. */
  visible(): { readonly from: number; readonly to: number; readonly angle: number; readonly span: number } {
    const { w, h } = this.size;
    const near = Math.hypot(clamp(this.c.x, 0, w) - this.c.x, clamp(this.c.y, 0, h) - this.c.y);
    const corners = [
      { x: 0, y: 0 },
      { x: w, y: 0 },
      { x: 0, y: h },
      { x: w, y: h },
    ];
    const far = Math.max(...corners.map((p) => Math.hypot(p.x - this.c.x, p.y - this.c.y)));
    const ring = (r: number): number => clamp((r - this.r0) / (this.R - this.r0), 0, 1);
    if (near === 0) return { from: ring(0), to: ring(far), angle: 0, span: 1 };
    // Seen from outside, the pane spans less than half a turn around its middle.
    const middle = this.polar({ x: w / 2, y: h / 2 }).turn;
    const off = corners.map((p) => wrap(this.polar(p).turn - middle));
    const [low, high] = [Math.min(...off), Math.max(...off)];
    // A little more, so that rounding loses no corner.
    return {
      from: ring(near),
      to: ring(far),
      angle: (middle + low - 1e-9 + 1) % 1,
      span: Math.min(1, high - low + 2e-9),
    };
  }

  /** The zoom that magnifies by a factor and keeps a point of the screen where it is. */
  zoomed(p: Point, by: number): Zoom {
    const k = clamp(this.zoom.k * by, 1, MAX_ZOOM);
    const grow = k / this.zoom.k - 1;
    return within({
      k,
      x: this.zoom.x + ((p.x - this.middle.x) * grow) / (this.R * (1 + grow)),
      y: this.zoom.y + ((p.y - this.middle.y) * grow) / (this.R * (1 + grow)),
    });
  }

  moved(dx: number, dy: number): Zoom {
    return within({ k: this.zoom.k, x: this.zoom.x - dx / this.R, y: this.zoom.y - dy / this.R });
  }

  /** The zoom with a point of the screen in the middle. */
  centred(p: Point): Zoom {
    return this.moved(this.middle.x - p.x, this.middle.y - p.y);
  }

  /** Where (zoom.x, zoom.y) is on screen. */
  private get middle(): Point {
    return { x: this.c.x + this.R * this.zoom.x, y: this.c.y + this.R * this.zoom.y };
  }
}

/** A difference of angles as −½ … ½ turns. */
function wrap(turns: number): number {
  return turns - Math.round(turns);
}

/** No zoom leaves the spiral out of sight. */
function within(z: Zoom): Zoom {
  if (z.k <= 1) return NO_ZOOM;
  return { k: z.k, x: clamp(z.x, -1, 1), y: clamp(z.y, -1, 1) };
}
