// The files of the plugin against the code: what its hooks call, what its pages tell to type, versions, and what is packed.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { claude } from '../../src/agents/cli/claude.ts';
import { hookTimeoutMs } from '../../src/app/hooks.ts';
import { commands, nameOf } from '../../src/cli/command-table.ts';
import { globalFlags } from '../../src/cli/global-flags.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const json = (path: string) => JSON.parse(read(path));
const pages = readdirSync(join(root, 'plugin'), { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.md'))
  .map(name => `plugin/${name.replaceAll('\\', '/')}`)
  .sort();
const frontOf = (page: string): Record<string, string> => parse(/^---\n(.*?)\n---\n/s.exec(read(page))?.[1] ?? '{}');

it('has one version and one name, and lies where the marketplace and npm look for it', () => {
  const { version, files } = json('package.json');
  const plugin = json('plugin/.claude-plugin/plugin.json');
  const [entry, ...others] = json('.claude-plugin/marketplace.json').plugins;
  expect([plugin.version, json('plugin/others/gemini-extension.json').version]).toEqual([version, version]);
  expect([entry.name, entry.source, entry.description, others]).toEqual([
    plugin.name,
    './plugin',
    plugin.description,
    [],
  ]);
  expect(files).toEqual(expect.arrayContaining(['plugin', '.claude-plugin']));
  expect(existsSync(join(root, 'plugin', plugin.icon))).toBe(true);
  expect(read('plugin/LICENSE')).toBe(read('LICENSE'));
});

it('calls hooks that Ralph has, with the times and the cap that `ralph hook install` writes', () => {
  const { hooks } = json('plugin/hooks/hooks.json');
  const unset = {} as { readonly verifyTimeout: number };
  const seconds = hookTimeoutMs(unset) / 1_000;
  const { cap, events = [] } = claude.hooks!;
  for (const event of events) {
    const [{ hooks: entries }] = hooks[event];
    const words = ['hook', 'stop', '--timeout', String(seconds), '--cap', `${cap?.turns},${cap?.variable}`];
    const args = ['$' + '{CLAUDE_PLUGIN_ROOT}/bin/ralph', ...words];
    expect(entries).toEqual([{ type: 'command', command: 'node', args, timeout: seconds }]);
  }
  const names = commands.map(row => nameOf(row).join(' '));
  for (const groups of Object.values<readonly { hooks: readonly { args: readonly string[] }[] }[]>(hooks))
    for (const { args } of groups.flatMap(group => group.hooks)) expect(names).toContain(args.slice(1, 3).join(' '));
  expect(Object.keys(hooks).sort()).toEqual(['SessionStart', 'Stop', 'StopFailure', 'UserPromptExpansion']);
  const [{ matcher }] = hooks.UserPromptExpansion;
  for (const name of matcher.split('|')) {
    const [plugin, command] = name.split(':');
    expect([plugin, existsSync(join(root, `plugin/commands/${command}.md`))]).toEqual(['ralph', true]);
  }
});

/** A command line of ours, as far as it goes: in a block, in a span of code, or called by the path of the program. */
function linesOf(text: string): readonly string[] {
  const code = [...text.matchAll(/`([^`\n]+)`|^ {4,}(.+)$/gm)].map(([, span, line]) => span ?? line ?? '');
  return code.flatMap(one => [...one.matchAll(/(?:^|[\s(]|bin\/)ralph"? ([a-z][^#|]*)/g)].map(([, words]) => words!));
}

/** What is wrong with one: the command or a flag that the table has not. */
function wrongIn(line: string): readonly string[] {
  const words = line
    .replace(/"[^"]*"|'[^']*'/g, 'TEXT')
    .split(/[\s:)<]+/)
    .filter(Boolean);
  if (words[0] === 'help') return [];
  const row = commands.find(one => nameOf(one).every((word, at) => words[at] === word));
  if (row === undefined) return [line];
  const known = [...(row.options ?? []), ...globalFlags].flatMap(one => one.flags.match(/--?[a-z][a-z-]*/g) ?? []);
  return words.filter(word => /^--?[a-z]/.test(word) && !known.includes(word)).map(flag => `${flag} in ${line}`);
}

it('tells nobody to type what Ralph does not know', () => {
  const lines = pages.flatMap(page => linesOf(read(page)));
  expect(lines.length).toBeGreaterThan(80);
  expect(lines.flatMap(wrongIn)).toEqual([]);
  expect(linesOf('`ralph frob` and `node "x/bin/ralph" stop --hard`').flatMap(wrongIn)).toEqual([
    'frob',
    '--hard in stop --hard',
  ]);
});

it('has the commands of the guide, each with no more rights than the one line that it runs', () => {
  const names = pages.flatMap(page => /^plugin\/commands\/(.+)\.md$/.exec(page)?.[1] ?? []);
  const guide = read('docs/guides/in-session.md');
  for (const name of names) {
    const page = `plugin/commands/${name}.md`;
    const { description, 'allowed-tools': allowed = '' } = frontOf(page);
    const run = [...read(page).matchAll(/^!`(.*)`$/gm)].map(match => match[1]!);
    expect([name, typeof description, run.length <= 1]).toEqual([name, 'string', true]);
    // What a user types never reaches a shell.
    expect(run.join('')).not.toMatch(/\$ARGUMENTS|\$\d/);
    const [, allows = ''] = /^Bash\((.*):\*\)$/.exec(allowed) ?? [];
    expect(run.every(line => allows !== '' && line.startsWith(allows))).toBe(true);
    expect(run.length === 0 && allowed !== '').toBe(false);
    expect(guide).toContain(`/ralph:${name}`);
    expect(read('plugin/commands/ralph-help.md')).toContain(`/ralph:${name === 'ralph-help' ? 'ralph-loop' : name}`);
  }
  expect(names.length).toBe(9);
});

it('has skills in the open format: the name of their folder, and a description that is not too long', () => {
  const skills = pages.filter(page => page.endsWith('/SKILL.md'));
  expect(skills.length).toBe(6);
  for (const page of skills) {
    const { name, description = '' } = frontOf(page);
    expect(page).toContain(`/${name}/SKILL.md`);
    expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(description.length > 20 && description.length <= 1_024).toBe(true);
  }
});
