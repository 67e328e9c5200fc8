import { defineConfig } from 'vitest/config';

// Browser tests share two cores and one display: one file at a time.
export default defineConfig({
  test: {
    include: ['*.test.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    globalSetup: ['build.ts'],
    // Node 20 has WebSocket behind this; the tests in Firefox need it.
    execArgv: ['--experimental-websocket'],
  },
});
