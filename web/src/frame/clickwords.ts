// What a click on the mark under the pointer will do, in words, before it is done.
import type { ColumnInfo } from '../api/wire';
import {
  apply,
  clauseOf,
  dimensionsOf,
  isOf,
  same,
  type Mode,
  type Selection,
  type Term,
} from '../state/selection';
import { chipOf } from './chips';

export function clickWords(
  select: Selection,
  term: Term,
  mode: Mode | undefined,
  columns: readonly ColumnInfo[],
): string {
  const say = (s: Selection): string =>
    s
      .map((c) => chipOf(c, columns))
      .map((c) => `${c.name} ${c.value} ${c.unit}`.trim())
      .join(' and ');
  const own = select.filter((c) => isOf(c, dimensionsOf(term)));
  const others = select.filter((c) => !own.includes(c));
  const it = say([clauseOf(term)]);
  const kept = others.length > 0 ? `, keeps ${say(others)}` : '';
  const joins = own.find((c) => !c.not);
  switch (mode) {
    case 'remove':
      return `Alt+click takes ${it} out`;
    case 'only':
      return `Ctrl+click selects ${it} alone${others.length > 0 ? `, clears ${say(others)}` : ''}`;
    case 'add':
      if (joins) return `Shift+click adds ${it} to ${say([joins])}${kept}`;
      return own.some((c) => c.terms.some((t) => same(t, term)))
        ? `Shift+click puts ${it} back${kept}`
        : `Shift+click selects ${it}${kept}`;
    default:
      if (apply(select, term, 'set') === select) return `${it} is selected; Alt+click takes it out`;
      return `click selects ${it}${own.length > 0 ? ` in place of ${say(own)}` : ''}${kept}`;
  }
}
