// The house as data: its rooms, who may import whom, sizes, and every path that a fence looks at.

export interface Room {
  /** Rooms whose values and types may be imported; `folder/file.ts` opens just that file. */
  readonly values: readonly string[];
  /** Rooms of which only types may be imported. */
  readonly types?: readonly string[];
  /** A pure room does no input or output and knows neither time nor chance. */
  readonly isPure?: true;
  readonly takesNoPackage?: true;
  /** The top-level room that it counts as where import cycles between rooms are looked for; its own unless told. */
  readonly layer?: string;
}

/**
 * A room is a path below src, and the longest one that fits a file is the file's room. `<mode>` stands for any one
 * folder: each is a room of its own. In a room's list, `<mode>` is the same folder again and `*` any folder.
 * Paths are relative to the root and those of folders end in `/`, but for rooms, which are relative to src.
 */
export interface House {
  readonly rooms: Readonly<Record<string, Room>>;
  /** Only these may import node:child_process. */
  readonly spawners: readonly string[];
  readonly packageJsonReader: string;
  /** Of these folders outsiders may import only the files listed. */
  readonly entries: Readonly<Record<string, readonly string[]>>;
  /** Adapters: like `entries`, but composition roots may import everything of them. */
  readonly ports: Readonly<Record<string, readonly string[]>>;
  readonly compositionRoots: readonly string[];
  /** Folders where every file is one row of one typed table: they may hold any number. */
  readonly collections: readonly string[];
  /** Subfolders that may hold fewer files than `filesInSubfolderMin`. */
  readonly smallFolders: readonly string[];
  readonly filesInFolderMax: number;
  readonly filesInSubfolderMin: number;
  readonly linesMax: {
    readonly source: number;
    readonly table: number;
    readonly test: number;
    readonly function: number;
  };
  /** Closed unions and tables: files that may be `linesMax.table` long. */
  readonly tables: readonly string[];
  /** The only place of each package that is slow to load; `null` = not in src at all. */
  readonly heavyPackages: Readonly<Record<string, string | null>>;
  readonly coldStartEntry: string | undefined;
  readonly budgetFile: string | undefined;
  readonly namesRefused: readonly string[];
  /** A first line may not begin with a question word: it is to name the thing. */
  readonly firstLineNamesTheThing: boolean;
  /** Readers of text that others wrote, and the reader of old events: there alone a sentence may be looked into. */
  readonly proseReaders: readonly string[];
  readonly modeFolder: string | undefined;
  readonly modeNames: readonly string[];
  /** Comparisons with a mode's name outside `modeFolder`: a number that may only fall. */
  readonly modeNameComparisons: number;
  /** Words that are a destructive command of git elsewhere and something else in these files. */
  readonly gitWordsOfOthers: Readonly<Record<string, readonly string[]>>;
  /** Files that hold path lists of their own, each of which must match something. */
  readonly pathLists: { readonly vitest?: string; readonly bundle?: string; readonly knip?: string };
}

const adapter: Room = { values: ['core', 'ports', 'process'] };

export const everything = '*';

export const house: House = {
  rooms: {
    core: { values: [], isPure: true, takesNoPackage: true },
    formats: { values: ['core'], types: ['ports'], isPure: true },
    views: { values: ['core'], types: ['ports'], isPure: true },
    prompts: { values: ['core'], types: ['ports'], isPure: true },
    ports: { values: ['core'] },
    modes: { values: ['core', 'formats', 'views', 'prompts'], types: ['ports'], isPure: true },
    engine: { values: ['core', 'ports', 'views'] },
    process: { values: ['core', 'ports'] },
    agents: adapter,
    actions: adapter,
    sources: { values: [...adapter.values, 'formats'] },
    checks: adapter,
    stores: adapter,
    workspaces: adapter,
    prices: adapter,
    config: { values: ['core', 'modes'], types: ['ports'] },
    'surfaces/<surface>': {
      // `app` holds parts of the composition root that app.ts would be too long with.
      values: ['app.ts', 'app', 'core', 'views', 'version.ts', 'config/fields.ts', 'config/help.ts'],
      types: ['ports', 'config'],
    },
    'version.ts': { values: [] },
    'app.ts': { values: [everything] },
    app: { values: [everything] },
    'index.ts': { values: [everything] },
  },
  spawners: ['src/process/'],
  packageJsonReader: 'src/version.ts',
  entries: {},
  ports: {},
  compositionRoots: ['src/app/', 'src/app/app.ts', 'src/index.ts'],
  collections: ['src/stores/migrations/'],
  smallFolders: [],
  filesInFolderMax: 15,
  filesInSubfolderMin: 3,
  linesMax: { source: 500, table: 700, test: 500, function: 60 },
  tables: [],
  heavyPackages: {
    '@agentclientprotocol/sdk': 'src/agents/acp/',
    zod: 'src/config/',
    kysely: 'src/stores/',
    '@pydantic/genai-prices': 'src/prices/',
    '@modelcontextprotocol/client': 'src/actions/',
    yaml: 'src/formats/',
    chokidar: 'src/surfaces/cli/',
    esbuild: null,
  },
  coldStartEntry: 'src/cli/main.ts',
  budgetFile: 'test/fences/import-budget.json',
  namesRefused: ['utils', 'util', 'helpers', 'helper', 'common', 'services', 'managers'],
  firstLineNamesTheThing: false,
  proseReaders: ['src/agents/', 'src/formats/', 'src/checks/tamper/count.ts', 'src/checks/tamper/scripts.ts'],
  modeFolder: 'src/modes/',
  modeNames: ['goal', 'prompt', 'prd', 'lists', 'project', 'interview', 'review', 'plan'],
  modeNameComparisons: 116,
  gitWordsOfOthers: { 'src/agents/stream.ts': ['push'], 'src/cli/commands/agents-test.ts': ['clean'] },
  pathLists: { vitest: 'vitest.config.ts', bundle: 'scripts/build.mjs', knip: 'knip.json' },
};
