// Bundles src into dist, so that a start reads a few files and the published package needs no dependencies.
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
const entries = { ralph: 'src/cli/main.ts', index: 'src/index.ts' };
/** Programs that run in a process of their own: one file each, because they are started from memory. */
const programs = { 'apply-restore': 'src/git/restore/apply-restore.ts' };
const outputs = Object.keys({ ...entries, ...programs });
const orphanAgeMsMax = 24 * 60 * 60 * 1000;

/** `ralph status` is to be quick: what it needs comes in one piece. */
const neededAtOnce = ['../ledger/sqlite.ts', './commands/status.ts'];
/** Node's own modules that take milliseconds to load, and that most commands never call. */
const slowModules = /^node:(child_process|crypto|process|readline\/promises|util)$/;

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
  return outputs.every(name => {
    const stat = statSync(join(dist, `${name}.js`), { throwIfNoEntry: false });
    return stat !== undefined && stat.mtimeMs >= newest;
  });
}

/**
 * Every lazy import makes esbuild cut chunks, and a start pays for each file: so the lazy imports of app.ts share one chunk.
 * Those of the command table do not: one command would load all of them.
 */
const fewerChunks = {
  name: 'fewer-chunks',
  setup(build) {
    const lazyPaths = new Map();
    build.onLoad({ filter: /[\\/]src[\\/](app[\\/]app|cli[\\/]command-table)\.ts$/, namespace: 'file' }, ({ path }) => {
      const isTable = path.endsWith('command-table.ts');
      const lazy = [];
      const text = readFileSync(path, 'utf8').replace(/\bimport\('([^']+)'\)/g, (whole, name) => {
        if (!lazy.includes(name)) lazy.push(name);
        const part = `part${lazy.indexOf(name)}`;
        if (neededAtOnce.includes(name)) return `Promise.resolve(${part})`;
        if (isTable) return whole;
        return `import(${JSON.stringify(`lazy:${path}`)}).then(all => all.${part})`;
      });
      const isAtOnce = (_name, at) => neededAtOnce.includes(lazy[at]);
      const heads = lazy.map((name, at) => (isAtOnce(name, at) ? `import * as part${at} from '${name}';` : ''));
      const rest = lazy.map((name, at) => (isAtOnce(name, at) ? '' : `export * as part${at} from '${name}';`));
      lazyPaths.set(path, rest.join('\n'));
      return { contents: `${heads.join('')}${text}`, loader: 'ts', resolveDir: dirname(path) };
    });
    build.onResolve({ filter: /^lazy:/ }, ({ path }) => ({ path: path.slice('lazy:'.length), namespace: 'lazy' }));
    build.onLoad({ filter: /./, namespace: 'lazy' }, ({ path }) => ({
      contents: lazyPaths.get(path),
      loader: 'ts',
      resolveDir: dirname(path),
    }));
  },
};

/** Loads a slow module at the first call of one of its functions; importing anything but a function fails the build. */
const lateModules = {
  name: 'late-modules',
  setup(build) {
    build.onResolve({ filter: slowModules }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'late', sideEffects: false } : undefined,
    );
    build.onLoad({ filter: /./, namespace: 'late' }, ({ path }) => {
      if (path === 'node:process') return { contents: 'export default process;' };
      const own = process.getBuiltinModule(path);
      const names = Object.keys(own).filter(name => /^[a-z]/.test(name) && typeof own[name] === 'function');
      const late = name => `export function ${name}(...given) { return load().${name}(...given); }`;
      const load = `let own; const load = () => (own ??= process.getBuiltinModule('${path}'));`;
      return { contents: [load, ...names.map(late), `export default { ${names.join(', ')} };`].join('\n') };
    });
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
  const result = await bundle({
    ...common,
    entryPoints: entries,
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'linked',
    define: { 'globalThis.RALPH_VERSION': JSON.stringify(version) },
    // CommonJS dependencies call `require` for Node's own modules.
    banner: { js: 'const require=process.getBuiltinModule,__filename=import.meta.filename;' },
    plugins: [fewerChunks, lateModules],
  });
  const alone = await bundle({ ...common, entryPoints: programs });
  publish([...alone.outputFiles, ...result.outputFiles], inputsAt);
}

// Chunk names hold their hash, so new ones stand beside old ones and entries change last, each by one rename:
// nobody ever sees half a bundle, and a long loop still finds the chunks it was started with.
function publish(files, inputsAt) {
  const entryPaths = new Set(outputs.map(name => join(dist, `${name}.js`)));
  const ordered = [...files].sort((a, b) => Number(entryPaths.has(a.path)) - Number(entryPaths.has(b.path)));
  for (const file of ordered) {
    mkdirSync(dirname(file.path), { recursive: true });
    const draft = `${file.path}.${process.pid}.tmp`;
    writeFileSync(draft, file.contents);
    if (entryPaths.has(file.path)) utimesSync(draft, inputsAt, inputsAt);
    renameSync(draft, file.path);
  }
  removeOrphans(new Set(ordered.map(file => relative(dist, file.path))));
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
