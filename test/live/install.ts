// Installs exactly the pinned agent CLIs into a cache folder, one prefix each, never globally and without install scripts.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { LiveAgent } from './agents.ts';

const run = promisify(execFile);
const repository = resolve(import.meta.dirname, '../..');
const installMsMax = 180_000;
const answerMsMax = 60_000;

export type Installed =
  | { readonly ok: true; readonly bin: string; readonly seconds: number }
  | { readonly ok: false; readonly why: string };

function cacheFolder(): string {
  const set = process.env['RALPH_LIVE_CACHE'];
  return set === undefined || set === '' ? join(repository, 'node_modules/.cache/ralph-live') : resolve(set);
}

/** The pinned Node first: some agents are scripts, and each must run on the same. */
export const nodeFolder = resolve(repository, 'node_modules/node/bin');

export const systemPath = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'].join(':');

/** The environment of an installer: where the registry and its certificates are, nothing else of ours. */
function installEnvironment(): Record<string, string> {
  const names = ['PATH', 'HOME', 'HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'https_proxy', 'http_proxy', 'no_proxy'];
  const more = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'npm_config_registry', 'npm_config_userconfig'];
  const found = [...names, ...more].flatMap(name => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}

/** The program that answers with the pinned version; anything else is no install. */
async function findProgram(agent: LiveAgent, folder: string): Promise<string> {
  const tried: string[] = [];
  for (const program of agent.programs) {
    const path = join(folder, 'node_modules', program);
    if (!existsSync(path)) {
      tried.push(`${program} is missing`);
      continue;
    }
    const home = join(folder, 'home');
    mkdirSync(home, { recursive: true });
    const env = { PATH: `${nodeFolder}:${systemPath}`, HOME: home };
    const { stdout } = await run(path, ['--version'], { env, timeout: answerMsMax }).catch(error => ({
      stdout: String(error),
    }));
    if (stdout.includes(agent.version)) return path;
    tried.push(`${program} --version said ${JSON.stringify(stdout.slice(0, 200))}`);
  }
  throw new Error(tried.join('; '));
}

const folderOf = (agent: LiveAgent): string => join(cacheFolder(), `${agent.name}-${agent.version}`);

/** The folder of its program, once it is installed; undefined before. */
export function cachedBin(agent: LiveAgent): string | undefined {
  const marker = join(folderOf(agent), 'installed');
  return existsSync(marker) && existsSync(readFileSync(marker, 'utf8')) ? join(folderOf(agent), 'bin') : undefined;
}

/** `mayFetch` is false where there is no network: then only what lies in the cache counts. */
export async function install(agent: LiveAgent, mayFetch = true): Promise<Installed> {
  const folder = folderOf(agent);
  const marker = join(folder, 'installed');
  const bin = join(folder, 'bin');
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1_000;
  if (cachedBin(agent) !== undefined) return { ok: true, bin, seconds: 0 };
  if (!mayFetch) return { ok: false, why: 'it is not in the cache' };
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
    const flags = [
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--no-package-lock',
      '--no-save',
      '--fetch-retries=1',
      '--loglevel=error',
    ];
    await run('npm', ['install', '--prefix', folder, ...flags, `${agent.packageName}@${agent.version}`], {
      cwd: folder,
      env: installEnvironment(),
      timeout: installMsMax,
    });
    const program = await findProgram(agent, folder);
    symlinkSync(program, join(bin, agent.name));
    writeFileSync(marker, program);
    return { ok: true, bin, seconds: seconds() };
  } catch (error) {
    const { stderr, message } = error as Error & { readonly stderr?: string };
    return { ok: false, why: (stderr?.trim() || message).split('\n').slice(0, 3).join(' ').slice(0, 400) };
  }
}
