// Run summary, shown before a start: what will happen, where, with what, and within which limits, before anything does.

import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { proofWords } from '../app/agents/agents.ts';
import type { AgentFacts } from '../app/agents/performers.ts';
import { checkEnvironmentOf, containmentWords } from '../app/agents/process-limits.ts';
import type { Prepared } from '../app/session/prepare.ts';
import { worktreeOf } from '../app/session/repository.ts';
import { everyPerformer, type Settings } from '../core/settings.ts';
import { type State, totalTokens } from '../core/state.ts';
import { progress } from '../core/task.ts';
import { patience } from '../messages/progress/progress.ts';
import { makeRedactor, secretValues } from '../secrets/redactor.ts';
import { formatDuration, formatUsd, plural } from '../text/format.ts';
import { dayAndTime } from './output/time.ts';
import { type Style, wrapped } from './terminal.ts';

type Row = readonly [string, string];

/** What a subscription covers is never billed: only a limit that somebody set binds it (ADR 4). */
function moneyWords(
  { limits: { costUsdMicrosMax }, costMaxIsPreset }: Settings,
  agents: readonly AgentFacts[],
): string {
  if (costUsdMicrosMax === null) return 'money unlimited';
  const amount = formatUsd(costUsdMicrosMax);
  const covered = agents.filter(isCovered);
  if (covered.length === 0) return amount;
  const isAll = covered.length === agents.length;
  if (costMaxIsPreset !== true) return `${amount}${isAll ? ' API-equivalent' : ''}`;
  const whose = isAll ? '' : ` for ${covered.map(one => one.spec).join(', ')}`;
  return `${amount} API-equivalent, which only alerts${whose} (--max-cost sets one that binds)`;
}

/** A task that stands still is asked about before that limit ends it. */
const askedBefore = ({ policy, limits }: Settings): string =>
  policy.tasks === 'one' && (limits.noProgressIterations ?? 0) > patience.barren.asks
    ? ` (you are asked after ${patience.barren.asks} that bring nothing new)`
    : '';

function limitWords(settings: Settings, agents: readonly AgentFacts[]): string {
  const { limits } = settings;
  const words = [
    limits.iterationsMax === null ? 'iterations unlimited' : plural(limits.iterationsMax, 'iteration'),
    moneyWords(settings, agents),
    ...(limits.tokensMax === null ? [] : [`${limits.tokensMax} tokens`]),
    ...(limits.durationMsMax === null ? [] : [`${formatDuration(limits.durationMsMax)} of work`]),
    ...(limits.deadlineAt === null ? [] : [`until ${dayAndTime(limits.deadlineAt)}`]),
    ...(settings.policy.tasks === 'one' ? [] : [`${plural(limits.attemptsPerTaskMax, 'attempt')} per task`]),
    ...(limits.blockedMax === null ? [] : [`${plural(limits.blockedMax, 'task')} blocked in a row`]),
    ...(limits.consecutiveErrorsMax === null ? [] : [`${limits.consecutiveErrorsMax} errors in a row`]),
    ...(limits.noProgressIterations === null
      ? []
      : [`${plural(limits.noProgressIterations, 'iteration')} without progress${askedBefore(settings)}`]),
  ];
  return words.join(', ');
}

function commitWords({ words = {} }: Prepared['mode'], { policy, commitEvery }: Settings): string {
  if (words.commits !== undefined) return words.commits;
  if (policy.tasks === 'many') return 'a commit for every task that is done';
  const end = words.completed ?? 'when it is complete';
  return `a commit ${commitEvery === null ? '' : `after every ${plural(commitEvery, 'iteration').replace(/^1 /, '')} and `}${end}`;
}

/** The loop that is meant, with its state where it goes on. */
export interface Chosen {
  readonly name: string;
  readonly state: State | undefined;
  /** Where its worktree is or will be, if it has one. */
  readonly id?: string;
  /** In the place of how it goes on, in a dry run; then all rows are shown. */
  readonly would?: string;
}

/** Beside a worktree: the document that a person wrote shows what is done, and its instructions are made. */
function touchedWords({ mode, settings, path }: Prepared): string {
  const { name = '', isWritten = false } = mode.instructions ?? {};
  const made = isWritten && !existsSync(join(dirname(path), name)) ? [name] : [];
  const files = settings.policy.documentShows === 'nothing' ? made : [basename(path), ...made];
  if (files.length === 0) return 'your files are not touched';
  return `of your files only ${files.join(' and ')} ${files.length === 1 ? 'is' : 'are'} written`;
}

/** Where the work happens, and whether it can be undone. */
function treeWords(prepared: Prepared, chosen: Chosen | undefined): string {
  const { mode, config, settings, repositoryInfo } = prepared;
  if (repositoryInfo.repository === undefined)
    return 'not a git repository: NO undo, no commits, no look at the work (git init)';
  const branch = chosen?.state?.loop.branch;
  const own = branch !== undefined || config.worktree || settings.worktreePerTask;
  const id = chosen?.state?.loop.id ?? chosen?.id ?? 'ID';
  const where = own
    ? `a worktree of its own, ${worktreeOf(prepared.home, id)}, branch ${branch ?? `ralph/${chosen?.name || 'NAME'}`}; ${touchedWords(prepared)}`
    : 'your working tree';
  const parallel = settings.worktreePerTask ? `; ${settings.parallel} tasks at a time, merged one by one` : '';
  if (!settings.checkpoints) return `${where}; NO checkpoints: no undo, no commits, no look at the work`;
  const commits = settings.commits || settings.worktreePerTask ? commitWords(mode, settings) : 'no commits';
  const rollback = settings.rollbackAfter === null ? '' : `, rollback after ${settings.rollbackAfter} errors in a row`;
  const undo = settings.worktreePerTask ? '' : ' (ralph undo)';
  return `${where}${parallel}; a checkpoint after every iteration${undo}${rollback}; ${commits}`;
}

function checkWords(prepared: Prepared): string {
  const { settings, detected, mode } = prepared;
  const { checks } = settings;
  if (mode.conversation !== undefined) return mode.conversation.proof;
  if (checks.length === 0 && settings.policy.achievedBy === 'rounds')
    return 'the reviewers themselves, who look again after every round';
  if (checks.length === 0 && settings.performers.length === 0) return "each action's own result";
  if (checks.length === 0)
    return `NONE: ${settings.policy.tasks === 'one' ? 'it ends' : 'tasks close'} on the agent's word, unverified (--verify CMD)`;
  const { withheld } = checkEnvironmentOf(prepared);
  const kept = withheld.length === 0 ? '' : `; without ${shortList(withheld)} (--check-env NAME)`;
  const found = detected === undefined ? '' : ` (found: ${detected.why}; --verify names another, --detect-checks none)`;
  return `${checks.join(' ; ')}${found}${kept}`;
}

const namesShown = 6;

const shortList = (names: readonly string[]): string =>
  names.length <= namesShown
    ? names.join(', ')
    : `${names.slice(0, namesShown).join(', ')} and ${names.length - namesShown} more`;

/** What is to be done, in the words of its mode. */
function workRow({ mode, document, path }: Prepared, done: number, total: number): Row {
  return mode.words?.work?.({ document, path, done, total }) ?? ['tasks', `${path} (${done}/${total} done)`];
}

/** A plan of actions alone: who carries them out. */
function actionRows({
  performers,
  document,
}: Prepared): ReturnType<typeof agentRows> | { who: Row[]; cost: undefined; agents: [] } {
  const used = new Set(document.tasks.flatMap(task => task.performer ?? []));
  const names = Object.keys(performers).filter(name => used.has(name));
  return { who: [['actions', `${names.join(', ')}; no agent is needed`]], cost: undefined, agents: [] };
}

/** An approved plan has a loop before anything was done. */
const sinceWords = (iterations: number): string =>
  iterations === 0 ? ', nothing of it done yet' : `, resumed after iteration ${iterations}`;

/** What is left of a limit that counts down. */
const leftOf = (used: number, max: number, shown: (amount: number) => string): string =>
  `${shown(Math.max(0, max - used))} of ${shown(max)}`;

/** The limits of a loop that goes on: what of each is left. */
function leftWords({ settings: { limits } }: Prepared, { iterations, spend }: State): string {
  const { iterationsMax, costUsdMicrosMax, tokensMax, durationMsMax, deadlineAt } = limits;
  const words = [
    iterationsMax === null ? 'iterations unlimited' : `${leftOf(iterations.begun, iterationsMax, String)} iterations`,
    ...(costUsdMicrosMax === null || spend.usage.costUsdMicros === 0
      ? []
      : [leftOf(spend.usage.costUsdMicros, costUsdMicrosMax, formatUsd)]),
    ...(tokensMax === null ? [] : [`${leftOf(totalTokens(spend.usage), tokensMax, String)} tokens`]),
    ...(durationMsMax === null ? [] : [`${leftOf(spend.activeMs, durationMsMax, formatDuration)} of work`]),
    ...(deadlineAt === null ? [] : [`until ${dayAndTime(deadlineAt)}`]),
  ];
  return words.join(', ');
}

/** Short for a loop that goes on: what it does, with whom, how it is proven, and what is left of its limits. */
export const runSummary = (prepared: Prepared, chosen: Chosen | undefined, style: Style): string =>
  card(prepared, summaryRows(prepared, chosen), style);

function summaryRows(prepared: Prepared, chosen: Chosen | undefined): readonly Row[] {
  const { document, config, settings, directory } = prepared;
  const isAgentless = settings.performers.length === 0;
  const { who, cost, agents } = isAgentless ? actionRows(prepared) : agentRows(prepared);
  const state = chosen?.state;
  const counts = state === undefined ? undefined : progress(state.tasks);
  const done = counts?.done ?? document.tasks.filter(task => task.done).length;
  const loop = chosen?.would ?? (state === undefined ? '' : sinceWords(state.iterations.begun));
  const first: readonly Row[] = [
    ['loop', chosen === undefined ? '(not started)' : `${chosen.name}${loop}`],
    workRow(prepared, done, counts?.total ?? document.tasks.length),
  ];
  const checks: Row = ['checks', checkWords(prepared)];
  const left: readonly Row[] =
    state === undefined || state.iterations.begun === 0 ? [] : [['left', leftWords(prepared, state)]];
  if (left.length > 0 && chosen?.would === undefined)
    return [...first, ...who, checks, ...left, ['', 'all settings: the same command with --dry-run']];
  return [
    ...first,
    ['folder', state?.loop.directory ?? directory],
    ...who,
    ...(isAgentless ? [] : [['tree', treeWords(prepared, chosen)] as const]),
    ['contained', containmentWords(config.sandbox)],
    checks,
    ['limits', limitWords(settings, agents)],
    ...left,
    ...(cost === undefined ? [] : [cost]),
  ];
}

function card(prepared: Prepared, rows: readonly Row[], style: Style): string {
  const redact = makeRedactor(secretValues(prepared.env)); // a command line may hold a key, and the summary may be logged
  const rule = style.paint('quiet', style.marks.rule.repeat(Math.min(Math.max(style.columns() - 1, 1), 78)));
  const row = ([name, text]: Row): string =>
    `${style.paint('strong', name.padEnd(10))}  ${wrapped(redact(text), style.columns() - 13).join(`\n${' '.repeat(12)}`)}`;
  return [rule, ...rows.map(row), rule].join('\n');
}

// Agents in the summary: who works, with which login, who takes over, and where the money figures come from.

function nameWords(facts: AgentFacts, { config, isFound }: Prepared, isFirst: boolean): string {
  if (facts.agent === 'command') return `command: ${config.agentCommand}`;
  if (facts.isInProcess === true) return `scripted (plays ${config.script ?? 'a script'}; no model is called)`;
  const how = isFound && isFirst ? ' (found on PATH; --agent chooses another)' : '';
  const usual = facts.account?.model;
  const model = facts.model ?? (usual && `${usual.name} (${usual.from})`);
  const version = facts.version === undefined ? '' : `, version ${facts.version}`;
  const login = facts.login === undefined ? '' : `; login: ${facts.login.words}${billingWords(facts)}`;
  const program = facts.agent === 'acp' ? `: ${(config.acpCommand ?? []).join(' ')}` : '';
  const terminal = config.interactive ? '; it gets the terminal, done.md ends a round' : '';
  return `${facts.agent}${program}${how}${model === undefined ? '' : `, model ${model}`}${version}${login}${terminal}`;
}

const isCovered = ({ account }: AgentFacts): boolean => account?.billing === 'subscription';

/** A key says so already. */
function billingWords({ account, login }: AgentFacts): string {
  if (account?.billing === 'subscription') return ' (subscription)';
  return account?.billing === 'paid' && login?.known === true && login.by === 'files' ? ' (API billing)' : '';
}

/** Loud, because it costs money that nobody meant to spend. */
const billedRows = (all: readonly AgentFacts[]): readonly Row[] =>
  [...new Set(all.flatMap(one => one.account?.billedInstead ?? []))].map(name => [
    'BILLED',
    `${name} is set: it is billed, NOT your subscription. Take it away (unset ${name}) to use the subscription.`,
  ]);

/** Before they appear: each but the first ends the round by an Enter. */
const questionRows = (all: readonly AgentFacts[]): readonly Row[] =>
  all.flatMap(({ agent, firstQuestions = [] }): readonly Row[] =>
    firstQuestions.length === 0
      ? []
      : [['it asks', `${agent} is new here, and asks first. ${firstQuestions.join(' ')}`]],
  );

const costs: Readonly<Record<AgentFacts['cost'], string>> = {
  agent: 'reported by the agent',
  estimated: 'estimated from tokens by the price list',
  'upper-bound':
    'estimated from tokens at an upper bound, because no --model with a known price is given; it asks when that meets a limit',
  none: 'not reported by this agent: money limits cannot bind it',
};

const unseen = 'not known: nothing is read from the screen, so money limits cannot bind it';

/** One sentence where all agree, else one for each. */
function costWords(all: readonly AgentFacts[]): string {
  const words = (one: AgentFacts): string => `${costs[one.cost]}${isCovered(one) ? '; API-equivalent' : ''}`;
  const [first, ...others] = new Set(all.map(words));
  if (others.length === 0) return first ?? costs.none;
  return all.map(one => `${one.spec}: ${words(one)}`).join('; ');
}

/** The rows about agents, before the one about containment and after the limits. */
function agentRows(prepared: Prepared): {
  readonly who: readonly Row[];
  readonly cost: Row;
  readonly agents: readonly AgentFacts[];
} {
  const { config, settings, performers: agents } = prepared;
  const { performers, performersByTask, performersByPhase, stronger } = settings;
  const factsOf = (spec: string): AgentFacts => {
    const cost = agents[spec]?.can.usage === true ? 'agent' : 'none';
    return agents[spec]?.facts ?? { spec, agent: spec, cost };
  };
  const [first = '', ...others] = performers;
  const named = [...Object.entries(performersByTask), ...Object.entries(performersByPhase)];
  const all = everyPerformer(settings).map(factsOf);
  const unproven = [...new Set(all.flatMap(one => proofWords(one.agent, one.proof ?? 'live') ?? []))];
  return {
    who: [
      ['agent', nameWords(factsOf(first), prepared, true)],
      ...billedRows(all),
      ...(config.interactive ? questionRows(all) : []),
      ...(others.length === 0
        ? []
        : [['fallback', others.map(spec => nameWords(factsOf(spec), prepared, false)).join(', then ')] as const]),
      ...(named.length === 0 ? [] : [['instead', named.map(([name, spec]) => `${name}: ${spec}`).join(', ')] as const]),
      ...(stronger === undefined
        ? []
        : [['stronger', `${stronger.performer}, after ${plural(stronger.after, 'refused claim')} of a task`] as const]),
      ...unproven.map(words => ['unproven', words] as const),
    ],
    cost: ['cost', config.interactive ? unseen : costWords(all)],
    agents: all,
  };
}
