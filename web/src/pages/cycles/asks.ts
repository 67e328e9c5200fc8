// What the page asks the server for, from what is on screen.
import type { ClassAsk, CyclesAsk, SectorAsk } from '../../api/wire';
import { selectedThreads } from '../../state/references';
import type { Selection } from '../../state/selection';
import type { Drawing, Walked } from './picture';
import type { Plane } from './plane';
import { covers } from './spiral';

const MOST_RADII = 2000;
const MOST_ANGLES = 4096;
const SLACK = 0.15; // of what is seen, on all sides, so that a small move needs no answer

/** Whether a sector is as fine as the screen. */
function fine(sector: Walked, plane: Plane, drawing: Drawing): boolean {
  if (!sector.polar) return true;
  const windows = sector.last - sector.first;
  const perWindow = (plane.R - plane.r0) / (drawing.last - drawing.first);
  return sector.polar.radii >= Math.min(windows, 0.7 * windows * perWindow);
}

/** What is seen of a magnified spiral, in more detail; undefined if it is at hand. */
export function sectorAsk(
  ask: ClassAsk,
  plane: Plane,
  drawing: Drawing,
  at: Walked | undefined,
): SectorAsk | undefined {
  if (at && covers(at, plane, drawing) && fine(at, plane, drawing)) return undefined;
  const v = plane.visible();
  const n = drawing.last - drawing.first;
  const [slack, turn] = [SLACK * (v.to - v.from), v.span < 1 ? SLACK * v.span : 0];
  const first = drawing.first + Math.floor(n * Math.max(0, v.from - slack));
  const last = Math.min(drawing.last, drawing.first + Math.ceil(n * Math.min(1, v.to + slack)));
  if (last <= first) return undefined;
  const span = Math.min(1, v.span + 2 * turn);
  const depth = plane.R - plane.r0;
  const clamp = (x: number, most: number): number => Math.max(1, Math.min(most, x));
  return {
    ...ask,
    first,
    last,
    from: span < 1 ? (v.angle - turn + 1) % 1 : 0,
    span,
    radii: clamp(Math.min(last - first, Math.round(((last - first) / n) * depth)), MOST_RADII),
    angles: clamp(Math.ceil(span * 6.3 * Math.min(plane.R, plane.r0 + depth * v.to)), MOST_ANGLES),
  };
}

/** The pixels of a whole drawing. */
export function pixelsOf(
  size: { h: number },
  columns: number,
): { radii: number; angles: number; columns: number } {
  return {
    radii: Math.max(1, Math.min(MOST_RADII, Math.round(size.h / 2))),
    angles: 1440,
    columns: Math.max(1, Math.min(8192, Math.round(columns))),
  };
}

/** The thread that is selected on all pages is the one that is analysed, of several the first, unless another was
 * asked for. */
export function askOfThread(ask: CyclesAsk, select: Selection): CyclesAsk {
  return ask.thread >= 0 ? ask : { ...ask, thread: selectedThreads(select)[0] ?? -1 };
}
