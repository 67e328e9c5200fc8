// One folder for everything temporary that a run of the tests makes: its own
// files, those of the programs it starts and of the browsers. It goes with the
// run, also what a test that failed, or a browser that was ended, left in it.

import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const OWN = /^isobath-e2e-(\d+)$/;

/** Says whether a process of that number is there, of whichever user. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (e) {
    return (e as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Makes the folder the place for temporary files of this process and of those it starts. */
export function ownTemporaryFolder(): void {
  const parent = tmpdir();
  if (OWN.test(parent.slice(parent.lastIndexOf('/') + 1))) return; // a part of the same run
  for (const name of readdirSync(parent)) {
    const pid = OWN.exec(name)?.[1]; // of a run that was killed
    if (pid && !lives(Number(pid))) rmSync(join(parent, name), { recursive: true, force: true });
  }
  const folder = join(parent, `isobath-e2e-${process.pid}`);
  mkdirSync(folder, { mode: 0o700, recursive: true });
  // Pictures that differ are looked at when the run is over.
  process.env['ISOBATH_SCREENS_OUT'] ??= join(parent, 'isobath-screens');
  process.env['TMPDIR'] = folder;
  process.on('exit', () => {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    } catch {
      // a browser still writes there: the next run removes it
    }
  });
}
