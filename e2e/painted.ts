// What the page has painted, read from its canvases, and what it would paint and
// list now: the same views as files, caught on their way to the download folder.

import type { BrowserContext, Page } from 'playwright-core';

/** A view as it stands on screen and as it would be saved at this moment. */
export interface PaintedView {
  readonly name: string;
  readonly texts: readonly string[]; // on its canvases; none for views that are tables of the document
  readonly canvases: number;
  readonly svg: string;
  readonly csv: string;
}

interface Hooked {
  paintedTexts: WeakMap<HTMLCanvasElement, string[]>;
  savedFile: ((text: Promise<string>) => void) | undefined;
}

/** Makes every page of the browser remember what it writes on canvases, and keep what it saves. */
export async function rememberTexts(context: BrowserContext): Promise<void> {
  await context.addInitScript(() => {
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
  });
}

/** Every view on screen. */
export function paintedViews(page: Page): Promise<PaintedView[]> {
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
