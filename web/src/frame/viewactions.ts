// What every view offers beside its marks: itself as a table and as a file.
import type { View } from './view';
import type { Desk } from './context';
import type { MenuItem } from './PopMenu.svelte';

export interface Asked {
  readonly desk: Desk;
  readonly title: string;
  /** The view as it is now; undefined while there is nothing to show. */
  readonly view: () => View<unknown> | undefined | Promise<View<unknown> | undefined>;
}

export function viewItems({ desk, title, view }: Asked): MenuItem[] {
  const whole = (run: (v: View<unknown>) => void) => () => {
    void Promise.resolve(view()).then((v) => v && run(v));
  };
  return [
    { label: 'Show as table', run: whole((v) => desk.showTable(title, v)) },
    ...(['png', 'svg', 'csv'] as const).map((f) => ({
      label: `Export ${f.toUpperCase()}`,
      run: whole((v) => desk.exportView(title, v, f)),
    })),
  ];
}

/** What a view is asked: to save or list itself, or to hand itself to a picture of the whole page. */
interface Question {
  readonly action: string;
  readonly format?: 'png' | 'svg' | 'csv';
  readonly take?: (title: string, view: View<unknown>) => void;
  readonly wait?: (done: Promise<void>) => void;
}

/** The bar's commands reach the view that has the focus through an event. */
export function asks(node: HTMLElement, asked: Asked): { update: (a: Asked) => void; destroy: () => void } {
  let now = asked;
  const answer = async ({ action, format, take }: Question): Promise<void> => {
    const v = await now.view();
    if (!v) return;
    take?.(now.title, v);
    if (action === 'export' && format) now.desk.exportView(now.title, v, format);
    else if (action === 'table') now.desk.showTable(now.title, v);
  };
  const listen = (e: Event): void => {
    const { detail } = e as CustomEvent<Question>;
    const done = answer(detail);
    detail.wait?.(done);
  };
  node.addEventListener('isobath-ask', listen);
  return { update: (a) => (now = a), destroy: () => node.removeEventListener('isobath-ask', listen) };
}
