// The page and a real ParaView, linked: what is selected in one is selected in
// the other, clauses stay, and a restart of the program is survived by both.

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  browse,
  fixture,
  isobath,
  ROOT,
  samples,
  shared,
  start,
  type Browser,
  type Running,
} from './harness';
import { counted, everything, whereOf } from './page';

const DUMPS = fixture('mesh/lulesh');
const SAMPLES = shared('samples/lulesh_legacy');
const PEERS = existsSync('/usr/bin/pvpython') && existsSync('/usr/bin/Xvfb');
if (!PEERS && process.env['ISOBATH_PEERS'] === 'require')
  throw new Error('pvpython and Xvfb are missing: install the Debian packages paraview and xvfb');

interface Answer {
  readonly samples: number;
  readonly heard?: boolean;
  readonly cells?: readonly number[];
}

interface Display {
  readonly name: string;
  end(): void;
}

/**
 * An X server without a screen: without one this build of ParaView crashes even when it draws
 * off screen. The server chooses its own number and says it when it listens.
 */
function startDisplay(): Promise<Display> {
  const server = spawn(
    'Xvfb',
    ['-displayfd', '3', '-screen', '0', '800x600x24', '-nolisten', 'tcp', '-noreset'],
    {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    },
  );
  return new Promise((resolve, reject) => {
    let said = '';
    server.on('error', reject);
    server.on('exit', (code) => reject(new Error(`Xvfb ended with ${code} before it named its display`)));
    (server.stdio[3] as Readable).setEncoding('utf8').on('data', (s: string) => {
      said += s;
      if (said.endsWith('\n')) resolve({ name: `:${said.trim()}`, end: () => void server.kill('SIGTERM') });
    });
  });
}

/** A ParaView that obeys lines. */
class Viewer {
  private readonly child: ChildProcess;
  private readonly lines: AsyncIterator<string>;
  private text = '';

  private constructor(
    private readonly screen: Display,
    tokenFile: string,
    files: readonly string[],
  ) {
    this.child = spawn('pvpython', ['--force-offscreen-rendering', join(ROOT, 'e2e/viewer.py'), ...files], {
      env: {
        ...process.env,
        DISPLAY: screen.name,
        ISOBATH_LINK: tokenFile,
        ISOBATH_CLIENTS: join(ROOT, 'clients'),
        PYTHONDONTWRITEBYTECODE: '1',
      },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true, // a process group of its own, see end
    });
    this.child.stderr!.setEncoding('utf8').on('data', (s: string) => (this.text += s));
    this.lines = createInterface({ input: this.child.stdout! })[Symbol.asyncIterator]();
  }

  async answer(): Promise<Answer> {
    for (;;) {
      const { value, done } = await this.lines.next();
      if (done) throw new Error(`ParaView ended: ${this.text}`);
      if (value.startsWith('RESULT ')) return JSON.parse(value.slice(7)) as Answer;
    }
  }

  ask(line: string): Promise<Answer> {
    this.child.stdin!.write(`${line}\n`);
    return this.answer();
  }

  static async start(tokenFile: string, files: readonly string[]): Promise<Viewer> {
    return new Viewer(await startDisplay(), tokenFile, files);
  }

  /** Ends the whole group: pvpython is a launcher on some systems. */
  end(): void {
    this.child.stdin!.destroy();
    try {
      process.kill(-this.child.pid!, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
    this.screen.end();
  }
}

describe.skipIf(!SAMPLES || !PEERS)('ParaView and the page', () => {
  const files = readdirSync(DUMPS)
    .filter((f) => /^lulesh_c\d+\.vtk$/.test(f))
    .sort()
    .map((f) => join(DUMPS, f));
  const pattern = join(DUMPS, 'lulesh_c*.vtk');
  const folder = mkdtempSync(join(tmpdir(), 'isobath-viewer-'));
  const tokenFile = join(folder, 'link');
  const serve = (...more: string[]): Promise<Running> =>
    start(
      'open',
      SAMPLES!,
      '--mesh',
      pattern,
      '--link',
      '127.0.0.1:0',
      '--link-file',
      tokenFile,
      '--token-file',
      join(folder, 'token'),
      ...more,
    );
  const used = (where: string): number => {
    const report = JSON.parse(
      isobath('mesh', SAMPLES!, '--mesh', pattern, '--field', 'samples', '--where', where, '--json'),
    ) as { counts: { used: number } };
    return report.counts.used;
  };
  let browser: Browser;
  let server: Running;
  let viewer: Viewer;
  beforeAll(async () => {
    browser = await browse({ width: 1280, height: 720 });
    server = await serve();
  });
  afterAll(async () => {
    viewer?.end();
    await server.stop();
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  it('share a selection both ways, and both survive a restart', async () => {
    const { page, problems } = await browser.open(server.url);
    await everything(page, 15_676);
    const selected = async (): Promise<number> =>
      Number(
        (await page.getByRole('status', { name: 'Samples selected' }).locator('b').innerText()).replace(
          /\s/g,
          '',
        ),
      );
    viewer = await Viewer.start(tokenFile, files);
    expect(await viewer.answer()).toMatchObject({ ready: true, samples: 993 });

    // CPUs are selected on the Memory page: the array in ParaView is that of the verb.
    await page.evaluate(() => void (location.hash += '&s=cpu+in+11..31'));
    // It may have heard of what the page opened with before.
    await expect
      .poll(() => viewer.ask('follow'))
      .toMatchObject({ heard: true, samples: used('cpu in 11..31') });

    // Cells are picked in ParaView: the page selects their samples, and the CPUs stay.
    const picked = await viewer.ask('pick');
    expect(picked.samples).toBeGreaterThan(0);
    await expect.poll(() => whereOf(page)).toMatch(/^cpu in 11\.\.31 & rows "cells [\d -]+"$/);
    await counted(page, picked.samples, 15_676);

    // One clause more in the page: the others stay there too.
    const where = `${await whereOf(page)} & latency > 30`;
    await page.evaluate((w) => {
      const hash = new URLSearchParams(location.hash.slice(1));
      hash.set('s', w);
      location.hash = hash.toString();
    }, where);
    const left = samples(SAMPLES!, 'cpu in 11..31 & latency > 30');
    await expect.poll(selected).not.toBe(picked.samples);
    const narrowed = await selected();
    expect(narrowed).toBeLessThan(Math.min(left, picked.samples));
    let seen: Answer = { samples: 0 };
    await expect.poll(async () => (seen = await viewer.ask('follow')).samples).toBe(narrowed);
    const ranges = [...where.matchAll(/(\d+)(?:-(\d+))?(?=[ "])/g)].map(
      (m) => [Number(m[1]), Number(m[2] ?? m[1])] as const,
    );
    for (const c of seen.cells!) expect(ranges.some(([lo, hi]) => c >= lo && c <= hi)).toBe(true);

    // The mesh page names who is there.
    await page.getByRole('button', { name: 'Mesh' }).click();
    await page.getByRole('status', { name: 'Viewers' }).getByText('linked with paraview').waitFor();

    // The program goes and comes back at the same address: page and ParaView are there again.
    const port = new URL(server.url).port;
    await server.stop();
    server = await serve('--port', port);
    await page
      .getByRole('status', { name: 'Viewers' })
      .getByText('linked with paraview')
      .waitFor({ state: 'hidden' });
    // It connects again, perhaps before the page does.
    await expect.poll(async () => (await viewer.ask('follow')).samples).toBe(narrowed);
    await page.getByRole('status', { name: 'Viewers' }).getByText('linked with paraview').waitFor();
    expect(problems.filter((p) => !/Failed to load resource|ERR_CONNECTION/.test(p))).toEqual([]);
    await page.close();
  });
});
