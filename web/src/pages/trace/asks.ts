// The questions of the trace page.
import type { Size } from '../../base/geometry';
import type { PictureAsk, TraceAsk } from '../../api/wire';
import { AXIS } from './logical';
import type { Scene } from './scene';
import { isKind } from './state';
import { EDGE, GUTTER } from './timeline';

export interface Sizes {
  readonly overview: Size;
  readonly logical: Size;
  readonly physical: Size;
}

const LEAST_ROW = 3; // px; more rows are folded

/** What is to be drawn; undefined until the panes have a size. */
export function pictureAsk(
  s: Scene,
  ask: TraceAsk,
  sizes: Sizes,
  origin: number,
  where: string | null,
): PictureAsk | undefined {
  const { logical: l, physical: p, overview: o } = sizes;
  if (p.w === 0 || (o.w === 0 && !s.silent)) return undefined;
  const { now } = s;
  const columns = (z: Size): number => Math.max(1, Math.min(4096, Math.round(z.w - GUTTER - EDGE)));
  const lines = (z: Size, frame: number): number =>
    Math.max(1, Math.min(2048, Math.floor((z.h - frame) / LEAST_ROW)));
  const rows = { rowFrom: now.rowFrom, rowTo: now.rowTo };
  const own = now.to > now.from;
  const open = now.timeTo > now.timeFrom;
  return {
    ...ask,
    metric: isKind(s.colour) ? 'lateness' : s.colour,
    // Without messages there is nothing to show but what threads do.
    order: s.silent && now.order.by === 'rank' ? { ...now.order, by: 'thread' } : now.order,
    origin,
    logical:
      l.w === 0 || s.silent
        ? null
        : {
            from: own ? Math.floor(s.from) : 0,
            to: own ? Math.ceil(s.to) : 0,
            ...rows,
            columns: columns(l),
            lines: lines(l, AXIS + 14),
          },
    physical: {
      from: open ? now.timeFrom : 0,
      to: open ? now.timeTo : 0,
      ...rows,
      columns: columns(p),
      lines: lines(p, 26),
    },
    overview: s.moving || s.silent ? 0 : columns(o),
    stacks: now.stacks || s.silent || now.order.by === 'thread',
    where,
    // Changes that cannot be made are said beside them; the picture stays.
    changes: s.trace.whatif && now.run !== 'recorded' ? [...s.trace.whatif.changes] : [],
  };
}
