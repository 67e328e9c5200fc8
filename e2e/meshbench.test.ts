// How long people wait for the mesh page with a million cells, in a real browser
// without a graphics card. `make bench` runs it (bench/mesh.go), with data in the
// folder that ISOBATH_MESH_BENCH names, and reads the results it writes there.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { browse, start } from './harness';
import { boxOf } from './page';

const FOLDER = process.env['ISOBATH_MESH_BENCH'];

describe.skipIf(!FOLDER)('benchmark of the mesh page', () => {
  it('shows another field, and the cell under the pointer', { timeout: 300_000 }, async () => {
    const server = await start('open', join(FOLDER!, 'samples.arrow'), '--mesh', join(FOLDER!, 'mesh.vtk'));
    const browser = await browse({ width: 1440, height: 900 });
    try {
      const { page, problems } = await browser.open(`${server.url}&v=1&page=mesh`);
      const drawn = (): Promise<unknown> => page.waitForFunction(() => performance.getEntriesByName('draw Mesh').length > 0, undefined, { timeout: 60_000 });
      await drawn();
      await page.getByText(/Spearman ρ = /).waitFor({ timeout: 60_000 });
      // From the change of the selection to the end of the drawing of its field,
      // once everything else is at rest.
      const update: number[] = [];
      for (let k = 0; k < 11; k++) {
        await page.waitForTimeout(1500);
        update.push(
          await page.evaluate(async (low) => {
            performance.clearMeasures();
            const began = performance.now();
            const hash = new URLSearchParams(location.hash.slice(1));
            hash.set('s', `cpu >= ${low}`);
            location.hash = hash.toString();
            for (;;) {
              const [last] = performance.getEntriesByName('draw Mesh');
              if (last) return last.startTime + last.duration - began;
              await new Promise((done) => requestAnimationFrame(done));
            }
          }, 3 + k),
        );
      }
      const box = await boxOf(page, 'Mesh');
      const pick: number[] = [];
      for (let k = 0; k < 15; k++) {
        const p = { x: box.x + box.width * (0.45 + 0.01 * k), y: box.y + box.height * (0.5 + 0.004 * k) };
        pick.push(
          await page.evaluate(
            ([x, y]) => {
              const host = document.querySelector('[data-view="Mesh"]')!;
              const began = performance.now();
              host.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: x, clientY: y }));
              return performance.now() - began;
            },
            [p.x, p.y] as const,
          ),
        );
      }
      expect(problems).toEqual([]);
      const middle = (v: number[]): number => v.toSorted((a, b) => a - b)[v.length >> 1]!;
      // The first ones compile the page's code; the median does not know them.
      const rows = [
        { name: 'mesh-page-field-1M', ours: middle(update), limit: 150, unit: 'ms' },
        { name: 'mesh-page-field-1M-best', ours: Math.min(...update), limit: 150, unit: 'ms' },
        { name: 'mesh-page-pick-1M', ours: middle(pick), limit: 200, unit: 'ms' },
      ];
      writeFileSync(join(FOLDER!, 'page.json'), JSON.stringify(rows));
    } finally {
      await browser.close();
      await server.stop();
    }
  });
});
