// The morph from one class to another as numbered pictures in one archive.
import type { Measure } from '../../base/text';
import type { Theme } from '../../base/theme';
import { exportView } from '../../frame/export';
import type { View } from '../../frame/view';
import { zip, type Entry } from './zip';

/** Frames of a morph: the first is the one class, the last the other. */
export const FRAMES = 25;

/** How far the morph has gone at each frame: slower at both ends, as on screen. */
export function parts(n: number): readonly number[] {
  return Array.from({ length: n }, (_, i) => {
    const s = n > 1 ? i / (n - 1) : 0;
    return s * s * (3 - 2 * s);
  });
}

export async function exportFrames(
  frame: (part: number) => Promise<View<unknown>>,
  format: 'png' | 'svg',
  name: string,
  caption: string,
  theme: Theme,
  measure: Measure,
): Promise<Blob> {
  const entries: Entry[] = [];
  for (const [i, part] of parts(FRAMES).entries()) {
    const { blob } = await exportView(
      await frame(part),
      format,
      name,
      `${caption} · morph ${Math.round(100 * part)} %`,
      theme,
      measure,
    );
    entries.push({
      name: `${name}-${String(i + 1).padStart(3, '0')}.${format}`,
      bytes: new Uint8Array(await blob.arrayBuffer()),
    });
  }
  return zip(entries);
}
