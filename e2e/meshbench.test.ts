// How long people wait for the mesh page with one and five million cells, in a real browser
// without a graphics card. `make bench` runs it (bench/mesh.go), with data in the
// folder that ISOBATH_MESH_BENCH names, and reads the results it writes there.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { api, browse, start, type Running } from './harness';
import { boxOf, quiet } from './page';

const FOLDER = process.env['ISOBATH_MESH_BENCH'];

/** Milliseconds of processor time that the program has taken. */
function spent(server: Running): number {
  const ticks = readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11, 13);
  return 10 * ticks.reduce((a, b) => a + Number(b), 0); // a tick is 10 ms
}

/** Milliseconds of processor time that the program takes for one picture with another selection. */
async function serverTime(server: Running): Promise<number> {
  const { runs } = (await (await api(server, 'GET', 'runs')).json()) as { runs: { id: string }[] };
  const geometry = { step: 0, view: 'surface', axis: 2, at: 0.5, level: -1, low: 0, high: 0 };
  const calls = 20;
  const before = spent(server);
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
  return (spent(server) - before) / calls;
}

interface Row {
  readonly name: string;
  readonly ours: number;
  readonly limit: number;
  readonly unit: string;
}

/** Adds to the rows that the benchmark reads. */
function write(rows: readonly Row[]): void {
  const file = join(FOLDER!, 'page.json');
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Row[]) : [];
  writeFileSync(file, JSON.stringify([...before, ...rows]));
}

/** From another threshold to the end of the drawing of its surface, after the picture before was marked as such. */
function threshold(page: Page, from: number): Promise<number> {
  return page.evaluate(async (low) => {
    performance.clearMeasures();
    const began = performance.now();
    const hash = new URLSearchParams(location.hash.slice(1));
    for (const [name, value] of [
      ['view', 'threshold'],
      ['by', 'v:v'],
      ['from', String(low)],
    ] as const)
      hash.set(`o.m.${name}`, value);
    location.hash = hash.toString();
    for (let stale = 0; ;) {
      if (document.querySelector('.stage.stale')) stale = performance.now();
      const last = performance.getEntriesByName('draw Mesh').at(-1);
      if (last && stale > 0 && last.startTime > stale) return last.startTime + last.duration - began;
      await new Promise((done) => requestAnimationFrame(done));
    }
  }, from);
}

describe.skipIf(!FOLDER)('benchmark of the mesh page', () => {
  it.each([
    ['1M', 150],
    ['5M', 750],
  ])(
    'shows another field on %s cells, and the cell under the pointer',
    { timeout: 300_000 },
    async (size, limit) => {
      const of = (name: string): string => join(FOLDER!, size, name);
      const server = await start('open', of('samples.arrow'), '--mesh', of('mesh.vtk'));
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
                host.dispatchEvent(
                  new PointerEvent('pointermove', { bubbles: true, clientX: x, clientY: y }),
                );
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
        await page.evaluate(
          () => void (location.hash = location.hash.replace(/&s=[^&]*/, '&s=cpu+%3E%3D+30')),
        );
        await page.waitForTimeout(4000);
        const work =
          (await serverTime(server)) / Math.min(2, availableParallelism()) + (await busy()) - before;
        const loaded = Math.min(...update) > 1.5 * work;
        write([
          {
            name: `mesh-page-field-${size}`,
            ours: loaded ? work : middle(update),
            limit,
            unit: loaded ? 'ms-cpu' : 'ms',
          },
          { name: `mesh-page-pick-${size}`, ours: middle(pick), limit: 200, unit: 'ms' },
        ]);
        if (size !== '5M') return;
        // By the clock, or on a busy machine by the processor time, as above.
        const cuts: number[] = [];
        const works: number[] = [];
        for (let k = 0; k < 5; k++) {
          await quiet(page); // numbers of the picture before are there

          const [program, drawing] = [spent(server), await busy()];
          cuts.push(await threshold(page, 0.3 + 0.05 * k));
          works.push(
            (spent(server) - program) / Math.min(2, availableParallelism()) + (await busy()) - drawing,
          );
        }
        const others = Math.min(...cuts) > 1.5 * middle(works);
        write([
          {
            name: 'mesh-page-threshold-5M',
            ours: middle(others ? works : cuts),
            limit: 1500,
            unit: others ? 'ms-cpu' : 'ms',
          },
        ]);
      } finally {
        await browser.close();
        await server.stop();
      }
    },
  );
});
