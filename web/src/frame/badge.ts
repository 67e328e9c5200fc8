// Provenance: a filled disc is measured, half a disc derived, a dashed ring
// modelled, a ring with a dot unknown, a ring with a slash absent.
import { circle, type Renderer } from '../base/renderer';
import type { ColumnInfo } from '../api/wire';

export type Provenance = ColumnInfo['provenance'];

export const GLYPH = 9; // px across

export function drawGlyph(r: Renderer, x: number, y: number, p: Provenance): void {
  const c = { x: x + GLYPH / 2, y };
  const radius = GLYPH / 2 - 0.75;
  const ink = p === 'modelled' ? r.theme.warn : r.theme.muted;
  switch (p) {
    case 'measured':
      r.path(circle(c, radius), { fill: ink });
      return;
    case 'derived':
      r.path(circle(c, radius), { stroke: ink, width: 1.2 });
      r.path([{ to: 'arc', c, r: radius, from: Math.PI / 2, till: (3 * Math.PI) / 2 }, { to: 'close' }], {
        fill: ink,
      });
      return;
    case 'modelled':
      r.path(circle(c, radius), { stroke: ink, width: 1.4, dash: [2, 1.4] });
      return;
    case 'unknown':
      r.path(circle(c, radius), { stroke: ink, width: 1.2 });
      r.path(circle(c, 1), { fill: ink });
      return;
    case 'absent':
      r.path(circle(c, radius), { stroke: ink, width: 1.2 });
      r.line(c.x - 3, y + 3, c.x + 3, y - 3, { stroke: ink, width: 1.2 });
  }
}
