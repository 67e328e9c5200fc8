// Builds the program that the tests start, once for all files. ISOBATH names
// one that is built already.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export default function setup(): () => void {
  if (process.env['ISOBATH']) return () => {};
  const folder = mkdtempSync(join(tmpdir(), 'isobath-e2e-bin-'));
  const binary = join(folder, 'isobath');
  const root = fileURLToPath(new URL('..', import.meta.url));
  execFileSync('go', ['build', '-o', binary, './cmd/isobath'], {
    cwd: root,
    env: { ...process.env, CGO_ENABLED: '0' },
    stdio: 'inherit',
  });
  process.env['ISOBATH'] = binary;
  return () => rmSync(folder, { recursive: true });
}
