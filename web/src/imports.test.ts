// Each folder imports only what stands before it, and no page another: the test
// reads every import, of types and of code that is loaded later too.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = dirname(fileURLToPath(import.meta.url));
const ORDER = ['base', 'api', 'state', 'frame', 'pages'];

const sources = (): string[] =>
  readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((f) => /\.(ts|svelte)$/.test(f));

/** The files that a source text imports, as paths below src. */
function importsOf(file: string, text: string): string[] {
  const found = text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g);
  return [...found].map((m) => relative(SRC, join(SRC, dirname(file), m[1]!)));
}

/** Why a file may not import another; undefined if it may. */
function wrong(file: string, imported: string): string | undefined {
  const [from, fromPage] = file.split('/');
  const [to, toPage] = imported.split('/');
  if (!file.includes('/')) return undefined; // main.ts and pages.ts put everything together
  const [here, there] = [ORDER.indexOf(from!), ORDER.indexOf(to!)];
  if (here < 0) return `${file}: ${from} is none of ${ORDER.join(', ')}`;
  if (there < 0 || there > here) return `${file} imports ${imported}: ${from} stands before ${to}`;
  if (from === 'pages' && to === 'pages' && fromPage !== toPage)
    return `${file} imports ${imported} of another page`;
  return undefined;
}

describe('imports', () => {
  it('point one way', () => {
    const files = sources();
    const imports = files.flatMap((f) =>
      importsOf(f, readFileSync(join(SRC, f), 'utf8')).map((i) => [f, i] as const),
    );
    expect(imports.length).toBeGreaterThan(files.length);
    expect(imports.flatMap(([f, i]) => wrong(f, i) ?? [])).toEqual([]);
  });

  it.each([
    ['base/a.ts', "import { b } from '../frame/b';", 'base/a.ts imports frame/b: base stands before frame'],
    [
      'frame/A.svelte',
      "void import('../pages/mesh/M.svelte');",
      'frame/A.svelte imports pages/mesh/M.svelte: frame stands before pages',
    ],
    [
      'frame/a.ts',
      "import { PAGES } from '../pages';",
      'frame/a.ts imports pages: frame stands before pages',
    ],
    [
      'pages/mesh/a.ts',
      "import type { B } from '../trace/b';",
      'pages/mesh/a.ts imports pages/trace/b of another page',
    ],
    ['model/a.ts', "import '../base/b';", 'model/a.ts: model is none of base, api, state, frame, pages'],
    ['pages/mesh/a.ts', "import './b'; import '../../base/c';", undefined],
  ])('of %s: %s', (file, text, why) => {
    expect(
      importsOf(file, text)
        .map((i) => wrong(file, i))
        .find(Boolean),
    ).toBe(why);
  });
});

describe('the mark of what is not exact', () => {
  it('is chosen in one place', () => {
    const chosen = sources().filter((f) =>
      /\? '≈ ?' : ''|\? '' : '≈ ?'/.test(readFileSync(join(SRC, f), 'utf8')),
    );
    // The fixture stands for the server, which says it of columns.
    expect(chosen.filter((f) => !f.endsWith('.test.ts')).sort()).toEqual([
      'api/fixture.ts',
      'base/format.ts',
    ]);
  });
});
