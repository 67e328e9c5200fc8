// The page in Firefox: opens, draws all views, and a click, a drag and keys
// select the rows that the command line counts.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Firefox, hasFirefox } from './firefox';
import { ROOT, samples, shared, start, type Running } from './harness';

const LULESH = shared('samples/lulesh_legacy');
const PICTURES = process.env['ISOBATH_PICTURES'];

if (!hasFirefox()) {
  it('finds Firefox', () => {
    if (process.env['ISOBATH_PEERS'] === 'require')
      throw new Error('firefox-esr is not installed: scripts/peers installs it');
    console.warn('skipped: the Debian package firefox-esr is not installed');
  });
}

describe.skipIf(!hasFirefox())('the page in Firefox', () => {
  let server: Running;
  let firefox: Firefox;

  beforeAll(async () => {
    firefox = await Firefox.start(1440, 900);
  });
  afterAll(() => firefox.close());
  afterEach(async () => {
    await server.stop();
    expect(firefox.problems).toEqual([]);
  });

  const text = (selector: string): Promise<string> =>
    firefox.value<string>(
      `(document.querySelector(${JSON.stringify(selector)})?.innerText ?? '').replace(/\\s+/g, ' ').trim()`,
    );
  const counter = (): Promise<string> => text('[role="status"][aria-label="Samples selected"]');
  const where = (): Promise<string> =>
    firefox.value<string>(`new URLSearchParams(location.hash.slice(1)).get('s') ?? ''`);

  /** Moves over a view until the status line names the mark; leaves the pointer there. */
  async function find(view: string, mark: RegExp): Promise<{ x: number; y: number }> {
    await firefox.point(2, 2);
    const p = await firefox.value<{ x: number; y: number } | null>(`(async () => {
      const host = document.querySelector('[data-view="${view}"]');
      const status = document.querySelector('[data-status]');
      const b = host.getBoundingClientRect();
      const { port1, port2 } = new MessageChannel(); // sooner than a timer
      const turn = () => new Promise((done) => { port1.onmessage = done; port2.postMessage(0); });
      for (let y = 3; y < b.height; y += 6) for (let x = 3; x < b.width; x += 9) {
        host.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: b.x + x, clientY: b.y + y }));
        await turn();
        if (${mark}.test(status.textContent.trim())) return { x: b.x + x, y: b.y + y };
      }
      return null;
    })()`);
    if (!p) throw new Error(`no mark of ${view} matches ${mark}`);
    await firefox.point(p.x, p.y);
    await expect.poll(() => text('[data-status]')).toMatch(mark);
    return p;
  }

  const drawn = (...views: string[]): Promise<boolean> =>
    firefox.value<boolean>(`${JSON.stringify(views)}.every((v) => {
      const c = document.querySelector('[data-view="' + v + '"] canvas');
      return c && c.width > 0 && c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((b) => b !== 0);
    })`);

  it('opens the demo and draws every view', async () => {
    server = await start('demo');
    await firefox.open(server.url);
    await expect.poll(counter).toBe('Everything 92 959 samples');
    await expect
      .poll(() => drawn('Top offenders', 'Topology', 'Statistics', 'Parallel coordinates'))
      .toBe(true);
    // The code pane is loaded on first use, in a shadow root.
    await expect
      .poll(() =>
        firefox.value<boolean>(
          `document.querySelector('.code')?.shadowRoot?.textContent.includes('unew[i] - u[i]') ?? false`,
        ),
      )
      .toBe(true);
    for (const tab of ['One axis', 'Categories']) {
      await firefox.value(
        `[...document.querySelectorAll('[role="tab"]')].find((t) => t.textContent.trim() === '${tab}').click()`,
      );
      await expect.poll(() => drawn(tab)).toBe(true);
    }
    await firefox.value(
      `[...document.querySelectorAll('[role="tab"]')].find((t) => t.textContent.trim() === 'Parallel coordinates').click()`,
    );
    await expect.poll(() => drawn('Parallel coordinates')).toBe(true);
    const shot = await firefox.picture();
    expect(shot.length).toBeGreaterThan(20_000);
    if (PICTURES) writeFileSync(join(ROOT, PICTURES, 'memory-firefox.png'), shot);
  });

  it.skipIf(!LULESH)('selects by click, drag and keys what the command line counts', async () => {
    server = await start('open', LULESH!);
    await firefox.open(server.url);
    await expect.poll(counter).toBe('Everything 15 676 samples');
    const agrees = async (expected?: number): Promise<void> => {
      await expect.poll(where).not.toBe('');
      const n = samples(LULESH!, await where());
      if (expected !== undefined) expect(n).toBe(expected);
      const said = String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ' ');
      await expect.poll(counter).toContain(`${said} of 15 676 samples`);
    };
    // Each is a clause of its own kind, and the others stay.
    for (const [view, mark, added, n] of [
      ['Top offenders', /^LULESH_OMP\.cc:2035 /, /2035/, 4061],
      ['Topology', /^CPU 7 /, /2035.* & .*CPU:7|CPU:7.* & .*2035/, 98],
      ['Parallel coordinates', /^L2 /, /L2/, undefined],
    ] as const) {
      const p = await find(view, mark);
      await firefox.point(p.x, p.y, true);
      await expect.poll(where).toMatch(added);
      await agrees(n);
    }
    const clicked = samples(LULESH!, await where());
    expect(clicked).toBeGreaterThan(0);
    const p = await find('Parallel coordinates', /^latency 9\d/);
    await firefox.drag(p, { x: p.x, y: p.y - 80 });
    await expect.poll(where).toMatch(/latency in \d+\.\.\d+/);
    await agrees();
    await firefox.keys('\uE009', 'z'); // Control
    await agrees(clicked);
    await firefox.keys('i');
    await agrees(15676 - clicked);
  });
});
