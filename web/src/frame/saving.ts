// What is saved as a file: a view, the page, the selected samples. Loaded with the
// first of them.
import type { Api } from '../api/client';
import { count, plural } from '../base/format';
import { pageMeasure } from '../base/measure';
import type { Theme } from '../base/theme';
import { text } from '../state/selection';
import type { Snapshot } from '../state/store';
import { chipOf } from './chips';
import { download, exportView, type Format } from './export';
import type { View } from './view';

/** What is shown as it is saved. */
export interface Saved {
  readonly snap: Snapshot;
  readonly theme: Theme;
}

function caption({ info, state, answer }: Snapshot, title: string): string {
  const chips = state.select
    .map((c) => chipOf(c, info?.columns ?? []))
    .map((c) => `${c.name} ${c.value} ${c.unit}`.trim());
  const counted = answer && `${count(answer.counts[1])} of ${plural(answer.counts[0], 'sample')}`;
  return [title, info?.name, ...chips, counted].filter(Boolean).join(' · ');
}

export async function saveView(
  { snap, theme }: Saved,
  title: string,
  view: View<unknown>,
  format: Format,
): Promise<void> {
  const name = `${snap.info?.name ?? 'isobath'}-${title}`;
  download(await exportView(view, format, name, caption(snap, title), theme, pageMeasure()));
}

/** What is saved that is no view. */
export type Whole = 'rows' | 'page-png' | 'page-pdf';

export async function saveAll(saved: Saved, title: string, api: Api, what: Whole): Promise<void> {
  if (what === 'rows') return saveRows(api, saved.snap);
  return savePage(saved, title, what === 'page-png' ? 'png' : 'pdf');
}

async function savePage({ snap, theme }: Saved, title: string, format: 'png' | 'pdf'): Promise<void> {
  const { exportPage } = await import('./pageexport');
  const name = snap.info?.name ?? 'isobath';
  download(await exportPage(format, name, caption(snap, title), theme, pageMeasure()));
}

async function saveRows(api: Api, { info, state }: Snapshot): Promise<void> {
  if (!info) return;
  const answer = await api.rows(info.id, text(state.select), text(state.filter));
  download({ name: `${info.name}-samples.csv`, blob: await answer.blob() });
}
