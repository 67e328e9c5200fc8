// A run that is kept on two ClickHouse servers, which are killed, do not answer or take
// rights away while the page is open, and come back.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { isobath, type Running } from './harness';
import { counted, everything } from './page';
import { show } from './suite';

function installed(): boolean {
  try {
    execFileSync('which', ['clickhouse-server']);
    return true;
  } catch {
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const s = createServer().listen(0, '127.0.0.1', () => {
      const { port } = s.address() as AddressInfo;
      s.close(() => done(port));
    });
  });
}

const USER = 'me';
const PASSWORD = 'correct horse';

/** One server of a cluster of the given native ports. */
class Shard {
  private process: ChildProcess | undefined;

  constructor(
    private readonly folder: string,
    readonly tcp: number,
    private readonly http: number,
    cluster: readonly number[],
  ) {
    mkdirSync(folder, { recursive: true });
    const shards = cluster
      .map((p) => `<shard><replica><host>127.0.0.1</host><port>${p}</port></replica></shard>`)
      .join('');
    writeFileSync(
      join(folder, 'config.xml'),
      `<?xml version="1.0"?><yandex><logger><level>error</level><log>${folder}/log</log><errorlog>${folder}/errors</errorlog></logger>
<http_port>${http}</http_port><tcp_port>${tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
<path>${folder}/data/</path><tmp_path>${folder}/tmp/</tmp_path><users_config>${folder}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database><mark_cache_size>67108864</mark_cache_size>
<remote_servers><shards>${shards}</shards></remote_servers></yandex>`,
    );
    this.grant(true);
  }

  /** Lets the user see the database of the run, or another one alone. A server that runs looks for that itself. */
  grant(rights: boolean): void {
    const user = (name: string, password: string, more: string): string =>
      `<${name}><password>${password}</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>${more}</${name}>`;
    const other = rights ? '' : '<allow_databases><database>elsewhere</database></allow_databases>';
    writeFileSync(
      join(this.folder, 'users.xml'),
      `<?xml version="1.0"?><yandex><profiles><default></default></profiles><quotas><default></default></quotas>
<users>${user('default', '', '')}${user(USER, PASSWORD, other)}</users></yandex>`,
    );
  }

  /**
   * Waits until the user may ask, or may not. The server reads its users again when their
   * file is newer in whole seconds, so what was written twice in one second it never reads
   * a second time: the file is made newer until it has.
   */
  async granted(rights: boolean): Promise<void> {
    for (;;) {
      const now = Date.now() / 1000;
      utimesSync(join(this.folder, 'users.xml'), now, now);
      const answer = await fetch(`http://127.0.0.1:${this.http}/?database=default&query=SELECT%201`, {
        headers: { 'X-ClickHouse-User': USER, 'X-ClickHouse-Key': PASSWORD },
      });
      await answer.text();
      if (answer.ok === rights) return;
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  /** Lets the server be, without answering anybody, and go on. */
  pause(): void {
    this.process?.kill('SIGSTOP');
  }

  resume(): void {
    this.process?.kill('SIGCONT');
  }

  async start(): Promise<void> {
    this.process = spawn('clickhouse-server', [`--config-file=${join(this.folder, 'config.xml')}`], {
      cwd: this.folder,
      stdio: 'ignore',
    });
    for (;;) {
      const up = await fetch(`http://127.0.0.1:${this.http}/ping`).then(
        (r) => r.ok,
        () => false,
      );
      if (up) return;
      if (this.process.exitCode !== null) throw new Error('clickhouse-server ended');
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  async kill(): Promise<void> {
    const p = this.process;
    if (!p || p.exitCode !== null || p.signalCode !== null) return;
    const ended = new Promise((done) => p.once('exit', done));
    p.kill('SIGKILL');
    await ended;
  }
}

const ROWS = 140_000; // three blocks of 65,536: every shard has some

describe.skipIf(!installed())('a run on two ClickHouse servers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'isobath-shards-'));
  const ports = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const [first, second] = [0, 1].map(
    (i) => new Shard(join(folder, String(i)), ports[2 * i]!, ports[2 * i + 1]!, [ports[0]!, ports[2]!]),
  ) as [Shard, Shard];
  afterAll(async () => {
    await Promise.all([first.kill(), second.kill()]);
    rmSync(folder, { recursive: true, force: true });
  });
  await Promise.all([first.start(), second.start()]);
  const csv = join(folder, 'samples.csv');
  writeFileSync(
    csv,
    'cpu,latency,level\n' +
      Array.from({ length: ROWS }, (_, i) => `${i % 4},${10 + (i % 500)},${i % 5 ? 'L1' : 'L3'}`).join('\n') +
      '\n',
  );
  const address = `clickhouse://${USER}@127.0.0.1:${first.tcp}/default/kept?cluster=shards`;
  process.env['ISOBATH_CLICKHOUSE_PASSWORD'] = PASSWORD;
  isobath('import', csv, '--engine', address);

  let page: Page;
  let server: Running;
  let problems: string[];
  show(
    // Long enough for a busy machine, and short enough to wait for.
    { serve: () => ['open', `${address}&timeout=10s`], ready: (p) => everything(p, ROWS) },
    (s) => ({ page, server, problems } = s),
  );

  const select = (where: string): Promise<void> =>
    page.evaluate((text) => {
      const link = new URLSearchParams(location.hash.slice(1));
      link.set('s', text);
      location.hash = link.toString();
    }, where);
  const banner = (): ReturnType<Page['locator']> => page.getByRole('alert').filter({ hasText: 'No answer' });

  // The browser itself notes every answer that is a refusal: of a shard, and of what needs rows here.
  const refusedOnly = (): void => {
    for (const p of problems.splice(0)) expect(p).toMatch(/422|503/);
  };

  it('says which shard is down, marks the picture, asks again by itself and goes on', async () => {
    await select('level = L3');
    await counted(page, ROWS / 5, ROWS);
    await second.kill();
    await select('cpu = 1');
    await banner().waitFor();
    const said = (await banner().textContent())!;
    expect(said).toContain(`127.0.0.1:${second.tcp}`);
    expect(said).toContain('What is shown is older');
    expect(said).toContain('asked again by itself');
    expect(await page.locator('.page.stale canvas').count()).toBeGreaterThan(0);
    // The last picture is still there, with the numbers of its own selection.
    await counted(page, ROWS / 5, ROWS);

    await second.start();
    await counted(page, ROWS / 4, ROWS); // nobody asked for it
    expect(await banner().count()).toBe(0);
    expect(await page.locator('.page.stale').count()).toBe(0);
    refusedOnly();
  });

  /** The picture of a selection is older than what is asked for, and says so. */
  const stale = async (says: RegExp, n: number): Promise<void> => {
    await banner().filter({ hasText: says }).waitFor();
    expect(await banner().textContent()).toContain('What is shown is older');
    expect(await page.locator('.page.stale canvas').count()).toBeGreaterThan(0);
    await counted(page, n, ROWS);
  };
  const fresh = async (n: number): Promise<void> => {
    await counted(page, n, ROWS);
    expect(await banner().count()).toBe(0);
    expect(await page.locator('.page.stale').count()).toBe(0);
    refusedOnly();
  };

  it('says that a question took too long, marks the picture and asks again by itself', async () => {
    await select('level = L3');
    await counted(page, ROWS / 5, ROWS);
    second.pause();
    try {
      await select('cpu = 2');
      // Until then the picture is that of the selection before, and says so.
      await page.getByRole('status').filter({ hasText: 'counting' }).waitFor();
      expect(await page.locator('.page.behind canvas').count()).toBeGreaterThan(0);
      await stale(/did not answer within 10s|longer than the server allows|does not answer/, ROWS / 5);
    } finally {
      second.resume();
    }
    await fresh(ROWS / 4);
  });

  it('says that the rights are gone, marks the picture and asks again by itself', async () => {
    await select('level = L3');
    await counted(page, ROWS / 5, ROWS);
    first.grant(false);
    try {
      await first.granted(false);
      await select('cpu = 3');
      await stale(/the user has no rights on this database/, ROWS / 5);
    } finally {
      first.grant(true);
    }
    await first.granted(true);
    await fresh(ROWS / 4);
  });

  it('shows the password nowhere', async () => {
    const all = [page.url(), await page.content(), server.messages(), ...problems];
    for (const text of all) expect(text).not.toContain(PASSWORD.split(' ')[1]);
    const runs = await fetch(`${server.origin}/api/v1/runs`, {
      headers: { 'X-Isobath-Token': server.token },
    });
    expect(runs.ok).toBe(true);
    expect(await runs.text()).not.toContain(PASSWORD);
  });

  it('says that the server itself is gone', async () => {
    await first.kill();
    await select('level = L1');
    await banner().waitFor();
    expect(await banner().textContent()).toContain(`127.0.0.1:${first.tcp} cannot be reached`);
    await first.start();
    await counted(page, (ROWS * 4) / 5, ROWS);
    expect(await banner().count()).toBe(0);
    refusedOnly();
  });
});
