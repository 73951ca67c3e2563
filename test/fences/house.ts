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
  /** Each folder in it is a mode, also one of few files. */
  readonly modeFolder: string | undefined;
  /** What may be equal to a mode's name and is none: the word for it in what is compared. */
  readonly modeHomonyms: readonly string[];
  readonly agentFolder: string | undefined;
  readonly agentRegistry: string | undefined;
  /** Words that are a destructive command of git elsewhere and something else in these files. */
  readonly gitWordsOfOthers: Readonly<Record<string, readonly string[]>>;
  /** Files that hold path lists of their own, each of which must match something. */
  readonly pathLists: { readonly vitest?: string; readonly bundle?: string; readonly knip?: string };
}

export const everything = '*';

/** What every room above the pure ones may use. */
const low = ['text', 'messages', 'secrets', 'core'];
/** Adapters: their own port and those of others as types, processes as values, and never each other. */
const ports = ['agents', 'checks', 'git', 'ledger', 'documents', 'actions/mcp/server.ts'];
const adapter: Room = { values: [...low, 'processes'], types: ports };
const planParts = ['modes/plan', 'modes/plan/document', 'modes/plan/views'];

/** A surface of its own (a page, a hook, a server) uses the doors alone, those that programs have (`src/index.ts`): its row in `rooms` is `NAME: surface`. */
export const surface: Room = { values: ['text', 'views', 'index.ts'] };

export const house: House = {
  rooms: {
    text: { values: [], isPure: true, takesNoPackage: true },
    messages: { values: ['text'], isPure: true, takesNoPackage: true },
    secrets: { values: ['text'], isPure: true, takesNoPackage: true },
    core: { values: ['text', 'messages', 'core/decide', 'core/evolve'], isPure: true, takesNoPackage: true },
    'core/decide': { values: ['text', 'messages', 'core', 'core/evolve'], isPure: true, takesNoPackage: true },
    'core/evolve': { values: ['text', 'messages', 'core'], isPure: true, takesNoPackage: true },
    views: { values: [...low, 'modes/evolve.ts'], types: ports, isPure: true },
    documents: { values: low, isPure: true },
    'documents/formats': { values: [...low, 'documents'], isPure: true },
    'documents/convert': { values: [...low, 'documents', 'documents/formats'], isPure: true },
    'documents/file.ts': { values: [...low, 'documents', 'documents/text-file.ts', 'documents/replace-file.ts'] },
    'documents/replace-file.ts': { values: [...low, 'documents', 'documents/text-file.ts'] },
    'documents/text-file.ts': { values: [...low, 'documents'] },
    modes: { values: [...low, 'documents', 'views'], types: ports, isPure: true },
    // Rules are plain data below everything that reads a ledger; the registry takes the rest of a mode lazily.
    'modes/registry.ts': { values: [everything], layer: 'rules' },
    'modes/evolve.ts': { values: ['core', 'modes/registry.ts'], isPure: true, takesNoPackage: true, layer: 'rules' },
    'modes/decide.ts': {
      values: ['core/decide', 'modes/registry.ts', 'modes/evolve.ts'],
      isPure: true,
      takesNoPackage: true,
      layer: 'rules',
    },
    'modes/<mode>/rules.ts': {
      values: ['text', 'messages', 'core', 'modes/*/rules.ts'],
      isPure: true,
      takesNoPackage: true,
      layer: 'rules',
    },
    'modes/find-document.ts': { values: [everything], layer: 'app' },
    'modes/<mode>': {
      values: [
        ...low,
        'documents',
        'documents/formats',
        'views',
        'modes',
        'modes/*',
        'modes/<mode>/rules.ts',
        ...planParts,
      ],
      types: ports,
      isPure: true,
    },
    'modes/<mode>/session.ts': { values: [everything], layer: 'app' },
    'modes/<mode>/commands.ts': { values: [everything], layer: 'cli' },
    'modes/plan/document': { values: [...low, 'documents', 'modes/plan'], isPure: true },
    'modes/plan/views': { values: [...low, 'documents', 'modes', 'views', ...planParts], isPure: true },
    'modes/plan/session': { values: [everything], layer: 'app' },
    'modes/project/obstacles.ts': { values: [everything], layer: 'app' },
    'modes/plan/commands': { values: [everything], layer: 'cli' },
    processes: { values: low, types: ports },
    agents: { ...adapter, values: [...adapter.values, 'agents/cli', 'agents/acp'] },
    'agents/cli': { ...adapter, values: [...adapter.values, 'agents'] },
    'agents/acp': { ...adapter, values: [...adapter.values, 'agents'] },
    actions: { ...adapter, values: [...adapter.values, 'actions/mcp'] },
    'actions/mcp': { ...adapter, values: [...adapter.values, 'actions'] },
    checks: { ...adapter, values: [...adapter.values, 'checks/tamper'] },
    'checks/tamper': { values: low, isPure: true },
    git: { ...adapter, values: [...adapter.values, 'git/checkpoints', 'git/progress', 'git/restore', 'git/worktrees'] },
    'git/<part>': { ...adapter, values: [...adapter.values, 'git', 'git/*'] },
    ledger: { ...adapter, values: [...adapter.values, 'ledger/sqlite', 'modes/registry.ts'] },
    'ledger/sqlite': { ...adapter, values: [...adapter.values, 'ledger'] },
    engine: {
      values: [...low, 'core/decide', 'modes/decide.ts', 'modes/evolve.ts', 'views', 'agents/performer.ts'],
      types: [...ports, 'modes'],
    },
    config: {
      values: [...low, 'documents', 'documents/text-file.ts', 'modes', 'modes/registry.ts', 'agents/registry.ts'],
      types: ports,
    },
    app: { values: [everything] },
    // Rules that only types of the app tell it: what it needs of a loop it is given.
    hook: { values: ['text', 'config/home.ts'], types: ['app', 'agents'] },
    // What an agent reports goes to its iteration.
    'mcp-server': { ...surface, types: ['agents'] },
    cli: {
      values: [
        ...low,
        'modes/evolve.ts',
        'app',
        'views',
        'version.ts',
        'hook/binding.ts',
        'hook/idle.ts',
        'config/fields.ts',
        'cli/commands',
        'cli/command-table.ts',
        'modes/find-document.ts',
      ],
      types: [...ports, 'config', 'engine'],
    },
    'cli/commands': {
      values: [
        ...low,
        'modes/evolve.ts',
        'app',
        'hook',
        'mcp-server',
        'views',
        'version.ts',
        'cli',
        'modes/registry.ts',
        'config/fields.ts',
      ],
      types: [...ports, 'config', 'engine'],
    },
    'cli/command-table.ts': {
      values: [
        'text',
        'cli',
        'cli/commands',
        'modes/registry.ts',
        'modes/*/rules.ts',
        'modes/*/commands.ts',
        'modes/plan/commands',
        'config/flags.ts',
      ],
    },
    'version.ts': { values: [] },
    'index.ts': { values: [everything] },
    'core-types.ts': { values: [], types: ['core'] },
  },
  spawners: ['src/processes/'],
  packageJsonReader: 'src/version.ts',
  entries: {
    'src/core/decide/': ['decide.ts', 'questions.ts', 'actions.ts', 'proof.ts', 'tool-reports.ts'],
    'src/core/evolve/': ['evolve.ts'],
    'src/agents/acp/': ['acp.ts'],
    'src/actions/mcp/': ['tool.ts', 'server.ts'],
    'src/app/library/': ['library.ts', 'lifecycle.ts', 'options.ts', 'result.ts', 'words.ts'],
    'src/checks/tamper/': ['screen.ts', 'command-line.ts', 'source-files.ts', 'scripts.ts', 'weakening.ts'],
    'src/app/session/': [
      'session.ts',
      'prepare.ts',
      'visit.ts',
      'launch.ts',
      'earlier-loop.ts',
      'resume-rules.ts',
      'workspace-setup.ts',
      'repository.ts',
    ],
    'src/git/progress/': [
      'branch.ts',
      'git-commits.ts',
      'sync-user-index.ts',
      'plain-tree.ts',
      'select-paths.ts',
      'user-settings.ts',
    ],
    'src/git/checkpoints/': ['write-checkpoint.ts', 'refs.ts', 'user-edits.ts', 'tidy.ts'],
    'src/git/restore/': ['exchange.ts', 'restore.ts'],
    'src/git/worktrees/': ['worktree.ts', 'merge-fork.ts', 'stale-worktrees.ts'],
    'src/modes/plan/commands/': ['approve.ts', 'lint.ts', 'run.ts', 'show.ts', 'watch.ts'],
    'src/modes/plan/document/': ['plan.ts', 'marks.ts', 'front-matter.ts'],
    'src/modes/plan/views/': ['paths.ts', 'files.ts', 'dashboard.ts', 'notes.ts', 'answers.ts'],
  },
  ports: {
    'src/agents/': ['performer.ts', 'agent.ts', 'registry.ts'],
    'src/checks/': ['check.ts'],
    'src/git/': ['checkpoints.ts', 'commits.ts', 'forks.ts'],
    'src/ledger/': ['ledger.ts', 'spool.ts'],
    'src/actions/': ['mcp/server.ts'],
  },
  compositionRoots: ['src/app/', 'src/index.ts', 'src/modes/'],
  collections: ['src/agents/cli/', 'src/documents/formats/', 'src/cli/commands/'],
  filesInFolderMax: 15,
  filesInSubfolderMin: 3,
  linesMax: { source: 500, table: 700, test: 500, function: 60 },
  tables: ['src/cli/command-table.ts', 'src/core/event.ts'],
  heavyPackages: {
    '@agentclientprotocol/sdk': 'src/agents/acp/',
    zod: null,
    kysely: 'src/ledger/',
    '@pydantic/genai-prices': 'src/agents/prices.ts',
    '@modelcontextprotocol/client': 'src/actions/',
    '@modelcontextprotocol/server': 'src/mcp-server/',
    yaml: 'src/documents/',
    chokidar: 'src/modes/plan/commands/',
    esbuild: null,
  },
  coldStartEntry: 'src/cli/main.ts',
  budgetFile: 'test/fences/import-budget.json',
  namesRefused: ['utils', 'util', 'helpers', 'helper', 'common', 'services', 'managers'],
  firstLineNamesTheThing: true,
  proseReaders: ['src/agents/cli/', 'src/ledger/upcast.ts'],
  modeFolder: 'src/modes/',
  modeHomonyms: ['format', 'writer', 'signal'],
  agentFolder: 'src/agents/cli/',
  agentRegistry: 'src/agents/registry.ts',
  gitWordsOfOthers: { 'src/agents/stream.ts': ['push'], 'src/cli/commands/agents-test.ts': ['clean'] },
  pathLists: { vitest: 'vitest.config.ts', bundle: 'scripts/build.mjs', knip: 'knip.json' },
};
