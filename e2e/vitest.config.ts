import { defineConfig } from 'vitest/config';

// Browser tests share two cores and one display: one file at a time. Tests wait
// for what the page shows; the limits only end what hangs, on any machine.
export default defineConfig({
  test: {
    include: ['*.test.ts'],
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // A browser on a busy machine drops a frame or a key once in thousands. What
    // passes at the second try is listed as unstable in the last line of make test.
    retry: 1,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 120_000 } },
    globalSetup: ['build.ts'],
    // Node 20 has WebSocket behind this; the tests in Firefox need it.
    execArgv: ['--experimental-websocket'],
  },
});
