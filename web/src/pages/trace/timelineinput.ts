// What a timeline draws, taken from the scene.
import type { Size } from '../../base/geometry';
import type { Scene } from './scene';
import type { Partner, TimelineInput } from './timeline';

export interface Pointing {
  readonly hovered: number; // operation
  readonly partners: readonly Partner[];
  readonly morph: number;
}

/** The input of one of the two timelines; undefined while there is nothing to draw. */
export function timelineInput(
  s: Scene,
  which: 'logical' | 'physical',
  size: Size,
  { hovered, partners, morph }: Pointing,
): TimelineInput | undefined {
  const recorded = s.picture?.[which];
  if (!recorded || size.w === 0) return undefined;
  const { info, selected } = s.trace;
  const ghost = s.now.run === 'recorded' ? undefined : s.picture?.ghost;
  const changed = ghost?.[which];
  const predicted = changed !== undefined && s.now.run === 'predicted';
  return {
    picture: predicted ? changed : recorded,
    ghost: predicted ? undefined : changed,
    ends: ghost && { recorded: ghost.recorded, predicted: ghost.span },
    predicted,
    from: which === 'logical' ? s.from : s.timeFrom,
    to: which === 'logical' ? s.to : s.timeTo,
    size,
    colour: s.colour,
    top: s.top,
    signed: s.signed,
    write: s.write,
    unit: s.measure?.unit ?? '',
    word: s.word,
    names: info?.names ?? [],
    groups: info?.groups ?? [],
    groupOf: info?.groupOf ?? [],
    pixel: s.now.pixel,
    partners,
    marked: s.now.function === '' ? -1 : (info?.names.indexOf(s.now.function) ?? -1),
    selected: s.kept.op,
    hovered,
    chain: s.chain,
    senders: s.kept.op >= 0 ? (selected?.senders ?? []) : [],
    discs: s.discs,
    messages: s.now.messages,
    computation: s.now.computation,
    steps: [Math.floor(s.from), Math.ceil(s.to)],
    note: s.note,
    morph: recorded.ops ? morph : 0,
  };
}
