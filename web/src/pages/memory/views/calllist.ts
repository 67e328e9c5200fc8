// The tree of calls as lists with rows to open: all calls, or the callers of a
// function and what it calls side by side.
import type { CallNode, CallTree } from '../../../api/wire';
import { count, percent, roughly } from '../../../base/format';
import type { ListColumn, ListInput } from '../../../frame/list';
import { START, termOf, weightOf, type CallMark, type CallPart, type CallValue } from './calls';

export interface CallRow extends CallMark {
  readonly node: CallNode;
  readonly name: string;
  readonly key: string;
  readonly children: boolean;
  readonly open: boolean;
}

interface Listed {
  readonly tree: CallTree;
  readonly value: CallValue;
  readonly unit: string;
  readonly timed: boolean;
  readonly modelled: boolean;
}

const OPEN = 0.05; // share of the whole from which rows are open at first
const INDENT = '\u2003'; // em space: wide enough to see, kept by tables

type Columns = readonly ListColumn<CallRow>[];

/** Columns stand in place of those of one run, before the names. */
export function callList(
  listed: Listed,
  turned: ReadonlySet<string>,
  columns: Columns = columnsOf(listed),
): readonly ListInput<CallRow>[] {
  const { tree } = listed;
  const of = (name: string, part: CallPart): ListInput<CallRow> =>
    inputOf(name, part, listed, turned, columns);
  if (tree.function === '') return [of('Call tree', 'callees')];
  return [of(`Callers of ${tree.function}`, 'callers'), of(`Callees of ${tree.function}`, 'callees')];
}

function columnsOf({ tree, value, unit, timed, modelled }: Listed): Columns {
  const whole = weightOf(tree.total, value);
  const about = roughly(modelled);
  const latency: Columns = timed
    ? [
        {
          head: unit,
          right: true,
          text: (r) => about + count(r.node.total.latency),
          exact: (r) => String(r.node.total.latency),
        },
      ]
    : [];
  return [
    {
      head: 'share',
      right: true,
      text: (r) => percent(weightOf(r.node.total, value), whole),
      exact: (r) => String(weightOf(r.node.total, value) / Math.max(whole, 1)),
    },
    { head: 'samples', right: true, text: (r) => count(r.node.total.samples) },
    { head: 'own', right: true, text: (r) => count(r.node.self.samples) },
    { head: 'selected', right: true, text: (r) => count(r.node.selected.samples) },
    ...latency,
  ];
}

function inputOf(
  name: string,
  part: CallPart,
  listed: Listed,
  turned: ReadonlySet<string>,
  columns: Columns,
): ListInput<CallRow> {
  const { tree, value } = listed;
  const all = rowsOf(tree, part, value, turned);
  return {
    name,
    rows: all.filter((r) => r.shown).map((r) => r.row),
    listed: all.map((r) => r.row),
    term: (r) => termOf(tree, r),
    samples: (r) => r.node.total.samples,
    columns: [
      ...columns,
      {
        head: part === 'callers' ? 'called by' : 'calls',
        link: true,
        mono: true,
        most: 700,
        text: (r) => INDENT.repeat(r.node.depth) + r.name,
        exact: (r) => r.path.map((f) => f || START).join(';'),
        spoken: (r) => r.name,
      },
    ],
  };
}

/** Every node, and whether all that it is below are open. */
function rowsOf(
  tree: CallTree,
  part: CallPart,
  value: CallValue,
  turned: ReadonlySet<string>,
): { readonly row: CallRow; readonly shown: boolean }[] {
  const nodes = part === 'callers' ? tree.callers : tree.callees;
  const whole = weightOf(tree.total, value);
  const above: { name: string; open: boolean }[] = [];
  return nodes.map((node, i) => {
    above.length = node.depth;
    const path = [...above.map((a) => a.name), node.function];
    const key = JSON.stringify([part, path]);
    const children = (nodes[i + 1]?.depth ?? 0) > node.depth;
    const open = children && weightOf(node.total, value) >= OPEN * whole !== turned.has(key);
    const shown = above.every((a) => a.open);
    above.push({ name: node.function, open });
    return { row: { part, path, node, name: node.function || START, key, children, open }, shown };
  });
}
