// What people do on the locality page: settings, selecting, the what if. It knows
// no markup: model.svelte.ts says what is shown, drawn.svelte.ts how.
import type { Point } from '../../base/geometry';
import type { Gesture } from '../../frame/context';
import { fieldTerm } from '../../state/references';
import type { Mode, Term } from '../../state/selection';
import { bandTerm } from './asks';
import type { CurveMark } from './curve';
import { resized } from './commands';
import type { LocalityDrawn } from './drawn.svelte';
import type { MapMark } from './map';
import type { LocalityModel } from './model.svelte';
import { writeLocality, type LocalityState } from './state';

type RowList = 'rows' | 'fieldRows' | 'lineRows';

export class LocalityControl {
  constructor(
    private readonly model: LocalityModel,
    private readonly drawn: LocalityDrawn,
  ) {}

  readonly commit = (patch: Partial<LocalityState>): void => {
    const { desk, now } = this.model;
    desk.store.change({ options: writeLocality({ ...now, ...patch }, desk.snap.state.options) });
  };

  // ---- selecting ----

  /** Selects for all pages; what only this page knows is let go. */
  choose(term: Term | undefined, mode: Mode | undefined): boolean {
    if (!term) return true;
    const { desk, now } = this.model;
    if (now.pair.length > 0) this.commit({ pair: [] });
    desk.store.select(term, mode);
    return true;
  }

  /** Selects a row of one of the lists. */
  readonly pickRow =
    (list: RowList) =>
    (i: number, mode: Mode | undefined): boolean =>
      this.choose(this.drawn[list]?.wanted(i), mode);

  pickLine(line: number, adding: boolean): void {
    const { file } = this.model;
    this.choose(file && { kind: 'line', file: file.name, line }, adding ? 'add' : undefined);
  }

  readonly pickBand = (m: CurveMark, mode: Mode | undefined): boolean => {
    const { answer, now } = this.model;
    const band = this.drawn.curve?.bandOf(m) ?? '';
    return this.choose(answer && bandTerm(answer, now.stack, band), mode);
  };

  readonly pickField = (i: number, mode: Mode | undefined): boolean => {
    const struct = this.model.answer?.struct;
    const { fields } = this.drawn;
    return this.choose(struct && fields ? fieldTerm(struct.object, fields.fieldOf(i)) : undefined, mode);
  };

  /** What one object lost to another. */
  readonly pickPair = (i: number): boolean => {
    const { matrix } = this.drawn;
    if (matrix) this.commit({ pair: [...matrix.pairOf(i)] });
    return true;
  };

  /** The references to a line that threads share. */
  readonly pickShared = (i: number, mode: Mode | undefined): boolean =>
    this.choose(this.drawn.sharing?.wanted(i), mode);

  readonly pickLane = (m: MapMark, mode: Mode | undefined): boolean => {
    const object = this.drawn.map?.objectOf(m) ?? '';
    return this.choose(object ? { kind: 'values', column: 'symbol', values: [object] } : undefined, mode);
  };

  /** A drag along the map selects a stretch of the references. */
  readonly grabMap = (p: Point): Gesture | undefined => {
    const v = this.drawn.map;
    if (!v) return undefined;
    const start = v.referenceAt(p.x);
    const span = (q: Point): readonly [number, number] => {
      const end = v.referenceAt(q.x);
      return [Math.min(start, end), Math.max(start, end)];
    };
    const still = (): void => {
      this.model.range = [0, 0];
    };
    return {
      move: (q) => (this.model.range = span(q)),
      end: (q) => {
        const [lo, hi] = span(q);
        still();
        if (hi > lo) this.choose({ kind: 'range', column: 'order', lo, hi, open: true }, undefined);
      },
      cancel: still,
    };
  };

  /** A drag of a cache's triangle makes it the what if with that size. */
  readonly grabCache = (p: Point): Gesture | undefined => {
    const { curve } = this.drawn;
    const level = curve?.triangleAt(p);
    if (!curve || level === undefined) return undefined;
    const bytes = (q: Point): number => this.model.answer?.now.curve.sizes[curve.sizeAt(q.x)] ?? 0;
    const still = (): void => {
      this.model.dragged = undefined;
    };
    return {
      move: (q) => (this.model.dragged = { level, bytes: bytes(q) }),
      end: (q) => {
        still();
        const patch = resized(this.model.now.set, level, bytes(q), this.model.answer?.machine.levels ?? []);
        if (patch) this.commit({ set: patch });
      },
      cancel: still,
      cursor: 'ew-resize',
    };
  };

  // ---- pointing ----

  readonly pointRow =
    (list: RowList) =>
    (i: number | undefined): void => {
      this.model.name = i === undefined ? '' : (this.drawn[list]?.ranked[i]?.name ?? '');
    };

  readonly pointLine = (line: number | undefined): void => {
    const { answer, file } = this.model;
    const at = answer?.now.places.find((p) => p.file === file?.name && p.line === line);
    this.model.name = at?.name ?? '';
  };

  readonly pointCurve = (m: CurveMark | undefined): void => {
    this.model.curveAt = m?.at ?? -1;
    this.model.name = m ? (this.drawn.curve?.bandOf(m) ?? '') : '';
  };

  readonly pointField = (i: number | undefined): void => {
    this.model.field = i === undefined ? '' : (this.drawn.fields?.fieldOf(i) ?? '');
  };
}
