// What the card says about agents: who works, with which login, who takes over, and where the money figures come from.
import { proofWords } from '../app/agents/agents.ts';
import type { AgentFacts } from '../app/agents/performers.ts';
import type { Prepared } from '../app/session/prepare.ts';

type Row = readonly [string, string];

function nameWords(facts: AgentFacts, { run, isFound }: Prepared, isFirst: boolean): string {
  if (facts.agent === 'command') return `command: ${run.config.agentCommand}`;
  if (facts.agent === 'scripted') return `scripted (plays ${run.config.script ?? 'a script'}; no model is called)`;
  const how = isFound && isFirst ? ' (found on PATH; --agent chooses another)' : '';
  const model = facts.model === undefined ? '' : `, model ${facts.model}`;
  const version = facts.version === undefined ? '' : `, version ${facts.version}`;
  const login = facts.login === undefined ? '' : `; login: ${facts.login.words}`;
  const program = facts.agent === 'acp' ? `: ${(run.config.acpCommand ?? []).join(' ')}` : '';
  const terminal = run.config.interactive ? '; it gets the terminal, done.md ends a round' : '';
  return `${facts.agent}${program}${how}${model}${version}${login}${terminal}`;
}

const costs: Readonly<Record<AgentFacts['cost'], string>> = {
  agent: 'reported by the agent',
  estimated: 'estimated from tokens by the price list',
  'upper-bound': 'estimated from tokens at an upper bound, because no --model with a known price is given',
  none: 'not reported by this agent: money limits cannot bind it',
};

const unseen = 'not known: nothing is read from the screen, so money limits cannot bind it';

/** One sentence where all agree, else one for each. */
function costWords(all: readonly AgentFacts[]): string {
  const kinds = new Set(all.map(one => one.cost));
  if (kinds.size === 1) return costs[all[0]?.cost ?? 'none'];
  return all.map(one => `${one.spec}: ${costs[one.cost]}`).join('; ');
}

/** The rows about agents, before the one about containment and after the limits. */
export function agentRows(prepared: Prepared): { readonly who: readonly Row[]; readonly cost: Row } {
  const { staff, run } = prepared;
  const { performers, performersByTask, performersByPhase } = run.settings;
  const factsOf = (spec: string): AgentFacts => staff.facts[spec] ?? { spec, agent: spec, cost: 'none' };
  const [first = '', ...others] = performers;
  const named = [...Object.entries(performersByTask), ...Object.entries(performersByPhase)];
  const all = Object.values(staff.facts);
  const unproven = [...new Set(all.flatMap(one => proofWords(one.agent, one.proof ?? 'live') ?? []))];
  return {
    who: [
      ['agent', nameWords(factsOf(first), prepared, true)],
      ...(others.length === 0
        ? []
        : [['fallback', others.map(spec => nameWords(factsOf(spec), prepared, false)).join(', then ')] as const]),
      ...(named.length === 0 ? [] : [['instead', named.map(([name, spec]) => `${name}: ${spec}`).join(', ')] as const]),
      ...unproven.map(words => ['unproven', words] as const),
    ],
    cost: ['cost', run.config.interactive ? unseen : costWords(all)],
  };
}
