// Names and headlines of classes.
import { plural, short, roughly } from '../../base/format';
import type { CyclesClass, CyclesInfo } from '../../api/wire';

/**
 * "for j, lu.c:12" after the loop a class goes around, else its role; numbered where several share
 * a name. "No turns" is a circle nothing goes around.
 */
export function classNames(info: CyclesInfo): readonly string[] {
  const base = info.classes.map((c) => {
    if (c.turns === 0) return 'No turns';
    if (c.title) return c.title;
    const name = c.name || 'loop';
    const where = c.place && info.named.length === 0 ? `, ${c.place}` : '';
    return name[0]!.toUpperCase() + name.slice(1) + where;
  });
  const total = new Map<string, number>();
  for (const b of base) total.set(b, (total.get(b) ?? 0) + 1);
  const seen = new Map<string, number>();
  return base.map((b, i) => {
    if ((total.get(b) ?? 0) < 2 || b === 'No turns') return b;
    const n = (seen.get(b) ?? 0) + 1;
    seen.set(b, n);
    if (!info.classes[i]!.title) return `${b} ${n}`;
    return n === 1 ? b : `${b} · path ${n}`;
  });
}

/** A row of the list of classes: one, with those that are paths of the same loop or its duals. */
export interface ClassRow {
  readonly index: number;
  readonly folded: readonly number[];
}

/**
 * Classes in their order; those that go around the same loop of the code are one row, and a class
 * that is only a part of another one is folded under the whole. What has a name, and what lies around
 * other classes, stays a row.
 */
export function classRows(info: CyclesInfo): readonly ClassRow[] {
  const { classes } = info;
  const kept = new Set([...info.named.map((n) => n.class), ...classes.map((c) => c.parent)]);
  const rows = new Map<number, { index: number; folded: number[] }>();
  const byLoop = new Map<number, number>();
  const parts: number[] = [];
  const under = (i: number, row: number): void => void rows.get(row)!.folded.push(i);
  classes.forEach((c, i) => {
    const same = c.turns !== 0 && c.loop >= 0 ? byLoop.get(c.loop) : undefined;
    const whole = classes[c.whole];
    if (same !== undefined) under(i, same);
    else if (whole && !kept.has(i) && c.turns !== 0 && (c.loop < 0 || c.loop === whole.loop)) parts.push(i);
    else {
      rows.set(i, { index: i, folded: [] });
      if (c.turns !== 0 && c.loop >= 0) byLoop.set(c.loop, i);
    }
  });
  for (const i of parts) {
    const { whole } = classes[i]!;
    const row = rows.has(whole) ? whole : byLoop.get(classes[whole]!.loop);
    if (row === undefined) rows.set(i, { index: i, folded: [] });
    else under(i, row);
  }
  return [...rows.values()].toSorted((a, b) => a.index - b.index);
}

/** "2 more paths: 113 turns, 12 turns": what is folded under a row. */
export function pathsText(info: CyclesInfo, row: ClassRow): string {
  const turns = row.folded.map((i) => turnsText(info.classes[i]!));
  return `${plural(row.folded.length, 'more path')}: ${turns.join(', ')}`;
}

export function turnsText(c: CyclesClass): string {
  if (c.turns === 0) return '–';
  const about = roughly(!c.exact);
  return c.turns < 1e6 ? `${about}${plural(c.turns, 'turn')}` : `${about}${short(c.turns)} turns`;
}

/** "w 3–14": the lengths of windows that count as many turns. */
export function steadyMark(c: CyclesClass): string {
  return `w ${c.sameLeast === c.sameMost ? String(c.sameMost) : `${c.sameLeast}–${c.sameMost}`}`;
}

/** The same in words; says where the count depends on the window. */
export function steadyText(c: CyclesClass): string {
  const lengths = c.sameLeast === c.sameMost ? String(c.sameMost) : `${c.sameLeast} to ${c.sameMost}`;
  return c.stable
    ? `windows of ${lengths} references count as many turns`
    : `only windows of ${lengths} references count so many turns`;
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
