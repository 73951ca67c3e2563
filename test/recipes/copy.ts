// A copy of the repository in which recipes are carried out, so that the tree itself is never touched.
import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const fixtures = join(root, 'test', 'fixtures', 'recipes');

/** All that types, fences, lint, pages and the program itself need; tests are left out. */
const parts = ['src', 'scripts', 'docs', 'bin', 'test/fences', 'package.json', 'tsconfig.json', 'biome.json'];

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Copy {
  readonly folder: string;
  readonly read: (path: string) => string;
  /** What was added to it, or written into. */
  readonly changed: ReadonlySet<string>;
  /** A file of `test/fixtures/recipes`, its imports made to fit its new place. */
  readonly add: (fixture: string, path: string) => void;
  /** One row of a table, before the line that begins with `before`. */
  readonly row: (path: string, row: string, before: string) => void;
  /** A program of Node in this copy: one of `node_modules`, a script, or `bin/ralph`. */
  readonly node: (words: readonly string[], manner?: { cwd?: string; env?: Record<string, string> }) => Promise<Ran>;
  readonly end: () => void;
}

/** `'../../../src/text/errors.ts'` -> `'../text/errors.ts'`. */
function moved(text: string, path: string): string {
  return text.replaceAll(/'(?:\.\.\/)+(src\/[^']+)'/g, (_whole, target: string) => {
    const way = relative(dirname(path), target);
    return `'${way.startsWith('.') ? way : `./${way}`}'`;
  });
}

export function copyOfRepository(): Copy {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-recipes-')));
  for (const part of parts) cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  const changed = new Set<string>();
  const write = (path: string, text: string): void => {
    changed.add(path);
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  return {
    folder,
    changed,
    read,
    add: (fixture, path) => write(path, moved(readFileSync(join(fixtures, fixture), 'utf8'), path)),
    row(path, row, before) {
      const text = read(path);
      const at = text.indexOf(`\n${before}`);
      if (at === -1) throw new Error(`${path} has no line that begins with ${before}`);
      write(path, `${text.slice(0, at)}\n${row}${text.slice(at)}`);
    },
    node: (words, { cwd = folder, env = {} } = {}) =>
      new Promise(resolve => {
        const options = {
          cwd,
          env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env },
        };
        const child = execFile(process.execPath, words, options, (_error, stdout, stderr) =>
          resolve({ code: child.exitCode ?? -1, stdout, stderr }),
        );
      }),
    end: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}
