// Proves that the guide holds: its example runs against the bundle in a plain Node, and its table names what there is.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
// @ts-expect-error: plain JavaScript
import { isBuilt } from '../../../scripts/build.mjs';
import * as ralph from '../../../src/index.ts';
import { stage } from './stage.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const guide = readFileSync(join(root, 'docs', 'library.md'), 'utf8');
const example = /^```js\n([\s\S]*?)^```/m.exec(guide)?.[1] ?? '';
const table = guide.slice(guide.indexOf('## Names of the earlier systems')).matchAll(/^\| (.*) \| (.*) \| (.*) \|$/gm);
const rows = [...table].slice(2);
const codes = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(match => match[1]!);

describe('the package', () => {
  it('has types for everything that it exports, made from a file that is compiled for it', () => {
    const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));
    const { exports } = read('package.json') as { exports: Record<string, { types: string; default?: string }> };
    expect(Object.keys(exports)).toEqual(['.', './core']);
    const sources = Object.values(exports).map(one =>
      one.types.replace('./dist/types/', 'src/').replace('.d.ts', '.ts'),
    );
    expect(read('tsconfig.types.json').files).toEqual(sources);
    for (const path of sources) expect(existsSync(join(root, path)), path).toBe(true);
    expect(exports['./core']?.default).toBeUndefined();
    expect(readFileSync(join(root, 'src', 'core-types.ts'), 'utf8')).not.toMatch(/^export (?!type )/m);
  });
});

describe('docs/library.md', () => {
  it('has an example that works as it stands with what is published', () => {
    if (!isBuilt()) spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')]);
    const { directory, home, write } = stage();
    const bundle = pathToFileURL(join(root, 'dist', 'index.js')).href;
    const program = write('../example.mjs', example.replace("'ralph-wiggum'", JSON.stringify(bundle)));
    const ran = spawnSync(process.execPath, [program, directory, home], { encoding: 'utf8', env: {} });
    expect(ran.stderr).toBe('');
    const lines = ran.stdout.trim().split('\n');
    expect(lines.slice(0, 2)).toEqual(['loop.started', 'tasks.loaded']);
    expect(lines.at(-2)).toBe('goal_achieved true 0');
    expect(lines.at(-1)).toMatch(/^Done: .* 1 iteration, cost not reported; (proven|checks still green)\.$/);
    expect(readFileSync(join(directory, 'hello.txt'), 'utf8')).toBe('hello\n');
  });

  it('names only functions, objects and files that there are', () => {
    expect(rows.length).toBeGreaterThan(30);
    const types = ['index.ts', 'core-types.ts'].map(name => readFileSync(join(root, 'src', name), 'utf8')).join('');
    for (const [, , ours = '', where = ''] of rows) {
      const names = codes(ours).map(code => code.replace(/\(.*$/, ''));
      for (const name of names.filter(
        code => /^[A-Za-z]+$/.test(code) && !/^(parse|mark|heardAt|nudges|contextUsed)$/.test(code),
      ))
        expect(name in ralph || new RegExp(`\\b${name}\\b`).test(types), name).toBe(true);
      for (const path of codes(where)) expect(existsSync(join(root, path)), path).toBe(true);
    }
  });
});
