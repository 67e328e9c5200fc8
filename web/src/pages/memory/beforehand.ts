// Code that the first picture does without and that the next click should not wait
// for: what most people use next comes while nothing else is to be done, the rest
// when its tab is pointed at.
import { whenIdle } from '../../base/idle';
import type { Questions } from '../../state/questions';
import { question } from './axis/question';
import { categoryQuestion } from './categoryquestion';
import type { MemoryDesk } from './desk';

type Load = () => Promise<unknown>;

/** The code of the tabs of the lower region. */
const TABS: Readonly<Record<string, readonly Load[]>> = {
  axis: [() => import('./axis/AxisPane.svelte'), () => import('./axis/AxisMenus.svelte')],
  category: [() => import('./CategoriesPane.svelte')],
  heat: [() => import('./HeatmapPane.svelte')],
  calls: [() => import('./CallsPane.svelte')],
  spread: [() => import('./SpreadPane.svelte')],
  lines: [() => import('./LinesPane.svelte')],
  changes: [() => import('./ChangesPane.svelte')],
};
/** That all tabs but the axes have. */
const LISTS: readonly Load[] = [() => import('./TabPane.svelte'), () => import('./BottomMenus.svelte')];

const NEXT: readonly Load[] = [
  () => import('../../frame/Chips.svelte'),
  ...TABS['axis']!,
  ...LISTS,
  ...TABS['category']!,
];

const LOOKED = 1000; // ms that people look at the first picture, which may still be coming

/** Fetches what most people use next, one after the other. */
export function fetchNext(): void {
  const fetch = (from: number): void => {
    const load = NEXT[from];
    if (load) whenIdle(() => void load().then(() => fetch(from + 1), failed));
  };
  setTimeout(() => fetch(0), LOOKED);
}

/** A tab is pointed at: its code, and the answer to its question, which may be a new division of ten million values. */
export async function pointedAt(tab: string, desk: MemoryDesk, width: number): Promise<void> {
  const { info, state } = desk.snap;
  const asks = state.bottom === tab ? undefined : questionOf(tab);
  if (asks) desk.store.foresee(asks);
  const code = tab === 'axis' ? TABS['axis']! : [...LISTS, ...(TABS[tab] ?? [])];
  await Promise.all(code.map((load) => load())).catch(failed);

  function questionOf(id: string): Questions | undefined {
    const axis =
      id === 'axis'
        ? question(info, state, width)
        : id === 'category'
          ? info && categoryQuestion(info, state)
          : undefined;
    return axis && { axes: [axis] };
  }
}

/** The click asks for it again, and says what failed. */
function failed(): void {}
