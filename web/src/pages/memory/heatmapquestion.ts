// Asks for a heat map and decodes its answer.
import { runPath, type Api } from '../../api/client';
import { Columns, header } from '../../api/decode';
import type { AskHeatmap, Heatmap } from '../../api/wire';
import type { HeatGrid } from './views/heatmap';

export async function askHeatmap(
  api: Api,
  run: string,
  ask: AskHeatmap,
  signal: AbortSignal,
): Promise<HeatGrid> {
  const body = { body: JSON.stringify(ask), headers: { 'Content-Type': 'application/json' } };
  const r = await api.request('POST', runPath(run, 'heatmap'), body, signal);
  const buffer = await r.arrayBuffer();
  const { json, start } = header(buffer);
  const head = json as Heatmap;
  const columns = new Columns(buffer, start, head.columns);
  return {
    by: head.by,
    edges: columns.f64(head.edges),
    rows: head.rows,
    samples: columns.u32(head.samples),
    sums: columns.f64(head.sums),
    valued: columns.u32(head.valued),
    levels: head.levels,
    mix: head.mix.map((m) => columns.u32(m)),
    missing: head.missing,
    still: JSON.stringify([run, ask]),
  };
}
