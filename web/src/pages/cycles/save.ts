// Saves the morph between two classes as numbered pictures in a zip.
import { pageMeasure } from '../../base/measure';
import type { Theme } from '../../base/theme';
import { download } from '../../frame/export';
import { exportFrames } from './frames';
import type { Drawing } from './picture';
import { SpiralView } from './spiral';

type Look = ConstructorParameters<typeof SpiralView>[0];

export interface Morph {
  readonly look: Pick<Look, 'info' | 'class' | 'size' | 'zoom' | 'colour' | 'shape' | 'from' | 'to'>;
  readonly drawing: Drawing;
  /** Long traces are drawn by the server, each part of the morph anew. */
  readonly draw: (part: number) => Promise<Drawing>;
  readonly run: string;
  readonly names: readonly [string, string];
  readonly theme: Theme;
}

export async function saveMorph(m: Morph, format: 'png' | 'svg'): Promise<void> {
  const base = {
    ...m.look,
    sector: undefined,
    moving: false,
    hovered: -1,
    lit: undefined,
    references: [],
    referencesFrom: 0,
  };
  const frame = async (part: number): Promise<SpiralView> =>
    new SpiralView({ ...base, drawing: m.drawing.polar ? await m.draw(part) : m.drawing, part });
  const name = `${m.run}-${m.names[0]}-to-${m.names[1]}`.replace(/[^\w.-]+/g, '-').toLowerCase();
  const caption = `${m.run} · ${m.names[0]} to ${m.names[1]}`;
  download({
    name: `${name}.zip`,
    blob: await exportFrames(frame, format, name, caption, m.theme, pageMeasure()),
  });
}
