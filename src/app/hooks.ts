// Doors of a hook to its loop, and the documents of loops that begin in a session.
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentHooks } from '../agents/agent.ts';
import { cliNames, isCliName, loadCli } from '../agents/registry.ts';
import type { Config } from '../config/settings.ts';
import { type Collected, collect, startAgain } from '../processes/run-detached.ts';
import { UsageError } from '../text/errors.ts';
import { type Environment, freshId } from './app.ts';

export type { AgentHooks } from '../agents/agent.ts';
export { hookLease } from './loops/commands.ts';
export { withLease } from './loops/find.ts';
export { pauseLoop, startInSession, stopLoop, type Visited, visitLoop } from './session/visit.ts';

/** What a prompt in words says of its loop. */
interface PromptTerms {
  readonly iterationsMax?: string | undefined;
  readonly promise?: string | undefined;
}

/** A prompt in words gets a document of its own, out of the session's reach, in the form of the state file. */
export async function promptDocument(home: string, prompt: string, terms: PromptTerms): Promise<string> {
  if (terms.promise?.trim() === '')
    throw new UsageError(
      'The completion promise is empty, so every message would hold it.',
      'Name a word: --completion-promise DONE',
    );
  const folder = join(home, 'prompts', await freshId());
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, 'ralph-loop.md');
  const { promise, iterationsMax } = terms;
  const lines = [
    'active: true',
    ...(iterationsMax === undefined ? [] : [`max_iterations: ${iterationsMax}`]),
    ...(promise === undefined ? [] : [`completion_promise: ${JSON.stringify(promise)}`]),
  ];
  writeFileSync(path, `---\n${lines.join('\n')}\n---\n\n${prompt.trimEnd()}\n`, { mode: 0o600 });
  return path;
}

const tenMinutesMs = 600_000;

/** Longer than two checks may take and what is around them: what takes longer is not proven in a hook. */
export const hookTimeoutMs = ({ verifyTimeout = tenMinutesMs }: Pick<Config, 'verifyTimeout'>): number =>
  2 * verifyTimeout + 60_000;

/** This very program, as another process would start it. */
export function ownProgram(): readonly string[] {
  const own = process.argv[1] ?? '';
  return [process.execPath, existsSync(own) ? realpathSync(own) : own];
}

/** This very program with other words, to its end. */
export function runOwn(
  words: readonly string[],
  order: { directory: string; env: Environment; input: string; timeMsMax: number },
): Promise<Collected> {
  const { env, ...rest } = order;
  const [command = '', ...own] = ownProgram();
  const known = Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
  return collect({ ...rest, command, args: [...own, ...words], environment: Object.fromEntries(known) });
}

/** Goes on with a loop, or does what a hook has no time for, in a process of its own. */
export function startBeside(words: readonly string[], directory: string, env: Environment): void {
  startAgain(words, directory, env);
}

/** The agents that have hooks, and what is known of these. */
export async function hookedAgents(): Promise<readonly { readonly name: string; readonly hooks: AgentHooks }[]> {
  const all = await Promise.all(cliNames.map(loadCli));
  return all.flatMap(({ name, hooks }) => (hooks === undefined ? [] : [{ name, hooks }]));
}

/** The agent in whose session we are, by what is named or by its own variable; and the id of that session, if it says it. */
export async function agentOfSession(env: Environment, named: string | undefined) {
  const all = await hookedAgents();
  const known = all.map(({ name }) => name).join(', ');
  if (named !== undefined && !(isCliName(named) && all.some(({ name }) => name === named)))
    throw new UsageError(`The agent ${JSON.stringify(named)} has no hook that Ralph knows.`, `Name one of ${known}.`);
  const isHere = ({ hooks: { sessionVariable } }: (typeof all)[number]): boolean =>
    sessionVariable !== undefined && (env[sessionVariable] ?? '') !== '';
  const found = all.find(one => (named === undefined ? isHere(one) : one.name === named));
  if (found === undefined)
    throw new UsageError(
      'Nobody said whose session it is.',
      `Name its agent: --agent ${all[0]?.name ?? ''} (or ${known})`,
    );
  const { sessionVariable } = found.hooks;
  return { agent: found.name, session: sessionVariable === undefined ? undefined : env[sessionVariable] || undefined };
}
