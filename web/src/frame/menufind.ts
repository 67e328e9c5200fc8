// The choices of a page's menus, found by what is typed into the command field.
import type { PageFound } from './pages';
import type { MenuItem } from './PopMenu.svelte';

/** A menu by what it sets: "colour by", "variable". */
export interface NamedMenu {
  readonly name: string;
  readonly items: readonly MenuItem[];
}

/** More than these is no list to choose from. */
const MOST = 6;

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

/** Whether every typed word begins one of the words. */
function fits(typed: readonly string[], words: readonly string[]): boolean {
  return typed.every((t) => words.some((w) => w.startsWith(t)));
}

/** What a text means in the menus: choices whose words, and their menu's, it names; those it names alone first. */
export function inMenus(text: string, menus: readonly NamedMenu[]): PageFound[] {
  const typed = wordsOf(text);
  if (typed.length === 0) return [];
  const found = menus.flatMap(({ name, items }) =>
    items.flatMap((item) => {
      const own = wordsOf(item.label);
      if (item.disabled || !typed.some((t) => own.some((w) => w.startsWith(t)))) return [];
      if (!fits(typed, [...own, ...wordsOf(name)])) return [];
      const said = `${name}: ${item.label}`;
      const does = item.checked ? 'is chosen already' : (item.note ?? '');
      return [{ exact: fits(own, typed), found: { text: said, does, note: '', run: item.run } }];
    }),
  );
  return found
    .toSorted((a, b) => Number(b.exact) - Number(a.exact))
    .slice(0, MOST)
    .map((f) => f.found);
}
