// Command x flag x mode: each flag has an effect, or is refused in a sentence that names it.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands, nameOf } from '../../src/cli/command-table.ts';
import { globalFlags } from '../../src/cli/global-flags.ts';
import { fieldOf, flagName, type Key, keys } from '../../src/config/fields.ts';
import { settingFlags } from '../../src/config/flags.ts';
import { resolveConfig } from '../../src/config/resolve.ts';
import { modeName, modeNames, rulesOf } from '../../src/modes/registry.ts';
import { prd, type Scratch, scratch } from './kit.ts';

const repository = join(import.meta.dirname, '..', '..');

const long = (flags: string): string => /--[a-z-]+/.exec(flags)?.[0] ?? '';
const exampleOf = (key: Key): readonly string[] => (fieldOf(key).kind === 'truth' ? [] : [fieldOf(key).example]);
const knownTo = (flags: readonly string[] = []): readonly string[] => settingFlags(flags).map(one => long(one.flags));

describe('a flag that a mode does not know', () => {
  let place: Scratch;
  beforeAll(() => {
    place = scratch();
    place.put('PRD.json', prd());
    place.put('PROMPT.md', 'Do it.\n');
    place.put('fix_plan.md', '# Plan\n\n- [ ] one\n');
    place.put('spec.md', '# Spec\n');
    mkdirSync(join(place.project, '.artefacts', 'shop'), { recursive: true });
    place.put('.artefacts/shop/tasks.json', '{"project": "shop", "tasks": []}');
  });
  afterAll(() => place.end());

  it.each([
    ['goal', ['run', 'make it work now']],
    ['prompt', ['run', 'PROMPT.md']],
    ['prd', ['run', 'PRD.json']],
    ['lists', ['run', 'fix_plan.md']],
    ['review', ['review', 'spec.md']],
    ['interview', ['interview', 'shop']],
    ['project', ['execute', 'shop']],
    ['plan', ['plan', 'run', 'onboarding']],
  ] as const)('is refused by mode %s', async (mode, command) => {
    const known = knownTo(rulesOf(mode).flags);
    const unknown = keys.filter(key => !known.includes(flagName(key)));
    expect(unknown.length).toBeGreaterThan(0);
    for (const key of unknown) {
      const words = [...command, flagName(key), ...exampleOf(key)];
      const { code, stderr } = await place.ralph(words);
      expect([key, code, stderr.includes(flagName(key))]).toEqual([key, 2, true]);
    }
  });
});

describe('a flag that a mode knows', () => {
  const directory = '/nowhere';
  const env = { HOME: directory };

  it.each(modeNames)('changes what mode %s is run with', async word => {
    const mode = modeName(word);
    const resolved = async (flags: Readonly<Record<string, unknown>>) => {
      const made = await resolveConfig({ mode, env, directory, flags, now: 0 });
      return made.ok ? JSON.stringify([made.config, made.settings]) : undefined;
    };
    const usual = await resolved({});
    for (const key of keys.filter(one => knownTo(rulesOf(word).flags).includes(flagName(one)))) {
      const { kind, example, choices = [] } = fieldOf(key);
      // The example may be what would hold anyway.
      const values = kind === 'truth' ? [true] : [example, '7', '7s', '7m', 'OTHER', ...choices];
      const made = await Promise.all(values.map(value => resolved({ [key]: value })));
      expect([key, made[0] !== undefined, made.some(one => one !== undefined && one !== usual)]).toEqual([
        key,
        true,
        true,
      ]);
    }
  });

  const sources = (folder: string): readonly string[] =>
    readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.ts'))
      .map(name => readFileSync(join(repository, folder, name), 'utf8'));

  it('is read by somebody: a setting outside the settings', () => {
    const code = ['src/app', 'src/cli', 'src/core', 'src/modes', 'src/engine', 'src/config/settings.ts']
      .flatMap(folder => (folder.endsWith('.ts') ? [readFileSync(join(repository, folder), 'utf8')] : sources(folder)))
      .join('\n');
    expect(keys.filter(key => !new RegExp(`\\b${key}\\b`).test(code))).toEqual([]);
  });

  it('is read by somebody: a flag of a command in the command line or its mode', () => {
    const code = [
      ...sources('src/cli').filter(text => !text.includes('export const commands:')),
      ...sources('src/modes'),
      ...sources('src/app'),
    ].join('\n');
    const own = commands.flatMap(row =>
      (row.options ?? [])
        .filter(one => !one.isSetting && !globalFlags.some(each => each.flags === one.flags))
        .map(one => [nameOf(row).join(' '), long(one.flags)] as const),
    );
    const camel = (flag: string): string =>
      flag
        .slice(2)
        .replace(/^no-/, '')
        .replace(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase());
    const unread = own.filter(([, flag]) => !code.includes(`'${camel(flag)}'`));
    expect(own.length).toBeGreaterThan(40);
    expect(unread).toEqual([]);
  });
});
