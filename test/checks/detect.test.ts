// A project's own way to test itself is found, when its program is there; nothing else is ever proposed.
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { detectCheck } from '../../src/checks/detect.ts';
import { scratchDirectory } from '../processes/fixture.ts';

function project(files: Readonly<Record<string, string>>, programs = 'npm pnpm yarn bun pytest cargo go make') {
  const [directory, bin] = [scratchDirectory(), scratchDirectory()];
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
    if (name.includes('/bin/')) chmodSync(join(directory, name), 0o755);
  }
  for (const name of programs.split(' ').filter(Boolean))
    writeFileSync(join(bin, name), '#!/bin/sh\n', { mode: 0o755 });
  return { directory, find: () => detectCheck(directory, { PATH: bin }) };
}
const script = (test: string) => JSON.stringify({ scripts: { test } });

describe('the check of a project', () => {
  it.each<readonly [string, Readonly<Record<string, string>>]>([
    ['npm test', { 'package.json': script('vitest run') }],
    ['pnpm test', { 'package.json': script('vitest run'), 'pnpm-lock.yaml': '' }],
    ['yarn test', { 'package.json': script('jest'), 'yarn.lock': '' }],
    ['bun run test', { 'package.json': script('bun test'), 'bun.lock': '' }],
    ['pytest -q', { 'pytest.ini': '[pytest]' }],
    ['pytest -q', { 'pyproject.toml': '[tool.pytest.ini_options]\n' }],
    ['pytest -q', { 'tests/test_shop.py': '' }],
    ['.venv/bin/pytest -q', { 'pytest.ini': '[pytest]', '.venv/bin/pytest': '#!/bin/sh\n' }],
    ['cargo test', { 'Cargo.toml': '[package]' }],
    ['go test ./...', { 'go.mod': 'module shop' }],
    ['make test', { Makefile: 'all: build\ntest: build\n\tpytest\n' }],
    ['make test', { Makefile: 'build test: x\n\t./run\n' }],
    ['npm test', { 'package.json': `\ufeff${script('vitest run')}` }],
    ['npm test', { 'package.json': script('vitest') }],
    ['npm test', { 'package.json': script('jest --watchAll=false') }],
    ['npm test', { 'package.json': script('vitest --watch --run') }],
    ['make test', { 'package.json': script('jest --watch'), Makefile: 'test:\n\t./run\n' }],
    ['make test', { 'package.json': '{"name": "docs"}', Makefile: 'test:\n\t./run\n' }],
  ])('%s is found', (command, files) => {
    const found = project(files).find();
    expect(found?.command).toBe(command);
    expect(found?.why).not.toBe('');
  });

  it.each<readonly [string, Readonly<Record<string, string>>]>([
    ['nothing', {}],
    ['a manifest without a test script', { 'package.json': '{"scripts": {"build": "tsc"}}' }],
    ['the placeholder of npm init', { 'package.json': script('echo "Error: no test specified" && exit 1') }],
    ['a script that proves nothing', { 'package.json': script('echo ok; exit 0') }],
    ...['jest --watch', 'vitest --watch', 'vitest dev', 'npx vitest watch', 'mocha -w', 'react-scripts test'].map(
      line => [`${line}, which never ends,`, { 'package.json': script(line) }] as const,
    ),
    ['a broken manifest', { 'package.json': '{"scripts": ' }],
    ['a manifest of the wrong shape', { 'package.json': '{"scripts": [1], "test": true}' }],
    ['null', { 'package.json': 'null' }],
    ['a Makefile without that target', { Makefile: 'testing:\n\t./run\ntest := 1\nbuild: test\n.PHONY: test\n' }],
    ['python without tests', { 'pyproject.toml': '[project]\n', 'shop.py': '' }],
    ['a huge manifest', { 'package.json': `${script('vitest')}${' '.repeat(1_000_000)}` }],
  ])('%s gives none', (_, files) => expect(project(files).find()).toBeUndefined());

  it('is not proposed when its program is missing, and the next way is looked for', () => {
    expect(project({ 'Cargo.toml': '[package]' }, '').find()).toBeUndefined();
    const both = { 'package.json': script('vitest'), Makefile: 'test:\n\t./run\n' };
    expect(project(both, 'make').find()?.command).toBe('make test');
    expect(project({ 'package.json': script('vitest'), 'pnpm-lock.yaml': '' }, 'npm').find()?.command).toBe('npm test');
  });

  it('is not read through a link, which could lead anywhere', () => {
    const outside = project({ 'package.json': script('vitest') });
    const inside = project({});
    symlinkSync(join(outside.directory, 'package.json'), join(inside.directory, 'package.json'));
    expect(inside.find()).toBeUndefined();
  });
});
