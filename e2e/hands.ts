// Hands by chance: brushes, clicks, keys and hovers on a page, in whichever browser
// it is shown. A seed repeats them.

import type { Page } from 'playwright-core';
import { frames, quiet } from './page';

/** What hands and checks need of a browser. */
export interface Screen {
  evaluate<T>(f: () => T | Promise<T>): Promise<T>;
  evaluate<T, A>(f: (arg: A) => T | Promise<T>, arg: A): Promise<T>;
  move(x: number, y: number, steps?: number): Promise<void>;
  down(): Promise<void>;
  up(): Promise<void>;
  wheel(dy: number): Promise<void>;
  hold(key: Modifier): Promise<void>;
  release(key: Modifier): Promise<void>;
  /** A key with what is held over it, as Playwright writes it: Control+Shift+KeyZ. */
  press(chord: string): Promise<void>;
  /** Waits until the page has the answers to its questions, and has drawn them. */
  quiet(): Promise<void>;
}

export type Modifier = 'Shift' | 'Alt' | 'Control';

/** A page of Chromium. */
export function screenOf(page: Page): Screen {
  return {
    evaluate: <T, A>(f: (arg: A) => T | Promise<T>, arg?: A) => page.evaluate(f as never, arg) as Promise<T>,
    move: (x, y, steps = 1) => page.mouse.move(x, y, { steps }),
    down: () => page.mouse.down(),
    up: () => page.mouse.up(),
    wheel: (dy) => page.mouse.wheel(0, dy),
    hold: (key) => page.keyboard.down(key),
    release: (key) => page.keyboard.up(key),
    press: (chord) => page.keyboard.press(chord),
    quiet: async () => {
      await quiet(page);
      await frames(page);
    },
  };
}

/** mulberry32: a seed names a whole run of a test. */
export function randomOf(seed: number): () => number {
  let s = seed;
  return () => {
    s = (s + 0x6d2b79f5) | 0;
    let t = Math.imul(s ^ (s >>> 15), 1 | s);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Place {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

const rest = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** What a person may do next; each says in words what it did. */
export class Hands {
  constructor(
    private readonly screen: Screen,
    private readonly random: () => number,
  ) {}

  private pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)]!;
  }

  /** Views with a picture. */
  private places(): Promise<Place[]> {
    return this.screen.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('[data-view]')].flatMap((e) => {
        const b = e.getBoundingClientRect();
        return e.querySelector('canvas') && b.width > 0
          ? [{ name: e.dataset['view']!, x: b.x, y: b.y, w: b.width, h: b.height }]
          : [];
      }),
    );
  }

  private async pointer(): Promise<string> {
    const v = this.pick(await this.places());
    const [x, y] = [v.x + this.random() * v.w, v.y + this.random() * v.h];
    await this.screen.move(x, y, 1 + Math.floor(this.random() * 4));
    return `${v.name} ${Math.round(x)},${Math.round(y)}`;
  }

  private async click(): Promise<string> {
    const at = await this.pointer();
    const key = this.pick([undefined, undefined, 'Shift', 'Alt', 'Control'] as const);
    if (key) await this.screen.hold(key);
    await this.screen.down();
    await this.screen.up();
    if (key) await this.screen.release(key);
    return `${key ?? ''} click ${at}`;
  }

  private async brush(): Promise<string> {
    const axes = ['Parallel coordinates', 'One axis'];
    const box = (await this.places()).find((p) => axes.includes(p.name));
    if (!box) return this.click();
    const x = box.x + this.random() * box.w;
    const [from, to] = [0.2 + this.random() * 0.7, 0.2 + this.random() * 0.7].map((p) => box.y + p * box.h);
    const across = box.name === 'One axis' ? this.random() * box.w : x - box.x;
    const adds = this.random() < 0.2;
    if (adds) await this.screen.hold('Shift');
    await this.screen.move(x, from!);
    await this.screen.down();
    await this.screen.move(box.x + across, to!, 2 + Math.floor(this.random() * 6));
    if (this.random() < 0.4) await rest(this.random() * 500); // held, then released
    await this.screen.up();
    if (adds) await this.screen.release('Shift');
    return `brush ${box.name} ${Math.round(x)},${Math.round(from!)} to ${Math.round(box.x + across)},${Math.round(to!)}`;
  }

  private async keys(): Promise<string> {
    const { name } = this.pick(await this.places());
    await this.screen.evaluate(
      (view) => document.querySelector<HTMLElement>(`[data-view="${view}"]`)!.focus(),
      name,
    );
    const pressed: string[] = [];
    for (let i = 0; i < 1 + this.random() * 5; i++)
      pressed.push(
        this.pick([
          'ArrowDown',
          'ArrowUp',
          'ArrowRight',
          'ArrowLeft',
          'Shift+ArrowDown',
          '.',
          ',',
          'End',
          'Home',
        ]),
      );
    pressed.push(this.pick(['Enter', 'Enter', 'Shift+Enter', 'Alt+Enter', 'Escape', 'ArrowDown']));
    for (const k of pressed) await this.screen.press(k);
    return `keys ${name} ${pressed.join(' ')}`;
  }

  private async travel(): Promise<string> {
    const key = this.pick([
      'Control+KeyZ',
      'Control+KeyZ',
      'Control+Shift+KeyZ',
      'KeyI',
      'Control+Shift+KeyA',
    ]);
    await this.screen.press(key);
    return key;
  }

  private async other(): Promise<string> {
    const name = this.pick(['Parallel coordinates', 'One axis', 'Categories', 'Heat map', 'Spread']);
    await this.screen.evaluate(
      (tab) =>
        [...document.querySelectorAll<HTMLElement>('[role="tab"]')]
          .find((t) => t.textContent!.trim() === tab)!
          .click(),
      name,
    );
    return `tab ${name}`;
  }

  private async rank(): Promise<string> {
    const which = this.random() < 0.5 ? 0 : 1;
    await this.screen.evaluate((n) => {
      const named = (b: HTMLElement): string => b.getAttribute('aria-label') ?? b.textContent!.trim();
      const menus = [...document.querySelectorAll<HTMLElement>('button')];
      menus.filter((b) => /^(Rank by|Colour by)/.test(named(b)))[n]?.click();
    }, which);
    const item = this.random();
    await this.screen.evaluate(async (part) => {
      for (let i = 0; i < 100; i++) {
        const items = [...document.querySelectorAll<HTMLElement>('[role="menuitemradio"]')];
        if (items.length > 0) return items[Math.floor(part * Math.min(3, items.length))]!.click();
        await new Promise((done) => setTimeout(done, 20)); // the menu is loaded when it is opened
      }
    }, item);
    return 'another measure';
  }

  private async scroll(): Promise<string> {
    const at = await this.pointer();
    await this.screen.wheel(this.pick([-300, 300, 900]));
    return `wheel ${at}`;
  }

  async next(): Promise<string> {
    const r = this.random();
    const did = await (r < 0.25
      ? this.pointer()
      : r < 0.45
        ? this.click()
        : r < 0.62
          ? this.brush()
          : r < 0.78
            ? this.keys()
            : r < 0.88
              ? this.travel()
              : r < 0.93
                ? this.other()
                : r < 0.96
                  ? this.rank()
                  : this.scroll());
    // What a click has opened is no part of this.
    if (await this.screen.evaluate(() => document.querySelector('dialog[open], [role="menu"]') !== null))
      await this.screen.press('Escape');
    return did;
  }
}
