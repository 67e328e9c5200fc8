// The items of the mesh page's menus.
import { plural } from '../../base/format';
import type { MenuItem } from '../../frame/PopMenu.svelte';
import type { MeshControl } from './control';
import type { MeshModel } from './model.svelte';
import { writeClip, type ClipPlane } from './state';
import { SCALE_CHOICES, type ScaleChoice } from './scales';
import { dumpName, fieldName } from './words';

const AXES = ['x', 'y', 'z'] as const;
const LEAST = [1, 2, 3, 5, 10];
const FEW = [1, 2, 5, 10, 30, 100];
const SCALE_NOTES: Readonly<Record<ScaleChoice, string>> = {
  auto: 'as the cells are spread',
  linear: '',
  log: 'decades',
  symlog: 'decades on both sides of 0',
  clipped: 'the middle 94 % of cells',
  rank: 'equally many cells a colour',
};

export function axisName(axis: 0 | 1 | 2): string {
  return AXES[axis];
}

export function levelItems({ info, level }: MeshModel, control: MeshControl): MenuItem[] {
  return [-1, ...Array.from({ length: info?.levels ?? 0 }, (_, i) => i)].map((l) => ({
    label: l < 0 ? 'all, finest where refined' : `level ${l}`,
    checked: l === level,
    run: () => control.commit({ level: l }),
  }));
}

export function showItems({ show, variable }: MeshModel, control: MeshControl): MenuItem[] {
  if (variable === '') return [];
  return (['performance', 'physics', 'both'] as const).map((s) => ({
    label: s === 'both' ? 'both, side by side' : s,
    checked: s === show,
    run: () => control.commit({ show: s }),
  }));
}

export function fieldItems({ info, field }: MeshModel, control: MeshControl): MenuItem[] {
  return (info?.fields ?? []).map((f) => ({
    label: fieldName(f),
    checked: f === field,
    run: () => control.commit({ field: f, min: '', max: '' }),
  }));
}

export function variableItems({ info, show, variable }: MeshModel, control: MeshControl): MenuItem[] {
  return (info?.values ?? []).map(({ name: v, subject }) => ({
    label: v,
    ...(subject !== 'physics' && { note: subject }),
    checked: v === variable,
    run: () => control.commit({ variable: v, ...(show === 'physics' ? { min: '', max: '' } : {}) }),
  }));
}

export function scaleItems({ now }: MeshModel, control: MeshControl): MenuItem[] {
  return SCALE_CHOICES.map((s) => ({
    label: s,
    note: SCALE_NOTES[s],
    checked: s === now.scale,
    run: () => control.commit({ scale: s }),
  }));
}

/** Vectors that can be drawn as arrows. */
export function arrowItems({ arrows, info }: MeshModel, control: MeshControl): MenuItem[] {
  return ['', ...(info?.vectors ?? [])].map((v) => ({
    label: v || 'none',
    checked: v === arrows,
    run: () => control.commit({ arrows: v }),
  }));
}

export function onOffItems(is: boolean, set: (on: boolean) => void): MenuItem[] {
  return [true, false].map((on) => ({ label: on ? 'on' : 'off', checked: on === is, run: () => set(on) }));
}

/** The six planes that can cut the mesh; each is on or off. */
export function clipItems({ clip }: MeshModel, control: MeshControl): MenuItem[] {
  const set = (planes: readonly ClipPlane[]): void => control.commit({ clip: writeClip(planes) });
  const plane = (axis: 0 | 1 | 2, below: boolean): MenuItem => {
    const same = (p: ClipPlane): boolean => p.axis === axis && p.below === below;
    return {
      label: `${below ? 'below' : 'above'} a plane across ${AXES[axis]}`,
      checked: clip.some(same),
      run: () => set(clip.some(same) ? clip.filter((p) => !same(p)) : [...clip, { axis, below, at: 0.5 }]),
    };
  };
  return [
    { label: 'everything', checked: clip.length === 0, run: () => set([]) },
    ...([0, 1, 2] as const).flatMap((axis) => [plane(axis, true), plane(axis, false)]),
  ];
}

export function axisItems({ now }: MeshModel, control: MeshControl): MenuItem[] {
  return ([0, 1, 2] as const).map((axis) => ({
    label: AXES[axis],
    checked: axis === now.axis,
    run: () => control.commit({ axis }),
  }));
}

/** What a threshold may be by: the field that is shown, and every variable. */
export function thresholdItems(model: MeshModel, control: MeshControl): MenuItem[] {
  const { by, field, sampled, variables } = model;
  const item = (key: string, label: string): MenuItem => ({
    label,
    checked: by === key,
    run: () => control.commit({ by: key, from: 0, to: 1 }),
  });
  return [
    ...(sampled ? [item(`f:${field}`, fieldName(field))] : []),
    ...variables.map((v) => item(`v:${v}`, v)),
  ];
}

/** The variables whose values or bands, and the layers, that make regions over time. */
export function regionItems({ region, variables }: MeshModel, control: MeshControl): MenuItem[] {
  return ['', ...variables].map((v) => ({
    label: v || 'nothing',
    checked: v === region,
    run: () => control.commit({ regions: v || 'none' }),
  }));
}

/** The dumps that a change can be since. */
export function sinceItems(model: MeshModel, control: MeshControl): MenuItem[] {
  const { info, sampled, since, step } = model;
  const item = (label: string, i: number): MenuItem => ({
    label,
    checked: i === (since ?? -1),
    run: () => control.commit({ since: i, min: '', max: '', ...(i >= 0 && sampled && { mode: 'only' }) }),
  });
  const dumps = (info?.steps ?? []).flatMap((_, i) => (i === step ? [] : [item(dumpName(info!, i), i)]));
  return [item('nothing: values', -1), ...dumps];
}

export function fewItems({ now }: MeshModel, control: MeshControl): MenuItem[] {
  return FEW.map((few) => ({
    label: few === 1 ? 'none' : `fewer than ${plural(few, 'sample')}`,
    checked: few === now.few,
    run: () => control.commit({ few }),
  }));
}

export function leastItems({ now }: MeshModel, control: MeshControl): MenuItem[] {
  return LEAST.map((n) => ({
    label: plural(n, 'sample'),
    checked: n === now.least,
    run: () => control.commit({ least: n }),
  }));
}

export function categoryItems({ categories, category }: MeshModel, control: MeshControl): MenuItem[] {
  return ['', ...categories].map((c) => ({
    label: c || 'nothing',
    checked: c === category,
    run: () => control.commit({ category: c || 'none' }),
  }));
}
