// The table of agents: total, honest about logins, and able to find a program as a shell would.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Account, OwnPlace } from '../../../src/agents/agent.ts';
import { cliNames, loadCli } from '../../../src/agents/registry.ts';
import { accountOf, firstInstalled, loginOf, proofWords } from '../../../src/app/agents/agents.ts';
import { installedAgents } from '../../../src/app/agents/installed-agents.ts';
import { agentNames } from '../../../src/config/agents.ts';
import type { Config } from '../../../src/config/settings.ts';
import { findProgram, packagedVersion } from '../../../src/processes/find-program.ts';
import { asOrdinaryUser } from '../../documents/ordinary-user.ts';

let root: string;
let bin: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ralph-agents-'));
  bin = join(root, 'bin');
  mkdirSync(bin);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function install(name: string, mode = 0o755): string {
  const path = join(bin, name);
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, mode);
  return path;
}

describe('the table', () => {
  it.each(cliNames)('%s loads under its own name, and steering is there exactly when it can be steered', async name => {
    const cli = await loadCli(name);
    expect(cli.name).toBe(name);
    expect(cli.steering !== undefined).toBe(cli.can.steer);
    expect(['live', 'recorded', 'documented']).toContain(cli.proof);
    expect(cli.environment).toEqual(expect.arrayContaining([...cli.login.variables]));
    expect(cli.program).toMatch(/^[a-z][a-z-]*$/);
    for (const file of cli.login.files) expect(file).not.toMatch(/^[/~]/);
  });

  it.each(cliNames)('a cost of %s is promised only when it reports usage', async name => {
    const cli = await loadCli(name);
    expect(cli.cost === 'none').toBe(!cli.can.usage);
  });

  it('has a row for every name but the three that are no CLI of somebody', () => {
    expect([...cliNames, 'acp', 'command', 'scripted']).toEqual([...agentNames]);
  });

  it('says of a documented one that nobody ran it, and nothing of the others', () => {
    expect(proofWords('kiro', 'documented')).toBe('kiro: built from its manual, never run by us');
    expect([proofWords('claude', 'live'), proofWords('goose', 'recorded')]).toEqual([undefined, undefined]);
  });
});

describe('the first installed agent', () => {
  it('is the first of claude, codex, gemini, opencode, pi, kiro, q, and acp only with a program for it', async () => {
    const env = { PATH: bin };
    expect(await firstInstalled(env, root, undefined)).toBeUndefined();
    install('talks-acp');
    expect(await firstInstalled(env, root, undefined)).toBeUndefined();
    expect(await firstInstalled(env, root, ['talks-acp', '--acp'])).toBe('acp');
    for (const name of ['q', 'kiro', 'pi', 'opencode', 'gemini', 'codex', 'claude'] as const) {
      install((await loadCli(name)).program);
      expect(await firstInstalled(env, root, ['talks-acp', '--acp'])).toBe(name);
    }
  });

  it('is never one that would only be chosen by name', async () => {
    install('copilot');
    install('goose');
    expect(await firstInstalled({ PATH: bin }, root, undefined)).toBeUndefined();
  });
});

describe('a login', () => {
  const cli = { login: { variables: ['X_TOKEN', 'X_API_KEY'], files: ['.x/auth.json'], command: 'x login' } };

  it('is known by a variable that is passed on; a key means that the API is billed', () => {
    expect(loginOf(cli, { X_API_KEY: 'k' })).toMatchObject({
      known: true,
      words: 'X_API_KEY is passed on (API billing)',
    });
    expect(loginOf(cli, { X_TOKEN: 't' })).toMatchObject({ known: true, words: 'X_TOKEN is passed on' });
  });

  it('is known by its files, but a variable beats them, as it does for the agent', () => {
    mkdirSync(join(root, '.x'));
    writeFileSync(join(root, '.x', 'auth.json'), '{}');
    expect(loginOf(cli, { HOME: root })).toMatchObject({ known: true, words: 'its own files' });
    expect(loginOf(cli, { HOME: root, X_API_KEY: 'k' })).toMatchObject({ by: 'variable' });
  });

  it.each([[{}], [{ X_API_KEY: '' }], [{ HOME: 'relative' }], [{ HOME: '/nowhere' }]])('is unknown with %j', env => {
    expect(loginOf(cli, env)).toEqual({ known: false, words: 'unknown' });
  });
});

describe('an account', () => {
  const file = (path: string, value: unknown): void => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), JSON.stringify(value));
  };

  it('is told by the kind of the login file; the values of secrets stay in it', () => {
    file('.x/auth.json', { auth_mode: 'plan', tokens: { access: 'secret', none: '', spare: null }, list: ['secret'] });
    let seen: unknown;
    const cli = {
      account: ({ json }: OwnPlace): Account => {
        seen = json('.x/auth.json', ['auth_mode']);
        return { billing: 'subscription' };
      },
    };
    expect(accountOf(cli, { HOME: root })).toEqual({ billing: 'subscription' });
    expect(seen).toEqual({
      auth_mode: 'plan',
      tokens: { access: 'present', none: '', spare: null },
      list: ['present'],
    });
  });

  it('is unknown without such a file, with one that is no JSON, and without a home', async () => {
    const claude = await loadCli('claude');
    expect(accountOf(claude, { HOME: root }).billing).toBeUndefined();
    file('.claude/.credentials.json', { claudeAiOauth: { accessToken: 'secret' } });
    expect(accountOf(claude, { HOME: root }).billing).toBe('subscription');
    expect(accountOf(claude, {}).billing).toBeUndefined();
    expect(accountOf(claude, { CLAUDE_CONFIG_DIR: join(root, '.claude') }).billing).toBe('subscription');
    writeFileSync(join(root, '.claude/.credentials.json'), 'no JSON');
    expect(accountOf(claude, { HOME: root }).billing).toBeUndefined();
    expect(accountOf(await loadCli('kiro'), { HOME: root })).toEqual({});
  });
});

describe('finding a program', () => {
  it('looks through PATH in order and leaves out what cannot be run', () => {
    const other = join(root, 'other');
    mkdirSync(other);
    install('x', 0o644);
    writeFileSync(join(other, 'x'), '');
    chmodSync(join(other, 'x'), 0o755);
    expect(findProgram('x', root, { PATH: `${bin}::/nowhere:${other}` })).toEqual({
      type: 'found',
      path: join(other, 'x'),
    });
    expect(findProgram('x', root, { PATH: bin })).toEqual({ type: 'not-executable', path: join(bin, 'x') });
  });

  it('passes over a folder that may not be entered', async () => {
    install('x');
    chmodSync(bin, 0o000);
    const found = await asOrdinaryUser(root, async () => findProgram('x', root, { PATH: bin }));
    chmodSync(bin, 0o755);
    expect(found).toEqual({ type: 'missing' });
  });

  it('takes a word with a slash as a path from the folder, and never a folder as a program', () => {
    install('x');
    expect(findProgram('bin/x', root, {})).toEqual({ type: 'found', path: join(bin, 'x') });
    expect(findProgram('./bin', root, {})).toEqual({ type: 'missing' });
    for (const word of ['', 'nope', 'bin/nope', '\0', '../..'])
      expect(findProgram(word, root, { PATH: bin })).toEqual({ type: 'missing' });
    expect(findProgram('x', root, {})).toEqual({ type: 'missing' });
  });

  it('knows the version of an npm package from its files, through links, without running it', () => {
    const folder = join(root, 'lib', 'node_modules', '@a', 'b');
    mkdirSync(join(folder, 'dist'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"name": "@a/b", "version": "1.2.3-beta.4"}');
    writeFileSync(join(folder, 'dist', 'cli.js'), '');
    symlinkSync(join(folder, 'dist', 'cli.js'), join(bin, 'b'));
    expect(packagedVersion(join(bin, 'b'))).toBe('1.2.3-beta.4');
    expect(packagedVersion(install('alone'))).toBeUndefined();
    expect(packagedVersion(join(bin, 'missing'))).toBeUndefined();
  });

  it('so a doctor does not wait for its --version', async () => {
    writeFileSync(join(root, 'package.json'), '{"name": "@a/claude", "version": "2.1.325"}');
    writeFileSync(install('claude'), '#!/bin/sh\nexec sleep 3600\n');
    const env = { PATH: `${bin}:/usr/bin:/bin` };
    const found = await installedAgents({ env, directory: root, config: {} as Config });
    expect(found.find(one => one.name === 'claude')).toMatchObject({ version: '2.1.325' });
  });

  it.each([
    '{',
    '[]',
    'null',
    '{"version": "\\u001b[31m1.0.0", "name": "x"}',
    '{"version": 3, "name": "x"}',
    '{"version": "1.0.0"}',
  ])('takes no version from package.json %s', text => {
    writeFileSync(join(bin, 'package.json'), text);
    expect(packagedVersion(install('x'))).toBeUndefined();
  });
});
