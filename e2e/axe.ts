// What axe finds on a page.

import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

interface Part {
  /** A selector: only this part is looked at, where the rest was looked at before. */
  readonly within?: string;
  /** A theme changes colours and nothing else: where the other theme was looked at, these are left. */
  readonly colours?: true;
}

/** Violations of the rules of accessibility, each with what violates it. */
export async function violations(page: Page, { within, colours }: Part = {}): Promise<string[]> {
  // Our pages have no frames of others, for which axe would gather its results in
  // another page.
  const axe = new AxeBuilder({ page }).setLegacyMode();
  if (within !== undefined) axe.include(within);
  if (colours) axe.withRules(['color-contrast', 'link-in-text-block']);
  const found = await axe.analyze();
  return found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join('; ')}`);
}
