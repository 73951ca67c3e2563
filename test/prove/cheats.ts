// Every cheat of the tables by the real binary, with bubblewrap and without: caught, or the limit that the guide lists.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { confinementKind } from '../../src/processes/confine.ts';
import { type ActingCheat, actingAgent, actingCheats, actingCheck, actingFiles } from '../checks/acting-cheats.ts';
import type { Cheat, Verdict } from '../checks/cheats.ts';
import { cheats } from '../checks/source-cheats.ts';
import { makeStage, type Stage } from './stage.ts';

const claim = 'Task US-001 complete';
const runners = ['pytest', 'npm', 'npx', 'go', 'cargo', 'mvn', 'rspec', 'python', 'make', 'ctest', 'docker', 'node'];

type Sandbox = 'bwrap' | 'none';

interface Trial {
  readonly name: string;
  readonly sandbox: Sandbox;
  readonly expected: Verdict;
  play(stage: Stage): Promise<boolean>;
}

const quoted = (path: string): string => `'${path}'`;

function put(folder: string, files: Readonly<Record<string, string>>, mode?: number): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { mode });
  }
}

function commitAll({ project, folder }: Stage): void {
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder };
  const git = (...words: readonly string[]): void =>
    void execFileSync('git', words, { cwd: project, env, stdio: 'ignore' });
  git('init', '-q');
  git('add', '-A');
  git('-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', 'commit', '-qm', 'first');
}

interface Attempt {
  readonly agent: string;
  readonly check: string;
  readonly sandbox: Sandbox;
  readonly path?: string;
}

/** Nobody says yes: a doubt is a question, and the run ends with it. */
async function isClosed(stage: Stage, { agent, check, sandbox, path = process.env['PATH'] ?? '' }: Attempt) {
  const words = ['run', 'PRD.json', '--agent-command', agent, '--verify', check, '--allow-red-start'];
  const more = ['--max-attempts', '1', '--quiet', '--no-input', '--yes', '--sandbox', sandbox];
  const { code, errors } = await stage.ralph([...words, ...more], { env: { PATH: path } }).ended;
  if (code === null || code === 2 || code === 10) throw new Error(`exit ${code}: ${errors}`);
  if (code === 0) return true;
  const records = await stage.ledger().catch(() => []); // some cheats take it away
  return records.some(({ events }) => events.some(event => event.type === 'task.closed'));
}

/** Its runners pass exactly while what the agent wrote stands there: what is put back makes them fail. */
async function playFiles(stage: Stage, cheat: Cheat, sandbox: Sandbox): Promise<boolean> {
  const { folder, project } = stage;
  const { check, before = {}, after, ignored = [] } = cheat;
  put(project, before, 0o755);
  put(project, { '.gitignore': ignored.map(path => `/${path}\n`).join(''), 'notes.txt': 'a\n' });
  commitAll(stage);
  const paths = Object.entries(after);
  const written = Object.fromEntries(paths.filter((pair): pair is [string, string] => pair[1] !== null));
  put(join(folder, 'after'), written, 0o755);
  const copy = (path: string): string => join(folder, 'after', path);
  const acts = paths.map(([path, text]) =>
    text === null
      ? `rm ${quoted(path)}`
      : `mkdir -p ${quoted(dirname(path))} && cp ${quoted(copy(path))} ${quoted(path)}`,
  );
  const looks = paths.map(([path, text]) =>
    text === null
      ? `test ! -e ${quoted(join(project, path))}`
      : `cmp -s ${quoted(copy(path))} ${quoted(join(project, path))}`,
  );
  const runner = `#!/bin/sh\n${looks.join(' && ')}\n`;
  put(join(folder, 'bin'), Object.fromEntries(runners.map(name => [name, runner])));
  for (const name of runners) chmodSync(join(folder, 'bin', name), 0o755);
  const agent = `cat >/dev/null; echo b >>notes.txt; ${acts.join('; ')}; echo '${claim}'`;
  const path = `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`;
  return isClosed(stage, { agent, check, sandbox, path });
}

async function playActs(stage: Stage, cheat: ActingCheat, sandbox: Sandbox): Promise<boolean> {
  put(stage.project, actingFiles);
  commitAll(stage);
  const closed = await isClosed(stage, { agent: actingAgent(cheat, stage.home), check: actingCheck, sandbox });
  execFileSync('chmod', ['-R', 'u+w', stage.project]);
  return cheat.worked === undefined ? closed : cheat.worked({ project: stage.project, user: stage.folder });
}

const trials = (sandbox: Sandbox): readonly Trial[] => [
  ...actingCheats.map(cheat => ({
    name: cheat.name,
    sandbox,
    expected: cheat[sandbox],
    play: (stage: Stage) => playActs(stage, cheat, sandbox),
  })),
  ...cheats.map(cheat => ({
    name: cheat.name,
    sandbox,
    expected: cheat.expected,
    play: (stage: Stage) => playFiles(stage, cheat, sandbox),
  })),
];

async function isAsExpected({ name, sandbox, expected, play }: Trial): Promise<boolean> {
  const stage = makeStage(1);
  try {
    const worked = await play(stage);
    if (worked !== (expected === 'caught')) return true;
    console.error(`--sandbox ${sandbox}: ${name}: ${worked ? 'worked' : 'was caught'}, but ${expected} is written`);
  } catch (error) {
    console.error(`--sandbox ${sandbox}: ${name}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    stage.remove();
  }
  return false;
}

/** `first` is where to begin in the table, so that one cheat can be replayed. */
export async function proveCheats(first: number, count: number): Promise<number> {
  const settings: readonly Sandbox[] = confinementKind() === 'none' ? ['none'] : ['none', 'bwrap'];
  let failed = 0;
  for (const sandbox of settings) {
    const chosen = trials(sandbox).slice(first - 1, first - 1 + count);
    const before = failed;
    for (const trial of chosen) if (!(await isAsExpected(trial))) failed += 1;
    const caught = chosen.filter(({ expected }) => expected === 'caught').length;
    console.log(
      `--sandbox ${sandbox}: ${chosen.length - (failed - before)} of ${chosen.length} cheats as the tables say: ${caught} caught, ${chosen.length - caught} listed limits`,
    );
  }
  if (settings.length === 1) console.log('not proven here: bubblewrap does not work');
  return failed;
}
