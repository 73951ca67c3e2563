// The documents cannot drift: generated pages equal the code, links lead somewhere, and what is named exists.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generatedPages } from '../scripts/docs.ts';
import { commands } from '../src/cli/command-table.ts';
import { commandGroups, globalFlags } from '../src/cli/global-flags.ts';
import { settingFlags } from '../src/config/flags.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const pages = [
  ...readdirSync(root).filter(name => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => join('docs', name)),
].sort();
/** Decisions speak of what is to come, and the change log of what was; the others of what is there now. */
const present = pages.filter(page => !page.startsWith(join('docs', 'decisions')) && page !== 'CHANGELOG.md');

/** What stands in code: fenced blocks, indented blocks and spans. */
function codeOf(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```[a-z]*\n([\s\S]*?)^```/gm)].map(match => match[1]!);
  const rest = text.replaceAll(/^```[a-z]*\n[\s\S]*?^```/gm, '');
  const indented = rest.split('\n').filter(line => /^ {4,}\S/.test(line));
  return [...blocks, ...indented, ...[...rest.matchAll(/`([^`\n]+)`/g)].map(match => match[1]!)];
}

/** How others' programs are started is made from the adapters; their flags are not ours. */
const own = (text: string): string => text.replaceAll(/^\* Started as .*$/gm, '');

const wordsAfter = (page: string, pattern: RegExp): readonly string[] =>
  codeOf(own(read(page))).flatMap(code => [...code.matchAll(pattern)].map(match => match[1]!));

const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-');

/** Links that lead nowhere: `page -> target`. */
function deadLinks(page: string, text: string): readonly string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(match => match[1]!)
    .filter(target => !/^[a-z]+:/.test(target))
    .filter(target => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? join(root, page) : join(root, dirname(page), path);
      if (!existsSync(file)) return true;
      const headings = anchor === undefined ? [] : [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)];
      return anchor !== undefined && !headings.some(match => slugOf(match[1]!) === anchor);
    })
    .map(target => `${page} -> ${target}`);
}

describe('the generated pages', () => {
  it.each(Object.entries(generatedPages()))('%s is what the code says (npm run docs)', (path, text) => {
    expect(read(path)).toBe(text);
  });

  it('name every command, and every setting that a file may hold', () => {
    const made = generatedPages();
    for (const row of commands) expect(made['docs/cli.md']).toContain(row.usage);
    expect(made['docs/config.md']).toContain('`maxIterations`');
    for (const name of Object.keys(commandGroups)) expect(made['docs/cli.md']).toContain(`\n## ralph ${name}\n`);
    expect(made['docs/events.md']).toContain('`iteration.ended`');
  });
});

describe('the page of commands', () => {
  const page = generatedPages()['docs/cli.md'] ?? '';
  const rows = page.split('\n').filter(line => line.startsWith('| `-'));

  it('says once what three commands share, and names settings only by their page', () => {
    expect(rows.filter(row => rows.filter(one => one === row).length > 2)).toEqual([]);
    expect(rows.filter(row => settingFlags().some(one => row.startsWith(`| \`${one.flags}\``)))).toEqual([]);
    const shared = page.slice(page.indexOf('## Flags'), page.indexOf('## ralph run')).match(/^\| `-[^`]+`/gm) ?? [];
    expect(new Set(shared).size).toBe(shared.length);
  });

  it('says of each command the flags that it takes, and no others', () => {
    const nameOf = (flags: string): string => /--[a-z-]+/.exec(flags)![0];
    const usual = settingFlags([]).map(one => nameOf(one.flags));
    for (const { usage, options = [] } of commands) {
      const section = page.split(/^#{2,3} ralph /m).find(one => one.startsWith(`${usage}\n`))!;
      const takes = /Takes (.*)\.$/m.exec(section)?.[1] ?? '';
      const listed: readonly string[] =
        [takes, ...(section.match(/^[|*] `[^`]+`/gm) ?? [])].join(' ').match(/--[a-z-]+/g) ?? [];
      const own = options.filter(one => !globalFlags.some(({ flags }) => flags === one.flags));
      const real: readonly string[] = own.map(one => nameOf(one.flags));
      const settings = own.filter(one => one.isSetting).map(one => nameOf(one.flags));
      const takesSettings = takes.includes('the [settings]');
      expect(listed.filter(name => !real.includes(name))).toEqual([]);
      expect(real.filter(name => !listed.includes(name) && !(takesSettings && settings.includes(name)))).toEqual([]);
      expect(takesSettings ? usual.filter(name => !real.includes(name)) : []).toEqual([]);
    }
  });

  it('has an example for each command, and is less than half of what it was', () => {
    for (const row of commands) expect(page).toContain(`Example: \`${row.examples[0]}\``);
    expect(page.split('\n').length).toBeLessThan(500);
  });
});

describe('the captured screens (npm run screens)', () => {
  const screens = [...read('docs/screens.md').matchAll(/^```text\n([\s\S]*?)^```/gm)].map(match => match[1]!);

  it('show run, question, status, inbox, ending, report and explain, as wide as a terminal and without its codes', () => {
    const first = screens.map(text => text.split('\n')[0]!);
    for (const name of ['run', 'status', 'inbox', 'report', 'explain'])
      expect(first.some(line => line.startsWith(`$ ralph ${name}`))).toBe(true);
    for (const wanted of ['needs you', 'Press Enter to start', 'Done: 3 of 3 tasks'])
      expect(screens.join('')).toContain(wanted);
    expect(screens.flatMap(text => text.split('\n')).filter(line => line.length > 80 || /\p{Cc}/u.test(line))).toEqual(
      [],
    );
  });
});

describe('every document', () => {
  it('links only to what is there', () => {
    expect(pages.flatMap(page => deadLinks(page, read(page)))).toEqual([]);
  });

  it('would be caught with a link to nowhere', () => {
    expect(deadLinks('README.md', '[a](docs/nowhere.md) [b](LICENSE) [c](docs/cli.md#nothing)')).toEqual([
      'README.md -> docs/nowhere.md',
      'README.md -> docs/cli.md#nothing',
    ]);
  });

  it('names only files that exist', () => {
    const named = pages.flatMap(page =>
      wordsAfter(page, /^((?:src|test|scripts|docs|bin)\/[\w./-]+)/g).map(path => [page, path] as const),
    );
    expect(named.length).toBeGreaterThan(50);
    const templates = /NAME|NNNN|core\/x\.test|core\/(redact|signal)$/;
    expect(named.filter(([, path]) => !templates.test(path) && !existsSync(join(root, path)))).toEqual([]);
  });

  it('names only npm scripts that package.json has', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = pages
      .flatMap(page => wordsAfter(page, /\bnpm (?:run )?([a-z]+)/g))
      .filter(word => !['ci', 'install', 'pack', 'root'].includes(word));
    expect([...new Set(named)].filter(name => scripts[name] === undefined)).toEqual([]);
    expect(named).toEqual(expect.arrayContaining(['start', 'test', 'check']));
  });
});

describe('a document about today', () => {
  it('names only commands that the command table has', () => {
    const known = new Set(['help', ...commands.map(row => row.usage.split(' ')[0]!)]);
    const named = present.flatMap(page => wordsAfter(page, /(?:^|[\s;&])ralph ([a-z]+)/g));
    expect(named).toContain('run');
    expect([...new Set(named)].filter(name => !known.has(name))).toEqual([]);
  });

  it('names only flags that a command takes', () => {
    const table = [...commands, { options: globalFlags }].flatMap(row =>
      (row.options ?? []).flatMap(one => one.flags.match(/--[a-z-]+/g) ?? []),
    );
    const others = ['--version', '--help', '--headless', '--write', '--seed', '--count', '--acp'];
    const ofGit = ['--exec', '--amend', '--no-edit', '--exclude', '--all'];
    const known = new Set([...table, ...others, ...ofGit, '--quick', '--against']);
    const named = present
      .filter(page => page.startsWith('docs') || page === 'README.md')
      .flatMap(page => wordsAfter(page, /(?:^|\s)(--[a-z][a-z-]+)/g));
    expect(named.length).toBeGreaterThan(20);
    expect([...new Set(named)].filter(flag => !known.has(flag))).toEqual([]);
  });
});

describe('the maps', () => {
  it('of ARCHITECTURE.md name every folder of src', () => {
    const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(name =>
      /[/\\].*\.ts$/.test(name),
    );
    const folders = new Set(files.map(name => name.split(/[/\\]/)[0]!));
    const map = read('ARCHITECTURE.md');
    expect(folders.size).toBeGreaterThan(10);
    expect([...folders].filter(name => !map.includes(`| \`src/${name}\` |`))).toEqual([]);
  });

  it('of AGENTS.md stay short: under 80 lines', () => {
    expect(read('AGENTS.md').split('\n').length).toBeLessThan(80);
  });

  it('of the decisions list each one, numbered without a gap', () => {
    const files = readdirSync(join(root, 'docs', 'decisions')).filter(name => /^\d/.test(name));
    const list = read('docs/decisions/README.md');
    expect(files.filter(name => !list.includes(`(${name})`))).toEqual([]);
    expect(files.map(name => Number(name.slice(0, 4)))).toEqual(files.map((_name, at) => at + 1));
  });
});
