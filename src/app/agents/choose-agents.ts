// Chooses the agents of a loop: as was said, else as the loop that goes on remembers, else the first that is installed.

import { modelless, specOf } from '../../config/agents.ts';
import type { RunConfig } from '../../config/resolve.ts';
import type { Settings } from '../../core/settings.ts';
import type { ParsedDocument } from '../../documents/document.ts';
import { UsageError } from '../../text/errors.ts';
import { type Environment, withAgent } from '../app.ts';
import { defaultAgent } from './performers.ts';

interface Place {
  readonly env: Environment;
  readonly directory: string;
}

export async function chooseAgents(
  given: RunConfig,
  place: Place,
  before: Settings | undefined,
  isTalk = false,
): Promise<{ readonly run: RunConfig; readonly isFound: boolean }> {
  const run = before === undefined ? given : agentsOnResume(given, before);
  if (before !== undefined) refuseUnrecorded(run);
  if (run.settings.performers.length > 0) return { run, isFound: false };
  const found = await defaultAgent({ config: run.config, ...place, isTalk });
  return { run: await withAgent(run, found), isFound: true };
}

/** What these agents are started with may hold a secret, so no loop keeps it. */
const unkept = [
  ['command', 'agentCommand', '--agent-command'],
  ['acp', 'acpCommand', '--acp-command'],
  ['scripted', 'script', '--script'],
] as const;

/** A loop goes on with its own agent, but not every agent is known by its name. */
function refuseUnrecorded({ config, settings }: RunConfig): void {
  for (const [agent, key, flag] of unkept) {
    if (config[key] !== undefined || !settings.performers.some(spec => specOf(spec)?.agent === agent)) continue;
    throw new UsageError(
      `This loop was begun with ${flag}, which is not kept.`,
      `Say the same command as before, with its ${flag}, or name another agent: --agent claude`,
      7,
    );
  }
}

/** A flag that names a task which is not there would have no effect: that is an error; a file may speak of another document. */
export function unknownTasks(run: RunConfig, document: ParsedDocument, file: string): readonly string[] {
  const known = new Set(document.tasks.map(task => task.id));
  const strange = Object.keys(run.settings.performersByTask).filter(id => !known.has(id));
  if (strange.length === 0) return [];
  const sentence = `--task-agent: ${file} has no task ${strange.map(id => JSON.stringify(id)).join(', ')}`;
  if (run.isSet('taskAgent')) throw new UsageError(`${sentence}.`, 'Name tasks by their ids, as in US-001=codex.');
  return [`${sentence}; that setting has no effect here.`];
}

/** Each of these says by itself which agent is meant. */
const naming = ['agent', 'agentCommand', 'script'];

/** The agents of a loop that goes on: as it was started, unless a person says otherwise now. Files do not count as a person's word: those of the project can be an agent's work. */
export function agentsOnResume(run: RunConfig, before: Settings): RunConfig {
  const { settings, isSet } = run;
  return {
    ...run,
    settings: {
      ...settings,
      performers: naming.some(isSet) ? settings.performers : chainOnResume(run, before.performers),
      performersByTask: isSet('taskAgent') ? settings.performersByTask : before.performersByTask,
      performersByPhase: isSet('phaseAgent') ? settings.performersByPhase : before.performersByPhase,
    },
  };
}

/** A model alone is for the agent that works already; a fallback alone stands behind it. */
function chainOnResume({ config, isSet }: RunConfig, [first, ...others]: readonly string[]): readonly string[] {
  if (first === undefined) return [];
  const agent = specOf(first)?.agent;
  const isOther = isSet('model') && config.model !== undefined && agent !== undefined && !modelless.has(agent);
  const head = isOther ? `${agent}/${config.model}` : first;
  return [...new Set([head, ...(isSet('fallback') ? config.fallback : others)])];
}
