// Every page, in the order of the bar. A run fills some of them; the others
// stay in the bar, muted, and say why.
import type { Info } from './api/wire';
import type { Page } from './frame/pages';

/** Many executions rather than one. */
function isMany(info: Info | undefined): boolean {
  return info?.kind === 'trial' || info?.kind === 'study';
}

/** A mesh or a trace alone has no samples; nothing else is known by its kind alone. */
function hasSamples(info: Info | undefined): boolean {
  return (
    !isMany(info) &&
    info?.kind !== 'trace' &&
    info?.kind !== 'mesh' &&
    (info?.kind !== 'refs' || info.columns.length > 0)
  );
}

function hasReferences(info: Info | undefined): boolean {
  return info?.kind === 'refs' || (info?.kind !== 'trace' && info?.kind !== 'mesh' && info?.refs === true);
}

export const PAGES: readonly Page[] = [
  {
    id: 'memory',
    title: 'Memory',
    without: 'no samples in this run',
    fills: hasSamples,
    selects: () => true,
    undoes: 'samples',
    load: () => import('./pages/memory/MemoryPage.svelte'),
    dialogs: {
      axes: () => import('./pages/memory/AxesDialog.svelte'),
      samples: () => import('./pages/memory/SamplesDialog.svelte'),
    },
  },
  {
    id: 'trace',
    title: 'Trace',
    without: 'no message trace in this run',
    fills: (info) =>
      info?.kind === 'trace' || (info?.kind !== 'refs' && info?.kind !== 'mesh' && info?.trace === true),
    undoes: 'trace',
    load: () => import('./pages/trace/TracePage.svelte'),
    perRun: true,
    keys: async () => (await import('./pages/trace/keys')).KEYS,
  },
  {
    id: 'cycles',
    title: 'Cycles',
    without: 'no reference trace in this run',
    fills: hasReferences,
    undoes: 'cycles',
    load: () => import('./pages/cycles/CyclesPage.svelte'),
    perRun: true,
  },
  {
    id: 'locality',
    title: 'Locality',
    without: 'no reference trace in this run: record with isobath record --refs',
    fills: hasReferences,
    undoes: 'samples',
    load: () => import('./pages/locality/LocalityPage.svelte'),
    perRun: true,
    keys: async () => (await import('./pages/locality/keys')).KEYS,
  },
  {
    id: 'mesh',
    title: 'Mesh',
    without: 'no mesh in this run',
    // A mesh can be put under any samples.
    fills: (info) => !isMany(info) && info?.kind !== 'trace' && info?.kind !== 'refs',
    selects: (info) => info.columns.length > 0,
    undoes: 'samples',
    load: () => import('./pages/mesh/MeshPage.svelte'),
    perRun: true,
    keys: async () => (await import('./pages/mesh/keys')).KEYS,
  },
  {
    id: 'trial',
    title: 'Trial',
    without: 'no trial of two commands: isobath ab -o FILE makes one',
    fills: (info) => info?.kind === 'trial',
    undoes: 'samples',
    load: () => import('./pages/runs/TrialPage.svelte'),
    perRun: true,
    own: true,
    keys: async () => (await import('./pages/runs/keys')).TRIAL_KEYS,
  },
  {
    id: 'study',
    title: 'Runs',
    without: 'no study of many runs: isobath study -o FILE makes one',
    fills: (info) => info?.kind === 'study',
    undoes: 'samples',
    load: () => import('./pages/runs/StudyPage.svelte'),
    perRun: true,
    own: true,
    keys: async () => (await import('./pages/runs/keys')).STUDY_KEYS,
  },
];
