// Makes a fresh clone ready, so that `npm start` and `npm test` are all a newcomer types. Needs Node 18 and nothing else.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBuilt } from './build.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const pinned = join(modules, 'node', 'bin', 'node');
const lock = join(root, 'dist', '.setup-lock');
const lockWaitMsMax = 10 * 60 * 1000;
const lockUnnamedMsMax = 10 * 1000;

const readJson = path => JSON.parse(readFileSync(path, 'utf8'));

/** Ends the setup with one sentence instead of a stack. */
class Refusal extends Error {}

if (!isInstalled() || !isBuilt()) {
  const graves = takeLock();
  try {
    if (!isInstalled()) install();
    if (!isBuilt()) build();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    say(error.message);
    process.exitCode = 1;
  } finally {
    for (const path of [lock, ...graves]) rmSync(path, { recursive: true, force: true });
  }
}

function isInstalled() {
  if (!existsSync(join(modules, '.package-lock.json'))) return false;
  const wanted = readJson(join(root, 'package-lock.json')).packages;
  const found = readJson(join(modules, '.package-lock.json')).packages;
  const isSame = Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    const there = found[path];
    return there === undefined
      ? entry.optional === true
      : there.version === entry.version && there.integrity === entry.integrity;
  });
  return isSame && pinnedVersion() === `v${readJson(join(root, 'package.json')).devDependencies.node}`;
}

function pinnedVersion() {
  const result = spawnSync(pinned, ['--version'], { encoding: 'utf8' });
  return result.status === 0 ? result.stdout.trim() : undefined;
}

function install() {
  say('Installing the pinned dependencies (npm ci; once, about a minute) ...');
  // npm must not run on the Node inside the folder that it is about to replace.
  const path = (process.env.PATH ?? '').split(delimiter).filter(folder => !folder.startsWith(modules));
  run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund'], { ...process.env, PATH: path.join(delimiter) });
  if (!isInstalled()) {
    throw new Refusal(`npm ci ended well, but ${pinned} does not run: are npm's install scripts off (ignore-scripts)?`);
  }
}

function build() {
  say('Building dist ...');
  run(pinned, [join(root, 'scripts', 'build.mjs')], process.env);
}

function run(command, args, env) {
  const result = spawnSync(command, args, { cwd: root, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (result.status === 0) return;
  process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}`);
  throw new Refusal(
    `${command} ${args.join(' ')} failed: ${result.error?.message ?? result.signal ?? `exit ${result.status}`}`,
  );
}

function say(sentence) {
  process.stderr.write(`${sentence}\n`);
}

/** Waits for a live holder; buries a dead one's lock. Returns the graves, to be cleared when the work is done. */
function takeLock() {
  const graves = [];
  const giveUpAt = Date.now() + lockWaitMsMax;
  let isTold = false;
  mkdirSync(dirname(lock), { recursive: true });
  for (;;) {
    if (attempt(() => mkdirSync(lock))) {
      writeFileSync(join(lock, 'pid'), String(process.pid));
      return graves;
    }
    const holder = deadHolder();
    // The grave's name is the dead holder's, and a folder that holds something cannot be replaced:
    // so of two that saw the same dead holder only one moves the lock, and nobody moves the lock of the other.
    if (holder !== undefined && attempt(() => renameSync(lock, `${lock}.${holder}`))) graves.push(`${lock}.${holder}`);
    else if (!isTold) {
      say('Another setup is running here; waiting for it ...');
      isTold = true;
    } else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    if (Date.now() > giveUpAt) {
      say(`Another setup has been running for too long; if it is gone, remove ${lock}.`);
      process.exit(1);
    }
  }
}

function deadHolder() {
  try {
    const pid = Number(readFileSync(join(lock, 'pid'), 'utf8'));
    if (pid > 0) return isAlive(pid) ? undefined : String(pid);
  } catch {
    // Not named yet: its maker is between two calls, or died there.
  }
  const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  return Date.now() - since > lockUnnamedMsMax ? 'unnamed' : undefined;
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function attempt(action) {
  try {
    action();
    return true;
  } catch (error) {
    if (['EEXIST', 'ENOENT', 'ENOTEMPTY'].includes(error.code)) return false;
    throw error;
  }
}
