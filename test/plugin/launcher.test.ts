// The program of the plugin: where it finds Ralph, what it never runs, and that a hook lets the agent go on whatever happens.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { inScratch, pinnedNode, type Scratch } from '../cli/kit.ts';

const repository = join(import.meta.dirname, '../..');

interface Called {
  readonly path?: string;
  readonly input?: string;
  readonly node?: string;
}

/** Copied as Claude Code does it: nothing of the repository lies beside it. */
function launcher(place: Scratch) {
  const plugins = join(place.root, 'plugins');
  const plugin = join(plugins, 'cache', 'ralph-wiggum', 'ralph', '0.5.0');
  cpSync(join(repository, 'plugin'), plugin, { recursive: true });
  const call = (words: readonly string[], { path = '', input = '', node = pinnedNode }: Called = {}) => {
    const env = { HOME: join(place.root, 'user'), PATH: path, CLAUDE_PROJECT_DIR: place.project };
    const { status, stdout, stderr } = spawnSync(node, [join(plugin, 'bin', 'ralph'), ...words], {
      cwd: place.project,
      env,
      input,
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };
  return { plugins, call };
}

/** A package that says what it was called with. */
function fake(
  folder: string,
  name = 'ralph-wiggum',
  program = 'console.log(__dirname + ": " + process.argv.slice(2))',
) {
  for (const part of ['bin', 'dist']) mkdirSync(join(folder, part), { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name }));
  writeFileSync(join(folder, 'bin', 'package.json'), '{"type":"commonjs"}');
  writeFileSync(join(folder, 'dist', 'ralph.cjs'), '');
  writeFileSync(join(folder, 'bin', 'ralph'), program);
  return { folder, says: `${join(folder, 'bin')}: status` };
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

const missing = /^The plugin of Ralph finds no program `ralph`: install it with `npm install -g ralph-wiggum`/;

it('without a Ralph lets every turn end, and says in one sentence what to install', () =>
  inScratch(async place => {
    const { call } = launcher(place);
    const shell = call(['status']);
    expect([shell.status, shell.stdout, shell.stderr]).toEqual([127, '', expect.stringMatching(missing)]);
    const begun = call(['hook', 'event'], { input: '{}' });
    expect([begun.status, JSON.parse(begun.stdout).systemMessage]).toEqual([0, expect.stringMatching(missing)]);
    const silent = { status: 0, stdout: '', stderr: '' };
    expect(call(['hook', 'stop'], { input: 'x'.repeat(1_000_000) })).toEqual(silent);
    put(join(place.project, '.claude', 'ralph-loop.local.md'), '---\nactive: true\n---\n');
    expect(JSON.parse(call(['hook', 'stop']).stdout).systemMessage).toMatch(missing);
  }));

it('finds it on PATH, by a link or by a script that names it, of its own Node, of npx, and where the marketplace lies', () =>
  inScratch(async place => {
    const { call, plugins } = launcher(place);
    const bin = join(place.root, 'bin');
    const npx = fake(join(place.root, 'user', '.npm', '_npx', 'a1', 'node_modules', 'ralph-wiggum'));
    const status = (called?: Called): string => call(['status'], called).stdout.trim();
    expect(status()).toBe(npx.says);
    const node = join(place.root, 'node', 'bin', 'node');
    mkdirSync(dirname(node), { recursive: true });
    try {
      linkSync(pinnedNode, node);
    } catch {
      copyFileSync(pinnedNode, node); // another disk
    }
    const global = fake(join(place.root, 'node', 'lib', 'node_modules', 'ralph-wiggum'));
    expect(status({ node })).toBe(global.says);
    const shim = fake(join(place.root, 'store', '5', 'node_modules', 'ralph-wiggum'));
    put(
      join(place.root, 'shims', 'ralph'),
      '#!/bin/sh\nexec node "$basedir/../store/5/node_modules/ralph-wiggum/bin/ralph" "$@"\n',
    );
    expect(status({ path: join(place.root, 'shims') })).toBe(shim.says);
    const linked = fake(join(place.root, 'linked'));
    mkdirSync(bin);
    symlinkSync(join(linked.folder, 'bin', 'ralph'), join(bin, 'ralph'));
    expect(status({ path: `${join(place.root, 'none')}:${bin}` })).toBe(linked.says);
    const clone = fake(join(place.root, 'clone'));
    writeFileSync(
      join(plugins, 'known_marketplaces.json'),
      JSON.stringify({ 'ralph-wiggum': { installLocation: clone.folder } }),
    );
    expect(status({ path: bin })).toBe(clone.says);
  }));

it('runs no other program of that name, none of the project, and none that is not built', () =>
  inScratch(async place => {
    const { call } = launcher(place);
    const other = fake(join(place.root, 'other'), 'ralph-orchestrator');
    const bare = join(place.root, 'bare');
    put(join(bare, 'ralph'), '#!/bin/sh\ntouch ran\n');
    const unbuilt = join(place.root, 'unbuilt');
    put(join(unbuilt, 'bin', 'ralph'), 'touch ran\n');
    writeFileSync(join(unbuilt, 'package.json'), '{"name":"ralph-wiggum"}');
    fake(join(place.project, 'node_modules', 'ralph-wiggum'));
    const path = [join(other.folder, 'bin'), bare, join(unbuilt, 'bin'), 'node_modules/ralph-wiggum/bin'].join(':');
    expect(call(['status'], { path })).toEqual({ status: 127, stdout: '', stderr: expect.stringMatching(missing) });
  }));

it('turns whatever a Ralph does wrong into a turn that may end, and says why where somebody waits for it', () =>
  inScratch(async place => {
    const { call } = launcher(place);
    const folder = join(place.root, 'user', '.npm', '_npx', 'a1', 'node_modules', 'ralph-wiggum');
    const old = 'process.stderr.write("Unknown command hook.\\n"); process.exit(2);';
    for (const program of [old, 'throw new Error("broken")', 'Promise.reject(new Error("broken"))', 'no JavaScript']) {
      fake(folder, 'ralph-wiggum', program);
      const told = call(['hook', 'stop'], { input: '{}' });
      expect([told.status, told.stdout]).toEqual([0, '']);
    }
    fake(folder, 'ralph-wiggum', old);
    expect(JSON.parse(call(['hook', 'event']).stdout)).toEqual({ systemMessage: 'Unknown command hook.' });
    expect(call(['status']).status).toBe(2);
  }));

it('the status line shows the loop of the folder, and nothing where there is none', () =>
  inScratch(async place => {
    const line = (): string => {
      const input = JSON.stringify({ cwd: place.root, workspace: { project_dir: place.project } });
      const script = join(repository, 'plugin', 'statusline.mjs');
      return spawnSync(pinnedNode, [script], { env: {}, input, encoding: 'utf8' }).stdout;
    };
    expect(line()).toBe('\n');
    await place.ralph(['hook', 'start', 'Draw', '--agent', 'claude', '--session', 's1', '--name', 'house', '-n', '9']);
    expect(line()).toBe('ralph house 1/9\n');
    put(join(place.project, '.claude', 'ralph-loop.local.md'), 'no state file');
    expect(line()).toBe('\n');
  }));
