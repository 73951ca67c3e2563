// What a start does and does not do on the way to its first agent: files of code read, programs started.
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { binary, inScratch, type Scratch } from './kit.ts';

const story = { id: 'US-001', title: 'One', description: 'It.', criteria: ['it is there'], passes: false };
const document = JSON.stringify({ project: 'start', description: 'A start.', userStories: [story] });
const agent = ['--agent-command', 'echo x >>made; echo Task US-001 complete'];
const words = ['run', 'PRD.json', '--yes', '--no-input', '--new', ...agent];

/** Programs of these names before the real ones on PATH, that write down that they were started. */
function counted({ root, env }: Scratch, names: readonly string[]) {
  const [folder, path] = [join(root, 'counted'), env['PATH'] ?? ''];
  const log = join(folder, 'log');
  mkdirSync(folder);
  for (const name of names) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho ${name} >>'${log}'\nPATH='${path}' exec ${name} "$@"\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const taken = (): readonly string[] => {
    const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
    writeFileSync(log, '');
    return lines.filter(line => line !== '');
  };
  return { PATH: `${folder}${delimiter}${path}`, taken };
}

describe('a start', () => {
  it('reads one file: help, a loop in a new home and its status need none of the libraries', () =>
    inScratch(async place => {
      const alone = join(place.root, 'ralph.cjs');
      copyFileSync(binary, alone);
      writeFileSync(join(place.project, 'PRD.json'), document);
      for (const typed of [['--help'], words, ['status']])
        expect(await place.ralph(typed, { binary: alone })).toMatchObject({ code: 0 });
    }));

  it('tries out the sandbox once since the machine was started, and asks no git where there is no repository', () =>
    inScratch(async place => {
      const { PATH, taken } = counted(place, ['git', 'setsid']);
      const started = async () => {
        writeFileSync(join(place.project, 'PRD.json'), document);
        expect(await place.ralph(words, { env: { PATH } })).toMatchObject({ code: 0 });
        return taken();
      };
      const first = await started();
      expect(first.filter(name => name === 'git')).toEqual([]);
      const probes = join(place.home, 'probes.json');
      if (existsSync(probes) && readFileSync(probes, 'utf8').includes('confinement')) expect(first).toContain('setsid');
      if (first.length > 0) expect(await started()).toEqual([]);
    }));
});
