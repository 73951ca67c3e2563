// What works on this host, as a home remembers it that was used since the boot: no program of a test tries it out again.
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { confinementKind } from '../../src/processes/confine.ts';
import { containment, rememberProbes } from '../../src/processes/contain.ts';

const name = 'probes.json';

/** Once for a run of the tests; where it is not done, as in `npm run prove`, each home finds out for itself. */
export function probeOnce(folder: string): void {
  rememberProbes(join(folder, name));
  containment();
  confinementKind();
  rememberProbes(undefined);
}

/** A new home, unless it is there. */
export function homeWithProbes(home: string): void {
  const probes = join(tmpdir(), name);
  if (existsSync(home) || !existsSync(probes)) return;
  mkdirSync(home, { mode: 0o700 });
  copyFileSync(probes, join(home, name));
}
