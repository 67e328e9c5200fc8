// Turns and passes as stretches of the trace that can be selected.
import { count } from '../../base/format';
import type { Drawing } from './picture';

export interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

/** The stretch of a window between the starts of turns or passes. */
function stretch(
  t: number,
  starts: Uint32Array,
  windows: number,
  word: string,
  every = 1,
): Stretch | undefined {
  if (starts.length < 2) return undefined;
  const i = starts.findLastIndex((p) => p <= t);
  return {
    from: i < 0 ? 0 : starts[i]!,
    to: starts[i + 1] ?? windows,
    name:
      every > 1
        ? `${word} ${count(Math.max(0, i) * every + 1)} to ${count((Math.max(0, i) + 1) * every)}`
        : `${word} ${count(i + 1)}`,
  };
}

export function turnAt(t: number, drawing: Drawing | undefined, windows: number): Stretch | undefined {
  return drawing ? stretch(t, drawing.turns, windows, 'turn', drawing.every) : undefined;
}

export function passAt(t: number, drawing: Drawing | undefined, windows: number): Stretch | undefined {
  return drawing ? stretch(t, drawing.passes, windows, 'pass') : undefined;
}

/** What a selection is called, if it is one turn or one pass. */
export function stretchName(from: number, to: number, drawing: Drawing | undefined, windows: number): string {
  const alike = (s: Stretch | undefined): boolean => s !== undefined && s.from === from && s.to === to;
  const [pass, turn] = [passAt(from, drawing, windows), turnAt(from, drawing, windows)];
  return alike(pass) ? pass!.name : alike(turn) ? turn!.name : '';
}

/**
 * What a click on a window selects: its turn; if that is selected its pass; then nothing. With
 * `add` everything up to there.
 */
export function picked(
  t: number,
  now: { readonly from: number; readonly to: number },
  drawing: Drawing | undefined,
  windows: number,
  add: boolean,
): { from: number; to: number } | undefined {
  const pass = passAt(t, drawing, windows);
  const turn = turnAt(t, drawing, windows) ?? pass;
  if (!turn) return undefined;
  if (add && now.to > now.from) return { from: Math.min(now.from, turn.from), to: Math.max(now.to, turn.to) };
  if (now.from !== turn.from || now.to !== turn.to) return { from: turn.from, to: turn.to };
  return pass && (pass.from !== turn.from || pass.to !== turn.to)
    ? { from: pass.from, to: pass.to }
    : { from: 0, to: 0 };
}
