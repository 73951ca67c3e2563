// Bundles src into dist, so that a start reads one file and the published package needs no dependencies.
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const self = fileURLToPath(import.meta.url);
const root = dirname(dirname(self));
const dist = join(root, 'dist');
/** Programs that run in a process of their own: one file each, because they are started from memory. */
const programs = { 'apply-restore': 'src/git/restore/apply-restore.ts', 'mcp-bridge': 'src/mcp-server/bridge.ts' };
const outputs = ['ralph.cjs', 'index.js', 'apply-restore.js', 'mcp-bridge.js'].map(name => join(dist, name));
const orphanAgeMsMax = 24 * 60 * 60 * 1000;

/** Libraries that most commands never call: a file for each package, loaded by the first module that needs it. */
const libraries = [
  '@agentclientprotocol/sdk',
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/client/validators/ajv',
  '@modelcontextprotocol/server',
  '@modelcontextprotocol/server/stdio',
  '@modelcontextprotocol/server/validators/ajv',
  '@pydantic/genai-prices',
  'chokidar',
  'kysely',
  'kysely/migration',
  'yaml',
];
/** Node's own modules that take milliseconds to load, and that most commands never call. */
const slowModules = /^node:(child_process|crypto|process|readline\/promises|util|v8)$/;

/** When the newest thing that the bundle is made of changed; folders count, since a deleted file changes only its folder. */
export function newestInputMs() {
  const files = ['package.json', 'package-lock.json', 'scripts/build.mjs', 'src'].map(name => join(root, name));
  return Math.max(...files.map(newestMs));
}

function newestMs(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map(name => newestMs(join(path, name))));
}

/** Whether dist holds a bundle of what src says now. */
export function isBuilt() {
  const newest = newestInputMs();
  return outputs.every(path => {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat !== undefined && stat.mtimeMs >= newest;
  });
}

/** A module that loads another at the first call of one of its functions; importing anything but a function fails the build. */
function late(own, loading) {
  const names = Object.keys(own).filter(name => /^[a-z]/.test(name) && typeof own[name] === 'function');
  const calls = names.map(name => `export function ${name}(...given) { return load().${name}(...given); }`);
  const load = `let own; const load = () => (own ??= ${loading});`;
  return { contents: [load, ...calls, `export default { ${names.join(', ')} };`].join('\n'), resolveDir: root };
}

const lateModules = {
  name: 'late-modules',
  setup(build) {
    build.onResolve({ filter: slowModules }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'late', sideEffects: false } : undefined,
    );
    build.onLoad({ filter: /./, namespace: 'late' }, ({ path }) =>
      path === 'node:process'
        ? { contents: 'export default process;' }
        : late(process.getBuiltinModule(path), `process.getBuiltinModule('${path}')`),
    );
  },
};

/** write-file-atomic asks for the number of its thread. The program has one, and loading that module takes a millisecond. */
const oneThread = {
  name: 'one-thread',
  setup(build) {
    build.onResolve({ filter: /^worker_threads$/ }, ({ path }) => ({ path, namespace: 'one-thread' }));
    build.onLoad({ filter: /./, namespace: 'one-thread' }, () => ({ contents: 'exports.threadId = 0;' }));
  },
};

async function build() {
  const { build: bundle } = await import('esbuild');
  // Taken before reading: what is edited during the build stays newer than the bundle.
  const inputsAt = new Date(Math.ceil(newestInputMs()));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const common = {
    absWorkingDir: root,
    outdir: dist,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.18',
    packages: 'bundle',
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 160, // Node prints the line of an error that nobody caught
    logLevel: 'warning',
    write: false,
  };
  const mapped = {
    ...common,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'linked',
    define: { 'globalThis.RALPH_VERSION': JSON.stringify(version), 'import.meta.url': 'ownUrl' },
    plugins: [lateModules],
  };
  const library = bundle({
    ...mapped,
    entryPoints: { index: 'src/index.ts' },
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
    // CommonJS dependencies call `require` for Node's own modules.
    banner: {
      js: 'const require=process.getBuiltinModule,__filename=import.meta.filename,ownUrl=import.meta.url;',
    },
  });
  const packages = Object.values(Object.groupBy(libraries, name => /^(@[^/]+\/)?[^/]+/.exec(name)[0]));
  const parts = await Promise.all(packages.map(names => bundleLibrary(bundle, common, names)));
  // CommonJS: one file, whose modules still run only when they are first imported.
  const program = bundle({
    ...mapped,
    minifyIdentifiers: true, // a third less to read at every start; --debug reads the map
    format: 'cjs',
    entryPoints: { ralph: 'src/cli/main.ts' },
    outExtension: { '.js': '.cjs' },
    supported: { 'dynamic-import': false },
    banner: { js: 'const ownUrl=require("node:url").pathToFileURL(__filename).href;' },
    plugins: [
      lateModules,
      oneThread,
      apart(new Map(parts.flatMap(({ names, path }) => names.map(name => [name, path])))),
    ],
  });
  const all = await Promise.all([program, library, bundle({ ...common, entryPoints: programs })]);
  publish(
    [...all, ...parts].flatMap(one => one.outputFiles),
    inputsAt,
  );
}

async function bundleLibrary(bundle, common, names) {
  const contents = names.map(name => `export * from '${name}';`).join('');
  const { outputFiles } = await bundle({
    ...common,
    format: 'cjs',
    stdin: { contents, resolveDir: root },
    entryNames: `libraries/${names[0].replace(/^@|\/.*/g, '')}-[hash]`,
    outExtension: { '.js': '.cjs' },
    legalComments: 'linked',
  });
  return { names, outputFiles, path: outputFiles.find(file => file.path.endsWith('.cjs')).path };
}

/** Leaves libraries that have a file of their own out of the bundle; one of functions alone is loaded at the first call. */
const apart = paths => ({
  name: 'apart',
  setup(build) {
    build.onResolve({ filter: /^[^.]/ }, ({ path, kind }) => {
      const file = paths.get(path);
      if (file === undefined) return undefined;
      if (path === 'yaml' && kind === 'import-statement')
        return { path, namespace: 'late-library', sideEffects: false };
      return { path: `./${relative(dist, file)}`, external: true };
    });
    build.onLoad({ filter: /./, namespace: 'late-library' }, async ({ path }) =>
      late(await import(path), `require('${path}')`),
    );
  },
});

// Names of chunks and libraries hold their hash, so new ones stand beside old ones and entries change last, each by one
// rename: nobody ever sees half a bundle, and a long loop still finds the libraries it was started with.
function publish(files, inputsAt) {
  const entryPaths = new Set(outputs);
  const ordered = [...files].sort((a, b) => Number(entryPaths.has(a.path)) - Number(entryPaths.has(b.path)));
  for (const file of ordered) {
    mkdirSync(dirname(file.path), { recursive: true });
    const draft = `${file.path}.${process.pid}.tmp`;
    writeFileSync(draft, file.path.endsWith('ralph.cjs') ? signed(file.text) : file.contents);
    if (entryPaths.has(file.path)) utimesSync(draft, inputsAt, inputsAt);
    renameSync(draft, file.path);
  }
  removeOrphans(new Set(ordered.map(file => relative(dist, file.path))));
}

/** As bin/ralph reads it: in ASCII (esbuild leaves other characters in patterns), its hash in the last line. */
function signed(text) {
  const ascii = text.replace(/[^\0-\x7f]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `${ascii}// ${createHash('sha256').update(ascii).digest('hex').slice(0, 16)}\n`;
}

function removeOrphans(current) {
  const isForPackage = process.env.npm_lifecycle_event === 'prepack';
  for (const name of readdirSync(dist, { recursive: true })) {
    const path = join(dist, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined || stat.isDirectory() || current.has(name)) continue;
    if (isForPackage || Date.now() - stat.mtimeMs > orphanAgeMsMax) rmSync(path, { force: true });
  }
}

if (realpathSync(process.argv[1]) === realpathSync(self)) await build();
