// Supervision of one live iteration: hands out the work, keeps its output, reports signs of life, and says how it ended.

import { type Activity, type AgentTools, type Assignment, stopReasonOf } from '../agents/performer.ts';
import { keyOf } from '../core/decide/actions.ts';
import { refusalOfReport } from '../core/decide/tool-reports.ts';
import type { Failure } from '../core/failure.ts';
import type { InputOf, Performed } from '../core/input.ts';
import { type LiveIteration, liveIteration, noUsage, type State, showsBlocked } from '../core/state.ts';
import { findTask } from '../core/task.ts';
import { identifyChanged } from '../core/task-identity.ts';
import type { SpoolWriter } from '../ledger/spool.ts';
import { redactDeep } from '../secrets/redactor.ts';
import { takeCharacters } from '../text/text.ts';
import { documentAfter } from './document.ts';
import { directoryOf, type EffectContext, type Engine, noGit } from './engine.ts';
import { type Heartbeat, startHeartbeat } from './heartbeat.ts';

type End = Pick<Performed, 'message' | 'failure'>;

/** What an agent did to the document is a claim about its own task, and drift for every other. */
async function readDocument(
  { engine, state, post }: Pick<EffectContext, 'engine' | 'state' | 'post'>,
  live: LiveIteration,
): Promise<Pick<Performed, 'statusEdits' | 'blockedEdit' | 'noted'>> {
  const document = await documentAfter(engine.source, live.iteration, post);
  const noted = await engine.noted?.(state);
  if (document === undefined) return { statusEdits: [], noted };
  const { specs } = identifyChanged(state.tasks, document.tasks, live.task);
  const own = specs.find(task => task.id === live.task);
  const blockedEdit = own?.blocked && showsBlocked(state) ? (own.blockedReason ?? '') : undefined;
  return { statusEdits: own?.done ? [live.task] : [], blockedEdit, noted };
}

/** A tool call gets a line of its own, so that the log reads as what happened. */
function toolLine(spool: SpoolWriter): { text(text: string): void; tool(name: string, detail: string): void } {
  let atLineStart = true;
  return {
    text: text => {
      if (text !== '') atLineStart = text.endsWith('\n');
    },
    tool: (name, detail) => {
      spool.write(`${atLineStart ? '' : '\n'}[${name}] ${firstLine(detail)}\n`, 'output');
      atLineStart = true;
    },
  };
}

const firstLine = (text: string): string => takeCharacters(text.split('\n', 1)[0] ?? '', 200);

/** The provider's reset may come as an event of its own before the failure. */
function withReset(end: End, resetAtMs: number | undefined): End {
  const { failure } = end;
  if (failure?.kind !== 'rate-limit' || failure.resetAtMs !== undefined || resetAtMs === undefined) return end;
  return { ...end, failure: { ...failure, resetAtMs } };
}

interface Listener extends Pick<EffectContext, 'post'> {
  readonly iteration: number;
  readonly spool: SpoolWriter;
  readonly heartbeat: Heartbeat;
  readonly spawned: (input: InputOf<'spawned'>) => void;
  readonly told: (note: string) => void;
}

async function listen(activities: AsyncIterable<Activity>, listener: Listener) {
  const { iteration, spool, heartbeat, post, spawned, told } = listener;
  let end: End = { message: '', failure: { kind: 'unknown', detail: 'the agent ended without saying how' } };
  let usage = noUsage;
  let resetAtMs: number | undefined;
  let toolCalls = 0;
  let isLeft = false;
  const line = toolLine(spool);
  const hear: { readonly [Type in Activity['type']]?: (activity: Extract<Activity, { type: Type }>) => void } = {
    spawned: ({ pid, startTime, host }) => spawned({ type: 'spawned', iteration, pid, startTime, host }),
    text: ({ text, channel }) => {
      if (channel === 'output') line.text(text);
      spool.write(text, channel);
    },
    tool: ({ name, detail }) => {
      toolCalls += 1;
      line.tool(name, detail);
    },
    usage: activity => {
      usage = activity.usage;
      heartbeat.usage(usage);
    },
    windows: ({ windows }) => post({ type: 'windows', iteration, windows }),
    waiting: ({ isWaiting }) => heartbeat.waiting(isWaiting),
    permissions: ({ mode }) => post({ type: 'permissions', iteration, mode }),
    context: ({ usedFraction }) => heartbeat.context(usedFraction),
    told: ({ note }) => told(note),
    limit: activity => {
      resetAtMs = activity.resetAtMs;
    },
    ended: activity => {
      end = activity;
    },
    left: () => {
      isLeft = true;
    },
  };
  for await (const activity of activities) {
    heartbeat.heard();
    hear[activity.type]?.(activity as never);
  }
  return { end: withReset(end, resetAtMs), usage, toolCalls, isLeft };
}

/** Starts the iterator at once, so that our files are created while the agent starts up. */
function begun<Item>(items: AsyncIterable<Item>): AsyncIterable<Item> & { close(): Promise<unknown> } {
  const iterator = items[Symbol.asyncIterator]();
  let first: Promise<IteratorResult<Item>> | undefined = iterator.next();
  const next = (): Promise<IteratorResult<Item>> => {
    const result = first ?? iterator.next();
    first = undefined;
    return result;
  };
  return { [Symbol.asyncIterator]: () => ({ next }), close: async () => iterator.return?.() };
}

/** All that the performer may know, redacted. */
async function assignmentOf(engine: Engine, state: State, live: LiveIteration): Promise<Assignment> {
  const { iteration, task, attempt } = live;
  const found = findTask(state.tasks, task);
  const isInteractive = engine.interactive === true || found?.spec.interactive === true;
  const facts = (await engine.facts?.(state, live)) ?? {};
  const words = engine.prompt(state, live, await engine.source.instructions(), facts);
  return {
    loop: state.loop.id,
    iteration,
    task,
    attempt,
    prompt: engine.redact(words.text),
    directory: directoryOf(engine, state, task),
    timeMsMax: state.settings.limits.iterationMsMax,
    environment: engine.environment,
    key: keyOf(state, task),
    interactive: isInteractive || undefined,
    doneFile: isInteractive ? engine.doneFile : undefined,
    system: words.system === undefined ? undefined : engine.redact(words.system),
    reads: found?.spec.readOnly,
    order: found?.spec.order,
  };
}

/** What an agent asks is answered by the state as it is then; what it reports is recorded before it hears so. */
function toolsOf({ engine, state, stored, stateNow }: EffectContext, live: LiveIteration): AgentTools | undefined {
  const { agentTools, clock } = engine;
  const { iteration } = live;
  if (agentTools?.isFor(state, live) !== true) return undefined;
  return {
    ask(about) {
      const now = stateNow();
      const own = liveIteration(now, iteration);
      return own && redactDeep(agentTools.answers(now, own, clock.now())[about], engine.redact);
    },
    async report(report) {
      const refusal = refusalOfReport(stateNow(), iteration, report);
      if (refusal !== undefined) return refusal;
      return (await stored({ type: 'reported', iteration, report })) ? undefined : { why: 'iteration-over' };
    },
  };
}

async function forkTrouble({ forks }: Engine, task: string): Promise<string | undefined> {
  if (forks === undefined) return noGit.problem;
  const fork = await forks.fork(task);
  return fork.ok ? undefined : fork.problem;
}

export async function supervise(context: EffectContext, live: LiveIteration, stop: AbortSignal): Promise<void> {
  const { engine, state, post, board, stored, leave } = context;
  const { iteration, task } = live;
  const performer = engine.performers[live.performer];
  const say = (performed: Performed): void =>
    post({ type: 'performed', iteration, performed, chance: engine.clock.random() });
  const failed = (kind: Failure['kind'], detail: string): void => say({ message: '', failure: { kind, detail } });
  if (performer === undefined) return failed('spawn', `no agent is called ${live.performer}`);
  const trouble = state.settings.worktreePerTask ? await forkTrouble(engine, task) : undefined;
  if (trouble !== undefined) return failed('unknown', trouble);
  const order = await assignmentOf(engine, state, live);
  const { clock } = engine;
  const isInteractive = order.interactive === true;
  const { limits } = state.settings;
  const heartbeat = startHeartbeat(iteration, { clock, limits, isInteractive, post });
  const channel = board.open(iteration, performer.can.steer && !isInteractive);
  const begin = Promise.withResolvers<boolean>();
  const spawned = (input: InputOf<'spawned'>): void => begin.resolve(stored(input));
  const assignment: Assignment = {
    ...order,
    notes: channel.notes,
    mayBegin: performer.holds?.() === true && !isInteractive ? begin.promise : undefined,
    intend: (repeatable: boolean) => stored({ type: 'intended', iteration, repeatable }),
    agentTools: isInteractive ? undefined : toolsOf(context, live),
  };
  // What goes into the system prompt is kept with the rest: together they are what the agent was told.
  const told = [order.system, order.prompt].filter(part => part !== undefined).join('\n\n');
  const activities = begun(performer.perform(assignment, stop));
  let spool: SpoolWriter;
  let heard: Awaited<ReturnType<typeof listen>>;
  try {
    spool = engine.spool.open(iteration, told);
    await engine.archive?.(iteration, told);
    heard = await listen(activities, { iteration, spool, heartbeat, post, spawned, told: channel.told });
  } finally {
    heartbeat.stop();
    channel.close();
    await activities.close(); // a disk that fails must not leave an agent at work
  }
  if (heard.isLeft) {
    spool.end();
    return leave();
  }
  const { end, usage, toolCalls } = heard;
  const stopped = end.failure?.kind === 'stopped' ? stopReasonOf(stop) : undefined;
  const failure = stopped === undefined ? end.failure : { kind: 'stopped' as const, detail: stopped.because };
  const stoppedFor = stopped?.kind === 'handoff' ? ('handoff' as const) : undefined;
  const performed = { message: end.message, usage, toolCalls, stoppedFor, failure };
  spool.end(performed);
  await engine.source.tidy?.();
  say({ ...performed, ...(await readDocument({ engine, state, post }, live)) });
}

/** Records how work ended that an earlier run left to go on outside: as if its performer had ended here and now. */
export async function endOutside(
  context: Pick<EffectContext, 'engine' | 'state' | 'post'>,
  live: LiveIteration,
  performed: Performed,
): Promise<void> {
  const { engine, post } = context;
  const { iteration } = live;
  const spool = engine.spool.open(iteration);
  spool.write(`${performed.message}\n`, 'output');
  spool.end(performed);
  await engine.source.tidy?.();
  const read = await readDocument(context, live);
  post({ type: 'performed', iteration, performed: { ...performed, ...read }, chance: engine.clock.random() });
}
