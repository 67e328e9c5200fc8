// Asks for a measure of any column over the samples of each resource.
import { runPath, type Api } from '../../api/client';
import { Columns, header } from '../../api/decode';
import type { AskResources, ResourceAmounts } from '../../api/wire';
import type { TopologyAmounts } from './views/topology';

/** How the values of a column become one number. */
export const MEASURES = ['sum', 'mean', 'deviation', 'largest', 'count', 'distinct'] as const;
export type Measure = (typeof MEASURES)[number];

/** A column and a measure as a link holds them, "width:largest". */
export function readAmount(text: string | undefined): { column: string; measure: Measure } | undefined {
  const at = text?.lastIndexOf(':') ?? -1;
  const measure = MEASURES.find((m) => m === text?.slice(at + 1));
  return text && at > 0 && measure ? { column: text.slice(0, at), measure } : undefined;
}

/** The measures that say something about a kind of column. */
export function measuresOf(kind: string): readonly Measure[] {
  if (kind === 'category' || kind === 'address') return ['count', 'distinct'];
  return kind === 'time' ? MEASURES.filter((m) => m !== 'sum') : MEASURES;
}

export async function askResources(
  api: Api,
  question: AskResources & { run: string },
  signal: AbortSignal,
): Promise<TopologyAmounts> {
  const { run, ...ask } = question;
  const body = { body: JSON.stringify(ask), headers: { 'Content-Type': 'application/json' } };
  const r = await api.request('POST', runPath(run, 'resources'), body, signal);
  const buffer = await r.arrayBuffer();
  const { json, start } = header(buffer);
  const head = json as ResourceAmounts;
  const columns = new Columns(buffer, start, head.columns);
  return {
    of: JSON.stringify(question),
    name: head.name,
    unit: head.unit,
    modelled: head.provenance === 'modelled',
    atLeast: head.atLeast,
    mean: ask.measure === 'mean' || ask.measure === 'deviation',
    passed: columns.f64(head.passed),
    passedSamples: columns.u32(head.passedSamples),
    served: columns.f64(head.served),
    servedSamples: columns.u32(head.servedSamples),
  };
}
