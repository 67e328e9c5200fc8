// Which picture of the machine two runs have: their difference, A or B on the
// scale of both, or one beside the other where the machines differ.
import type { PlacesAnswer } from '../../../api/decode';
import type { Pair } from '../../../api/wire';
import { TopologyView, type TopologyInput } from '../views/topology';
import { amongBoth, machinesOf, MachinesView, sideOf } from './machines';
import { ChangeTopologyView } from './topology';

/** `input` is the run that is shown, B beside a difference; `other` the other one. */
export function topologyOfPair(
  input: TopologyInput,
  other: PlacesAnswer,
  pair: Pair,
  shown: 'a' | 'b' | 'diff',
): TopologyView | MachinesView {
  if (pair.apart) return ofMachines(input, other, pair.apart, shown);
  if (shown === 'diff') return new ChangeTopologyView({ ...input, before: other, allowance: pair.allowance });
  const among = amongBoth(new TopologyView(input), new TopologyView({ ...input, places: other }));
  return new TopologyView({ ...input, among });
}

function ofMachines(
  input: TopologyInput,
  other: PlacesAnswer,
  apart: string,
  shown: 'a' | 'b' | 'diff',
): TopologyView | MachinesView {
  if (input.root === 0 && shown === 'diff') return new MachinesView({ ...input, before: other, apart });
  // What is zoomed into is a part of one machine, whichever run is shown.
  const side = input.root > 0 ? sideOf(input, input.root) : shown;
  const places = { a: shown === 'a' ? input.places : other, b: shown === 'a' ? other : input.places };
  const [a, b] = machinesOf(input);
  const of = (s: 'a' | 'b'): TopologyInput => ({ ...input, root: s === 'a' ? a : b, places: places[s] });
  const among = amongBoth(new TopologyView(of('a')), new TopologyView(of('b')));
  const own = side === 'a' ? of('a') : of('b');
  return new TopologyView({ ...own, root: input.root > 0 ? input.root : own.root, among });
}
