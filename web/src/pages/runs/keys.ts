// Keys of the pages of many executions, for the list of keys.
import type { PageKey } from '../../frame/pages';

export const TRIAL_KEYS: readonly PageKey[] = [
  { keys: ['ArrowLeft', 'ArrowRight'], label: 'Pair before, next pair', pointer: 'move' },
  { keys: ['Enter'], label: 'Compare the recordings of the pair', pointer: 'click' },
];

export const STUDY_KEYS: readonly PageKey[] = [
  { keys: ['ArrowUp', 'ArrowDown'], label: 'Run before, next run', pointer: 'move' },
  { keys: ['Enter'], label: 'Mark the run; again: open it', pointer: 'click' },
];
