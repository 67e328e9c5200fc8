// The program as a whole, from the outside: what it prints, whom it lets in,
// and what the browser does with the address.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { api, browse, start, type Browser, type Running } from './harness';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'isobath-e2e-data-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('isobath demo', () => {
  let server: Running;
  beforeAll(async () => {
    server = await start('demo');
  });
  afterAll(() => server.stop());

  it('prints the address and how to reach it from elsewhere', async () => {
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#k=[A-Z2-7]{26}$/);
    // What it says to people comes through another pipe than the address.
    await expect.poll(server.messages).toContain(`open    ${server.url}`);
    await expect.poll(server.messages).toMatch(/remote {2}ssh -N -L (\d+):127\.0\.0\.1:\1 \S+@\S+/);
  });

  it('answers only who knows the token', async () => {
    const home = (await (await api(server, 'GET', 'runs')).json()) as {
      runs: { id: string; rows: number }[];
    };
    expect(home.runs).toHaveLength(1);
    expect(home.runs[0]!.rows).toBeGreaterThan(1000);
    expect((await fetch(`${server.origin}/api/v1/runs`)).status).toBe(401);
    expect((await api(server, 'GET', 'runs', undefined, { 'X-Isobath-Token': 'wrong' })).status).toBe(401);
  });

  it('answers only to its own name', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const { port } = new URL(server.origin);
      const headers = { Host: 'evil.example', 'X-Isobath-Token': server.token };
      request({ host: '127.0.0.1', port, path: '/api/v1/runs', headers }, (r) =>
        resolve(r.resume().statusCode),
      )
        .on('error', reject)
        .end();
    });
    expect(status).toBe(403);
  });

  it('refuses what another page in the browser sends', async () => {
    const browser = await browse();
    const other = await start('demo');
    try {
      // The page of one server is another origin to the second.
      const { page } = await browser.open(other.url);
      const outcome = await page.evaluate(
        async ([url, token]) => {
          try {
            return String(
              (await fetch(url!, { method: 'POST', headers: { 'X-Isobath-Token': token! }, body: '{}' }))
                .status,
            );
          } catch {
            return 'blocked';
          }
        },
        [`${server.origin}/api/v1/open`, server.token],
      );
      expect(outcome).toBe('blocked');
    } finally {
      await browser.close();
      await other.stop();
    }
  });

  it('compresses the page and knows it again', async () => {
    const first = await fetch(server.origin, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(first.headers.get('content-security-policy')).toContain("default-src 'self'");
    const again = await fetch(server.origin, {
      headers: { 'Accept-Encoding': 'gzip', 'If-None-Match': first.headers.get('etag')! },
    });
    expect(again.status).toBe(304);
  });
});

describe('the page in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await browse();
  });
  afterAll(() => browser.close());

  it('takes the token out of the address and runs no inline script', async () => {
    const server = await start('demo');
    try {
      const { page, problems } = await browser.open(server.url);
      await page.waitForFunction(() => !location.hash.includes('k='));
      const ran = await page.evaluate(() => {
        const script = document.createElement('script');
        script.textContent = 'window.injected = true';
        document.head.append(script);
        return 'injected' in window;
      });
      expect(ran).toBe(false);
      expect(problems.filter((p) => !p.includes('Content Security Policy'))).toEqual([]);
      await page.close();
    } finally {
      await server.stop();
    }
  });
});

describe('isobath open', () => {
  it('ends with a sentence when the file is not understood', () => {
    const file = join(folder, 'odd.bin');
    writeFileSync(file, '\x01\x02 not ours');
    const r = spawnSync(process.env['ISOBATH']!, ['open', '--no-browser', '--port', '0', file], {
      encoding: 'utf8',
    });
    expect(r.status).toBe(1);
    expect(r.stderr).toMatch(/^isobath: .*odd\.bin: unknown format.*; see 'isobath help formats'/);
  });

  it('serves without a file, and imports what is dropped', async () => {
    const server = await start('open');
    try {
      const csv =
        'time,cpu,latency,level\n' +
        Array.from({ length: 500 }, (_, i) => `${i},${i % 4},${10 + i},L${1 + (i % 3)}\n`).join('');
      const job = (await (await api(server, 'POST', 'upload?name=dropped.csv', csv)).json()) as {
        id: string;
      };
      const events = await (await api(server, 'GET', `jobs/${job.id}/events`)).text();
      expect(events).toContain('event: done');
      const home = (await (await api(server, 'GET', 'runs')).json()) as {
        runs: { rows: number; name: string }[];
      };
      expect(home.runs).toEqual([expect.objectContaining({ name: 'dropped.csv', rows: 500 })]);

      const bad = (await (await api(server, 'POST', 'upload?name=odd.bin', '\x01\x02')).json()) as {
        id: string;
      };
      const end = await (await api(server, 'GET', `jobs/${bad.id}/events`)).text();
      expect(end).toContain('event: failed');
      expect(end).toContain('unknown format');
    } finally {
      expect(await server.stop()).toBe(0);
    }
  });

  it('says which port is taken', async () => {
    const server = await start('demo');
    const { port } = new URL(server.origin);
    const r = spawnSync(process.env['ISOBATH']!, ['demo', '--no-browser', '--port', port], {
      encoding: 'utf8',
    });
    expect(r.status).toBe(1);
    expect(r.stderr).toContain(`127.0.0.1:${port} is in use`);
    await server.stop();
  });

  it('listens on a socket that only its owner can use', async () => {
    const socket = join(folder, 'isobath.sock');
    const server = await start('demo', '--socket', socket);
    try {
      expect(statSync(socket).mode & 0o777).toBe(0o600);
      await expect.poll(server.messages).toContain(`ssh -N -L 7117:${socket} `);
      const body = await new Promise<string>((resolve, reject) => {
        const headers = { Host: 'localhost:7117', 'X-Isobath-Token': server.token };
        request({ socketPath: socket, path: '/api/v1/runs', headers }, (r) => {
          let text = '';
          r.setEncoding('utf8')
            .on('data', (s: string) => (text += s))
            .on('end', () => resolve(text));
        })
          .on('error', reject)
          .end();
      });
      expect(JSON.parse(body)).toHaveProperty('runs');
    } finally {
      await server.stop();
    }
  });
});
