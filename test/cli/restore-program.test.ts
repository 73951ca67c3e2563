// The program that restores files is a file of the package: the binary runs it, and an update of the package does not reach one that runs.
import { copyFileSync, cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { binary, inScratch, type Scratch } from './kit.ts';
import { git, makeRepository, runWith, worker } from './repository.ts';

const built = join(dirname(binary), 'apply-restore.js');
const another = 'throw new Error("another program");';

/** Not the library, and not what was compiled. */
const isOfTheBinary = (path: string): boolean => !/\/(?:cache|chunks)$|\.map$/.test(path);

/** A package of its own, as npm installs it; what it runs can be replaced. */
function installed(place: Scratch): { readonly binary: string; readonly program: string } {
  const folder = join(place.root, 'installed');
  cpSync(dirname(binary), join(folder, 'dist'), { recursive: true, filter: isOfTheBinary });
  copyFileSync(join(dirname(dirname(binary)), 'package.json'), join(folder, 'package.json'));
  return { binary: join(folder, 'dist/ralph.cjs'), program: join(folder, 'dist/apply-restore.js') };
}

describe('given a package of its own', () => {
  it('when its program is another one, then undo runs that, and is finished with the right one', () =>
    inScratch(async place => {
      makeRepository(place, ['US-001']);
      const { binary, program } = installed(place);
      expect((await place.ralph(runWith(worker), { binary })).code).toBe(0);
      writeFileSync(program, another);
      const cut = await place.ralph(['undo', '--yes'], { binary });
      expect(cut.code).not.toBe(0);
      expect(cut.stderr).toContain('another program');
      expect(existsSync(join(place.project, 'made/US-001.txt'))).toBe(true);
      copyFileSync(built, program);
      await place.ralph(['undo', '--yes'], { binary });
      expect(existsSync(join(place.project, 'made/US-001.txt'))).toBe(false);
      expect(place.read('a.txt')).toBe('one\ntwo\nthree\n');
    }));

  it.each([
    ['replaced', (program: string) => `echo '${another}' > ${program}`],
    ['removed', (program: string) => `rm ${program}`],
  ])('when it is %s while a loop runs, then a rollback of that loop restores all the same', (_how, change) =>
    inScratch(async place => {
      makeRepository(place, ['US-001']);
      const { binary, program } = installed(place);
      const failing = `read -r _; echo wrong > made-wrongly.txt; ${change(program)}; exit 1`;
      const words = [...runWith(failing), '--rollback-after', '1', '--max-iterations', '1'];
      await place.ralph(words, { binary });
      const restored = (await place.ralph(['events', '--json'])).stdout.includes('"checkpoint.restored"');
      expect([restored, existsSync(join(place.project, 'made-wrongly.txt'))]).toEqual([true, false]);
      expect(existsSync(program) && readFileSync(program, 'utf8') === readFileSync(built, 'utf8')).toBe(false);
      expect(git(place, 'status', '--porcelain')).toContain('M b.txt');
    }),
  );
});

it('the program is one file: it needs no other of the package', () => {
  const text = readFileSync(built, 'utf8');
  const imports = [...text.matchAll(/(?:from|import)\s*\(?["']([^"']+)["']/g)].map(found => found[1]);
  expect(imports.filter(name => !name?.startsWith('node:'))).toEqual([]);
  expect(imports).toContain('node:fs');
});
