// How memory levels are drawn and named: Okabe–Ito hues without the two that
// mean selection and hover; a hatch qualifies a hue.
import { mix } from '../../../base/color';
import type { Paint } from '../../../base/renderer';
import type { Theme } from '../../../base/theme';

const ORDER = [
  'L1',
  'LFB',
  'L2',
  'L3',
  'L4',
  'Local RAM',
  'Beyond L3',
  'Remote RAM',
  'Remote Cache',
  'I/O',
  'Uncached',
  'Unknown',
];

export function levelRank(name: string): number {
  const i = ORDER.findIndex((l) => l.toLowerCase() === name.toLowerCase());
  return i >= 0 ? i : /^remote/i.test(name) ? 8.5 : /^beyond/i.test(name) ? 6 : ORDER.length - 1.5;
}

/** A short form for keys: "> L3", "RAM". */
export function shortLevel(name: string): string {
  if (/^beyond ?l3$/i.test(name)) return '> L3';
  if (name === 'Local RAM') return 'RAM';
  return name.replace(/^Remote RAM/, 'remote').replace(/^Remote Cache/, 'rem. cache');
}

export function levelPaint(name: string, theme: Theme): Paint {
  const solid = (fill: string): Paint => ({ fill });
  const hatched = (hue: string): Paint => ({
    hatch: { ground: mix(theme.bg, hue, 0.34), line: hue, width: 1.1, period: 4 },
  });
  if (name === 'L1') return solid(theme['level-1']);
  if (name === 'LFB') return hatched(theme['level-1']);
  if (name === 'L2') return solid(theme['level-2']);
  if (name === 'L3') return solid(theme['level-3']);
  if (name === 'L4') return hatched(theme['level-3']);
  if (name === 'Local RAM') return solid(theme['level-ram']);
  if (/^beyond/i.test(name) || /^remote/i.test(name)) return hatched(theme['level-ram']);
  return solid(theme['rest-bar']);
}
