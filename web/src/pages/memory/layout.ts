// Sizes of the page's tracks. Splitters override them; the overrides are kept by
// the browser, not in the link.
import { clamp } from '../../base/geometry';

export interface Overrides {
  readonly left?: number;
  readonly right?: number;
  readonly bottom?: number;
  readonly offenders?: number;
  readonly statistics?: number;
  readonly sides?: false; // hidden
}

export interface Tracks {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly upper: number;
  readonly offenders: number;
  readonly statistics: number;
}

export const GAP = 6;
const BARS = 40 + 28 + 24;

const SENTENCE = 240; // px of a pane that has no picture, only why

const LOW = 420; // px of the upper panes, below which statistics keep their first rows alone
const FIRST_FINDING = 212; // px in which the first finding is whole, with the head of its pane

/**
 * A page without a picture in the middle gives its room to the panes beside it. The
 * statistics of two runs need theirs, and what changed is told in short sentences.
 */
export function tracks(width: number, height: number, o: Overrides, middle = true, pair = false): Tracks {
  const bottom = clamp(o.bottom ?? clamp(0.335 * height, 244, 500), 60, height - BARS - 120);
  const upper = height - BARS - GAP - bottom;
  const sides = o.sides !== false;
  const beside = width - 2 * GAP - SENTENCE;
  return {
    left: sides
      ? clamp(o.left ?? (middle ? clamp(0.25 * width, 308, 480) : 0.55 * beside), 120, width / 2)
      : 0,
    right: sides
      ? clamp(
          o.right ?? (middle ? clamp((upper < LOW ? 0.25 : 0.215) * width, 284, 420) : 0.45 * beside),
          120,
          width / 2,
        )
      : 0,
    bottom,
    upper,
    offenders: clamp(o.offenders ?? clamp(0.47 * upper, 160, 420), 40, upper - 60),
    statistics: clamp(
      o.statistics ??
        (upper < LOW ? (pair ? 244 : Math.max(140, upper - GAP - FIRST_FINDING)) : upper > 700 ? 382 : 298),
      40,
      upper - 60,
    ),
  };
}

/** Below this the panes become tabs. */
export function isSmall(width: number, height: number): boolean {
  return width < 1024 || height < 640;
}
