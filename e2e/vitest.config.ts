import { defineConfig } from 'vitest/config';
import { ownTemporaryFolder } from './temporary.ts';

ownTemporaryFolder();

// Compared pixel by pixel, with what a page paints in a given time, or drawn in
// software: a browser of its own is all they may share the processors with.
const ALONE = ['screens.test.ts', 'painted.test.ts', 'mesh.test.ts'];
// Speeds, which `make bench` runs one by one.
const SPEEDS = ['bench.test.ts', 'cyclesspeed.test.ts', 'meshbench.test.ts', 'tracebench.test.ts'];

// Most of the time a browser test waits for its page or its server: two files at
// a time take little more than half as long on two processors. Tests wait for what
// the page shows, half a minute at most on a quiet machine; the limits only end what
// hangs, ten times as late.
export default defineConfig({
  test: {
    testTimeout: 300_000,
    hookTimeout: 600_000,
    // A browser on a busy machine drops a frame or a key once in thousands. What
    // passes at the second try is listed as unstable in the last line of make test.
    retry: 1,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 120_000 } },
    globalSetup: ['build.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'beside',
          include: ['*.test.ts'],
          exclude: [...ALONE, ...SPEEDS],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: [...ALONE, ...SPEEDS],
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
