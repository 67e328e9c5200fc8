// Starts the real program and a real browser for a test.

import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type BrowserContext, type Page, type Request } from 'playwright-core';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The path of a file of the shared data, or undefined if it is not there. */
export function shared(name: string): string | undefined {
  const path = join(ROOT, '..', 'shared', 'data', name);
  return existsSync(path) ? path : undefined;
}

const fixtures = new Map<string, string>();

/** The path of a file or folder of the fixtures, unpacked; looked for once. */
export function fixture(name: string): string {
  const known =
    fixtures.get(name) ??
    execFileSync('go', ['run', './fixtures/make', 'path', name], { cwd: ROOT, encoding: 'utf8' }).trim();
  fixtures.set(name, known);
  return known;
}

function binary(): string {
  const path = process.env['ISOBATH'];
  if (!path) throw new Error('ISOBATH does not name the program; run the tests with vitest, which builds it');
  return path;
}

/** The output of a verb, for comparison with what the page shows. */
export function isobath(...args: string[]): string {
  return execFileSync(binary(), args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

export interface Running {
  readonly url: string; // with the token
  readonly origin: string;
  readonly token: string;
  readonly pid: number;
  readonly messages: () => string; // what it printed for people
  /** Ends it as Ctrl-C does; resolves to its exit code. */
  stop(): Promise<number>;
}

/** Starts a verb that serves the page, and waits for the address it prints. */
export function start(...args: string[]): Promise<Running> {
  return serve([binary()], args);
}

/** The same for a program that gets a processor when nobody else, such as the browser, wants it. */
export function startBehind(...args: string[]): Promise<Running> {
  return serve(['nice', '-n', '19', binary()], args);
}

async function serve([program, ...before]: readonly string[], args: readonly string[]): Promise<Running> {
  // A configuration folder of its own: recent files of other tests do not show.
  const config = mkdtempSync(join(tmpdir(), 'isobath-e2e-config-'));
  const port = args.includes('--port') || args.includes('--socket') ? [] : ['--port', '0'];
  const flags = args[0] === 'serve' ? port : ['--no-browser', ...port];
  const files = args.indexOf('--'); // what follows is no flag
  const told = files < 0 ? [...args, ...flags] : args.toSpliced(files, 0, ...flags);
  const child = spawn(program!, [...before, ...told], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, XDG_CONFIG_HOME: config, SSH_CONNECTION: '' },
  });
  let messages = '';
  child.stderr.setEncoding('utf8').on('data', (s: string) => (messages += s));
  const ended = exit(child).finally(() => rmSync(config, { recursive: true, force: true }));
  const url = await Promise.race([
    firstLine(child),
    ended.then((code) => {
      throw new Error(`isobath ${args.join(' ')} ended with ${code}: ${messages}`);
    }),
  ]);
  const { origin, hash } = new URL(url);
  return {
    url,
    origin,
    token: new URLSearchParams(hash.slice(1)).get('k') ?? '',
    pid: child.pid ?? 0,
    messages: () => messages,
    stop: () => {
      child.kill('SIGINT');
      return ended;
    },
  };
}

function exit(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? -1)));
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    child.stdout!.setEncoding('utf8').on('data', (s: string) => {
      text += s;
      const end = text.indexOf('\n');
      if (end >= 0) resolve(text.slice(0, end));
    });
  });
}

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
  readonly flags?: readonly string[]; // such as --disable-3d-apis
  readonly tour?: true; // with the hints of the first use
  readonly fonts?: string; // a configuration of fontconfig, in place of the machine's fonts
}

export interface Browser {
  readonly context: BrowserContext;
  /** Opens a page; problems collects what must stay empty: errors in the page and on its console. */
  open(url: string): Promise<{ readonly page: Page; readonly problems: string[] }>;
  close(): Promise<void>;
}

/** What has not happened by then never will, however busy the machine is. */
const HANGS = 120_000;

/** Starts Debian's chromium with a profile of its own. */
export async function browse(look: Look = {}): Promise<Browser> {
  const executablePath =
    process.env['CHROMIUM'] ?? execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim();
  const profile = await mkdtemp(join(tmpdir(), 'isobath-e2e-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    timeout: HANGS,
    args: [...FLAGS, ...(look.flags ?? [])],
    ...(look.fonts && { env: { ...process.env, FONTCONFIG_FILE: look.fonts } as Record<string, string> }),
    viewport: { width: look.width ?? 1280, height: look.height ?? 800 },
    deviceScaleFactor: 1,
    reducedMotion: 'reduce',
    colorScheme: look.scheme ?? 'light',
    acceptDownloads: true,
  });
  context.setDefaultTimeout(HANGS);
  if (!look.tour)
    await context.addInitScript(() => {
      if (location.protocol.startsWith('http')) localStorage.setItem('isobath-tour', 'done');
    });
  return {
    context,
    open: async (url) => {
      const page = await context.newPage();
      const problems = watch(page);
      await page.goto(url);
      return { page, problems };
    },
    close: async () => {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}

const waiting = new WeakMap<Page, Set<Request>>();

/** How many questions of the page have no answer yet; what it only listens to does not count. */
export function unanswered(page: Page): number {
  return waiting.get(page)?.size ?? 0;
}

function watch(page: Page): string[] {
  const problems: string[] = [];
  const asked = new Set<Request>();
  waiting.set(page, asked);
  page.on('request', (r) => r.method() === 'POST' && asked.add(r));
  page.on('requestfinished', (r) => asked.delete(r));
  page.on('requestfailed', (r) => asked.delete(r));
  page.on('pageerror', (e) => problems.push(e.stack ?? String(e)));
  page.on('console', (m) => {
    if (m.type() === 'error') problems.push(`console: ${m.text()} ${m.location().url}`);
  });
  return problems;
}

/** The number of samples of a file that a selection matches, by the program's own report. */
export function samples(file: string, where: string): number {
  const report = JSON.parse(isobath('report', file, '--where', where, '--json')) as { samples: number };
  return report.samples;
}

/** Calls the API as the page does. */
export async function api(
  server: Running,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${server.origin}/api/v1/${path}`, {
    method,
    headers: { 'X-Isobath-Token': server.token, ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}
