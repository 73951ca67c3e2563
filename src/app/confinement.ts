// What agents and checks may not touch, as far as this machine can keep them from it, and how a person is told.
import { sep } from 'node:path';
import type { Config } from '../config/settings.ts';
import { UsageError } from '../core/errors.ts';
import { type Confinement, confinementKind, gitPathsToProtect } from '../process/confine.ts';
import { containment } from '../process/contain.ts';

export interface ConfinementNeeds {
  readonly config: Pick<Config, 'sandbox'>;
  readonly directory: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const liesBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}${sep}`);

/**
 * Undefined: not confined. With `auto` it is kept where it can be, which is tried out only when the first process starts:
 * a run that is refused leaves no trace. With `bwrap` it is tried out now: exit code 10 where it cannot be kept.
 */
export function confinementFor({ config, directory, home, env }: ConfinementNeeds): Confinement | undefined {
  if (config.sandbox === 'none') return undefined;
  if (config.sandbox === 'bwrap' && confinementKind() === 'none')
    throw new UsageError(
      'Bubblewrap is asked for and does not work here.',
      'Install it (Debian: apt install bubblewrap) where the system allows user namespaces, or say --sandbox auto; ralph doctor tries it out.',
      10,
    );
  return {
    hidden: [home],
    readOnly: gitPathsToProtect(directory),
    // An agent without its work or its own login could do nothing.
    writable: [directory, env['HOME'] ?? ''].filter(path => liesBelow(path, home)),
  };
}

/** For the card: what holds during an iteration. */
export function containmentWords(sandbox: Config['sandbox']): string {
  const outlives =
    containment() === 'namespace'
      ? 'own process namespace: nothing the agent starts outlives its iteration'
      : 'process group only: a daemon may outlive its iteration';
  return `${outlives}; ${confinementWords(sandbox)}`;
}

function confinementWords(sandbox: Config['sandbox']): string {
  if (sandbox === 'none') return 'not confined (--sandbox none): it can read and write what you can';
  if (confinementKind() === 'none')
    return 'not confined (bubblewrap does not work here): it can read and write what you can';
  return "confined by bubblewrap: Ralph's own folder is hidden, git hooks and config are read-only; other files and the network are open";
}
