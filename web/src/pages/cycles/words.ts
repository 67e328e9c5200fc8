// Names and headlines of classes.
import { plural } from '../../base/format';
import type { CyclesClass, CyclesInfo } from '../../api/wire';

/** "Inner loop", numbered where several share a name; "No turns" for a circle nothing goes around. */
export function classNames(info: CyclesInfo): readonly string[] {
  const base = info.classes.map((c) => {
    if (c.turns === 0) return 'No turns';
    const name = c.name || 'Loop';
    return name[0]!.toUpperCase() + name.slice(1);
  });
  const total = new Map<string, number>();
  for (const b of base) total.set(b, (total.get(b) ?? 0) + 1);
  const seen = new Map<string, number>();
  return base.map((b) => {
    if ((total.get(b) ?? 0) < 2 || b === 'No turns') return b;
    const n = (seen.get(b) ?? 0) + 1;
    seen.set(b, n);
    return `${b} ${n}`;
  });
}

export function turnsText(c: CyclesClass): string {
  if (c.turns === 0) return '–';
  return `${c.exact ? '' : '≈ '}${plural(c.turns, 'turn')}`;
}

export function headline(c: CyclesClass): string {
  if (c.turns === 0) return 'nothing goes around it';
  if (c.passes > 1 && c.passes !== c.turns) return `${turnsText(c)} in ${plural(c.passes, 'pass', 'passes')}`;
  return turnsText(c);
}

/** Turns of each pass: 4 + 3 + 2 + 1. */
export function byPass(turns: readonly number[]): string {
  return turns.length > 1 && turns.length <= 12 ? `${turns.join(' + ')} turns` : '';
}
