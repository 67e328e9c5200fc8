// What we write for timeline viewers, read by the importer of speedscope: the
// page of its npm package, which exports what it understood in its own format.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browse, fixture, isobath, ROOT, type Browser } from './harness';

const PAGE = join(ROOT, 'e2e/node_modules/speedscope/dist/release/index.html');

/** speedscope's own format, as far as it is compared. */
interface Exported {
  readonly shared: {
    readonly frames: readonly { readonly name: string; readonly file?: string; readonly line?: number }[];
  };
  readonly profiles: readonly {
    readonly type: string;
    readonly name: string;
    readonly unit: string;
    readonly events: readonly { readonly type: 'O' | 'C'; readonly frame: number; readonly at: number }[];
  }[];
}

/** What we write for Chrome, as far as it is compared. */
interface Traced {
  readonly traceEvents: readonly {
    readonly ph: string;
    readonly pid: number;
    readonly tid: number;
    readonly ts: number;
    readonly name: string;
    readonly args?: object;
  }[];
}

describe('what speedscope reads', () => {
  let browser: Browser;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'isobath-speedscope-'));
    browser = await browse();
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Imports a file as its command line does, and exports it again. */
  async function imported(name: string): Promise<Exported> {
    const script = join(folder, `${name}.js`);
    const content = readFileSync(join(folder, name)).toString('base64');
    writeFileSync(
      script,
      `speedscope.loadFileFromBase64(${JSON.stringify(name)}, ${JSON.stringify(content)})`,
    );
    const { page, problems } = await browser.open('about:blank');
    page.on('dialog', (d) => {
      problems.push(d.message());
      void d.dismiss();
    });
    await page.goto(`${pathToFileURL(PAGE).href}#localProfilePath=${script.slice(1)}`);
    await page.getByText('Time Order').waitFor();
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByText('Export').click()]);
    const exported = JSON.parse(readFileSync(await saved.path(), 'utf8')) as Exported;
    expect(problems).toEqual([]);
    await page.close();
    return exported;
  }

  it('has the slices of a message trace, thread by thread', async () => {
    const out = join(folder, 'messages.json');
    isobath('export', fixture('otf2/binomial16'), '-o', out);
    const { shared, profiles } = await imported('messages.json');
    const { traceEvents } = JSON.parse(readFileSync(out, 'utf8')) as Traced;
    const threads = new Map<number, string[]>();
    for (const e of traceEvents) {
      if (e.ph !== 'B' && e.ph !== 'E') continue;
      // It has details in names, and counts time from the first slice of each thread.
      const name = e.args ? `${e.name} ${JSON.stringify(e.args)}` : e.name;
      threads.set(e.tid, [...(threads.get(e.tid) ?? []), `${e.ph} ${name} ${e.ts}`]);
    }
    const wanted = [...threads.values()].map((events) => {
      const first = Number(events[0]!.split(' ').pop());
      return events.map((e) => e.replace(/[^ ]+$/, (ts) => (Number(ts) - first).toFixed(3)));
    });
    const got = profiles.map(({ unit, events }) => {
      expect(unit).toBe('microseconds');
      return events.map(
        (e) => `${e.type === 'O' ? 'B' : 'E'} ${shared.frames[e.frame]!.name} ${e.at.toFixed(3)}`,
      );
    });
    expect(wanted.length).toBe(16);
    expect(got.map(String).sort()).toEqual(wanted.map(String).sort());
  });

  it('has every sample of a profile for Firefox, with its place', async () => {
    const functions = ['sweep', 'fold<int (*)>', 'main'];
    const rows = ['time,pid,tid,latency,function,file,line'];
    const wanted: string[] = [];
    for (let i = 0; i < 300; i++) {
      rows.push(`${i * 1_000_000},7,7,${i},${functions[i % 3]!},s.c,${10 + (i % 3)}`);
      wanted.push(`${functions[i % 3]!} s.c:${10 + (i % 3)} ${i}-${i + 1}`);
    }
    writeFileSync(join(folder, 'samples.csv'), rows.join('\n') + '\n');
    isobath('export', join(folder, 'samples.csv'), '-o', join(folder, 'samples.firefox.json'));
    const { shared, profiles } = await imported('samples.firefox.json');
    expect(profiles.map(({ type, unit }) => `${type} ${unit}`)).toEqual(['evented milliseconds']);
    const got: string[] = [];
    let begun = 0;
    for (const { type, frame, at } of profiles[0]!.events) {
      const { name, file, line } = shared.frames[frame]!;
      if (type === 'O') begun = at;
      else got.push(`${name} ${file ?? ''}:${line ?? 0} ${Math.round(begun)}-${Math.round(at)}`);
    }
    expect(got).toEqual(wanted);
  });
});
