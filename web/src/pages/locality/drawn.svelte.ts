// The views of the locality page, each made anew when what it shows has changed.
import type { Size } from '../../base/geometry';
import { selectedFields } from '../../state/references';
import { rowsOf, KINDS } from './asks';
import { missCode } from './code';
import { CurveView } from './curve';
import { LayoutView } from './layoutview';
import { MapView } from './map';
import { MatrixView } from './matrix';
import type { LocalityModel } from './model.svelte';
import { ReuseView } from './reuse';
import { byNameHere, RowsView } from './rows';
import { SetsView } from './sets';
import { SharingView } from './sharing';
import type { TableTab } from './state';
import { WhatIfView } from './whatif';
import { against, headline, type Called } from './words';

const EVERYTHING: Called = { name: 'Everything', several: false };

export class LocalityDrawn {
  readonly rows = $derived.by(() =>
    this.ranked(this.model.now.table, this.model.tableSize, !this.model.stacked),
  );
  /** On large screens fields and lines stand below the objects. */
  readonly fieldRows = $derived.by(() =>
    this.model.stacked ? this.ranked('fields', this.model.fieldsSize, false) : undefined,
  );
  readonly lineRows = $derived.by(() =>
    this.model.stacked ? this.ranked('lines', this.model.linesSize, true) : undefined,
  );

  private ranked(tab: TableTab, size: Size, key: boolean): RowsView | undefined {
    const { answer, before, by, levels, name, namesHere, now, objects, selecting } = this.model;
    if (!answer || size.w === 0) return undefined;
    const rows = rowsOf(answer, tab);
    const beside = tab !== now.table; // of one object that is selected, its own
    const own = beside && tab === 'fields' && objects.length === 1;
    return new RowsView({
      kind: KINDS[tab],
      rows: own ? rows.filter((r) => r.object === objects[0]) : rows,
      before: before && !beside ? byNameHere(KINDS[tab], rowsOf(before.answer, tab), namesHere) : undefined,
      levels,
      by,
      selecting,
      size,
      hovered: name,
      key,
    });
  }

  private readonly headline = $derived.by(() => {
    const { answer, before, called } = this.model;
    if (!answer) return undefined;
    const { head, more } = headline(called.name ? called : EVERYTHING, answer);
    return { head, more: [...(before ? against(before, answer) : []), ...more] };
  });
  readonly curve = $derived.by(() => {
    const { answer, before, called, curveAt, curveSize, dragged, name, now } = this.model;
    if (!answer || !this.headline || curveSize.w === 0 || now.curve !== 'curve') return undefined;
    return new CurveView({
      answer,
      before,
      size: curveSize,
      y: now.y,
      headline: this.headline,
      selection: called.name || 'selection',
      hovered: curveAt,
      band: name,
      dragged,
    });
  });

  readonly reuse = $derived.by(() => {
    const { answer, curveSize, now, octave } = this.model;
    if (!answer || curveSize.w === 0 || now.curve !== 'reuse') return undefined;
    return new ReuseView({ now: answer.now, size: curveSize, hovered: octave });
  });

  readonly fields = $derived.by(() => {
    const { answer, field, layoutSize, lineBytes, pane, select } = this.model;
    if (!answer?.struct || layoutSize.w === 0 || pane !== 'fields') return undefined;
    const own = `${answer.struct.object}.`;
    const selected = selectedFields(select)
      .filter((f) => f.startsWith(own))
      .map((f) => f.slice(own.length));
    return new LayoutView({
      now: answer.struct,
      then: answer.then?.struct ?? undefined,
      line: lineBytes,
      size: layoutSize,
      hovered: field,
      selected,
    });
  });

  readonly sets = $derived.by(() => {
    const { answer, levels, setAt, setsRoom } = this.model;
    if (!answer || answer.sets.why !== '' || setsRoom.w === 0) return undefined;
    return new SetsView({
      now: answer.sets,
      then: answer.then?.sets ?? undefined,
      level: levels[answer.sets.level]?.level ?? '',
      size: setsRoom,
      hovered: setAt,
    });
  });

  readonly sharing = $derived.by(() => {
    const { data, layoutSize, pane, shared } = this.model;
    if (!data.sharing || layoutSize.w === 0 || pane !== 'sharing') return undefined;
    return new SharingView({ sharing: data.sharing, size: layoutSize, hovered: shared });
  });

  readonly matrix = $derived.by(() => {
    const { answer, cell, levels, matrixRoom, objects } = this.model;
    if (!answer || matrixRoom.w === 0) return undefined;
    return new MatrixView({
      evictions: answer.evictions,
      level: levels[answer.evictions.level]?.level ?? '',
      selected: objects,
      size: matrixRoom,
      hovered: cell,
    });
  });

  readonly whatIf = $derived.by(() => {
    const { answer, data, level, whatIfSize } = this.model;
    if (!answer || whatIfSize.w === 0) return undefined;
    return new WhatIfView({ answer, machines: data.machines, size: whatIfSize, hovered: level });
  });

  readonly map = $derived.by(() => {
    const { answer, data, levels, lineBytes, mapMark, mapSize, objects, range, selecting } = this.model;
    if (!answer || !data.map || mapSize.w === 0) return undefined;
    return new MapView({
      map: data.map,
      references: answer.now.references,
      l1: levels[0]?.bytes ?? 0,
      line: lineBytes,
      selecting,
      selected: objects,
      size: mapSize,
      range,
      hovered: mapMark,
    });
  });

  readonly code = $derived.by(() => {
    const { answer, by, data, file, levels, name, selecting } = this.model;
    if (!data.source || !file || !answer) return undefined;
    return missCode({
      source: data.source,
      file: file.name,
      places: answer.now.places,
      levels,
      by,
      selecting,
      name,
    });
  });

  constructor(private readonly model: LocalityModel) {}
}
