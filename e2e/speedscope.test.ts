// What we write for timeline viewers, read by the importer of speedscope: the
// page of its npm package, which exports what it understood in its own format.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

  /** Samples of nested calls of two threads, and how often each stack comes. */
  function nested(name: string): Map<string, number> {
    const stacks = [
      'main (s.c:3);sweep (s.c:10)',
      'main (s.c:3);sweep (s.c:10);fold<int (*)> (s.c:20)',
      'main (s.c:4)',
    ];
    const rows = ['time,pid,tid,latency,stack'];
    const counts = new Map<string, number>();
    for (let i = 0; i < 300; i++) {
      const stack = stacks[(i >> 2) % 3]!;
      rows.push(`${i * 1_000_000},7,${i % 2 ? 7 : 8},${i},"${stack}"`);
      const names = stack.replaceAll(/ \(s\.c:\d+\)/g, '');
      counts.set(names, (counts.get(names) ?? 0) + 1);
    }
    writeFileSync(join(folder, name), rows.join('\n') + '\n');
    return counts;
  }

  /** How much speedscope has of each stack: it writes where calls begin and end. */
  function weighed({ shared, profiles }: Exported): Map<string, number> {
    const weights = new Map<string, number>();
    for (const { events } of profiles) {
      const open: string[] = [];
      let last = 0;
      for (const { type, frame, at } of events) {
        if (at > last && open.length > 0) {
          const stack = open.join(';');
          weights.set(stack, (weights.get(stack) ?? 0) + at - last);
        }
        last = at;
        if (type === 'O') open.push(shared.frames[frame]!.name);
        else open.pop();
      }
    }
    return weights;
  }

  it.each(['nested.folded', 'nested.speedscope.json'])('counts the samples of %s', async (name) => {
    const wanted = nested('nested.csv');
    isobath('export', join(folder, 'nested.csv'), '-o', join(folder, name), '--value', 'samples');
    const { shared, profiles } = await imported(name);
    const got = weighed({ shared, profiles: profiles.slice(0, 1) }); // others are of other values
    expect([...got].sort()).toEqual([...wanted].sort());
  });

  it('has every sample of a trace for Chrome, until the next one of its thread', async () => {
    const wanted = nested('nested.csv');
    isobath('export', join(folder, 'nested.csv'), '-o', join(folder, 'nested.json'));
    const exported = await imported('nested.json');
    expect(exported.profiles.length).toBe(2);
    wanted.set('main', wanted.get('main')! - 2); // the last of a thread has no next
    const got = new Map<string, number>();
    for (const [stack, microseconds] of weighed(exported)) got.set(stack, microseconds / 2000);
    expect([...got].sort()).toEqual([...wanted].sort());
  });

  interface Call {
    readonly text: string;
    readonly at: number;
  }

  /** The calls that speedscope sees, thread by thread, without details in names. */
  function called({ shared, profiles }: Exported): Call[][] {
    const texts = (calls: Call[]) => calls.map(({ text }) => text).join();
    const name = (frame: number) => shared.frames[frame]!.name.replace(/ \{.*\}$/, '');
    return profiles
      .map(({ events }) => events.map(({ type, frame, at }) => ({ text: `${type} ${name(frame)}`, at })))
      .sort((a, b) => (texts(a) < texts(b) ? -1 : 1));
  }

  it('sees the same calls in what Go and Node.js write of themselves and in what we make of it', async () => {
    const module = join(folder, 'module');
    mkdirSync(module, { recursive: true });
    writeFileSync(join(module, 'go.mod'), 'module m\n\ngo 1.26\n');
    writeFileSync(join(module, 'main.go'), 'package main\n\nfunc main() { println(1) }\n');
    execFileSync('go', ['build', `-debug-trace=${join(folder, 'go.json')}`, '-o', '/dev/null', '.'], {
      cwd: module,
      env: { ...process.env, GOFLAGS: '', GOWORK: 'off', GOMAXPROCS: '1' }, // its tasks nest
    });
    const script = join(folder, 'work.js');
    writeFileSync(
      script,
      "const fs = require('fs');\nfor (let i = 0; i < 50; i++) fs.statSync(__filename);\n",
    );
    execFileSync(process.execPath, [
      ...['--trace-event-categories', 'v8,node,node.fs.sync'],
      ...['--trace-event-file-pattern', join(folder, 'node.json'), script],
    ]);
    for (const name of ['go', 'node']) {
      isobath('export', join(folder, `${name}.json`), '-o', join(folder, `${name}.again.json`));
      const wanted = called(await imported(`${name}.json`));
      const got = called(await imported(`${name}.again.json`));
      expect(wanted.flat().length).toBeGreaterThan(100);
      expect(got.map((calls) => calls.map(({ text }) => text))).toEqual(
        wanted.map((calls) => calls.map(({ text }) => text)),
      );
      // Microseconds since 1970 are a quarter apart as it reads them.
      const apart = got.flat().map(({ at }, i) => Math.abs(at - wanted.flat()[i]!.at));
      expect(Math.max(...apart)).toBeLessThan(0.6);
    }
  });
});
