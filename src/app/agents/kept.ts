// Who works on a loop that goes on: as it was started, unless a person says otherwise now.
import { modelless, specOf } from '../../config/agents.ts';
import type { RunConfig } from '../../config/run-config.ts';
import type { Settings } from '../../core/settings.ts';

/** Each of these says by itself which agent is meant. */
const naming = ['agent', 'agentCommand', 'script'];

/** Files do not count as a person's word: those of the project can be an agent's work. */
export function keptRun(run: RunConfig, before: Settings): RunConfig {
  const { settings, isSet } = run;
  return {
    ...run,
    settings: {
      ...settings,
      performers: naming.some(isSet) ? settings.performers : keptChain(run, before.performers),
      performersByTask: isSet('taskAgent') ? settings.performersByTask : before.performersByTask,
      performersByPhase: isSet('phaseAgent') ? settings.performersByPhase : before.performersByPhase,
    },
  };
}

/** A model alone is for the agent that works already; a fallback alone stands behind it. */
function keptChain({ config, isSet }: RunConfig, [first, ...others]: readonly string[]): readonly string[] {
  if (first === undefined) return [];
  const agent = specOf(first)?.agent;
  const isOther = isSet('model') && config.model !== undefined && agent !== undefined && !modelless.has(agent);
  const head = isOther ? `${agent}/${config.model}` : first;
  return [...new Set([head, ...(isSet('fallback') ? config.fallback : others)])];
}
