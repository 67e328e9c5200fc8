// Drives Debian's Firefox by WebDriver BiDi, its own remote protocol.
// playwright-core speaks it too, but asks for commands that the extended support
// release does not have; what a test needs is little.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ws } from 'playwright-core/lib/utilsBundle';
import type { Modifier, Screen } from './hands';
import { waits } from './painted';

const FIREFOX = process.env['FIREFOX'] ?? '/usr/bin/firefox-esr';

// No first-run pages and no network of its own.
const PREFERENCES = `
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("app.update.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("ui.prefersReducedMotion", 1);
`;

/** Milliseconds until a command that has no answer is said to hang. */
const PATIENCE = 120_000;

/** Keys as WebDriver writes them; letters are themselves. */
const KEYS: Readonly<Record<string, string>> = {
  Shift: '\uE008',
  Control: '\uE009',
  Alt: '\uE00A',
  Enter: '\uE007',
  Escape: '\uE00C',
  Home: '\uE011',
  End: '\uE010',
  ArrowLeft: '\uE012',
  ArrowUp: '\uE013',
  ArrowRight: '\uE014',
  ArrowDown: '\uE015',
};

interface Message {
  readonly id?: number;
  readonly type: 'success' | 'error' | 'event';
  readonly method?: string;
  readonly params?: { readonly level?: string; readonly text?: string };
  readonly result?: unknown;
  readonly error?: string;
  readonly message?: string;
}

/** Whether Debian's firefox-esr is installed. */
export function hasFirefox(): boolean {
  return existsSync(FIREFOX);
}

export class Firefox implements Screen {
  /** Errors in the page and on its console; must stay empty. */
  readonly problems: string[] = [];
  private readonly waiting = new Map<
    number,
    { done: (value: unknown) => void; fail: (error: Error) => void }
  >();
  private last = 0;

  private constructor(
    private readonly socket: WebSocket,
    private readonly end: () => Promise<void>,
    private context = '',
  ) {
    socket.onmessage = (e) => this.received(JSON.parse(String(e.data)) as Message);
  }

  static async start(width: number, height: number): Promise<Firefox> {
    const profile = await mkdtemp(join(tmpdir(), 'isobath-firefox-'));
    await writeFile(join(profile, 'user.js'), PREFERENCES);
    const child = spawn(
      FIREFOX,
      ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0'],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { ...process.env, MOZ_HEADLESS_WIDTH: String(width), MOZ_HEADLESS_HEIGHT: String(height) },
      },
    );
    const ended = new Promise<void>((done) => child.on('exit', () => done()));
    const address = await new Promise<string>((done, fail) => {
      let text = '';
      child.stderr.setEncoding('utf8').on('data', (s: string) => {
        text += s;
        const found = /WebDriver BiDi listening on (ws:\S+)/.exec(text);
        if (found) done(found[1]!);
      });
      void ended.then(() => fail(new Error(`firefox ended: ${text}`)));
    });
    // Not Node's own: from its 4098th message on it masks with zeros, which Firefox
    // does not answer.
    const socket: WebSocket = new ws(`${address}/session`);
    await new Promise((done, fail) => {
      socket.onopen = done;
      socket.onerror = fail;
    });
    const f = new Firefox(socket, async () => {
      child.kill();
      await ended;
      await rm(profile, { recursive: true, force: true });
    });
    await f.send('session.new', { capabilities: {} });
    await f.send('session.subscribe', { events: ['log.entryAdded'] });
    const { contexts } = (await f.send('browsingContext.getTree', {})) as { contexts: { context: string }[] };
    f.context = contexts[0]!.context;
    await f.send('browsingContext.setViewport', { context: f.context, viewport: { width, height } });
    return f;
  }

  async open(url: string): Promise<void> {
    await this.send('browsingContext.navigate', { context: this.context, url, wait: 'complete' });
  }

  /** The value of an expression in the page; a promise is awaited. It travels as JSON. */
  async value<T>(expression: string): Promise<T> {
    const r = (await this.send('script.evaluate', {
      expression: `(async () => JSON.stringify(await (${expression})))()`,
      target: { context: this.context },
      awaitPromise: true,
    })) as { type: string; result?: { value?: string }; exceptionDetails?: { text: string } };
    if (r.type !== 'success') throw new Error(r.exceptionDetails?.text ?? r.type);
    return JSON.parse(r.result?.value ?? 'null') as T;
  }

  /** Runs a function in every page before its own code. */
  async before(f: () => void): Promise<void> {
    await this.send('script.addPreloadScript', { functionDeclaration: String(f) });
  }

  evaluate<T, A>(f: (arg: A) => T | Promise<T>, arg?: A): Promise<T> {
    return this.value<T>(`(${String(f)})(${arg === undefined ? '' : JSON.stringify(arg)})`);
  }

  private at = { x: 0, y: 0 };

  async move(x: number, y: number, steps = 1): Promise<void> {
    const from = this.at;
    this.at = { x: Math.round(x), y: Math.round(y) };
    const part = (a: number, b: number, i: number): number => Math.round(a + ((b - a) * (i + 1)) / steps);
    await this.pointer(
      Array.from({ length: steps }, (_, i) => ({
        type: 'pointerMove',
        x: part(from.x, this.at.x, i),
        y: part(from.y, this.at.y, i),
      })),
    );
  }

  down(): Promise<void> {
    return this.pointer([{ type: 'pointerDown', button: 0 }]);
  }

  up(): Promise<void> {
    return this.pointer([{ type: 'pointerUp', button: 0 }]);
  }

  async wheel(dy: number): Promise<void> {
    const actions = [{ type: 'scroll', ...this.at, deltaX: 0, deltaY: dy }];
    await this.send('input.performActions', {
      context: this.context,
      actions: [{ type: 'wheel', id: 'wheel', actions }],
    });
  }

  hold(key: Modifier): Promise<void> {
    return this.type([{ type: 'keyDown', value: KEYS[key]! }]);
  }

  release(key: Modifier): Promise<void> {
    return this.type([{ type: 'keyUp', value: KEYS[key]! }]);
  }

  press(chord: string): Promise<void> {
    const shift = chord.includes('Shift+');
    return this.keys(
      ...chord.split('+').map((k) => {
        const letter = /^Key([A-Z])$/.exec(k)?.[1];
        return letter ? (shift ? letter : letter.toLowerCase()) : (KEYS[k] ?? k);
      }),
    );
  }

  async quiet(): Promise<void> {
    // An answer that has begun to come is read, and drawn, within a few frames.
    for (let calm = 0; calm < 2; calm++) {
      if (await waits(this)) calm = -1;
      await this.evaluate(
        () =>
          new Promise<void>((done) =>
            requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20))),
          ),
      );
    }
  }

  private async pointer(actions: readonly object[]): Promise<void> {
    await this.send('input.performActions', {
      context: this.context,
      actions: [{ type: 'pointer', id: 'mouse', actions }],
    });
  }

  private async type(actions: readonly object[]): Promise<void> {
    await this.send('input.performActions', {
      context: this.context,
      actions: [{ type: 'key', id: 'keys', actions }],
    });
  }

  /** Moves the pointer there, and clicks if told to. */
  async point(x: number, y: number, click = false): Promise<void> {
    const at = { x: Math.round(x), y: Math.round(y) };
    const press = click
      ? [
          { type: 'pointerDown', button: 0 },
          { type: 'pointerUp', button: 0 },
        ]
      : [];
    await this.pointer([{ type: 'pointerMove', ...at }, ...press]);
  }

  /** Presses the pointer, moves it in steps and releases it. */
  async drag(from: { x: number; y: number }, to: { x: number; y: number }): Promise<void> {
    const steps = Array.from({ length: 8 }, (_, i) => ({
      type: 'pointerMove',
      duration: 20,
      x: Math.round(from.x + ((to.x - from.x) * (i + 1)) / 8),
      y: Math.round(from.y + ((to.y - from.y) * (i + 1)) / 8),
    }));
    await this.pointer([
      { type: 'pointerMove', x: Math.round(from.x), y: Math.round(from.y) },
      { type: 'pointerDown', button: 0 },
      ...steps,
      { type: 'pointerUp', button: 0 },
    ]);
  }

  /** Presses keys one after the other; modifiers are held over the rest. */
  async keys(...keys: string[]): Promise<void> {
    const down = keys.map((value) => ({ type: 'keyDown', value }));
    const up = keys.toReversed().map((value) => ({ type: 'keyUp', value }));
    await this.type([...down, ...up]);
  }

  async picture(): Promise<Buffer> {
    const { data } = (await this.send('browsingContext.captureScreenshot', { context: this.context })) as {
      data: string;
    };
    return Buffer.from(data, 'base64');
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.end();
  }

  private send(method: string, params: object): Promise<unknown> {
    const id = ++this.last;
    const asked = JSON.stringify({ id, method, params });
    return new Promise((done, fail) => {
      const late = setTimeout(() => fail(new Error(`no answer to ${asked.slice(0, 400)}`)), PATIENCE);
      const ends = <T>(then: (value: T) => void): ((value: T) => void) => {
        return (value) => {
          clearTimeout(late);
          then(value);
        };
      };
      this.waiting.set(id, { done: ends(done), fail: ends(fail) });
      this.socket.send(asked);
    });
  }

  private received(m: Message): void {
    if (m.type === 'event') {
      if (m.method === 'log.entryAdded' && m.params?.level === 'error')
        this.problems.push(m.params.text ?? '');
      return;
    }
    const asked = this.waiting.get(m.id ?? 0);
    this.waiting.delete(m.id ?? 0);
    if (m.type === 'success') asked?.done(m.result);
    else asked?.fail(new Error(`${m.error}: ${m.message}`));
  }
}
