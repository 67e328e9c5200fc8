// A trial and a study whose numbers are known, for the tests of their pages.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isobath } from './harness';

const folder = mkdtempSync(join(tmpdir(), 'isobath-runs-'));

/** A file of samples: so many of two functions. */
function samples(name: string, solve: number, pack: number): string {
  const rows = [
    ...Array.from({ length: solve }, (_, i) => `solve,src/solve.c,${10 + (i % 2)},100`),
    ...Array.from({ length: pack }, () => 'pack,src/pack.c,7,100'),
  ];
  const path = join(folder, `${name}.csv`);
  writeFileSync(path, ['function,file,line,latency', ...rows].join('\n') + '\n');
  return path;
}

/** Makes something when it is first wanted. */
function once(make: () => string): () => string {
  let made: string | undefined;
  return () => (made ??= make());
}

/** A trial whose B takes 10 % longer, with a recording of its first pair. */
export const trial = once(() => {
  const dir = join(folder, 'trial');
  mkdirSync(dir);
  for (const [side, n] of [
    ['a', 300],
    ['b', 360],
  ] as const)
    isobath('import', samples(`pair-${side}`, n, 200), '-o', join(dir, `p00${side}.isobath`));
  const values = Array.from({ length: 12 }, (_, i) => {
    const a = 0.1 + 0.001 * ((7 * i) % 5);
    const b = 1.1 * (0.1 + 0.001 * ((3 * i) % 5));
    const first = i % 3 === 0 ? 'b' : 'a';
    return { pair: i, first, a: { wall: a + 0.01, cpu: a }, b: { wall: b + 0.01, cpu: b } };
  });
  const commands = [['./old'], ['./new']];
  const report = { version: 1, commands, seed: 7, metric: 'cpu', pairs: 12, most: 60, stopped: 'decided' };
  writeFileSync(join(dir, 'trial.json'), JSON.stringify({ ...report, lanes: [], hints: [], values }));
  return dir;
});

/** Twelve runs whose solve grows with n, pack does not. */
export const study = once(() => {
  const sizes = [100, 200, 400, 800];
  const runs = sizes.flatMap((n) => [0, 1, 2].map((k) => samples(`grow-${n}-${k}`, n + k, 500 - k)));
  const out = join(folder, 'study.json');
  isobath('study', ...runs, '--param', 'n=grow-(\\d+)', '--order', 'given', '-o', out);
  return out;
});
