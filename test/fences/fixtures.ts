// Fixtures that break one fence each, as tables of paths and texts laid over the small repository.
import type { Rule } from './check.ts';
import type { House } from './house.ts';
import {
  body,
  type Files,
  long,
  says,
  several,
  smallHouse,
  takes,
  takesLazily,
  takesType,
  top,
  value,
} from './small-house.ts';

export interface Fixture {
  readonly breaks: Rule;
  readonly by: string;
  readonly files: Files;
  /** What differs from the house of the fixtures. */
  readonly house: Partial<House>;
}

const breaks = (rule: Rule, by: string, files: Files, house: Partial<House> = {}): Fixture => ({
  breaks: rule,
  by,
  files,
  house,
});
const withRooms = (rooms: House['rooms']): Partial<House> => ({ rooms: { ...smallHouse.rooms, ...rooms } });

const vitestLists = { vitest: 'vitest.config.ts' };
const bundleLists = { bundle: 'scripts/build.mjs' };
const bundler = (libraries: string, entry = 'src/cli/main.ts'): string =>
  `const entry = '${entry}';\nconst libraries = [${libraries}];\n`;
const commandTable = `${top}export const commands = [{ usage: 'run [what]', load: () => import('./context.ts') }];\n`;
const budgetFile = 'test/budget.json';
const withTable = {
  'src/cli/commands.ts': commandTable,
  'src/cli/main.ts': takesLazily('./program.ts'),
  'src/cli/program.ts': takes('./commands.ts'),
};

export const fixtures: readonly Fixture[] = [
  breaks('imports', 'a file in no room', { 'src/plumbing/pipe.ts': value }),
  breaks('imports', 'core taking a package', { 'src/core/id.ts': takes('uuid') }),
  breaks('imports', 'core taking a type of a port', {
    'src/core/id.ts': takesType('../ports/clock.ts'),
    'src/ports/clock.ts': value,
  }),
  breaks('imports', 'an adapter taking an adapter', { 'src/agents/a.ts': takesLazily('../checks/command.ts') }),
  breaks('imports', 'an agent taking a document', { 'src/agents/a.ts': takes('../documents/prd.ts') }),
  breaks('imports', 'config taking the ledger', { 'src/config/a.ts': takes('../ledger/ledger.ts') }),
  breaks('imports', 'the engine taking a document', { 'src/engine/a.ts': takes('../documents/prd.ts') }),
  breaks('imports', 'a document taking a value of a port', { 'src/documents/a.ts': takes('../ports/clock.ts') }),
  breaks('imports', 'a port taking an adapter', {
    'src/ports/a.ts': says("export type Store = import('../agents/driver.ts').A;"),
  }),
  breaks('imports', 'a process taking an agent', { 'src/processes/a.ts': takesLazily('../agents/driver.ts') }),
  breaks('imports', 'source taking a test', { 'src/engine/a.ts': takes('../../test/longest.test.ts') }),
  breaks('imports', 'source taking package.json', { 'src/engine/a.ts': takes('../../package.json') }),
  breaks('imports', 'the CLI taking the engine', { 'src/cli/a.ts': takes('../engine/run.ts') }),
  breaks('imports', 'the CLI taking more of config than is open', {
    'src/cli/a.ts': takesLazily('../config/schema.ts'),
  }),
  breaks('imports', 'a view taking a document', { 'src/views/a.ts': takes('../documents/prd.ts') }),
  breaks('imports', 'a part of a room that is not open with the room', {
    'src/agents/a.ts': takesType('./cli/one.ts'),
  }),
  breaks('imports', "a mode's rules taking a document", {
    'src/modes/plan/rules.ts': takes('../../documents/prd.ts', 'value'),
  }),
  breaks('imports', "a mode's rules taking a package", {
    'src/modes/plan/rules.ts': takes('uuid', 'value'),
  }),
  breaks('imports', "a mode taking another mode's rules", {
    ...several('src/modes/goal', 2),
    'src/modes/goal/views.ts': takes('../plan/rules.ts'),
  }),
  breaks('imports', "a mode's pure part taking its session", { 'src/modes/plan/a.ts': takesLazily('./session.ts') }),
  breaks('imports', "a mode's commands taking the engine", {
    'src/modes/plan/commands.ts': takes('../../engine/run.ts'),
  }),
  breaks('entry', 'an outsider passing by the entry', { 'src/app/a.ts': takes('../checks/tamper/rules.ts') }),
  breaks('entry', 'the room above passing by the entry', { 'src/checks/command.ts': takesType('./tamper/rules.ts') }),
  breaks('entry', 'an insider of another room passing by the port', {
    'src/modes/plan/session.ts': takes('../../ledger/sqlite.ts'),
  }),
  breaks('purity', 'await', {
    'src/documents/a.ts': says('export const later = async (one: PromiseLike<number>) => await one;'),
  }),
  breaks('purity', 'a date', { 'src/views/a.ts': says('export const now = () => new Date().toISOString();') }),
  breaks('purity', 'a local date', {
    'src/views/a.ts': says('export const hour = (at: number) => new Date(at).getHours();'),
  }),
  breaks('purity', "a module of Node's", { 'src/core/a.ts': takes('node:path') }),
  breaks('purity', 'performance', { 'src/modes/a.ts': says('export const now = () => performance.now();') }),
  breaks('purity', "a mode's rules", { 'src/modes/plan/rules.ts': says('export const value = Date.now();') }),
  breaks('purity', 'the process', { 'src/core/a.ts': says("export const home = () => process.env['HOME'];") }),
  breaks('purity', 'chance', { 'src/core/a.ts': says('export const roll = () => Math.random();') }),
  breaks('purity', 'a timer', {
    'src/checks/tamper/a.ts': says('export const later = (call: () => void) => setTimeout(call, 1);'),
  }),
  breaks('child-process', 'an agent', { 'src/agents/a.ts': takes('node:child_process') }),
  breaks('child-process', 'a lazy import without prefix', { 'src/engine/a.ts': takesLazily('child_process') }),
  breaks('barrel', 'a star', { 'src/core/all.ts': `${top}export * from './words.ts';\n` }),
  breaks('barrel', 'two steps', {
    'src/core/all.ts': `${top}import { text } from './words.ts';\n\nexport { text };\n`,
  }),
  breaks('name', 'a file', { 'src/core/utils.ts': value }),
  breaks('name', 'an ending', { 'src/engine/text-utils.ts': value }),
  breaks('name', 'a folder', { 'src/helpers/a.ts': value }, withRooms({ helpers: { values: [] } })),
  breaks('file-size', 'one line', { 'src/core/a.ts': long(501) }),
  breaks('file-size', 'one line of a table', { 'src/core/event.ts': long(701) }),
  breaks('test-size', 'one line', { 'test/a.test.ts': long(501) }),
  breaks('function-size', 'one line', {
    'src/core/a.ts': says(`export function f(sum = 0): number {\n${body(58)}  return sum;\n}`),
  }),
  breaks('function-size', 'a method', {
    'src/core/a.ts': says(`export const one = {\n  f(sum = 0): number {\n${body(58)}  return sum;\n  },\n};`),
  }),
  breaks('first-line', 'none', { 'src/core/a.ts': 'export const value = 1;\n' }),
  breaks('first-line', 'no sentence', { 'src/core/a.ts': '// helpers\nexport const value = 1;\n' }),
  breaks('first-line', 'a question word', {
    'src/core/a.ts': '// What the loop remembers about work.\nexport const value = 1;\n',
  }),
  breaks('heavy-package', 'another room', { 'src/engine/a.ts': takesLazily('zod') }),
  breaks('heavy-package', 'a build tool', { 'src/config/a.ts': takesLazily('esbuild') }),
  breaks('heavy-package', 'a type from a part of it', { 'src/config/a.ts': takesType('kysely/types') }),
  breaks('cold-start', 'the entry', {
    'src/config/fields.ts': says("import { z } from 'zod';\n\nexport const value = z;"),
  }),
  breaks('cold-start', 'an import that has only types but is no type import', {
    'src/config/fields.ts': says(
      "import { type A } from './schema.ts';\n\nexport type B = A;\nexport const value = 1;",
    ),
    'src/config/schema.ts': says("import { type ZodType } from 'zod';\n\nexport type A = ZodType;"),
  }),
  breaks('git-words', 'a phrase', { 'src/core/a.ts': says("export const way = 'git reset --hard';") }),
  breaks('git-words', 'an argument, in any room', { 'src/engine/a.ts': says("export const way = ['stash'];") }),
  breaks('git-words', "another word than the one that is somebody else's", {
    'src/agents/cli/one.ts': says("export const way = ['push', 'gc'];"),
  }),
  breaks('conditional-spread', 'nothing or something', {
    'src/core/a.ts': says('export const f = (a?: string) => ({ ...(a === undefined ? {} : { a }) });'),
  }),
  breaks('conditional-spread', 'something or nothing', {
    'src/engine/a.ts': says('export const f = (a: boolean) => ({ ...(a ? { a } : {}) });'),
  }),
  breaks('conditional-spread', 'and', {
    'src/core/a.ts': says('export const f = (a: boolean) => ({ ...(a && { a }) });'),
  }),
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
    'a.line.startsWith("ralph resume")',
    'given !== "by hand"',
    "a['because'].includes(given)",
  ].map(test =>
    breaks('prose', test, { 'src/core/a.ts': says(`export const f = (a: any, given: string) => ${test};`) }),
  ),
  breaks('prose', 'switch', {
    'src/cli/a.ts': says(
      'export function f(label: string) {\n  switch (label) {\n    default:\n      return 1;\n  }\n}',
    ),
  }),
  breaks('file-cycle', 'two files', { 'src/core/a.ts': takes('./b.ts'), 'src/core/b.ts': takes('./a.ts') }),
  breaks('file-cycle', 'three files', {
    'src/core/a.ts': takes('./b.ts'),
    'src/core/b.ts': takes('./c.ts'),
    'src/core/c.ts': takes('./a.ts'),
  }),
  breaks('file-cycle', 'types', { 'src/core/a.ts': takesType('./b.ts'), 'src/core/b.ts': takes('./a.ts') }),
  breaks('file-cycle', 'itself', { 'src/core/a.ts': takes('./a.ts') }),
  breaks(
    'room-cycle',
    'two rooms',
    { 'src/agents/a.ts': takes('../engine/run.ts'), 'src/engine/c.ts': takesType('../agents/driver.ts') },
    withRooms({ agents: { values: ['core', 'processes', 'engine'] }, engine: { values: ['core', 'agents'] } }),
  ),
  breaks(
    'room-cycle',
    'no layer for a part of a mode',
    {},
    withRooms({ 'modes/<mode>/session.ts': { values: ['*'] } }),
  ),
  breaks('folder-size', 'the sixteenth file', several('src/views', 15)),
  breaks('folder-size', 'a subfolder of two', several('src/engine/parts', 2)),
  breaks('mode-names', 'a comparison', {
    'src/core/a.ts': says("export const f = (name: string) => name !== 'plan';"),
  }),
  breaks('mode-names', 'a case', {
    'src/cli/a.ts': says(
      "export function f(mode: string) {\n  switch (mode) {\n    case 'plan':\n      return 1;\n  }\n}",
    ),
  }),
  breaks('mode-names', 'a flag', { 'src/cli/a.ts': says("export const f = (a = {}) => ({ ...a, mode: 'plan' });") }),
  breaks('mode-names', 'a default', { 'src/app/a.ts': says("export const f = (mode = 'plan') => mode;") }),
  breaks('mode-names', 'a stand-in', { 'src/app/a.ts': says("export const f = (a: A) => a.mode ?? 'plan';") }),
  breaks('mode-names', 'an argument', {
    'src/app/a.ts': says("import { value } from '../modes/registry.ts';\n\nexport const one = value('plan');"),
  }),
  breaks('agent-names', 'a comparison', { 'src/app/a.ts': says("export const f = (a: string) => a === 'one';") }),
  breaks('agent-names', 'a table', { 'src/agents/a.ts': says("export const table = [['one', 'its vendor']];") }),
  breaks('agent-names', 'a model of it', { 'src/cli/a.ts': says("export const usual = 'one/large';") }),
  breaks('dead-path', 'a room without a file', {}, withRooms({ web: { values: ['app'] } })),
  breaks('dead-path', 'a room that opens what is not there', {}, withRooms({ views: { values: ['core', 'stores'] } })),
  breaks('dead-path', 'a collection', {}, { collections: [...smallHouse.collections, 'src/ledger/migrations/'] }),
  breaks('dead-path', 'an entry file', {}, { entries: { 'src/checks/tamper/': ['screen.ts', 'door.ts'] } }),
  breaks('dead-path', 'the home of a heavy package', {}, { heavyPackages: { yaml: 'src/formats/' } }),
  breaks('dead-path', 'the entry of cold start', {}, { coldStartEntry: 'src/surfaces/main.ts' }),
  breaks('dead-path', 'a reader of prose', {}, { proseReaders: [...smallHouse.proseReaders, 'src/ledger/upcast.ts'] }),
  breaks(
    'dead-path',
    'a folder of pure tests',
    { 'vitest.config.ts': "const pure = ['formats'].map(name => name);\n" },
    { pathLists: vitestLists },
  ),
  breaks(
    'dead-path',
    'no list of pure tests',
    { 'vitest.config.ts': 'export default {};\n' },
    { pathLists: vitestLists },
  ),
  breaks('dead-path', 'a mock', { 'test/a.test.ts': says("vi.mock('../src/process/gone.ts');") }),
  breaks('dead-path', 'no settings of vitest', {}, { pathLists: vitestLists }),
  breaks(
    'dead-path',
    'a library of the bundler that nothing imports',
    { 'scripts/build.mjs': bundler("'kysely', 'left-pad'") },
    { pathLists: bundleLists },
  ),
  breaks('dead-path', 'no list of the libraries', { 'scripts/build.mjs': bundler('') }, { pathLists: bundleLists }),
  breaks(
    'dead-path',
    'an entry of the bundler',
    { 'scripts/build.mjs': bundler("'kysely'", 'src/gone.ts') },
    { pathLists: bundleLists },
  ),
  breaks(
    'dead-path',
    'an entry of knip',
    { 'knip.json': '{ "entry": ["src/index.ts", "test/stores/*.ts"] }' },
    { pathLists: { knip: 'knip.json' } },
  ),
  breaks(
    'import-budget',
    'one module too many',
    { ...withTable, [budgetFile]: '{ "run": { "modules": 3, "bytes": 9999 } }' },
    { budgetFile },
  ),
  breaks(
    'import-budget',
    'too many bytes',
    { ...withTable, [budgetFile]: '{ "run": { "modules": 4, "bytes": 9 } }' },
    { budgetFile },
  ),
  breaks('import-budget', 'a command without one', { ...withTable, [budgetFile]: '{}' }, { budgetFile }),
  breaks(
    'import-budget',
    'a command that is gone',
    {
      ...withTable,
      [budgetFile]: '{ "gone": { "modules": 1, "bytes": 1 }, "run": { "modules": 4, "bytes": 9999 } }',
    },
    { budgetFile },
  ),
];
