// What bounds a process that we start for somebody: its environment, its memory, its processes, its silence, its view.
import { totalmem } from 'node:os';
import type { Config } from '../../config/settings.ts';
import { present } from '../../core/fold.ts';
import type { Confinement } from '../../processes/confine.ts';
import { minimalEnvironment } from '../../processes/environment.ts';
import type { ResourceLimits } from '../../processes/limits.ts';
import type { Timers } from '../../processes/timers.ts';
import { type ConfinementNeeds, confinementFor } from './confinement.ts';

export interface Bounds {
  readonly limits: ResourceLimits;
  readonly confinement?: Confinement;
}

const processesMax = 4_000; // a build of a large project stays below it, a fork bomb does not (F30)
const memoryShare = 0.75; // the rest keeps the machine usable

/** The memory that we may have: of a container where there is one, else of the machine. */
function memoryBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 && constrained < totalmem() ? constrained : totalmem();
}

/** May try bubblewrap out, so it comes after everything that may be refused for less. */
export function boundsOf(needs: ConfinementNeeds & { readonly config: Config }): Bounds {
  const { maxMemory, maxProcesses } = needs.config;
  const confinement = confinementFor(needs);
  const memory = maxMemory === undefined ? Math.floor(memoryBytes() * memoryShare) : maxMemory;
  const processes = maxProcesses === undefined ? processesMax : maxProcesses;
  return {
    limits: {
      memoryBytesMax: memory ?? undefined,
      processesMax: processes ?? undefined,
    },
    confinement,
  };
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

export function environmentOf(
  { env, config }: { readonly env: NodeJS.ProcessEnv; readonly config: Config },
  names: readonly string[] = [],
): Record<string, string> {
  return minimalEnvironment(env, [...names, ...config.agentEnv]);
}
