// Which pages a run can fill. The others stay in the bar, muted, and say why.
import type { PageName } from './url';
import type { Info } from './wire';

export function pagesOf(info: Info | undefined): readonly PageName[] {
  switch (info?.kind) {
    case 'trace': return ['trace'];
    case 'refs': return info.columns.length > 0 ? ['memory', 'cycles'] : ['cycles'];
    case 'mesh': return ['mesh'];
    // A mesh can be put under any samples.
    default: return ['memory', ...(info?.trace ? (['trace'] as const) : []), ...(info?.refs ? (['cycles'] as const) : []), 'mesh'];
  }
}

/** The page to show: the one asked for, or the first the run has. */
export function pageOf(asked: PageName, info: Info | undefined): PageName {
  const pages = pagesOf(info);
  return pages.includes(asked) ? asked : pages[0]!;
}
