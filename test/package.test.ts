// The packed tarball: what npm would put into it runs alone, without node_modules, and says in a sentence when Node is too old.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claims, inScratch, pinnedNode, prd, type Scratch } from './cli/kit.ts';

const root = join(import.meta.dirname, '..');
const npmEnv = { PATH: process.env['PATH'] ?? '', npm_config_offline: 'true', npm_config_update_notifier: 'false' };

function packed(place: Scratch): readonly string[] {
  const words = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const env = { ...npmEnv, HOME: place.root, npm_config_cache: place.temporary };
  const told = JSON.parse(
    execFileSync('npm', words, { cwd: root, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  const [one] = Array.isArray(told) ? told : Object.values(told);
  return (one as { files: { path: string }[] }).files.map(file => file.path);
}

describe('the packed tarball', () => {
  it('holds the program and its pages, and works without anything else', () =>
    inScratch(async place => {
      const files = packed(place);
      expect(files).toEqual(
        expect.arrayContaining(['bin/ralph', 'bin/package.json', 'dist/ralph.cjs', 'docs/cli.md', 'LICENSE']),
      );
      expect(files).toEqual(expect.arrayContaining(['.claude-plugin/marketplace.json', 'plugin/hooks/hooks.json']));
      expect(files.filter(path => /^(src|test|scripts|node_modules)\//.test(path))).toEqual([]);
      const folder = join(place.root, 'installed');
      for (const path of files.filter(one => !one.startsWith('dist/cache/')))
        cpSync(join(root, path), join(folder, path));
      expect(existsSync(join(folder, 'node_modules'))).toBe(false);
      const call = (program: string, ...words: readonly string[]) =>
        spawnSync(pinnedNode, [join(folder, program), ...words], {
          cwd: place.project,
          env: place.env,
          encoding: 'utf8',
        });
      const ralph = (...words: readonly string[]) => call('bin/ralph', ...words);
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
      expect([ralph('-v').stdout, call('plugin/bin/ralph', '-v').stdout]).toEqual([`${version}\n`, `${version}\n`]);
      place.put('PRD.json', prd());
      place.put('script.json', JSON.stringify({ turns: [claims()] }));
      const ran = ralph('run', '--script', 'script.json', '--verify', 'true', '--allow-red-start');
      expect([ran.status, ran.stdout]).toEqual([0, expect.stringMatching(/^Done: 1 of 1 task done/)]);
    }));
});
