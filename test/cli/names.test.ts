// Files with names that git could take for something else: committed, restored, undone and merged, byte for byte.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inScratch, pinnedNode, type Scratch } from './kit.ts';
import { git, makeRepository, ok, runWith } from './repository.ts';

/** One character per byte. */
const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

const names: readonly string[] = [
  ...['HEAD', 'FETCH_HEAD', 'ORIG_HEAD', 'MERGE_HEAD', '@', '@{u}', '@{-1}', 'stash@{0}', 'main', 'ralph'],
  ...['refs/heads/main', 'refs/heads/HEAD', 'folder/HEAD/HEAD', 'folder/HEAD/-f', 'heads/main', 'HEAD:a.txt'],
  ...['-f', '--all', '--', '-', '--stdin', '--end-of-options', '-z/--'],
  ...[':x', ':/x', ':(glob)x', ':!x', ':(exclude)', '^x', 'x^', 'x^{tree}', 'x~1', '~', 'x..y', 'x...y'],
  ...[
    'line\nbreak',
    '\nfirst',
    'last\n',
    'line\r',
    'line',
    'tab\tx',
    '"quoted"',
    '"open',
    "it's",
    'back\\slash',
    '\\n',
  ],
  ...[
    'dot.',
    '..dots',
    '...',
    'space ',
    ' space',
    ' ',
    '*',
    '?',
    '[x]',
    '**/x',
    '#x',
    '!x',
    '{a,b}',
    '$(x)',
    '`x`',
    ';x',
  ],
  ...[
    '%00',
    '%s',
    '\u0001',
    '\u007f',
    '\u00ff\u00fe',
    '0'.repeat(40),
    '.gitx',
    '.gitmodules.x',
    'con',
    'x:y',
    'l'.repeat(250),
  ],
  ...['\u00e9.txt', 'e\u0301.txt', '\u{1f600}', '\u202egnp.exe', '\u2028'].map(bytes),
];

const at = (place: Scratch, name: string): Buffer =>
  Buffer.concat([Buffer.from(`${place.project}/`), Buffer.from(name, 'latin1')]);

/** Content by name, of those that are there. */
const onDisk = (place: Scratch): Readonly<Record<string, string>> =>
  Object.fromEntries(
    names.flatMap(name => (existsSync(at(place, name)) ? [[name, readFileSync(at(place, name), 'latin1')]] : [])),
  );

const written = (task: string, some = names): Readonly<Record<string, string>> =>
  Object.fromEntries(some.map(name => [name, `${task} ${name}`]));

/** Where a name holds a line break, git's own index makes the tree; else we do. */
const onOneLine = names.filter(name => !name.includes('\n'));

/** As git itself gives them out. */
function committed(place: Scratch, commit: string): Readonly<Record<string, string>> {
  const options = { cwd: place.project, env: { ...place.env, GIT_CONFIG_NOSYSTEM: '1' } };
  const listed = execFileSync('git', ['ls-tree', '-r', '-z', commit], options).toString('latin1');
  const rows = listed.split('\0').flatMap(row => {
    const [, object = '', path = ''] = /^\S+ blob (\S+)\t(.*)$/s.exec(row) ?? [];
    return names.includes(path) ? [[path, object] as const] : [];
  });
  const contents = execFileSync('git', ['cat-file', '--batch'], {
    ...options,
    input: rows.map(([, one]) => `${one}\n`).join(''),
  });
  let from = 0;
  return Object.fromEntries(
    rows.map(([path]) => {
      const end = contents.indexOf(10, from);
      const length = Number(contents.toString('latin1', from, end).split(' ')[2]);
      from = end + 1 + length + 1;
      return [path, contents.toString('latin1', end + 1, end + 1 + length)];
    }),
  );
}

/** An agent that writes the files of a list, or those of which it is told, each with the name of its task. */
function agentWriting(place: Scratch): string {
  const script = join(place.root, 'agent.mjs');
  writeFileSync(
    script,
    `import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
const task = process.env.RALPH_TASK;
const all = ${JSON.stringify(names)};
const some = {
  halves: { 'US-2': (_, one) => one % 2 === 0, 'US-3': (_, one) => one % 2 === 1 },
  lines: { 'US-2': name => !name.includes('\\n') },
}[process.argv[2]][task] ?? (() => true);
for (const name of all.filter(some)) {
  const path = Buffer.from(name, 'latin1');
  if (task === 'US-4') { rmSync(path); continue; }
  if (name.includes('/')) mkdirSync(Buffer.from(name.slice(0, name.lastIndexOf('/')), 'latin1'), { recursive: true });
  writeFileSync(path, Buffer.from(task + ' ' + name, 'latin1'));
}
console.log('Task ' + task + ' complete');
`,
  );
  return `read -r _; ${pinnedNode} ${script}`;
}

it('every name is committed, deleted, restored and undone exactly, and the next commit of a person loses none', () =>
  inScratch(async place => {
    makeRepository(place, ['US-1', 'US-2', 'US-4']);
    await ok(place.ralph(runWith(`${agentWriting(place)} lines`)));
    expect(committed(place, 'HEAD~2')).toEqual(written('US-1'));
    const second = { ...written('US-1'), ...written('US-2', onOneLine) };
    expect(committed(place, 'HEAD~1')).toEqual(second);
    expect(committed(place, 'HEAD')).toEqual({});
    expect(git(place, 'status', '--short')).toBe(' M b.txt\n?? PROMPT.md\n?? u.txt\n');

    await ok(place.ralph(['checkpoint', 'restore', '2', '--yes']));
    expect(onDisk(place)).toEqual(written('US-1'));
    await ok(place.ralph(['checkpoint', 'restore', '3', '--yes']));
    expect(onDisk(place)).toEqual(second);
    await ok(place.ralph(['undo', '--yes']));
    expect(onDisk(place)).toEqual(written('US-1'));
    git(place, 'commit', '-q', '--allow-empty', '-m', 'mine');
    expect(git(place, 'show', '--format=', '--name-only', 'HEAD', '--')).toBe('');
  }));

it('every name is merged from forks exactly, and by the merge of a person', () =>
  inScratch(async place => {
    makeRepository(place, ['US-1', 'US-2', 'US-3']);
    const words = [...runWith(`${agentWriting(place)} halves`), '--parallel=2'];
    await ok(place.ralph(words));
    const all = committed(place, 'ralph/shop');
    expect(Object.keys(all).sort()).toEqual([...names].sort());
    expect(readdirSync(join(place.home, 'worktrees')).length).toBeGreaterThan(0);
    git(place, 'merge', '-q', '--no-edit', 'ralph/shop', '--');
    expect(onDisk(place)).toEqual(all);
  }));
