import { canvasMeasure, type Measure } from './text';

let shared: Measure | undefined;

/** One measuring canvas for the whole page. */
export function pageMeasure(): Measure {
  if (!shared) {
    const context = document.createElement('canvas').getContext('2d');
    if (!context) throw new Error('this browser has no 2d canvas');
    shared = canvasMeasure(context);
  }
  return shared;
}
