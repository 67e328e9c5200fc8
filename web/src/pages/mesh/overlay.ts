// What is drawn above the mesh: outlines of the cells that are selected and
// pointed at, the line between two pictures, and the directions of the axes.
import type { Size } from '../../base/geometry';
import type { Theme } from '../../base/theme';
import { axes, position, project, type Eye, type Vec } from './camera';
import type { Body, Line } from './drawer';
import { arrowsOf, type Arrows } from './arrows';
import { outline } from './pick';

const MOST_OUTLINED = 20_000; // more cells have no outline that could be read

export interface OverlayLook {
  readonly theme: Theme;
  readonly ratio: number; // device pixels per CSS pixel
  readonly size: Size;
}

export interface Outlined {
  readonly eye: Eye;
  readonly aspect: number; // of one picture
  readonly flat: boolean; // both sides of faces can be seen
  readonly body: Body | undefined;
  readonly panes: number; // pictures side by side
  // Cells by their place in the geometry:
  readonly chosen: Iterable<number>;
  readonly pointed: Iterable<number>;
  readonly arrows: Arrows | undefined;
  readonly line: Line | undefined; // through the mesh, seen through it
}

export function drawOverlay(canvas: HTMLCanvasElement, look: OverlayLook, what: Outlined): void {
  const g = canvas.getContext('2d');
  if (!g) return;
  const { theme, ratio } = look;
  const { w, h } = look.size;
  const [wide, high] = [Math.round(w * ratio), Math.round(h * ratio)];
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, w, h);
  const n = Math.max(1, what.panes);
  const [chosen, pointed] = [new Set(what.chosen), new Set(what.pointed)];
  for (let i = 0; i < n; i++) {
    g.save();
    g.beginPath();
    g.rect((i * w) / n, 0, w / n, h);
    g.clip();
    strokeArrows(g, look, what, i);
    strokeOutline(g, look, what, chosen, theme.selected, [], i);
    strokeOutline(g, look, what, pointed, theme.hover, [5, 2.5], i);
    if (what.line) strokeSegments(g, look, what, [what.line.from, what.line.to], theme.selected, [], i);
    g.restore();
  }
  if (n === 2) {
    g.fillStyle = theme['hair-strong'];
    g.fillRect(w / 2 - 0.5, 0, 1, h);
  }
  drawTriad(g, look, what.eye);
}

const HEAD = { long: 6, angle: 0.42 }; // of an arrow, CSS pixels and radians

/** Arrows are seen above the faces they start from, as outlines are. */
function strokeArrows(g: CanvasRenderingContext2D, look: OverlayLook, what: Outlined, pane: number): void {
  const { arrows, aspect, body, eye, flat } = what;
  if (!body || !arrows) return;
  const { size, theme } = look;
  const n = Math.max(1, what.panes);
  g.beginPath();
  for (const { from, to } of arrowsOf(body, arrows, eye, flat, size.h)) {
    const [p, q] = [project(eye, from, aspect), project(eye, to, aspect)];
    if (!p || !q) continue;
    const place = (at: readonly [number, number]): [number, number] => [
      ((pane + (at[0] + 1) / 2) * size.w) / n,
      ((1 - at[1]) / 2) * size.h,
    ];
    const [[ax, ay], [bx, by]] = [place(p), place(q)];
    const back = Math.atan2(ay - by, ax - bx);
    const long = Math.min(HEAD.long, 0.5 * Math.hypot(bx - ax, by - ay));
    g.moveTo(ax, ay);
    g.lineTo(bx, by);
    for (const side of [-HEAD.angle, HEAD.angle]) {
      g.moveTo(bx, by);
      g.lineTo(bx + long * Math.cos(back + side), by + long * Math.sin(back + side));
    }
  }
  g.lineCap = 'round';
  g.setLineDash([]);
  for (const [colour, width] of [
    [theme.bg, 3.5],
    [theme.text, 1.5],
  ] as const) {
    g.strokeStyle = colour;
    g.lineWidth = width;
    g.stroke();
  }
  g.lineCap = 'butt';
}

function strokeOutline(
  g: CanvasRenderingContext2D,
  look: OverlayLook,
  what: Outlined,
  cells: ReadonlySet<number>,
  colour: string,
  dash: number[],
  pane: number,
): void {
  const { eye, body, flat } = what;
  if (!body || cells.size === 0 || cells.size > MOST_OUTLINED) return;
  const { triangles, of } = body.geometry;
  const pairs = outline(triangles, of, body.corners, (c) => cells.has(c), position(eye), flat);
  const ends = Array.from(pairs, (i) => body.point(i));
  strokeSegments(g, look, what, ends, colour, dash, pane);
}

/** Lines between every two ends, on a ground that sets them off. */
function strokeSegments(
  g: CanvasRenderingContext2D,
  { theme, size }: OverlayLook,
  { eye, aspect, panes }: Outlined,
  ends: readonly Vec[],
  colour: string,
  dash: number[],
  pane: number,
): void {
  const n = Math.max(1, panes);
  g.beginPath();
  for (let i = 0; i < ends.length; i += 2) {
    const p = project(eye, ends[i]!, aspect);
    const q = project(eye, ends[i + 1]!, aspect);
    if (!p || !q) continue;
    g.moveTo(((pane + (p[0] + 1) / 2) * size.w) / n, ((1 - p[1]) / 2) * size.h);
    g.lineTo(((pane + (q[0] + 1) / 2) * size.w) / n, ((1 - q[1]) / 2) * size.h);
  }
  g.lineJoin = 'round';
  g.setLineDash([]);
  g.strokeStyle = theme.bg;
  g.lineWidth = 6;
  g.stroke();
  g.setLineDash(dash);
  g.strokeStyle = colour;
  g.lineWidth = 2.5;
  g.stroke();
}

function drawTriad(g: CanvasRenderingContext2D, { theme, size }: OverlayLook, eye: Eye): void {
  const a = axes(eye);
  const at = { x: size.w - 56, y: size.h - 48 };
  g.setLineDash([]);
  g.lineWidth = 1.5;
  g.font = '11px Inter, system-ui, sans-serif';
  g.textAlign = 'center';
  g.textBaseline = 'middle';
  (['x', 'y', 'z'] as const).forEach((name, k) => {
    const [x, y] = [a.right[k]!, -a.up[k]!];
    g.strokeStyle = theme.muted;
    g.beginPath();
    g.moveTo(at.x, at.y);
    g.lineTo(at.x + 30 * x, at.y + 30 * y);
    g.stroke();
    g.fillStyle = theme.text;
    if (Math.hypot(x, y) > 0.15) g.fillText(name, at.x + 40 * x, at.y + 40 * y);
  });
}
