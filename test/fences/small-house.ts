// A small repository that is just allowed, with a house of its own: fences are proven without the rooms of today.
import type { House, Room } from './house.ts';

export type Files = Readonly<Record<string, string>>;

const adapter: Room = { values: ['core', 'processes'] };

export const smallHouse: House = {
  rooms: {
    core: { values: [], isPure: true, takesNoPackage: true },
    documents: { values: ['core'], types: ['ports'], isPure: true },
    views: { values: ['core'], types: ['ports'], isPure: true },
    ports: { values: ['core'] },
    modes: { values: ['core', 'modes/*/rules.ts', 'modes/*/session.ts'], isPure: true },
    'modes/<mode>': { values: ['core', 'documents', 'modes/<mode>/rules.ts'], isPure: true },
    'modes/<mode>/rules.ts': { values: ['core'], isPure: true, takesNoPackage: true },
    'modes/<mode>/session.ts': { values: ['*'], layer: 'app' },
    'modes/<mode>/commands.ts': { values: ['app', 'core', 'modes/<mode>', 'cli/context.ts'], layer: 'cli' },
    engine: { values: ['core', 'ports', 'views'] },
    processes: { values: ['core', 'ports'] },
    agents: adapter,
    'agents/cli': { values: ['core', 'agents'] },
    checks: { values: [...adapter.values, 'checks/tamper'] },
    'checks/tamper': { values: ['core'], isPure: true },
    ledger: adapter,
    config: { values: ['core', 'modes'], types: ['ports'] },
    cli: { values: ['app', 'core', 'version.ts', 'config/fields.ts'], types: ['ports', 'config'] },
    'version.ts': { values: [] },
    app: { values: ['*'] },
    'index.ts': { values: ['*'] },
  },
  spawners: ['src/processes/'],
  packageJsonReader: 'src/version.ts',
  entries: { 'src/checks/tamper/': ['screen.ts'] },
  ports: { 'src/ledger/': ['ledger.ts'] },
  compositionRoots: ['src/app/'],
  collections: ['src/agents/cli/'],
  filesInFolderMax: 15,
  filesInSubfolderMin: 3,
  linesMax: { source: 500, table: 700, test: 500, function: 60 },
  tables: ['src/core/event.ts'],
  heavyPackages: { zod: 'src/config/', kysely: 'src/ledger/', esbuild: null },
  coldStartEntry: 'src/cli/main.ts',
  budgetFile: undefined,
  namesRefused: ['utils', 'helpers'],
  firstLineNamesTheThing: true,
  proseReaders: ['src/agents/cli/'],
  modeFolder: 'src/modes/',
  modeHomonyms: ['format'],
  agentFolder: 'src/agents/cli/',
  agentRegistry: 'src/agents/driver.ts',
  gitWordsOfOthers: { 'src/agents/cli/one.ts': ['push'] },
  pathLists: {},
};

export const top = '// Says why this file exists.\n';
/** Lines of code up to so many lines, the first line included. */
export const long = (lines: number): string =>
  `${top}${Array.from({ length: lines - 1 }, (_, at) => `export const value${at} = ${at};\n`).join('')}`;
export const body = (lines: number): string => Array.from({ length: lines }, (_, at) => `  sum += ${at};\n`).join('');
export const value = `${top}export const value = 1;\n`;
export const takes = (path: string, makes = 'twice'): string =>
  `${top}import { value as one } from '${path}';\n\nexport const ${makes} = [one, one];\n`;
export const takesLazily = (path: string, makes = 'load'): string =>
  `${top}export const ${makes} = () => import('${path}');
`;
export const takesType = (path: string): string => `${top}import type { A } from '${path}';\n\nexport type B = A;\n`;
export const says = (code: string): string => `${top}${code}\n`;
export const several = (folder: string, count: number): Files =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${folder}/file${at}.ts`, value]));

/** Everything that is just allowed; every path of the small house is there. */
export const allowed: Files = {
  'src/core/longest.ts': long(500),
  'src/core/event.ts': long(700),
  'src/core/function.ts': says(`export function f(sum = 0): number {\n${body(57)}  return sum;\n}`),
  'src/core/words.ts': `// Explains itself over two lines, since one was
// not enough (it seldom is).
// Date.now(), process.exit() and await are only words here: "Math.random".
export interface Failure {
  readonly process: string;
  readonly Date: number;
}
export const text = 'new Date() in a string, \`await\` too';
export const told = (failure: Failure) => \`\${failure.process} at \${failure.Date}: Math.random()\`;
export const made: Failure = { process: 'setTimeout', Date: 1 };
export const moment = (at: number) => new Date(at).toISOString();
`,
  'src/core/prose.ts': says(
    [
      'export const isThere = (a: { because?: string }) => a.because !== undefined && a.because !== "";',
      'export const isKind = (a: { reason: string; kind: string }) => a.reason === "done" || a.kind.startsWith("d");',
      'export const first = (options: string[]) => options.includes("a") || options.length === 2;',
      'export const all = (a?: string[], b = {}) => ({ ...(a ?? []), ...b, c: [...(a === undefined ? [] : a)] });',
    ].join('\n'),
  ),
  'src/core/compares.ts': says(
    [
      "export const isPlan = (format: { name: string }) => format.name === 'plan' || format.name === 'other';",
      "export const made = (_meta: Record<string, string>) => ({ id: 'plan', one: _meta['one'], example: 'one/large' });",
    ].join('\n'),
  ),
  'src/documents/prd.ts': `${top}import { told } from '../core/words.ts';
import type { Clock } from '../ports/clock.ts';

export const format = (clock: Clock) => [clock, told];
`,
  'src/views/status.ts': value,
  'src/ports/clock.ts': `${top}import type { Failure } from '../core/words.ts';

export interface Clock {
  failed(failure: Failure): void;
}
`,
  'src/modes/registry.ts': `${top}import { value } from './plan/rules.ts';

export const session = () => [value, import('./plan/session.ts')];
`,
  'src/modes/plan/rules.ts': says("export const value = 1;\nexport const isPlan = (mode: string) => mode === 'plan';"),
  'src/modes/plan/views.ts': takes('./rules.ts'),
  'src/modes/plan/session.ts': takes('../../app/open.ts'),
  'src/modes/plan/commands.ts': takes('../../app/open.ts'),
  'src/engine/run.ts': value,
  'src/processes/spawn.ts': says("import { spawn } from 'node:child_process';\n\nexport const start = spawn;"),
  'src/agents/driver.ts': `${top}import { readFileSync } from 'node:fs';
import { start } from '../processes/spawn.ts';

export const value = ['one', start, readFileSync, Date.now()];
`,
  ...several('src/agents/cli', 15),
  'src/agents/cli/one.ts': says(
    "import { value } from '../driver.ts';\n\nexport const isLimit = (detail: string) => detail.includes('limit') || value.includes('push');",
  ),
  'src/checks/command.ts': takes('./tamper/screen.ts'),
  'src/checks/tamper/screen.ts': takes('./rules.ts', 'value'),
  'src/checks/tamper/rules.ts': value,
  'src/checks/tamper/tokens.ts': value,
  'src/ledger/ledger.ts': value,
  'src/ledger/sqlite.ts': says("import { Kysely } from 'kysely';\n\nexport const value = Kysely;"),
  'src/config/fields.ts': value,
  'src/config/schema.ts': says("import { z } from 'zod';\n\nexport const schema = z.string();"),
  'src/cli/main.ts': `${top}import { value } from '../config/fields.ts';
import { version } from '../version.ts';

export const run = () => [value, version, import('../app/open.ts')];
`,
  'src/cli/context.ts': value,
  'src/app/open.ts': takesLazily('../ledger/sqlite.ts', 'value'),
  'src/app/session.ts': takes('../modes/registry.ts'),
  'src/version.ts': says("import file from '../package.json' with { type: 'json' };\n\nexport const version = file;"),
  'src/index.ts': `${top}export { value } from './app/open.ts';\n`,
  'test/longest.test.ts': long(500),
  'test/mock.test.ts': says("vi.mock('../src/engine/run.ts');"),
};

/** The same without its long files, on which each fixture is laid: so that the break it is about is the only one. */
export const base: Files = Object.fromEntries(
  Object.entries(allowed).map(([path, text]) => [path, text === long(500) || text === long(700) ? value : text]),
);
