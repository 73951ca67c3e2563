// Recipes of AGENTS.md carried out on a copy of the repository: what each promises is all that it takes.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeBudget } from '../fences/budget.ts';
import { findBreaks } from '../fences/check.ts';
import { house, surface } from '../fences/house.ts';
import { type Modules, readModules } from '../fences/module.ts';
import { type Copy, copyOfRepository, type Ran } from './copy.ts';
import { addTriage } from './triage.ts';

let copy: Copy;
let modules: Modules;
let types: Promise<Ran>;
let project: string;
let ralph: (...words: readonly string[]) => Promise<Ran>;

const commandRow = `  {
    usage: 'names',
    summary: 'the names of all loops',
    examples: ['ralph names'],
    load: () => import('./commands/names.ts'),
  },`;

beforeAll(async () => {
  copy = copyOfRepository();
  // An agent: one file, one row.
  copy.add('parrot.ts', 'src/agents/cli/parrot.ts');
  copy.row('src/agents/registry.ts', "  parrot: async () => (await import('./cli/parrot.ts')).parrot,", '} satisfies');
  // A command: one file, one row.
  copy.add('names.ts', 'src/cli/commands/names.ts');
  copy.row('src/cli/command-table.ts', commandRow, "  {\n    usage: 'doctor',");
  // A mode: one folder, one row.
  addTriage(copy);
  // A surface: one folder, and its row among the rooms of the house.
  copy.add('page.ts', 'src/page/page.ts');
  // Then `npm run docs` and `npm run budget`.
  const docs = copy.node(['scripts/docs.ts', '--write']);
  modules = readModules(copy.folder, 'src');
  writeBudget(copy.folder, modules);
  expect(await docs).toMatchObject({ code: 0 });
  types = copy.node([join(import.meta.dirname, 'types.ts'), copy.folder, ...copy.changed]);

  project = join(copy.folder, 'scratch', 'project');
  const bin = join(copy.folder, 'scratch', 'bin');
  for (const folder of [project, bin]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(bin, 'parrot-cli'), '#!/bin/sh\ncat >/dev/null\necho "<promise>DONE</promise>"\n');
  chmodSync(join(bin, 'parrot-cli'), 0o755);
  const env = {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: project,
    RALPH_HOME: join(copy.folder, 'scratch', 'home'),
  };
  ralph = (...words) => copy.node([join(copy.folder, 'bin', 'ralph'), ...words], { cwd: project, env });
});
afterAll(async () => {
  await types;
  copy.end();
});

describe('after the recipes', () => {
  it('the fences hold', () => {
    const { bundle } = house.pathLists; // vitest and knip name tests, which are not copied
    const withPage = { ...house, rooms: { ...house.rooms, page: surface }, pathLists: { bundle } };
    expect(findBreaks(copy.folder, withPage, modules)).toEqual([]);
  });

  it('the linter has nothing to say', async () => {
    const added = ['src/agents', 'src/cli', 'src/modes', 'src/page'];
    const { code, stdout, stderr } = await copy.node(['node_modules/@biomejs/biome/bin/biome', 'check', ...added]);
    expect(code, stdout + stderr).toBe(0);
  });

  it('the types fit', async () => {
    expect(await types).toMatchObject({ code: 0, stdout: '' });
  });
});

describe('an agent that was added', () => {
  it('has its section in the pages, with what to beware of', () => {
    expect(copy.read('docs/agents.md')).toContain('### parrot\n\nIt repeats what it heard last.');
  });

  it('is listed, and works through a loop', async () => {
    const listed = JSON.parse((await ralph('agents', 'list', '--json')).stdout) as { agents: { name: string }[] };
    expect(listed.agents.map(one => one.name)).toContain('parrot');
    expect(
      await ralph('run', 'say hello to everybody', '--agent', 'parrot', '--verify', 'test -d .', '--yes', '--force'),
    ).toMatchObject({
      code: 0,
    });
  });
});

describe('a command that was added', () => {
  it('has its section in the pages', () => {
    expect(copy.read('docs/cli.md')).toContain('## ralph names\n\nThe names of all loops.');
  });

  it('does its work, after the loop above', async () => {
    expect(await ralph('names')).toMatchObject({ code: 0, stdout: 'say-hello-to-everybody\n' });
  });
});

describe('a mode that was added', () => {
  it('stands in the pages, and can be named', async () => {
    expect(copy.read('docs/cli.md')).toMatch(/[Ww]hat the document is: .*triage/);
    const { stderr } = await ralph('run', 'nothing.json', '--mode', 'triage', '--force');
    expect(stderr).toContain('There is no file "nothing.json".');
  });
});
