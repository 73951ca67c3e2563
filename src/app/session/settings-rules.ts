// Settings of a run: each is decided once, here, by the first that says something about it.
//
// `resumed` is what a loop that goes on keeps (`resume-rules.ts`); `settings` and `config` are what flags, the environment and
// files say, in this order, presets filled in (`src/config/resolve.ts`).
import { type DetectedCheck, detectCheck } from '../../checks/detect.ts';
import type { RunConfig } from '../../config/resolve.ts';
import type { Config } from '../../config/settings.ts';
import { isBounded, type Settings } from '../../core/settings.ts';
import type { ParsedDocument } from '../../documents/document.ts';
import type { Mode } from '../../modes/mode.ts';
import { UsageError } from '../../text/errors.ts';
import { type AgentNeeds, defaultAgent } from '../agents/performers.ts';
import type { Environment } from '../app.ts';
import { judgeName, judgeNamed, judgeSpec } from '../checks.ts';
import { nothingBounds } from '../problems.ts';
import { type RepositoryInfo, refuseImpossible } from './repository.ts';
import { onResume, type Resuming, startedWith } from './resume-rules.ts';

/** All that may say something about a setting. */
export interface Known extends Resuming {
  readonly sources: RunConfig['sources'];
  readonly untrusted: RunConfig['untrusted'];
  readonly env: Environment;
  readonly directory: string;
  readonly path: string;
  readonly mode: Mode;
  readonly document: ParsedDocument;
  /** What a program brings along: all who work, in order, and the names of its checks. */
  readonly provided: { readonly chain: readonly string[]; readonly checkNames: readonly string[] };
  /** Nothing of it is done yet, so whoever will do it need not be there. */
  readonly isOnlyRecorded?: boolean | undefined;
  readonly repositoryInfo: RepositoryInfo;
}

export interface DecidedRun {
  readonly config: Config;
  readonly settings: Settings;
  /** Nobody named the agent: it is the first that was found on PATH. */
  readonly isFound: boolean;
  /** The project's own test command, taken because nobody named a check. */
  readonly detected: DetectedCheck | undefined;
}

type Part = Partial<Settings>;

/** The first that says something: undefined says nothing, null does (unlimited, never). */
const first = <Value>(...said: readonly [...(Value | undefined)[], Value]): Value =>
  said.find(one => one !== undefined) as Value;

const unlessEmpty = <Item>(list: readonly Item[] = []): readonly Item[] | undefined =>
  list.length === 0 ? undefined : list;

/** Where every task is an action, no agent is needed. */
const hasOnlyActions = ({ tasks }: ParsedDocument): boolean =>
  tasks.length > 0 && tasks.every(task => task.performer !== undefined);

/** Of a conversation more may be wanted than the ledger has. A document may be read by them. */
export const roundsOf = ({ mode, config, before, settings }: Rounds): number | null =>
  (mode.conversation && config.rounds) ?? before?.rounds ?? settings.rounds;

type Rounds = Pick<Known, 'mode' | 'config' | 'before' | 'settings'>;

function bounds({ mode, document, settings, sources, ...known }: Known, resumed: Part): Part {
  const { defaults, approval } = document;
  const inDocument = sources.maxIterations === 'preset' ? defaults?.iterationsMax : undefined;
  const limits = first(resumed.limits, {
    ...settings.limits,
    iterationsMax: first(inDocument, settings.limits.iterationsMax),
  });
  if (!isBounded(limits)) throw nothingBounds();
  const isPreset = resumed.limits === undefined ? sources.maxCost === 'preset' : resumed.costMaxIsPreset === true;
  return {
    limits,
    costMaxIsPreset: isPreset ? true : undefined,
    promise: first(resumed.promise, sources.promise === 'preset' ? defaults?.promise : undefined, settings.promise),
    rounds: roundsOf({ ...known, mode, settings }),
    // What needs no yes is bound to its text all the same: by the command that runs it.
    approval: first(resumed.approval, mode.bindsText === true || approval?.required === true),
  };
}

/** Whoever wrote that program into the project's config wants it and no other: none is taken in its stead. */
function refuseUntrusted({ agentCommand }: Known['untrusted']): void {
  if (agentCommand === undefined) return;
  throw new UsageError(
    `ralph.config.json names the agent ${JSON.stringify(agentCommand)}, which you have not trusted yet.`,
    'See what it sets and trust it: ralph config trust; or name an agent yourself: --agent NAME',
  );
}

async function workers({ document, settings, provided, ...known }: Known, resumed: Part) {
  const named = first(
    hasOnlyActions(document) ? [] : undefined,
    known.isOnlyRecorded === true ? settings.performers : undefined,
    unlessEmpty(provided.chain),
    unlessEmpty(resumed.performers),
    unlessEmpty(settings.performers),
  );
  if (named === undefined) refuseUntrusted(known.untrusted);
  const isTalk = known.mode.conversation !== undefined;
  const performers = named ?? [...new Set([await defaultAgent({ ...known, isTalk }), ...known.config.fallback])];
  const performersByTask = first(resumed.performersByTask, settings.performersByTask);
  const performersByPhase = first(resumed.performersByPhase, settings.performersByPhase);
  const stronger = first(resumed.stronger, settings.stronger);
  return { isFound: named === undefined, chain: { performers, performersByTask, performersByPhase, stronger } };
}

/** All that "done" will rest on. A round of a conversation is proven by what it left. */
async function proof(known: Known, resumed: Part, chain: AgentNeeds['settings']) {
  const { mode, config, provided, directory, env, before } = known;
  const talk = mode.conversation;
  const isUnproven = before === undefined && config.verify.length + provided.checkNames.length === 0;
  const isWanted =
    isUnproven && mode.detectsChecks === true && config.detectChecks !== 'none' && !hasOnlyActions(known.document);
  // Only once: a loop that goes on keeps its own.
  const detected = isWanted ? detectCheck(directory, env) : undefined;
  const commands = resumed.checks?.filter(name => judgeNamed(name) === undefined);
  const judge = first(resumed.checks?.flatMap(name => judgeNamed(name) ?? [])[0], config.judge);
  const verify = first(talk && [], commands, detected && [detected.command], config.verify);
  const named = [...verify, ...provided.checkNames];
  const recorded = first(talk && [talk.check], resumed.checks, undefined);
  const isJudged = recorded === undefined && judge !== undefined;
  const spec = isJudged
    ? await judgeSpec({ config: { ...config, judge }, settings: chain, directory, env })
    : undefined;
  return { detected, verify, judge, checks: recorded ?? (spec === undefined ? named : [...named, judgeName(spec)]) };
}

const ofTheFolder = ['parallel', 'worktree', 'rollbackAfter', 'noCheckpoints'] as const;

/** What the folder allows of what was asked for. Talk is no work to be committed or looked at. */
function history({ mode, config, settings, repositoryInfo, before, typed }: Known, resumed: Part): Part {
  const talk = mode.conversation && false;
  const parallel = first(resumed.parallel, config.parallel);
  const checkpoints = first(resumed.checkpoints, repositoryInfo.repository !== undefined && !config.noCheckpoints);
  // A loop that goes on has what it began with, whatever a file says by now.
  const isAsked = before === undefined || ofTheFolder.some(key => typed.has(key));
  if (isAsked) refuseImpossible(config, repositoryInfo);
  return {
    parallel,
    worktreePerTask: parallel > 1,
    checkpoints,
    commits: first(resumed.commits, talk, checkpoints && !config.noCommit && !repositoryInfo.isMidway),
    tamperScreen: first(resumed.tamperScreen, talk, checkpoints),
    rollbackAfter: first(resumed.rollbackAfter, checkpoints ? config.rollbackAfter : null, settings.rollbackAfter),
  };
}

export async function decideSettings(known: Known): Promise<DecidedRun> {
  const resumed = onResume(known);
  const bounded = bounds(known, resumed);
  const { isFound, chain } = await workers(known, resumed);
  const { detected, verify, judge, checks } = await proof(known, resumed, chain);
  const interactive = first(known.mode.conversation && true, known.config.interactive);
  return {
    config: { ...known.config, verify, judge, interactive },
    settings: {
      ...(known.before ?? known.settings),
      ...bounded,
      ...chain,
      checks,
      ...history(known, resumed),
      startedWith: startedWith(known),
    },
    isFound,
    detected,
  };
}
