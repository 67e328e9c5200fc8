// Where in the source the selected operation, or the active cause, is.
import type { Operation, ReportGain } from '../../api/wire';

export interface CodePlace {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

/** Undefined where the trace does not name a file. */
export function codePlace(op: Operation | undefined, cause: ReportGain | undefined): CodePlace | undefined {
  if (op?.file) {
    const what = op.site ? `where ${op.name} is called` : `where ${op.region} begins, which calls ${op.name}`;
    return { file: op.file, line: op.line, what };
  }
  if (op || !cause?.file) return undefined;
  return {
    file: cause.file,
    line: cause.line ?? 1,
    what: `where cause ${cause.rank} is: ${cause.operation ?? ''}`,
  };
}
