import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

// What every page uses is one chunk, loaded first: twenty small ones compress worse.
// What only other pages and dialogs use is not part of it.
const SHARED = new RegExp(
  'node_modules/svelte/(?!.*(bindings/select|blocks/html))' +
    '|src/base/(?!svg|tar|scale|change)|src/api/(?!code)|src/state/(?!arrange|live|pagestore|references|sync|turning|typed)' +
    '|src/frame/host/|src/frame/(view|badge)\\.|src/frame/(Badge|Menu|PaneHeader|PopMenu|RegionB|StatusBar|ViewHost|context|keymap|viewactions)\\.',
);

// The binary embeds assets packed, a third of their size; embed.go unpacks them.
const PACK = {
  name: 'pack-assets',
  apply: 'build' as const,
  closeBundle() {
    const folder = fileURLToPath(new URL('dist/assets', import.meta.url));
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
      rmSync(path);
    }
  },
};

// The page is served by the isobath binary from embedded files. go:embed skips
// names that begin with _ or ., so chunks get plain hashed names.
export default defineConfig({
  base: './',
  plugins: [svelte(), PACK],
  build: {
    outDir: 'dist',
    emptyOutDir: false, // keeps the committed stub.html; the build script removes old assets
    target: 'es2022',
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        entryFileNames: 'assets/[name]-[hash].js',
        chunkFileNames: 'assets/chunk-[hash].js',
        assetFileNames: 'assets/[name]-[hash][extname]',
        codeSplitting: { groups: [{ name: 'shared', test: SHARED }] },
      },
    },
  },
  server: {
    // `isobath open --no-browser --port 7117 FILE` beside `npm run dev`.
    proxy: { '/api': 'http://127.0.0.1:7117' },
  },
  // The limits only end what hangs.
  test: {
    include: ['src/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
