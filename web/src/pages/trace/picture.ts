// Reads the binary picture of a trace; internal/messages/timeline describes its parts.
import { Columns, header } from '../../api/decode';
import type * as wire from '../../api/wire';

/** The operation or line that is none. */
export const NONE = 0xffffffff;

type Read<T> = { readonly [K in keyof T]: Uint32Array };

export interface Ops {
  readonly id: Uint32Array;
  readonly line: Uint32Array;
  readonly step: Uint32Array;
  readonly part: Uint32Array;
  readonly kind: Uint16Array;
  readonly name: Uint16Array;
  readonly value: Float64Array; // ns
  readonly before: Float64Array;
  readonly began: Float64Array;
  readonly enter: Float64Array;
  readonly exit: Float64Array;
  readonly reach: Uint16Array;
  readonly bands: Uint32Array; // line, partition, first step, steps
}

export interface Cells {
  readonly count: number; // columns of a line
  readonly most: Float32Array;
  readonly mean: Float32Array;
  readonly op: Uint32Array;
  readonly part: Uint32Array;
  readonly name: Uint16Array;
}

export interface Messages extends Omit<Read<wire.TimelineMessages>, 'fromExit' | 'toExit' | 'late'> {
  readonly late: Uint16Array; // 1: it made its receiver late
  readonly fromExit: Float64Array;
  readonly toExit: Float64Array;
}

/** Nested regions; depth 0 is the outermost. */
export interface Stack {
  readonly levels: number;
  readonly line: Uint32Array;
  readonly depth: Uint32Array;
  readonly region: Uint16Array;
  readonly enter: Float64Array;
  readonly exit: Float64Array;
}

/** Calls that are no operations. */
export interface Others {
  readonly line: Uint32Array;
  readonly name: Uint16Array;
  readonly enter: Float64Array;
  readonly exit: Float64Array;
}

/** Samples of the selection, by line and column. */
export interface Marks {
  readonly samples: number; // in the window
  readonly all: number; // of the selection, on ranks of the trace
  readonly first: number; // ns, of all of them
  readonly last: number;
  readonly line: Uint32Array;
  readonly at: Uint32Array;
  readonly count: Uint32Array;
}

export interface Timeline {
  readonly window: wire.Window;
  readonly rows: number;
  readonly lines: readonly wire.Line[];
  readonly lineOf: Uint32Array; // by process; NONE for those that are not drawn
  readonly ops: Ops | undefined;
  readonly cells: Cells | undefined;
  readonly messages: Messages | undefined;
  readonly flow: Uint32Array;
  readonly sent: number;
  readonly ribbon: Uint32Array;
  readonly stack: Stack | undefined;
  readonly marks: Marks | undefined;
  readonly others: Others | undefined;
  readonly track: Float32Array; // of a recorded measure, line by line; empty without one
}

export interface Overview {
  readonly most: Float64Array;
  readonly mean: Float64Array;
  readonly op: Uint32Array;
}

export interface Picture {
  readonly took: number;
  readonly logical: Timeline | undefined;
  readonly physical: Timeline | undefined;
  readonly overview: Overview | undefined;
  readonly ghost: Ghost | undefined; // the run with changes
}

export interface Ghost {
  readonly logical: Timeline | undefined;
  readonly physical: Timeline | undefined;
  readonly recorded: number; // ns, how long the runs take
  readonly span: number;
}

export function decodePicture(buffer: ArrayBuffer): Picture {
  const { json, start } = header(buffer);
  const head = json as wire.PictureAnswer;
  const columns = new Columns(buffer, start, head.columns);
  const { overview: o, ghost: g } = head;
  const drawn = (t: wire.TimelineAnswer | null): Timeline | undefined =>
    t ? timeline(columns, t) : undefined;
  return {
    took: head.took,
    logical: drawn(head.logical),
    physical: drawn(head.physical),
    ghost: g
      ? { logical: drawn(g.logical), physical: drawn(g.physical), recorded: g.recorded, span: g.span }
      : undefined,
    overview: o ? { most: columns.f64(o.most), mean: columns.f64(o.mean), op: columns.u32(o.op) } : undefined,
  };
}

function timeline(c: Columns, t: wire.TimelineAnswer): Timeline {
  const { ops: o, cells: k, messages: m, stack: s, marks: n, others: c0 } = t;
  return {
    window: t.window,
    rows: t.rows,
    lines: t.lines,
    lineOf: c.u32(t.lineOf),
    track: c.f32(t.track),
    others: c0
      ? { line: c.u32(c0.line), name: c.u16(c0.name), enter: c.f64(c0.enter), exit: c.f64(c0.exit) }
      : undefined,
    sent: t.sent,
    flow: c.u32(t.flow),
    ribbon: c.u32(t.ribbon),
    stack: s
      ? {
          levels: s.levels,
          line: c.u32(s.line),
          depth: c.u32(s.depth),
          region: c.u16(s.region),
          enter: c.f64(s.enter),
          exit: c.f64(s.exit),
        }
      : undefined,
    marks: n
      ? {
          samples: n.samples,
          all: n.all,
          first: n.first,
          last: n.last,
          line: c.u32(n.line),
          at: c.u32(n.at),
          count: c.u32(n.count),
        }
      : undefined,
    ops: o
      ? {
          id: c.u32(o.id),
          line: c.u32(o.line),
          step: c.u32(o.step),
          part: c.u32(o.part),
          kind: c.u16(o.kind),
          name: c.u16(o.name),
          value: c.f64(o.value),
          before: c.f64(o.before),
          began: c.f64(o.began),
          enter: c.f64(o.enter),
          exit: c.f64(o.exit),
          reach: c.u16(o.reach),
          bands: c.u32(o.bands),
        }
      : undefined,
    cells: k
      ? {
          count: k.count,
          most: c.f32(k.most),
          mean: c.f32(k.mean),
          op: c.u32(k.op),
          part: c.u32(k.part),
          name: c.u16(k.name),
        }
      : undefined,
    messages: m
      ? {
          from: c.u32(m.from),
          to: c.u32(m.to),
          fromLine: c.u32(m.fromLine),
          toLine: c.u32(m.toLine),
          fromStep: c.u32(m.fromStep),
          toStep: c.u32(m.toStep),
          fromExit: c.f64(m.fromExit),
          toExit: c.f64(m.toExit),
          late: c.u16(m.late),
        }
      : undefined,
  };
}
