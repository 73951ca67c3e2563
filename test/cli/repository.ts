// A scratch git repository with a loop's work in it: what the tests of checkpoints, undo and diff look at.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prd, type Scratch, type Told } from './kit.ts';

export const git = (place: Scratch, ...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: place.project, env: { ...place.env, GIT_CONFIG_NOSYSTEM: '1' }, encoding: 'utf8' });

/** By its stories, for as long as this worker lives: most tests begin with one of two. */
const models = new Map<string, string>();

function modelOf(stories: readonly string[]): string {
  const document = prd(stories);
  const known = models.get(document);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), 'ralph-model-'));
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: folder, env });
  git('init', '-q', '--template=', '-b', 'main'); // without a dozen examples of hooks to copy
  for (const name of ['hooks', 'info']) mkdirSync(join(folder, '.git', name));
  appendFileSync(join(folder, '.git/config'), '[user]\n\tname = Ada\n\temail = ada@example.org\n');
  writeFileSync(join(folder, 'PRD.json'), document);
  writeFileSync(join(folder, 'a.txt'), 'one\ntwo\nthree\n');
  writeFileSync(join(folder, 'b.txt'), 'b\n');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  models.set(document, folder);
  return folder;
}

/** Three files, one of them edited and one more made after the only commit. */
export function makeRepository(place: Scratch, stories: readonly string[]): void {
  cpSync(modelOf(stories), place.project, { recursive: true });
  git(place, 'update-index', '-q', '--refresh');
  place.put('b.txt', 'b\nmine\n');
  place.put('u.txt', 'untracked\n');
}

/** Adds a line to a.txt, makes a file of its own, reports, and claims its task. */
export const worker = [
  'cat >/dev/null; mkdir -p made',
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
  'test -f a.txt',
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
