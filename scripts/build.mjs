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
const entries = { ralph: 'src/surfaces/cli/main.ts', index: 'src/index.ts' };
const orphanAgeMsMax = 24 * 60 * 60 * 1000;

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
  return Object.keys(entries).every(name => {
    const stat = statSync(join(dist, `${name}.js`), { throwIfNoEntry: false });
    return stat !== undefined && stat.mtimeMs >= newest;
  });
}

async function build() {
  const { build: bundle } = await import('esbuild');
  // Taken before reading: what is edited during the build stays newer than the bundle.
  const inputsAt = new Date(Math.ceil(newestInputMs()));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const result = await bundle({
    absWorkingDir: root,
    entryPoints: entries,
    outdir: dist,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.18',
    packages: 'bundle',
    sourcemap: 'linked',
    sourcesContent: false,
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'linked',
    define: { 'globalThis.RALPH_VERSION': JSON.stringify(version) },
    // CommonJS dependencies call `require` for Node's own modules.
    banner: {
      js: "import{createRequire as __cr}from'node:module';import{fileURLToPath as __fu}from'node:url';const require=__cr(import.meta.url),__filename=__fu(import.meta.url);",
    },
    logLevel: 'warning',
    write: false,
  });
  publish(result.outputFiles, inputsAt);
}

// Chunk names hold their hash, so new ones stand beside old ones and entries change last, each by one rename:
// nobody ever sees half a bundle, and a long loop still finds the chunks it was started with.
function publish(files, inputsAt) {
  const entryPaths = new Set(Object.keys(entries).map(name => join(dist, `${name}.js`)));
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
