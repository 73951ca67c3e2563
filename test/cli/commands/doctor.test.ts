// `ralph doctor` and confinement through the real binary: true about this machine, and unknown where it cannot know.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { confinementKind } from '../../../src/processes/confine.ts';
import { claims, inScratch, isInstalled, prd, runScript, type Scratch, scripted } from '../kit.ts';

interface Finding {
  readonly name: string;
  readonly verdict: string;
  readonly detail: string;
  readonly fix?: string;
}

async function findings(place: Scratch, env: Readonly<Record<string, string>> = {}) {
  const told = await place.ralph(['doctor', '--json'], { env });
  const {
    version,
    ok,
    findings: all,
  } = JSON.parse(told.stdout) as { version: number; ok: boolean; findings: Finding[] };
  expect(version).toBe(2);
  expect(ok).toBe(told.code === 0);
  for (const one of all) {
    expect(['ok', 'warning', 'unknown', 'bad']).toContain(one.verdict);
    if (one.verdict === 'bad' || one.verdict === 'warning') expect(one.fix).toMatch(/\S/);
  }
  return { code: told.code, find: (name: string) => all.find(one => one.name === name) };
}

function withAgent(place: Scratch, text = '#!/bin/sh\necho 9.8.7\n'): { readonly PATH: string } {
  const bin = join(place.root, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'claude'), text);
  chmodSync(join(bin, 'claude'), 0o755);
  return { PATH: `${bin}:/usr/bin:/bin` };
}

describe('ralph doctor', () => {
  it.concurrent('looks at everything, writes nothing, and calls a login unknown that it cannot see', () =>
    inScratch(async place => {
      const { code, find } = await findings(place, withAgent(place));
      expect(code).toBe(0);
      expect(find('agent claude')).toMatchObject({
        verdict: 'unknown',
        detail: expect.stringMatching(/^9\.8\.7, .*\/bin\/claude; login: unknown$/),
        fix: expect.stringContaining('claude'),
      });
      for (const name of ['node', 'home', 'disk', 'ledger']) expect(find(name)?.verdict).toBe('ok');
      expect(find('ledger')?.detail).toBe('none yet');
      expect(existsSync(place.home)).toBe(false);
    }));

  it.concurrent('exit 7 when no agent is installed, with how to get one', () =>
    inScratch(async place => {
      const { code, find } = await findings(place, { PATH: join(place.root, 'empty') });
      expect(code).toBe(7);
      expect(find('agents')).toMatchObject({ verdict: 'bad', fix: expect.stringContaining('npm install -g') });
    }));

  it.concurrent('exit 1 when the home cannot be written or the ledger is damaged', () =>
    inScratch(async place => {
      const env = withAgent(place);
      const none = await findings(place, { ...env, RALPH_HOME: '/proc/ralph-home' });
      expect([none.code, none.find('home')?.verdict]).toEqual([1, 'bad']);
      scripted(place, ['US-001'], [claims()]);
      expect((await place.ralph([...runScript])).code).toBe(0);
      expect((await findings(place, env)).find('ledger')).toMatchObject({
        verdict: 'ok',
        detail: '1 loop, quick check passed',
      });
      writeFileSync(
        join(place.home, 'ralph.db'),
        'not a database at all, but long enough to be read as one'.repeat(100),
      );
      const damaged = await findings(place, env);
      expect([damaged.code, damaged.find('ledger')?.verdict]).toEqual([1, 'bad']);
    }));

  it.concurrent('says it in lines for people, each bad one with its fix', () =>
    inScratch(async place => {
      const told = await place.ralph(['doctor'], { env: { PATH: join(place.root, 'empty') } });
      expect(told.stdout).toMatch(/^ok +node +\d+\./m);
      expect(told.stdout).toMatch(/^bad +agents +none is installed\n +fix: npm install/m);
      for (const line of told.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
    }));
});

describe('confinement', () => {
  const works = confinementKind() !== 'none' && isInstalled('git');
  const snoops =
    'read -r _; ls "$RALPH_TEST_HOME" >seen-home; echo evil >.git/hooks/pre-commit; echo evil >>.git/config; echo Task US-001 complete';

  async function snoop(place: Scratch, ...flags: readonly string[]) {
    place.put('PRD.json', prd());
    execFileSync('git', ['init', '--quiet', place.project], { env: { PATH: place.env['PATH'], HOME: place.root } });
    const words = ['run', '--agent-command', snoops, '--agent-env', 'RALPH_TEST_HOME', ...flags];
    const told = await place.ralph(words, { env: { RALPH_TEST_HOME: place.home } });
    return {
      card: told.stderr.replaceAll(/\s+/g, ' '),
      seen: place.read('seen-home'),
      config: readFileSync(join(place.project, '.git', 'config'), 'utf8'),
      hasHook: existsSync(join(place.project, '.git', 'hooks', 'pre-commit')),
    };
  }

  it.skipIf(!works)(
    'keeps an agent from our home and from git hooks, and the card says so (needs bubblewrap and git)',
    () =>
      inScratch(async place => {
        const { card, seen, config, hasHook } = await snoop(place);
        expect([seen, hasHook]).toEqual(['', false]);
        expect(config).not.toContain('evil');
        expect(card).toContain('confined by bubblewrap');
        expect(card).not.toContain('not confined');
      }),
  );

  it.skipIf(!isInstalled('git'))('is off with --sandbox none, and the card says "not confined" (needs git)', () =>
    inScratch(async place => {
      const { card, seen, hasHook } = await snoop(place, '--sandbox', 'none');
      expect(seen).toContain('ralph.db');
      expect(hasHook).toBe(true);
      expect(card).toContain('not confined (--sandbox none)');
    }),
  );

  it.skipIf(!works)('holds for checks too (needs bubblewrap and git)', () =>
    inScratch(async place => {
      scripted(place, ['US-001'], [claims()]);
      const check = `test -z "$(ls ${place.home})"`;
      expect((await place.ralph([...runScript, '--verify', check])).code).toBe(0);
      scripted(place, ['US-001'], [claims()]);
      expect(
        (
          await place.ralph([
            ...runScript,
            '--new',
            '--verify',
            check,
            '--allow-red-start',
            '--sandbox',
            'none',
            '-n',
            '1',
          ])
        ).code,
      ).not.toBe(0);
    }),
  );
});
