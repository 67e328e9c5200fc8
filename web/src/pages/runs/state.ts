// What a link keeps about the pages of many executions, under keys that begin
// with "r.".
import { codec, lines, oneOf, whole, words, type Options } from '../../state/link';
import { SHOWS, type Shows } from './pairs';

export interface RunsState {
  readonly shows: Shows; // of a trial
  readonly axes: readonly string[]; // of a study; empty: those it begins with
  readonly brush: readonly string[]; // axis, low and high, tab between
  readonly y: string; // metric; empty: the first law's or change's
  readonly x: string; // parameter; "order" is the series
  readonly order: string;
  readonly colour: string;
  readonly list: 'laws' | 'changes' | 'runs';
  readonly marked: number; // run; -1: none
}

const LINK = codec<RunsState>('r.', {
  shows: oneOf(SHOWS, 'change'),
  axes: lines(),
  brush: lines(),
  y: words(),
  x: words(),
  order: words(),
  colour: words(),
  list: oneOf(['laws', 'changes', 'runs'] as const, 'laws'),
  marked: whole(-1, { least: -1 }),
});

export const readRuns = (o: Options): RunsState => LINK.read(o);
export const writeRuns = (s: RunsState, o: Options): Record<string, string> => LINK.write(s, o);
