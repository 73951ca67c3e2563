// Finds the command with which a project tests itself, so that a loop without --verify still proves something.
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../processes/find-program.ts';
import { simpleCommands } from './tamper/command-line.ts';
import { isPlaceholder, makeTargets, manifestIn } from './tamper/scripts.ts';
import { cannotFail } from './tamper/weakening.ts';

export interface DetectedCheck {
  readonly command: string;
  /** For the card: what it was taken from. */
  readonly why: string;
}

interface Project {
  readonly directory: string;
  /** The beginning of a regular file of this name; undefined when there is none. */
  readonly read: (name: string) => string | undefined;
  readonly has: (program: string) => boolean;
}

type Detector = (project: Project) => DetectedCheck | undefined;

const bytesMax = 1_000_000;

/** Links are not followed: a project must not make us read elsewhere. NONBLOCK: a pipe must not make us wait. */
function readSafely(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > bytesMax) return undefined;
    const bytes = Buffer.alloc(stats.size);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0)).toString('utf8');
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const runners: readonly (readonly [string, string, string])[] = [
  ['pnpm-lock.yaml', 'pnpm', 'pnpm test'],
  ['yarn.lock', 'yarn', 'yarn test'],
  ['bun.lock', 'bun', 'bun run test'],
  ['bun.lockb', 'bun', 'bun run test'],
];

/** It would wait for changes for ever. A bare `vitest` is none: without a terminal it runs once and ends. */
function watches(script: string): boolean {
  return simpleCommands(script).some(words => {
    if (words.some(word => /^--(run|watch(All)?=false|no-watch|ci)$/.test(word))) return false;
    const next = words[words.indexOf('vitest') + 1] ?? '';
    return (
      words.some(word => /^--watch(All)?(=true)?$|^(nodemon|watchexec|chokidar)$/.test(word)) ||
      (words.includes('-w') && words.some(word => /^(vitest|mocha|ava|tsc)$/.test(word))) ||
      (words.includes('vitest') && /^(watch|dev)$/.test(next)) ||
      (words.includes('react-scripts') && !words.some(word => word.startsWith('CI=')))
    );
  });
}

const packageJson: Detector = ({ read, has }) => {
  const script = manifestIn(read('package.json'))?.scripts.get('test');
  if (script === undefined || isPlaceholder(script) || cannotFail(script) || watches(script)) return undefined;
  const runner = runners.find(([lockFile, program]) => read(lockFile) !== undefined && has(program));
  if (runner !== undefined) return { command: runner[2], why: `the test script of package.json, with ${runner[0]}` };
  return has('npm') ? { command: 'npm test', why: 'the test script of package.json' } : undefined;
};

function testsIn(directory: string): string | undefined {
  const isTest = (name: string): boolean => /^(test_.*|.*_test)\.py$/.test(name);
  return ['tests', 'test', '.'].find(folder => {
    try {
      return readdirSync(join(directory, folder)).some(isTest);
    } catch {
      return false;
    }
  });
}

const pytest: Detector = ({ directory, read, has }) => {
  const settings: readonly (readonly [string, string])[] = [
    ['pytest.ini', ''],
    ['pyproject.toml', '[tool.pytest'],
    ['setup.cfg', '[tool:pytest]'],
    ['tox.ini', '[pytest]'],
  ];
  const named = settings.find(([name, mark]) => read(name)?.includes(mark))?.[0];
  const folder = named === undefined ? testsIn(directory) : undefined;
  if (named === undefined && folder === undefined) return undefined;
  const program = ['.venv/bin/pytest', 'venv/bin/pytest', 'pytest'].find(has);
  if (program === undefined) return undefined;
  return {
    command: `${program} -q`,
    why: named ?? `tests for pytest in ${folder === '.' ? 'this folder' : `${folder}/`}`,
  };
};

const cargo: Detector = ({ read, has }) =>
  read('Cargo.toml') !== undefined && has('cargo') ? { command: 'cargo test', why: 'Cargo.toml' } : undefined;

const go: Detector = ({ read, has }) =>
  read('go.mod') !== undefined && has('go') ? { command: 'go test ./...', why: 'go.mod' } : undefined;

const make: Detector = ({ read, has }) => {
  const name = ['GNUmakefile', 'makefile', 'Makefile'].find(each => read(each) !== undefined);
  if (name === undefined || !makeTargets(read(name) ?? '').includes('test') || !has('make')) return undefined;
  return { command: 'make test', why: `the target test of ${name}` };
};

/** The first that fits; undefined when nothing does, or its program is not installed. Never throws, writes nothing. */
export function detectCheck(
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
): DetectedCheck | undefined {
  const project: Project = {
    directory,
    read: name => readSafely(join(directory, name)),
    has: program => findProgram(program, directory, env).type === 'found',
  };
  for (const detector of [packageJson, pytest, cargo, go, make]) {
    const found = detector(project);
    if (found !== undefined) return found;
  }
  return undefined;
}
