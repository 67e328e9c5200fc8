// What the page has painted, read from its canvases, and what it would paint and
// list now: the same views as files, caught on their way to the download folder.

import type { BrowserContext } from 'playwright-core';
import type { Ask } from '../web/src/api/wire';

/** A view as it stands on screen and as it would be saved at this moment. */
export interface PaintedView {
  readonly name: string;
  readonly texts: readonly string[]; // on its canvases; none for views that are tables of the document
  readonly canvases: number;
  readonly svg: string;
  readonly csv: string;
}

/** What the page asked last for its pictures, beside the rows they are about. */
export type Questions = Pick<Ask, 'axes' | 'groups' | 'stats' | 'places'>;

interface Hooked {
  paintedTexts: WeakMap<HTMLCanvasElement, string[]>;
  savedFile: ((text: Promise<string>) => void) | undefined;
  asked: Questions;
  underWay: number; // questions without an answer
}

/** Whatever runs a function in a page. */
interface Runs {
  evaluate<T>(f: () => T | Promise<T>): Promise<T>;
}

/** Makes every page of the browser remember what it writes on canvases, and keep what it saves. */
export async function rememberTexts(context: BrowserContext): Promise<void> {
  await context.addInitScript(remember);
}

/** Runs in a page before its own code. */
export function remember(): void {
  const own = window as unknown as Hooked;
  own.paintedTexts = new WeakMap();
  const { clearRect, fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...at) {
    own.paintedTexts.set(this.canvas, []);
    clearRect.apply(this, at);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
    own.paintedTexts.get(this.canvas)?.push(text);
    fillText.call(this, text, ...at);
  };
  const createObjectURL = URL.createObjectURL.bind(URL);
  URL.createObjectURL = (blob: Blob) => {
    own.savedFile?.(blob.text());
    return createObjectURL(blob);
  };
  const { click } = HTMLAnchorElement.prototype;
  HTMLAnchorElement.prototype.click = function () {
    if (!this.download || !own.savedFile) click.call(this);
  };
  own.asked = {};
  own.underWay = 0;
  const { fetch } = window;
  window.fetch = async (to, init) => {
    if (init?.method !== 'POST') return fetch(to, init);
    if (String(to).endsWith('/ask') && typeof init.body === 'string') {
      const ask = JSON.parse(init.body) as Ask;
      if (ask.places && ask.stats?.length) own.asked = ask;
    }
    own.underWay++;
    try {
      return await fetch(to, init);
    } finally {
      own.underWay--;
    }
  };
}

/** What the page asked last. */
export function askedLast(page: Runs): Promise<Questions> {
  return page.evaluate(() => (window as unknown as Hooked).asked);
}

/** Whether questions of the page have no answer yet. */
export function waits(page: Runs): Promise<boolean> {
  return page.evaluate(() => (window as unknown as Hooked).underWay > 0);
}

/** Every view on screen. */
export function paintedViews(page: Runs): Promise<PaintedView[]> {
  return page.evaluate(async () => {
    const own = window as unknown as Hooked;
    const save = (host: Element, format: string): Promise<string> =>
      new Promise((done) => {
        const stop = setTimeout(() => done(''), 3000); // a view that has nothing to show yet
        own.savedFile = (text) => {
          clearTimeout(stop);
          own.savedFile = undefined;
          void text.then(done);
        };
        host.dispatchEvent(new CustomEvent('isobath-ask', { detail: { action: 'export', format } }));
      });
    const views = [];
    for (const host of document.querySelectorAll<HTMLElement>('[data-view]')) {
      const canvases = [...host.querySelectorAll('canvas')];
      const texts = canvases.flatMap((c) => own.paintedTexts.get(c) ?? []);
      views.push({
        name: host.dataset['view']!,
        texts,
        canvases: canvases.length,
        svg: canvases.length > 0 ? await save(host, 'svg') : '',
        csv: await save(host, 'csv'),
      });
    }
    return views;
  });
}

/** The texts of a drawing, without the caption and the legend that a file has below it. */
export function textsOf(svg: string): string[] {
  const height = Number(/^<svg[^>]* height="([\d.]+)"/.exec(svg)?.[1] ?? 0) - 24;
  return [...svg.matchAll(/<text x="[^"]*" y="([^"]*)"[^>]*>([^<]*)<\/text>/g)]
    .filter(([, y]) => Number(y) < height)
    .map(([, , text]) =>
      text!.replace(
        /&(amp|lt|gt|quot);/g,
        (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name]!,
      ),
    );
}

/** The rows of a CSV file by the names of its head. */
export function rowsOf(csv: string): Record<string, string>[] {
  const [head, ...rows] = csv
    .trimEnd()
    .split('\n')
    .map((line) =>
      [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)]
        .map(([, cell]) => (cell!.startsWith('"') ? cell!.slice(1, -1).replaceAll('""', '"') : cell!))
        .slice(0, line.endsWith(',') ? undefined : -1),
    );
  return rows.map((cells) => Object.fromEntries(head!.map((name, i) => [name, cells[i] ?? ''])));
}
