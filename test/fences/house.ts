// The house as data: which part of src may import which (DESIGN section 3), and where heavy packages live.

interface Room {
  /** Parts whose values and types may be imported; `folder/file.ts` opens just that file. */
  readonly values: readonly string[];
  /** Parts of which only types may be imported. */
  readonly types?: readonly string[];
  /** A pure part does no input or output and knows neither time nor chance. */
  readonly isPure?: boolean;
}

const adapter: Room = { values: ['core', 'ports', 'process'] };

export const everything = '*';

export const house: Readonly<Record<string, Room>> = {
  core: { values: [], isPure: true },
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
  notifiers: adapter,
  fleet: adapter,
  telemetry: adapter,
  prices: adapter,
  config: { values: ['core', 'modes'], types: ['ports'] },
  surfaces: {
    // `app` holds parts of the composition root that app.ts would be too long with.
    values: ['app.ts', 'app', 'core', 'views', 'version.ts', 'config/fields.ts', 'config/help.ts'],
    types: ['ports', 'config'],
  },
  'version.ts': { values: [] },
  'app.ts': { values: [everything] },
  app: { values: [everything] },
  'index.ts': { values: [everything] },
};

/** The only place of each package that is slow to load; `null` = not in src at all. */
export const heavyPackages: Readonly<Record<string, string | null>> = {
  '@agentclientprotocol/sdk': 'src/agents/acp/',
  zod: 'src/config/',
  kysely: 'src/stores/',
  '@pydantic/genai-prices': 'src/prices/',
  '@modelcontextprotocol/client': 'src/actions/',
  yaml: 'src/formats/',
  chokidar: 'src/surfaces/cli/',
  esbuild: null,
};

export const coldStartEntry = 'src/surfaces/cli/main.ts';

export const linesMax = { source: 300, test: 500, function: 70 };

export const namesRefused = ['utils', 'util', 'helpers', 'helper', 'common', 'services', 'managers'];
