// The settings of guided analysis as the link has them, with their defaults.
import { clamp } from '../../base/geometry';
import type { State } from '../../state/url';
import type { GuideInfo } from '../../api/wire';
import { readMetric, readMetrics, type Metric } from './views/metrics';
import type { Upper } from './views/guided';

export const WINDOWS = 64;
export const CLUSTERS = 6;
export const MOST_CLUSTERS = 24; // of the slider
export const TOP = 255; // merges asked for: enough for every cut of the slider and a picture of the tree

export interface GuideOptions {
  readonly metrics: readonly Metric[];
  readonly windows: number;
  readonly equalCount: boolean | undefined; // undefined: what suits the scale of the axis
  readonly least: number;
  readonly cluster: Metric | undefined; // undefined: no clusters
  readonly cut: { readonly count: number } | { readonly height: number };
  readonly window: number;
  readonly slide: number;
  readonly upper: Upper;
  readonly onAxes: Metric | undefined; // the strip beside each parallel axis
}

export function guideOptions(options: State['options'], info: GuideInfo): GuideOptions {
  const number = (name: string, initial: number, least: number, most: number): number => {
    const v = Number(options[name]);
    return options[name] !== undefined && Number.isFinite(v) ? clamp(v, least, most) : initial;
  };
  const metrics = readMetrics(options['strip'], info);
  const chosen = options['cluster'];
  const height = Number(options['cluster.height']);
  const upper = options['axis.show'];
  return {
    metrics,
    windows: Math.round(number('strip.windows', WINDOWS, 1, 4096)),
    equalCount: options['strip.by'] === 'count' ? true : options['strip.by'] === 'width' ? false : undefined,
    least: number('strip.least', info.minSamples, 0, 1e9),
    cluster:
      chosen === 'none'
        ? undefined
        : (chosen && readMetric(chosen, info)) || metrics[0] || readMetrics(undefined, info)[0],
    cut:
      options['cluster.height'] !== undefined && height >= 0
        ? { height }
        : { count: Math.round(number('cluster.cut', CLUSTERS, 1, TOP + 1)) },
    window: Math.round(number('cluster.window', 0, 0, 1e9)),
    slide: Math.round(number('cluster.slide', 0, 0, 1e9)),
    upper: upper === 'tree' || upper === 'glyphs' ? upper : 'histogram',
    onAxes: options['pc.strip'] === undefined ? undefined : readMetric(options['pc.strip'], info),
  };
}
