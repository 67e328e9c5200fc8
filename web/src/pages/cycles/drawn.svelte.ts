// The views of the cycles page, each made anew when what it shows has changed.
import { untrack } from 'svelte';
import { CloudView } from './cloud';
import type { CyclesModel } from './model.svelte';
import { PersistenceView } from './persistence';
import { NO_ZOOM } from './plane';
import { SpiralView } from './spiral';
import { TorusView } from './torus';
import { UnwrappedView } from './unwrapped';

export class CyclesDrawn {
  readonly spiral = $derived.by(() => {
    const { active, data, drawing, info, lit, hovered, now, stage } = this.model;
    const { view } = now;
    if (!info || !active || !drawing || stage.w === 0 || (view !== 'spiral' && view !== 'circle'))
      return undefined;
    return new SpiralView({
      info,
      class: active,
      drawing,
      sector: now.zoom.k > 1 ? data.sector : undefined,
      part: now.part,
      size: stage,
      zoom: view === 'spiral' ? now.zoom : NO_ZOOM,
      moving: this.model.live !== undefined,
      colour: now.colour,
      shape: view,
      from: now.from,
      to: now.to,
      hovered,
      lit,
      references: data.references,
      referencesFrom: data.referencesFrom,
    });
  });

  readonly torus = $derived.by(() => {
    const { drawing, hovered, info, lit, names, now, other, stage } = this.model;
    if (!info || !drawing || stage.w === 0 || now.view !== 'torus' || drawing.other.length === 0)
      return undefined;
    return new TorusView({
      drawing,
      size: stage,
      names: [names[this.model.class] ?? '', names[other] ?? ''],
      colour: now.colour,
      from: now.from,
      to: now.to,
      lit,
      hovered,
    });
  });

  readonly cloud = $derived.by(() => {
    const { data, drawing, info, lit, now, spot, stage } = this.model;
    if (!info || stage.w === 0 || now.view !== 'projection' || !data.projection) return undefined;
    return new CloudView({
      answer: data.projection,
      size: stage,
      colour: now.colour,
      labels: (drawing?.colours ?? []).map((c) => c.label),
      lit,
      hovered: spot,
    });
  });

  // Of single values, so that a frame of a zoom does not draw the strip again.
  private readonly from = $derived.by(() => this.model.now.from);
  private readonly to = $derived.by(() => this.model.now.to);
  private readonly first = $derived.by(() => this.model.shown.first);
  private readonly last = $derived.by(() => this.model.shown.last);
  private readonly visits = $derived.by(() => {
    const { hovered } = this.model;
    if (hovered < 0) return [];
    return untrack(() => (this.spiral && !this.model.pixels ? this.spiral.visits(hovered) : [hovered]));
  });
  readonly unwrapped = $derived.by(() => {
    const { active, drawing, hovered, info, lit, strip } = this.model;
    if (!info || !drawing || strip.w === 0 || !active) return undefined;
    return new UnwrappedView({
      info,
      drawing,
      class: this.model.class,
      size: strip,
      from: this.from,
      to: this.to,
      first: this.first,
      last: this.last,
      lit,
      hovered,
      visits: this.visits,
    });
  });

  readonly diagram = $derived.by(() => {
    const { dot, info, names, square } = this.model;
    if (!info || square.w === 0) return undefined;
    return new PersistenceView({ info, names, active: this.model.class, size: square, hovered: dot });
  });

  constructor(private readonly model: CyclesModel) {}
}
