// On a laptop the first finding is read without a scroll: its whole sentence, and the
// evidence below it, lie inside the pane.

import { describe, expect, it } from 'vitest';
import { browse, start } from './harness';
import { quiet } from './page';

describe.each(['light', 'dark'] as const)('the first finding, %s', (scheme) => {
  it.each(['stencil', 'lookup'])('is whole on a laptop: %s', async (demo) => {
    const server = await start('demo', demo);
    const browser = await browse({ width: 1280, height: 720, scheme });
    const { page, problems } = await browser.open(server.url);
    const pane = page.locator('[data-view="Insights"]');
    await pane.locator('li').first().waitFor();
    await quiet(page);
    const [sentence, foot, room] = await pane.evaluate((body) => {
      const first = body.querySelector('li')!;
      const text = first.querySelector('.sentence')!;
      const extent = (e: Element): { top: number; bottom: number } => {
        const { top, bottom } = e.getBoundingClientRect();
        return { top, bottom };
      };
      // Cut off lines count to the height of what is in the sentence, and not to its box.
      const whole = { ...extent(text), cut: text.scrollHeight - text.clientHeight };
      return [whole, extent(first.querySelector('.foot')!), extent(body)] as const;
    });
    expect(sentence.cut).toBe(0);
    expect(sentence.top).toBeGreaterThanOrEqual(room.top);
    expect(foot.top).toBeGreaterThanOrEqual(sentence.bottom);
    expect(foot.bottom).toBeLessThanOrEqual(Math.min(room.bottom, 720));
    expect(problems).toEqual([]);
    await browser.close();
    await server.stop();
  });
});
