// Arrow keys in menus, tabs and radio groups, as WAI-ARIA has them: a group is
// one stop of Tab, arrows go round, Home and End go to its ends. A library of
// components would bring its own markup for these few lines.

const FRAMES = 120; // that the pane of a tab may take to come

/** The place that a key leads to from a place of a list, or undefined if it is no such key. */
export function placeAfter(key: string, at: number, n: number, along: 'down' | 'across'): number | undefined {
  if (n === 0) return undefined;
  const [back, on] = along === 'down' ? ['ArrowUp', 'ArrowDown'] : ['ArrowLeft', 'ArrowRight'];
  if (key === 'Home') return 0;
  if (key === 'End') return n - 1;
  if (key === on) return (at + 1) % n;
  return key === back ? (Math.max(at, 0) - 1 + n) % n : undefined;
}

/** Tab stops at the chosen one of a group, or at its first if none is chosen. */
export function tabStop(chosen: boolean, first: boolean, anyChosen: boolean): 0 | -1 {
  return chosen || (first && !anyChosen) ? 0 : -1;
}

/** Keys of a row of tabs or radio buttons: what they lead to is chosen. */
export function roving(e: KeyboardEvent & { currentTarget: HTMLElement }): void {
  if (e.ctrlKey || e.altKey || e.metaKey || e.shiftKey) return;
  const all = [...e.currentTarget.querySelectorAll<HTMLButtonElement>('button:not(:disabled)')];
  const at = all.findIndex((b) => b === document.activeElement);
  const to = placeAfter(e.key, at, all.length, 'across');
  if (to === undefined) return;
  e.preventDefault();
  e.stopPropagation();
  const name = all[to]!.textContent;
  all[to]!.focus();
  all[to]!.click();
  void followTab(name);
}

/** A tab may bring another pane with a row of tabs of its own: the focus goes on there. */
async function followTab(name: string): Promise<void> {
  for (let i = 0; i < FRAMES; i++) {
    await new Promise(requestAnimationFrame);
    if (document.activeElement !== document.body) return;
    const chosen = document.querySelectorAll<HTMLElement>('[role="tab"][aria-selected="true"]');
    [...chosen].find((t) => t.textContent === name)?.focus();
  }
}
