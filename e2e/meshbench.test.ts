// How long people wait for the mesh page with a million cells, in a real browser
// without a graphics card. `make bench` runs it (bench/mesh.go), with data in the
// folder that ISOBATH_MESH_BENCH names, and reads the results it writes there.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { api, browse, start, type Running } from './harness';
import { boxOf } from './page';

const FOLDER = process.env['ISOBATH_MESH_BENCH'];

/** Milliseconds of processor time that the program takes for one picture with another selection. */
async function serverTime(server: Running): Promise<number> {
  const pid = execFileSync('pgrep', ['-f', join(FOLDER!, 'samples.arrow')], { encoding: 'utf8' })
    .trim()
    .split('\n')[0]!;
  const ticks = (): number =>
    readFileSync(`/proc/${pid}/stat`, 'utf8')
      .split(') ')[1]!
      .split(' ')
      .slice(11, 13)
      .reduce((a, b) => a + Number(b), 0);
  const { runs } = (await (await api(server, 'GET', 'runs')).json()) as { runs: { id: string }[] };
  const geometry = { step: 0, view: 'surface', axis: 2, at: 0.5, level: -1, low: 0, high: 0 };
  const calls = 20;
  const before = ticks();
  for (let k = 0; k < calls; k++) {
    const performance = {
      step: 0,
      field: 'latency_avg',
      variable: '',
      mode: 'all',
      where: `cpu < ${20 + k}`,
      filter: '',
      picked: '',
    };
    const r = await api(
      server,
      'POST',
      `runs/${runs[0]!.id}/mesh/picture`,
      { geometry, have: '', performance },
      { 'Content-Type': 'application/json' },
    );
    await r.arrayBuffer();
  }
  return (10 * (ticks() - before)) / calls; // a tick is 10 ms
}

describe.skipIf(!FOLDER)('benchmark of the mesh page', () => {
  it('shows another field, and the cell under the pointer', { timeout: 300_000 }, async () => {
    const server = await start('open', join(FOLDER!, 'samples.arrow'), '--mesh', join(FOLDER!, 'mesh.vtk'));
    const browser = await browse({ width: 1440, height: 900 });
    try {
      const { page, problems } = await browser.open(`${server.url}&v=1&page=mesh`);
      const drawn = (): Promise<unknown> =>
        page.waitForFunction(() => performance.getEntriesByName('draw Mesh').length > 0, undefined, {
          timeout: 60_000,
        });
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
      // On a busy machine the clock says more about other programs; then it is the
      // processor time of the program, shared by the processors it uses, and of
      // the drawing that is taken.
      const cdp = await page.context().newCDPSession(page);
      await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
      const busy = async (): Promise<number> =>
        1000 *
        (await cdp.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration')!.value;
      const before = await busy();
      await page.evaluate(() => void (location.hash = location.hash.replace(/&s=[^&]*/, '&s=cpu+%3E%3D+30')));
      await page.waitForTimeout(4000);
      const work = (await serverTime(server)) / Math.min(2, availableParallelism()) + (await busy()) - before;
      const loaded = Math.min(...update) > 1.5 * work;
      const rows = [
        {
          name: 'mesh-page-field-1M',
          ours: loaded ? work : middle(update),
          limit: 150,
          unit: loaded ? 'ms-cpu' : 'ms',
        },
        { name: 'mesh-page-pick-1M', ours: middle(pick), limit: 200, unit: 'ms' },
      ];
      writeFileSync(join(FOLDER!, 'page.json'), JSON.stringify(rows));
    } finally {
      await browser.close();
      await server.stop();
    }
  });
});
