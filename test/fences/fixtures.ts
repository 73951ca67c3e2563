// Small repositories that break one fence each, as tables of paths and texts: the test writes them to a scratch folder.
import type { Rule } from './check.ts';
import type { House, Room } from './house.ts';

type Files = Readonly<Record<string, string>>;

export interface Fixture {
  readonly breaks: Rule;
  readonly by: string;
  readonly files: Files;
  /** What differs from the house of the fixtures. */
  readonly house?: Partial<House>;
}

const adapter: Room = { values: ['core', 'processes'] };

/** A house of its own: fences are proven without the rooms that the repository has today. */
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
  smallFolders: [],
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
  modeNames: ['goal', 'plan'],
  modeNameComparisons: 1,
  gitWordsOfOthers: { 'src/agents/cli/one.ts': ['push'] },
  pathLists: {},
};

const top = '// Says why this file exists.\n';
/** Lines of code up to so many lines, the first line included. */
const long = (lines: number): string =>
  `${top}${Array.from({ length: lines - 1 }, (_, at) => `export const value${at} = ${at};\n`).join('')}`;
const body = (lines: number): string => Array.from({ length: lines }, (_, at) => `  sum += ${at};\n`).join('');
const value = `${top}export const value = 1;\n`;
const takes = (path: string, makes = 'twice'): string =>
  `${top}import { value as one } from '${path}';\n\nexport const ${makes} = [one, one];\n`;
const takesLazily = (path: string, makes = 'load'): string =>
  `${top}export const ${makes} = () => import('${path}');
`;
const takesType = (path: string): string => `${top}import type { A } from '${path}';\n\nexport type B = A;\n`;
const says = (code: string): string => `${top}${code}\n`;
const several = (folder: string, count: number): Files =>
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
`,
  'src/core/prose.ts': says(
    [
      'export const isThere = (a: { because?: string }) => a.because !== undefined && a.because !== "";',
      'export const isKind = (a: { reason: string; kind: string }) => a.reason === "done" || a.kind.startsWith("d");',
      'export const first = (options: string[]) => options.includes("a") || options.length === 2;',
      'export const all = (a?: string[], b = {}) => ({ ...(a ?? []), ...b, c: [...(a === undefined ? [] : a)] });',
    ].join('\n'),
  ),
  'src/core/compares.ts': says("export const isGoal = (mode: string) => mode === 'goal' || mode === 'other';"),
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

export const value = [start, readFileSync, Date.now()];
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
};

/** The same without its long files, on which each fixture is laid: so that the break it is about is the only one. */
export const base: Files = Object.fromEntries(
  Object.entries(allowed).map(([path, text]) => [path, text === long(500) || text === long(700) ? value : text]),
);

const vitestLists = { vitest: 'vitest.config.ts' };
const bundleLists = { bundle: 'scripts/build.mjs' };
const bundler = (needed: string, filter: string, entry = 'src/cli/main.ts'): string =>
  `const entry = '${entry}';\nconst neededAtOnce = ['${needed}'];\nbuild.onLoad({ filter: ${filter} }, load);\n`;
const commandTable = `${top}export const commands = [{ usage: 'run [what]', load: () => import('./context.ts') }];\n`;
const budgetFile = 'test/budget.json';
const withTable = {
  'src/cli/commands.ts': commandTable,
  'src/cli/main.ts': takesLazily('./program.ts'),
  'src/cli/program.ts': takes('./commands.ts'),
};

export const fixtures: readonly Fixture[] = [
  { breaks: 'imports', by: 'a file in no room', files: { 'src/plumbing/pipe.ts': value } },
  { breaks: 'imports', by: 'core taking a package', files: { 'src/core/id.ts': takes('uuid') } },
  {
    breaks: 'imports',
    by: 'core taking a type of a port',
    files: { 'src/core/id.ts': takesType('../ports/clock.ts'), 'src/ports/clock.ts': value },
  },
  {
    breaks: 'imports',
    by: 'an adapter taking an adapter',
    files: { 'src/agents/a.ts': takesLazily('../checks/command.ts') },
  },
  { breaks: 'imports', by: 'an agent taking a document', files: { 'src/agents/a.ts': takes('../documents/prd.ts') } },
  { breaks: 'imports', by: 'config taking the ledger', files: { 'src/config/a.ts': takes('../ledger/ledger.ts') } },
  { breaks: 'imports', by: 'the engine taking a document', files: { 'src/engine/a.ts': takes('../documents/prd.ts') } },
  {
    breaks: 'imports',
    by: 'a document taking a value of a port',
    files: { 'src/documents/a.ts': takes('../ports/clock.ts') },
  },
  {
    breaks: 'imports',
    by: 'a port taking an adapter',
    files: { 'src/ports/a.ts': says("export type Store = import('../agents/driver.ts').A;") },
  },
  {
    breaks: 'imports',
    by: 'a process taking an agent',
    files: { 'src/processes/a.ts': takesLazily('../agents/driver.ts') },
  },
  { breaks: 'imports', by: 'source taking a test', files: { 'src/engine/a.ts': takes('../../test/longest.test.ts') } },
  { breaks: 'imports', by: 'source taking package.json', files: { 'src/engine/a.ts': takes('../../package.json') } },
  { breaks: 'imports', by: 'the CLI taking the engine', files: { 'src/cli/a.ts': takes('../engine/run.ts') } },
  {
    breaks: 'imports',
    by: 'the CLI taking more of config than is open',
    files: { 'src/cli/a.ts': takesLazily('../config/schema.ts') },
  },
  { breaks: 'imports', by: 'a view taking a document', files: { 'src/views/a.ts': takes('../documents/prd.ts') } },
  {
    breaks: 'imports',
    by: 'a part of a room that is not open with the room',
    files: { 'src/agents/a.ts': takesType('./cli/one.ts') },
  },
  {
    breaks: 'imports',
    by: "a mode's rules taking a document",
    files: { 'src/modes/plan/rules.ts': takes('../../documents/prd.ts', 'value') },
  },
  {
    breaks: 'imports',
    by: "a mode's rules taking a package",
    files: {
      'src/modes/plan/rules.ts': takes('uuid', 'value'),
    },
  },
  {
    breaks: 'imports',
    by: "a mode taking another mode's rules",
    files: { ...several('src/modes/goal', 2), 'src/modes/goal/views.ts': takes('../plan/rules.ts') },
  },
  {
    breaks: 'imports',
    by: "a mode's pure part taking its session",
    files: { 'src/modes/plan/a.ts': takesLazily('./session.ts') },
  },
  {
    breaks: 'imports',
    by: "a mode's commands taking the engine",
    files: { 'src/modes/plan/commands.ts': takes('../../engine/run.ts') },
  },
  {
    breaks: 'entry',
    by: 'an outsider passing by the entry',
    files: { 'src/app/a.ts': takes('../checks/tamper/rules.ts') },
  },
  {
    breaks: 'entry',
    by: 'the room above passing by the entry',
    files: { 'src/checks/command.ts': takesType('./tamper/rules.ts') },
  },
  {
    breaks: 'entry',
    by: 'an insider of another room passing by the port',
    files: { 'src/modes/plan/session.ts': takes('../../ledger/sqlite.ts') },
  },
  {
    breaks: 'purity',
    by: 'await',
    files: { 'src/documents/a.ts': says('export const later = async (one: PromiseLike<number>) => await one;') },
  },
  { breaks: 'purity', by: 'a date', files: { 'src/views/a.ts': says('export const now = () => new Date();') } },
  { breaks: 'purity', by: "a module of Node's", files: { 'src/core/a.ts': takes('node:path') } },
  {
    breaks: 'purity',
    by: 'performance',
    files: { 'src/modes/a.ts': says('export const now = () => performance.now();') },
  },
  {
    breaks: 'purity',
    by: "a mode's rules",
    files: { 'src/modes/plan/rules.ts': says('export const value = Date.now();') },
  },
  {
    breaks: 'purity',
    by: 'the process',
    files: { 'src/core/a.ts': says("export const home = () => process.env['HOME'];") },
  },
  { breaks: 'purity', by: 'chance', files: { 'src/core/a.ts': says('export const roll = () => Math.random();') } },
  {
    breaks: 'purity',
    by: 'a timer',
    files: { 'src/checks/tamper/a.ts': says('export const later = (call: () => void) => setTimeout(call, 1);') },
  },
  { breaks: 'child-process', by: 'an agent', files: { 'src/agents/a.ts': takes('node:child_process') } },
  {
    breaks: 'child-process',
    by: 'a lazy import without prefix',
    files: { 'src/engine/a.ts': takesLazily('child_process') },
  },
  { breaks: 'barrel', by: 'a star', files: { 'src/core/all.ts': `${top}export * from './words.ts';\n` } },
  {
    breaks: 'barrel',
    by: 'two steps',
    files: { 'src/core/all.ts': `${top}import { text } from './words.ts';\n\nexport { text };\n` },
  },
  { breaks: 'name', by: 'a file', files: { 'src/core/utils.ts': value } },
  { breaks: 'name', by: 'an ending', files: { 'src/engine/text-utils.ts': value } },
  {
    breaks: 'name',
    by: 'a folder',
    files: { 'src/helpers/a.ts': value },
    house: { rooms: { ...smallHouse.rooms, helpers: { values: [] } } },
  },
  { breaks: 'file-size', by: 'one line', files: { 'src/core/a.ts': long(501) } },
  { breaks: 'file-size', by: 'one line of a table', files: { 'src/core/event.ts': long(701) } },
  { breaks: 'test-size', by: 'one line', files: { 'test/a.test.ts': long(501) } },
  {
    breaks: 'function-size',
    by: 'one line',
    files: { 'src/core/a.ts': says(`export function f(sum = 0): number {\n${body(58)}  return sum;\n}`) },
  },
  {
    breaks: 'function-size',
    by: 'a method',
    files: {
      'src/core/a.ts': says(`export const one = {\n  f(sum = 0): number {\n${body(58)}  return sum;\n  },\n};`),
    },
  },
  { breaks: 'first-line', by: 'none', files: { 'src/core/a.ts': 'export const value = 1;\n' } },
  { breaks: 'first-line', by: 'no sentence', files: { 'src/core/a.ts': '// helpers\nexport const value = 1;\n' } },
  {
    breaks: 'first-line',
    by: 'a question word',
    files: { 'src/core/a.ts': '// What the loop remembers about work.\nexport const value = 1;\n' },
  },
  { breaks: 'heavy-package', by: 'another room', files: { 'src/engine/a.ts': takesLazily('zod') } },
  { breaks: 'heavy-package', by: 'a build tool', files: { 'src/config/a.ts': takesLazily('esbuild') } },
  { breaks: 'heavy-package', by: 'a type from a part of it', files: { 'src/config/a.ts': takesType('kysely/types') } },
  {
    breaks: 'cold-start',
    by: 'the entry',
    files: { 'src/config/fields.ts': says("import { z } from 'zod';\n\nexport const value = z;") },
  },
  {
    breaks: 'cold-start',
    by: 'an import that has only types but is no type import',
    files: {
      'src/config/fields.ts': says(
        "import { type A } from './schema.ts';\n\nexport type B = A;\nexport const value = 1;",
      ),
      'src/config/schema.ts': says("import { type ZodType } from 'zod';\n\nexport type A = ZodType;"),
    },
  },
  { breaks: 'git-words', by: 'a phrase', files: { 'src/core/a.ts': says("export const way = 'git reset --hard';") } },
  {
    breaks: 'git-words',
    by: 'an argument, in any room',
    files: { 'src/engine/a.ts': says("export const way = ['stash'];") },
  },
  {
    breaks: 'git-words',
    by: "another word than the one that is somebody else's",
    files: { 'src/agents/cli/one.ts': says("export const way = ['push', 'gc'];") },
  },
  {
    breaks: 'conditional-spread',
    by: 'nothing or something',
    files: { 'src/core/a.ts': says('export const f = (a?: string) => ({ ...(a === undefined ? {} : { a }) });') },
  },
  {
    breaks: 'conditional-spread',
    by: 'something or nothing',
    files: { 'src/engine/a.ts': says('export const f = (a: boolean) => ({ ...(a ? { a } : {}) });') },
  },
  {
    breaks: 'conditional-spread',
    by: 'and',
    files: { 'src/core/a.ts': says('export const f = (a: boolean) => ({ ...(a && { a }) });') },
  },
  ...[
    'a.because.startsWith("handed off")',
    'a.detail?.includes("verdict")',
    'a.label.endsWith(given)',
    'a.because.match(/x/) !== null',
    '/x/.test(a.summary)',
    'a.options[1] === "Leave this task out"',
    'a.options.at(-1) !== "Stop"',
    'given === a.question',
    '["a", "b"].includes(a.hint ?? "")',
    'a.label.trim().toLowerCase() === "x"',
    'String(a.reason).startsWith("handed off")',
    "a['because'].includes(given)",
  ].map(
    (test): Fixture => ({
      breaks: 'prose',
      by: test,
      files: { 'src/core/a.ts': says(`export const f = (a: any, given: string) => ${test};`) },
    }),
  ),
  {
    breaks: 'prose',
    by: 'switch',
    files: {
      'src/cli/a.ts': says(
        'export function f(label: string) {\n  switch (label) {\n    default:\n      return 1;\n  }\n}',
      ),
    },
  },
  {
    breaks: 'file-cycle',
    by: 'two files',
    files: { 'src/core/a.ts': takes('./b.ts'), 'src/core/b.ts': takes('./a.ts') },
  },
  {
    breaks: 'file-cycle',
    by: 'three files',
    files: { 'src/core/a.ts': takes('./b.ts'), 'src/core/b.ts': takes('./c.ts'), 'src/core/c.ts': takes('./a.ts') },
  },
  {
    breaks: 'file-cycle',
    by: 'types',
    files: { 'src/core/a.ts': takesType('./b.ts'), 'src/core/b.ts': takes('./a.ts') },
  },
  { breaks: 'file-cycle', by: 'itself', files: { 'src/core/a.ts': takes('./a.ts') } },
  {
    breaks: 'room-cycle',
    by: 'two rooms',
    files: {
      'src/agents/a.ts': takes('../engine/b.ts'),
      'src/engine/b.ts': value,
      'src/engine/c.ts': takesType('../agents/driver.ts'),
    },
    house: {
      rooms: {
        ...smallHouse.rooms,
        agents: { values: ['core', 'processes', 'engine'] },
        engine: { values: ['core', 'agents'] },
      },
    },
  },
  {
    breaks: 'room-cycle',
    by: 'a part of a mode that belongs to no layer above',
    files: {},
    house: { rooms: { ...smallHouse.rooms, 'modes/<mode>/session.ts': { values: ['*'] } } },
  },
  { breaks: 'folder-size', by: 'the sixteenth file', files: several('src/views', 15) },
  { breaks: 'folder-size', by: 'a subfolder of two', files: several('src/engine/parts', 2) },
  {
    breaks: 'mode-names',
    by: 'one more',
    files: { 'src/core/a.ts': says("export const f = (mode: string) => mode !== 'plan';") },
  },
  {
    breaks: 'mode-names',
    by: 'one more case',
    files: {
      'src/cli/a.ts': says(
        "export function f(mode: string) {\n  switch (mode) {\n    case 'goal':\n      return 1;\n  }\n}",
      ),
    },
  },
  { breaks: 'mode-names', by: 'one less, with the number as it was', files: { 'src/core/compares.ts': value } },
  {
    breaks: 'dead-path',
    by: 'a room without a file',
    files: {},
    house: { rooms: { ...smallHouse.rooms, web: { values: ['app'] } } },
  },
  {
    breaks: 'dead-path',
    by: 'a room that opens what is not there',
    files: {},
    house: { rooms: { ...smallHouse.rooms, views: { values: ['core', 'stores'] } } },
  },
  {
    breaks: 'dead-path',
    by: 'a collection',
    files: {},
    house: { collections: [...smallHouse.collections, 'src/ledger/migrations/'] },
  },
  {
    breaks: 'dead-path',
    by: 'an entry file',
    files: {},
    house: { entries: { 'src/checks/tamper/': ['screen.ts', 'door.ts'] } },
  },
  {
    breaks: 'dead-path',
    by: 'the home of a heavy package',
    files: {},
    house: { heavyPackages: { ...smallHouse.heavyPackages, yaml: 'src/formats/' } },
  },
  { breaks: 'dead-path', by: 'the entry of cold start', files: {}, house: { coldStartEntry: 'src/surfaces/main.ts' } },
  {
    breaks: 'dead-path',
    by: 'a reader of prose',
    files: {},
    house: { proseReaders: [...smallHouse.proseReaders, 'src/ledger/upcast.ts'] },
  },
  {
    breaks: 'dead-path',
    by: 'a folder of pure tests',
    files: { 'vitest.config.ts': "const pure = ['formats'].map(name => name);\n" },
    house: { pathLists: vitestLists },
  },
  {
    breaks: 'dead-path',
    by: 'no list of pure tests',
    files: { 'vitest.config.ts': 'export default {};\n' },
    house: { pathLists: vitestLists },
  },
  { breaks: 'dead-path', by: 'no settings of vitest', files: {}, house: { pathLists: vitestLists } },
  {
    breaks: 'dead-path',
    by: "one half of the bundler's filter",
    files: {
      'scripts/build.mjs': bundler('../ledger/sqlite.ts', '/[\\\\/]src[\\\\/](app[\\\\/]open|surfaces)\\.ts$/'),
    },
    house: { pathLists: bundleLists },
  },
  {
    breaks: 'dead-path',
    by: 'what the bundler needs at once',
    files: { 'scripts/build.mjs': bundler('./stores/sqlite.ts', '/[\\\\/]src[\\\\/]app[\\\\/]open\\.ts$/') },
    house: { pathLists: bundleLists },
  },
  {
    breaks: 'dead-path',
    by: 'an entry of the bundler',
    files: {
      'scripts/build.mjs': bundler('../ledger/sqlite.ts', '/[\\\\/]src[\\\\/]app[\\\\/]open\\.ts$/', 'src/gone.ts'),
    },
    house: { pathLists: bundleLists },
  },
  {
    breaks: 'dead-path',
    by: 'an entry of knip',
    files: { 'knip.json': '{ "entry": ["src/index.ts", "test/stores/*.ts"] }' },
    house: { pathLists: { knip: 'knip.json' } },
  },
  {
    breaks: 'import-budget',
    by: 'one module too many',
    files: { ...withTable, [budgetFile]: '{ "run": { "modules": 3, "bytes": 9999 } }' },
    house: { budgetFile },
  },
  {
    breaks: 'import-budget',
    by: 'too many bytes',
    files: { ...withTable, [budgetFile]: '{ "run": { "modules": 4, "bytes": 9 } }' },
    house: { budgetFile },
  },
  {
    breaks: 'import-budget',
    by: 'a command without one',
    files: { ...withTable, [budgetFile]: '{}' },
    house: { budgetFile },
  },
  {
    breaks: 'import-budget',
    by: 'a command that is gone',
    files: {
      ...withTable,
      [budgetFile]: '{ "gone": { "modules": 1, "bytes": 1 }, "run": { "modules": 4, "bytes": 9999 } }',
    },
    house: { budgetFile },
  },
];
