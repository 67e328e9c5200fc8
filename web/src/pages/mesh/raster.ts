// Draws a mesh with the processor. What is seen where is found once for a view
// of a geometry; another field then only looks up the colour of each pixel, so
// that it does not depend on the size of the mesh. At rest four points a pixel
// are found, which makes edges smooth.
import { parseColor } from '../../base/color';
import type { Theme } from '../../base/theme';
import { axes, position, sameEye, VIEW_ANGLE, type Eye, type Vec } from './camera';
import {
  MOST_LINES,
  samePanes,
  SETTLE,
  uncertain,
  type Body,
  type Drawer,
  type Line,
  type Pane,
} from './drawer';
import { ramp, STEPS } from './colours';
import { FADES, fades } from './edges';

const MOST_POINTS = 7_000_000; // of a picture at rest
const SLOW = 45; // ms: if a picture takes longer, it is drawn at half size while it moves

// What a line at a point is, strongest last.
const EDGE = 0; // and how strong it is, 1 … FADES
const HIDDEN = FADES + 1; // of the box
const DASHED = FADES + 2; // of the box, in front
const FEATURE = FADES + 2; // and how strong it is

/** What is seen at each point: a triangle and a line. */
export class Raster {
  tri = new Int32Array(0); // -1: none
  ink = new Uint8Array(0);
  private depth = new Float32Array(0); // 1 / distance, so that larger is nearer
  private x = new Float32Array(0);
  private y = new Float32Array(0);
  private z = new Float32Array(0);
  w = 0;
  h = 0;

  size(w: number, h: number): void {
    this.w = w;
    this.h = h;
    if (this.tri.length < w * h) {
      this.tri = new Int32Array(w * h);
      this.ink = new Uint8Array(w * h);
      this.depth = new Float32Array(w * h);
    }
    this.tri.fill(-1, 0, w * h);
    this.ink.fill(0, 0, w * h);
    this.depth.fill(0, 0, w * h);
  }

  /** Where points are seen; a z of 0 or less is behind the eye. */
  project(points: Float32Array, eye: Eye): void {
    const n = points.length / 3;
    if (this.x.length < n)
      [this.x, this.y, this.z] = [new Float32Array(n), new Float32Array(n), new Float32Array(n)];
    const { right, up, back } = axes(eye);
    const [ox, oy, oz] = position(eye);
    const half = Math.tan((VIEW_ANGLE * Math.PI) / 360);
    const scale = this.h / (2 * half);
    for (let i = 0, k = 0; i < n; i++, k += 3) {
      const px = points[k]! - ox,
        py = points[k + 1]! - oy,
        pz = points[k + 2]! - oz;
      const d = -(px * back[0] + py * back[1] + pz * back[2]);
      const inverse = d > NEAR ? 1 / d : 0;
      this.z[i] = inverse;
      this.x[i] = this.w / 2 + (px * right[0] + py * right[1] + pz * right[2]) * inverse * scale;
      this.y[i] = this.h / 2 - (px * up[0] + py * up[1] + pz * up[2]) * inverse * scale;
    }
  }

  /** Fills triangles. One that reaches behind the eye is left out. */
  fill(triangles: Uint32Array): void {
    const { x, y, z, w, h, tri, depth } = this;
    for (let t = 0, k = 0; k < triangles.length; t++, k += 3) {
      let a = triangles[k]!,
        b = triangles[k + 1]!,
        c = triangles[k + 2]!;
      if (z[a] === 0 || z[b] === 0 || z[c] === 0) continue;
      let swap: number;
      if (y[a]! > y[b]!) {
        swap = a;
        a = b;
        b = swap;
      }
      if (y[b]! > y[c]!) {
        swap = b;
        b = c;
        c = swap;
      }
      if (y[a]! > y[b]!) {
        swap = a;
        a = b;
        b = swap;
      }
      const ax = x[a]!,
        ay = y[a]!,
        az = z[a]!,
        bx = x[b]!,
        by = y[b]!,
        cx = x[c]!,
        cy = y[c]!;
      const area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
      if (area === 0 || cy < 0 || ay > h) continue;
      const dzdx = ((z[b]! - az) * (cy - ay) - (z[c]! - az) * (by - ay)) / area;
      const dzdy = ((bx - ax) * (z[c]! - az) - (cx - ax) * (z[b]! - az)) / area;
      const long = (cx - ax) / (cy - ay);
      const upper = by > ay ? (bx - ax) / (by - ay) : 0;
      const lower = cy > by ? (cx - bx) / (cy - by) : 0;
      const end = Math.min(h, Math.ceil(cy - 0.5));
      for (let row = Math.max(0, Math.ceil(ay - 0.5)); row < end; row++) {
        const py = row + 0.5;
        const x0 = ax + (py - ay) * long;
        const x1 = py < by ? ax + (py - ay) * upper : bx + (py - by) * lower;
        let from = Math.ceil((x0 < x1 ? x0 : x1) - 0.5);
        let to = Math.ceil((x0 < x1 ? x1 : x0) - 0.5);
        if (from < 0) from = 0;
        if (to > w) to = w;
        if (from >= to) continue;
        let d = az + (from + 0.5 - ax) * dzdx + (py - ay) * dzdy;
        for (let at = row * w + from, last = row * w + to; at < last; at++, d += dzdx) {
          if (d > depth[at]!) {
            depth[at] = d;
            tri[at] = t;
          }
        }
      }
    }
  }

  /** Lines between points, where no face hides them. */
  lines(pairs: Uint32Array, strength: Uint8Array, ink: number, thick: boolean): void {
    const { x, y, z } = this;
    for (let k = 0; k < pairs.length; k += 2) {
      const a = pairs[k]!,
        b = pairs[k + 1]!;
      const s = strength[k / 2]!;
      if (s > 0 && z[a]! > 0 && z[b]! > 0)
        this.line(x[a]!, y[a]!, z[a]!, x[b]!, y[b]!, z[b]!, ink + s, thick, 0);
    }
  }

  line(
    ax: number,
    ay: number,
    az: number,
    bx: number,
    by: number,
    bz: number,
    ink: number,
    thick: boolean,
    dash: number,
  ): void {
    const { w, h, depth } = this;
    const steps = Math.ceil(Math.max(Math.abs(bx - ax), Math.abs(by - ay), 1));
    if (steps > 8 * (w + h)) return; // an end far outside: the eye is inside the mesh
    const dx = (bx - ax) / steps,
      dy = (by - ay) / steps,
      dz = (bz - az) / steps;
    const side = Math.abs(dx) > Math.abs(dy) ? w : 1; // a second point beside the line
    for (let i = 0; i <= steps; i++) {
      if (dash > 0 && i % (3 * dash) >= dash) continue;
      const px = Math.floor(ax + i * dx),
        py = Math.floor(ay + i * dy);
      if (px < 0 || py < 0 || px >= w - 1 || py >= h - 1) continue;
      const at = py * w + px;
      const near = (az + i * dz) * 1.003; // a line lies in its faces: it wins over them
      if (near < depth[at]! && near < depth[at + side]!) continue;
      if (this.ink[at]! < ink) this.ink[at] = ink;
      if (thick && this.ink[at + side]! < ink) this.ink[at + side] = ink;
    }
  }
}

const NEAR = 0.004;

/** How much light falls on each triangle, 0 … 1, seen from an eye. */
function lights(body: Body, eye: Eye, out: Float32Array): void {
  const c = body.corners;
  const { right, up, back } = axes(eye);
  const [lx, ly, lz] = unit([0.35, 0.5, 0.8]);
  for (let t = 0, i = 0; i < c.length; t++, i += 9) {
    const ux = c[i + 3]! - c[i]!,
      uy = c[i + 4]! - c[i + 1]!,
      uz = c[i + 5]! - c[i + 2]!;
    const vx = c[i + 6]! - c[i]!,
      vy = c[i + 7]! - c[i + 1]!,
      vz = c[i + 8]! - c[i + 2]!;
    const nx = uy * vz - uz * vy,
      ny = uz * vx - ux * vz,
      nz = ux * vy - uy * vx;
    const long = Math.sqrt(nx * nx + ny * ny + nz * nz) || 1;
    const facing = nx * back[0] + ny * back[1] + nz * back[2] < 0 ? -1 : 1;
    const lit =
      lx * (nx * right[0] + ny * right[1] + nz * right[2]) +
      ly * (nx * up[0] + ny * up[1] + nz * up[2]) +
      lz * (nx * back[0] + ny * back[1] + nz * back[2]);
    out[t] = Math.max(0, (facing * lit) / long);
  }
}

function unit(v: Vec): Vec {
  const n = Math.hypot(...v);
  return [v[0] / n, v[1] / n, v[2] / n];
}

// The last byte of a colour says what it is: whole, beyond the scale (dotted), of few
// samples (striped), or none at all (hatched).
const BEYOND = 1;
const FEW = 2;

/** The colour of each triangle, as bytes r, g, b and what it is. */
export function colours(
  of: Uint32Array,
  light: Float32Array,
  pane: Pane,
  table: Uint8Array,
  out: Uint32Array,
): void {
  const { values, scale } = pane;
  // Neighbouring triangles are mostly of one cell.
  let last = -1;
  let step = 0;
  let kind = 0;
  for (let t = 0; t < of.length; t++) {
    const c = of[t]!;
    if (c !== last) {
      last = c;
      const at = scale.place(values[c]!);
      if (Number.isNaN(at)) kind = 0;
      else {
        kind = uncertain(pane, c) ? FEW : at < 0 || at > 1 ? BEYOND : 255;
        step = at <= 0 ? 0 : at >= 1 ? STEPS - 1 : (at * (STEPS - 1) + 0.5) | 0;
      }
    }
    const s = 0.9 + 0.1 * light[t]!;
    out[t] =
      kind === 0
        ? 0
        : ((kind << 24) |
            ((table[4 * step + 2]! * s) << 16) |
            ((table[4 * step + 1]! * s) << 8) |
            (table[4 * step]! * s)) >>>
          0;
  }
}

interface Inks {
  readonly ground: number;
  readonly bare: number;
  readonly hatch: number;
  readonly lines: readonly { readonly rgb: number; readonly alpha: number }[]; // by ink
}

function packed(colour: string): number {
  const [r, g, b] = parseColor(colour);
  return (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
}

function inksOf(theme: Theme): Inks {
  const line = (colour: string, alpha: number): { rgb: number; alpha: number } => ({
    rgb: packed(colour),
    alpha,
  });
  const faded = (colour: string, alpha: number): ReturnType<typeof line>[] =>
    Array.from({ length: FADES }, (_, i) => line(colour, (alpha * (i + 1)) / FADES));
  return {
    ground: packed(theme.bg),
    bare: packed(theme.dark ? '#2e323b' : '#dde1e6'),
    hatch: packed(theme.dark ? '#474d59' : '#b9c0c9'),
    lines: [
      line(theme.bg, 0),
      ...faded(theme.dark ? '#000000' : '#ffffff', 0.55),
      line(theme['hair-strong'], 1),
      line(theme.line, 1),
      ...faded(theme.text, 0.75),
    ],
  };
}

function mix(a: number, b: number, t: number): number {
  const r = (a & 255) * (1 - t) + (b & 255) * t;
  const g = ((a >> 8) & 255) * (1 - t) + ((b >> 8) & 255) * t;
  const l = ((a >> 16) & 255) * (1 - t) + ((b >> 16) & 255) * t;
  return (0xff000000 | (l << 16) | (g << 8) | r) >>> 0;
}

/** Puts a raster into pixels, `per` points each way for one of them. */
export function resolve(
  r: Raster,
  colour: Uint32Array,
  inks: Inks,
  per: number,
  grid: number,
  out: Uint32Array,
  width: number,
  left: number,
): void {
  const { tri, ink, w } = r;
  const wide = Math.floor(w / per),
    high = Math.floor(r.h / per);
  const dots = 6 * grid; // of patterns, which are in CSS pixels
  const point = (at: number, px: number, py: number): number => {
    const t = tri[at]!;
    let c = inks.ground;
    if (t >= 0) {
      c = colour[t]!;
      const kind = c >>> 24;
      if (kind === 0) c = (px + py) % dots < 1.2 * grid ? inks.hatch : inks.bare;
      else if (kind === FEW)
        // The other way than where there is no value.
        c = (px + dots * r.h - py) % dots < 1.2 * grid ? mix(c, inks.ground, 0.7) : (c | 0xff000000) >>> 0;
      else if (kind === BEYOND) {
        const dx = (px % dots) - dots / 2,
          dy = (py % dots) - dots / 2;
        c = dx * dx + dy * dy < grid * grid ? mix(c, inks.hatch, 0.7) : (c | 0xff000000) >>> 0;
      }
    }
    const line = ink[at]!;
    return line > 0 ? mix(c, inks.lines[line]!.rgb, inks.lines[line]!.alpha) : c;
  };
  for (let y = 0; y < high; y++) {
    const to = y * width + left;
    if (per === 1) {
      for (let x = 0; x < wide; x++) out[to + x] = point(y * w + x, x, y);
      continue;
    }
    for (let x = 0; x < wide; x++) {
      const at = 2 * y * w + 2 * x,
        below = at + w;
      const t = tri[at]!;
      const plain =
        t === tri[at + 1] &&
        t === tri[below] &&
        t === tri[below + 1] &&
        (ink[at]! | ink[at + 1]! | ink[below]! | ink[below + 1]!) === 0;
      if (plain && t < 0) out[to + x] = inks.ground;
      else if (plain && colour[t]! >>> 24 === 255) out[to + x] = colour[t]!;
      else {
        const a = point(at, 2 * x, 2 * y),
          b = point(at + 1, 2 * x + 1, 2 * y),
          c = point(below, 2 * x, 2 * y + 1),
          d = point(below + 1, 2 * x + 1, 2 * y + 1);
        // The mean of four colours, red and blue at once.
        const rb = (((a & 0xff00ff) + (b & 0xff00ff) + (c & 0xff00ff) + (d & 0xff00ff)) >>> 2) & 0xff00ff;
        const g = (((a & 0xff00) + (b & 0xff00) + (c & 0xff00) + (d & 0xff00)) >>> 2) & 0xff00;
        out[to + x] = (0xff000000 | rb | g) >>> 0;
      }
    }
  }
}

/** Draws on a canvas. */
export class SoftwareDrawer implements Drawer {
  readonly software = true;
  private readonly context: CanvasRenderingContext2D;
  private readonly raster = new Raster();
  private light = new Float32Array(0);
  private colour = new Uint32Array(0);
  private image: ImageData | undefined;
  private body: Body | undefined;
  private box: readonly Line[] = [];
  private panes: readonly Pane[] = [];
  private eye: Eye | undefined;
  private theme: Theme | undefined;
  private inks: Inks | undefined;
  private tables: readonly Uint8Array[] = []; // of amounts, and of changes
  private css = { w: 0, h: 0 };
  private edges = true;
  private moving = false;
  private stale = true; // the raster is that of another view
  private grid = 1; // points of the raster in a CSS pixel
  private ratio = 1; // pixels of the screen in a CSS pixel
  private took = 0;
  private frame = 0;
  private settle: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext('2d', { alpha: false })!;
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.settle);
  }

  setBody(body: Body, box: readonly Line[]): void {
    if (body !== this.body) {
      this.light = new Float32Array(body.geometry.of.length);
      this.colour = new Uint32Array(body.geometry.of.length);
    }
    if (body === this.body && box === this.box) return;
    [this.body, this.box] = [body, box];
    this.again();
  }

  setPanes(panes: readonly Pane[]): void {
    const was = this.panes;
    if (samePanes(was, panes)) return;
    this.panes = panes;
    if (panes.length !== was.length) this.stale = true;
    this.request();
  }

  setTheme(theme: Theme): void {
    if (theme === this.theme) return;
    this.theme = theme;
    this.inks = inksOf(theme);
    this.tables = [ramp(theme, { signed: false }), ramp(theme, { signed: true })];
    this.request();
  }

  setSize(w: number, h: number, ratio: number): void {
    if (w === this.css.w && h === this.css.h && ratio === this.ratio) return;
    this.css = { w, h };
    this.ratio = ratio;
    this.again();
  }

  setEdges(on: boolean): void {
    if (on === this.edges) return;
    this.edges = on;
    this.again();
  }

  setEye(eye: Eye, moving: boolean): void {
    if (this.eye && moving === this.moving && sameEye(eye, this.eye)) return;
    this.eye = eye;
    this.moving = moving;
    clearTimeout(this.settle);
    if (moving) {
      this.settle = setTimeout(() => {
        this.moving = false;
        this.again();
      }, SETTLE);
    }
    this.again();
  }

  pick(x: number, y: number): number {
    if (this.stale) this.look();
    const { raster, grid } = this;
    const px = Math.floor(x * grid),
      py = Math.floor(y * grid);
    if (!this.body || px < 0 || py < 0 || px >= raster.w || py >= raster.h) return -1;
    const t = raster.tri[py * raster.w + px]!;
    return t < 0 ? -1 : this.body.geometry.of[t]!;
  }

  private again(): void {
    this.stale = true;
    this.request();
  }

  private request(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private ready(): boolean {
    return (
      this.body !== undefined &&
      this.eye !== undefined &&
      this.inks !== undefined &&
      this.css.w > 2 &&
      this.css.h > 2
    );
  }

  /** Finds what is seen at each point. */
  private look(): void {
    if (!this.ready()) return;
    const { raster, body, eye, css } = this as unknown as {
      raster: Raster;
      body: Body;
      eye: Eye;
      css: { w: number; h: number };
    };
    const w = css.w / Math.max(1, this.panes.length);
    this.grid = this.moving ? (this.took > SLOW ? 0.5 : 1) : 4 * w * css.h <= MOST_POINTS ? 2 : 1;
    // Even, so that two points make a pixel.
    raster.size(2 * Math.floor((w * this.grid) / 2), 2 * Math.floor((css.h * this.grid) / 2));
    const { triangles, edges, features } = body.geometry;
    raster.project(body.points, eye);
    raster.fill(triangles);
    if (this.edges && edges.length <= 2 * MOST_LINES)
      raster.lines(edges, fades(body, edges, body.besideEdges, eye, css.h), EDGE, this.grid > 1);
    if (features.length <= 2 * MOST_LINES)
      raster.lines(features, fades(body, features, body.besideFeatures, eye, css.h), FEATURE, this.grid > 1);
    this.drawBox(eye);
    lights(body, eye, this.light);
    this.stale = false;
  }

  private drawBox(eye: Eye): void {
    const { raster, box } = this;
    if (box.length === 0) return;
    const points = Float32Array.from(box.flatMap((l) => [...l.from, ...l.to]));
    const seen = new Raster();
    [seen.w, seen.h] = [raster.w, raster.h];
    seen.project(points, eye);
    const { x, y, z } = seen as unknown as { x: Float32Array; y: Float32Array; z: Float32Array };
    let nearest = 0;
    for (let i = 0; i < 2 * box.length; i++) if (z[i]! > z[nearest]!) nearest = i;
    for (let i = 0; i < 2 * box.length; i += 2) {
      if (z[i] === 0 || z[i + 1] === 0) continue;
      const front = Math.max(z[i]!, z[i + 1]!) > 0.999 * z[nearest]!;
      raster.line(
        x[i]!,
        y[i]!,
        z[i]!,
        x[i + 1]!,
        y[i + 1]!,
        z[i + 1]!,
        front ? DASHED : HIDDEN,
        this.grid > 1,
        front ? Math.max(1, 2 * this.grid) : 0,
      );
    }
  }

  private draw(): void {
    this.frame = 0;
    if (!this.ready()) return;
    const began = performance.now();
    if (this.stale) this.look();
    const { raster, body, inks } = this as unknown as { raster: Raster; body: Body; inks: Inks };
    // On a screen of more pixels, points are pixels; elsewhere two by two make one.
    const per = this.grid === 2 && this.ratio <= 1 ? 2 : 1;
    const n = Math.max(1, this.panes.length);
    const wide = Math.floor(raster.w / per),
      high = Math.floor(raster.h / per);
    if (this.image?.width !== n * wide || this.image.height !== high) {
      this.image = new ImageData(n * wide, high);
      [this.canvas.width, this.canvas.height] = [n * wide, high];
    }
    const out = new Uint32Array(this.image.data.buffer);
    if (this.panes.length === 0) out.fill(inks.ground);
    this.panes.forEach((pane, i) => {
      const table = this.tables[pane.scale.signed ? 1 : 0]!;
      colours(body.geometry.of, this.light, pane, table, this.colour);
      resolve(raster, this.colour, inks, per, this.grid, out, n * wide, i * wide);
    });
    this.context.putImageData(this.image, 0, 0);
    this.took = performance.now() - began;
    performance.measure('draw Mesh', { start: began, end: performance.now() });
  }
}
