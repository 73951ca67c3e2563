// A scratch git repository with a loop's work in it: what the tests of checkpoints, undo and diff look at.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { startFrom, untidied } from '../git/template.ts';
import { prd, type Scratch, type Told } from './kit.ts';

export const git = (place: Scratch, ...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: place.project, env: { ...place.env, ...untidied }, encoding: 'utf8' });

/** Three files, one of them edited and one more made after the only commit. */
export function makeRepository(place: Scratch, stories: readonly string[]): void {
  startFrom({ 'PRD.json': prd(stories), 'a.txt': 'one\ntwo\nthree\n', 'b.txt': 'b\n' }, place.project);
  place.put('b.txt', 'b\nmine\n');
  place.put('u.txt', 'untracked\n');
}

/** Adds a line to a.txt, makes a file of its own, reports, and claims its task. */
export const worker = [
  'read -r _; [ -d made ] || mkdir made',
  'echo "$RALPH_TASK" >> a.txt',
  `printf '\\033[31mred\\033[0m %s\\n' "$RALPH_TASK" > "made/$RALPH_TASK.txt"`,
  `echo '<report>{"decisions": ["keep it small"], "completed": ["wrote the file"]}</report>'`,
  'echo "Task $RALPH_TASK complete"',
].join('; ');

export const runWith = (agent: string): readonly string[] => [
  'run',
  'PRD.json',
  '--agent-command',
  agent,
  '--verify',
  'file:a.txt',
  '--quiet',
];

/** Files of the project (not of git), each with its content. */
export function filesOf(place: Scratch): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(place.project, { recursive: true, encoding: 'utf8' }).sort()) {
    if (name === '.git' || name.startsWith('.git/')) continue;
    const path = join(place.project, name);
    const stat = lstatSync(path);
    if (stat.isFile()) found[name] = readFileSync(path, 'utf8');
    else if (stat.isSymbolicLink()) found[name] = readlinkSync(path);
  }
  return found;
}

const hashOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

/** Everything that a dry run must leave alone: files, every ref, HEAD, the index, and the ledger. */
export async function everything(place: Scratch): Promise<unknown> {
  return {
    files: filesOf(place),
    refs: git(place, 'for-each-ref'),
    head: git(place, 'rev-parse', 'HEAD'),
    index: hashOf(join(place.project, '.git/index')),
    ledger: (await place.ralph(['events'])).stdout,
  };
}

export const passes = (place: Scratch): readonly boolean[] =>
  (JSON.parse(place.read('PRD.json')) as { userStories: { passes: boolean }[] }).userStories.map(one => one.passes);

export const ok = async (told: Promise<Told>): Promise<Told> => {
  const ended = await told;
  if (ended.code !== 0) throw new Error(`exit ${ended.code}\n${ended.stdout}\n${ended.stderr}`);
  return ended;
};

export const loopOf = (place: Scratch): string => readdirSync(join(place.home, 'loops'))[0] ?? '';
