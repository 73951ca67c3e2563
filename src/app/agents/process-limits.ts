// Process limits of what we start for somebody: environment, memory, number of processes, silence, and what it may see.

import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { totalmem } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import type { AgentCli } from '../../agents/agent.ts';
import { userConfigDirectory } from '../../config/home.ts';
import type { Config } from '../../config/settings.ts';
import { gitPathsToProtect } from '../../git/hooks.ts';
import { type Confinement, confinementKind } from '../../processes/confine.ts';
import { containment } from '../../processes/contain.ts';
import { minimalEnvironment, openEnvironment, type ResourceLimits } from '../../processes/limits.ts';
import type { Timers } from '../../processes/timers.ts';
import { UsageError } from '../../text/errors.ts';
import { present } from '../../text/fields.ts';
import { personsFolders } from '../../text/step-path.ts';
import { probesFile } from '../app.ts';

export interface ProcessLimits {
  readonly limits: ResourceLimits;
  readonly confinement?: Confinement;
  /** Where the pipes of what is started lie. */
  readonly channels: string;
}

const channelsFolder = 'run';
const processesMax = 4_000; // a build of a large project stays below it, a fork bomb does not (F30)
const memoryShare = 0.75; // the rest keeps the machine usable

/** May try bubblewrap out, so it comes after everything that may be refused for less. */
export function processLimits(needs: ConfinementNeeds & { readonly config: Config }): ProcessLimits {
  // The memory of a container where there is one, else of the machine.
  const memoryBytes = Math.min(process.constrainedMemory() || totalmem(), totalmem());
  const { maxMemory = Math.floor(memoryBytes * memoryShare), maxProcesses = processesMax } = needs.config;
  const limits = { memoryBytesMax: maxMemory ?? undefined, processesMax: maxProcesses ?? undefined };
  return { limits, confinement: confinementFor(needs), channels: join(needs.home, channelsFolder) };
}

/** Before agents and checks are started, where they will be confined; over when it is known whether they can be. */
export async function processesAhead({ config, home }: { readonly config: Config; readonly home: string }) {
  if (config.sandbox === 'none' || config.interactive) return;
  const { readyAhead } = await import('../../processes/spawn.ts');
  await readyAhead(join(home, channelsFolder));
}

/** A run is over: what was made ahead for it goes. */
export async function processesOver({ home }: { readonly home: string }): Promise<void> {
  const { endWaiting } = await import('../../processes/launcher.ts');
  await endWaiting(join(home, channelsFolder));
}

const busySilenceMs = 1_800_000; // a tool may be silent for longer than its agent

/** Only what was set; `unlimited` turns a timer off. */
export function timersOf({ firstByteTimeout, silenceTimeout }: Config): Partial<Timers> {
  const off = Number.POSITIVE_INFINITY;
  const silenceMs = silenceTimeout === null ? off : silenceTimeout;
  return present({
    firstByteMs: firstByteTimeout === null ? off : firstByteTimeout,
    silenceMs,
    busySilenceMs: silenceMs === undefined ? undefined : Math.max(busySilenceMs, silenceMs),
  });
}

interface EnvironmentNeeds {
  readonly env: NodeJS.ProcessEnv;
  readonly config: Config;
}

export function environmentOf(
  { env, config }: EnvironmentNeeds,
  cli?: Pick<AgentCli, 'environment' | 'clouds'>,
): Record<string, string> {
  const { environment = [], clouds = [] } = cli ?? {};
  const used = clouds.filter(cloud => isOn(env[cloud.switch])).flatMap(cloud => cloud.variables);
  return minimalEnvironment(env, [...environment, ...used, ...config.agentEnv]);
}

const isOn = (value = ''): boolean => !['', '0', 'false', 'no', 'off'].includes(value.toLowerCase());

/** Of checks, and of the set-up of a worktree: they are the user's own commands. */
export const checkEnvironmentOf = ({ env, config }: EnvironmentNeeds): ReturnType<typeof openEnvironment> =>
  openEnvironment(env, [...config.agentEnv, ...config.checkEnv]);

// Confinement: what agents and checks may not touch, as far as this machine can keep them from it.

export interface ConfinementNeeds {
  readonly config: Pick<Config, 'sandbox'>;
  readonly directory: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** More folders of the work: forks. */
  readonly workplaces?: readonly string[];
  /** What these may only read. */
  readonly readOnly?: readonly string[];
}

/** Links are followed as far as there is something: our home may not be made yet. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(resolve(path));
    return parent === resolve(path) ? parent : join(realPath(parent), basename(path));
  }
}

/** Where our home is also the work folder or the home of the user it has to stay open, all but what we keep in it. */
function ownFiles(home: string): readonly string[] {
  const always = ['ralph.db', 'ralph.db-wal', 'ralph.db-shm', 'reserve', 'loops', channelsFolder, probesFile];
  const databases = namesIn(home).filter(name => name.startsWith('ralph.db'));
  return [...new Set([...always, ...databases])].map(name => join(home, name));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * Undefined: not confined. With `auto` it is kept where it can be, which is tried out only when the first process starts:
 * a run that is refused leaves no trace. With `bwrap` it is tried out now: exit code 10 where it cannot be kept.
 */
export function confinementFor({
  config,
  directory,
  home,
  env,
  workplaces = [],
  readOnly = [],
}: ConfinementNeeds): Confinement | undefined {
  if (config.sandbox === 'none') return undefined;
  if (config.sandbox === 'bwrap' && confinementKind() === 'none')
    throw new UsageError(
      'Bubblewrap is asked for and does not work here.',
      'Install it (Debian: apt install bubblewrap) where the system allows user namespaces, or say --sandbox auto; ralph doctor tries it out.',
      10,
    );
  const place = realPath(home);
  // An agent without its work or its own login could do nothing.
  const needed = [directory, ...workplaces, env['HOME'] ?? ''].filter(path => path !== '').map(realPath);
  const hidden = needed.includes(place) ? ownFiles(place) : [place];
  const settings = userConfigDirectory(env);
  return {
    hidden,
    // What decides how the next run is confined must not be an agent's work.
    readOnly: [
      ...gitPathsToProtect(directory),
      ...('path' in settings ? [settings.path] : []),
      ...wordsOfPersons(directory),
      ...readOnly,
    ],
    writable: needed.filter(
      path => !readOnly.includes(path) && hidden.some(folder => path.startsWith(`${folder}${sep}`)),
    ),
  };
}

/** Who may write there may approve and answer, and no agent may: of `vault` in the folder of work, or of that folder itself. */
function wordsOfPersons(directory: string): readonly string[] {
  return [join(directory, 'vault'), directory]
    .filter(root => ['Approved', 'Plans'].every(name => existsSync(join(root, name))))
    .flatMap(root => personsFolders.map(name => join(root, name)));
}

/** Whether agents are kept from what they may not touch. Tries it out, so it is asked late. */
export const isConfined = (sandbox: Config['sandbox']): boolean => sandbox !== 'none' && confinementKind() !== 'none';

/** For the prompt of who works confined: what it cannot change, so that it does not try for long. Empty: not confined. */
export function readOnlyWords(sandbox: Config['sandbox'], directory: string): string {
  if (!isConfined(sandbox)) return '';
  const git =
    gitPathsToProtect(directory).length === 0
      ? ''
      : " The hooks and the config of git: `git config`, `git remote add` and what installs hooks (husky) fail with 'Device or resource busy' or 'Read-only file system'.";
  return `## What is read-only here\n\nRalph's own settings.${git} If the task needs a change there, do not look for a way around: escalate.`;
}

/** For the card: what holds during an iteration. */
export function containmentWords(sandbox: Config['sandbox']): string {
  const confines = isConfined(sandbox); // bubblewrap makes a namespace too, so the other need not be tried out
  const outlives =
    confines || containment() === 'namespace'
      ? 'own process namespace: nothing the agent starts outlives its iteration'
      : 'process group only: a daemon may outlive its iteration';
  const why = sandbox === 'none' ? '--sandbox none' : 'bubblewrap does not work here';
  const confined = confines
    ? "confined by bubblewrap: Ralph's own files are hidden, git hooks and config are read-only; other files and the network are open"
    : `not confined (${why}): it can read and write what you can`;
  return `${outlives}; ${confined}`;
}
