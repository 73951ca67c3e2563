// Watches one live iteration: hands out the work, keeps its output, reports signs of life, and says how it ended.

import { type Activity, type Assignment, stopReasonOf } from '../agents/performer.ts';
import { keyOf } from '../core/decide/work.ts';
import type { Usage } from '../core/event.ts';
import type { Failure } from '../core/failure.ts';
import type { Input } from '../core/input.ts';
import type { Limits } from '../core/settings.ts';
import { type LiveIteration, noUsage, type State, totalTokens } from '../core/state.ts';
import { findTask } from '../core/task.ts';
import { identify, knownTasks } from '../core/task-identity.ts';
import type { SpoolWriter } from '../ledger/spool.ts';
import { takeCharacters } from '../text/text.ts';
import type { Clock } from './clock.ts';
import { documentAfter } from './document.ts';
import type { Workplace } from './effects.ts';
import type { Engine } from './engine.ts';

type Post = (input: Input) => void;

const heartbeatMsMin = 1_000;
const heartbeatMsMax = 60_000;
const contextStep = 0.05;
/** Tokens and context are totals: of a flood of them a few are enough, and the end tells the last (F29). */
const reportEveryMs = 1_000;

interface Pulse {
  heard(): void;
  context(usedFraction: number): void;
  usage(usage: Usage): void;
  stop(): void;
}

/** A limit is to be overrun by one message, not by a second's worth of them (F59). */
const isLargeFor =
  ({ costUsdMicrosMax, tokensMax }: Limits) =>
  (usage: Usage, said = noUsage): boolean => {
    const money = usage.costUsdMicros - said.costUsdMicros;
    const tokens = totalTokens(usage) - totalTokens(said);
    const isPart = (part: number, whole: number | null): boolean => whole !== null && part >= whole / 200;
    return isPart(money, costUsdMicrosMax) || isPart(tokens, tokensMax);
  };

/**
 * Reports that the iteration is alive and since when it is quiet, so that a crash loses half of its time at most. A context
 * that fills up is reported at once: the loop may want to hand off.
 */
function startPulse({ clock }: Engine, iteration: number, limits: Limits, isInteractive: boolean, post: Post): Pulse {
  let heardAt = clock.now();
  let everyMs = heartbeatMsMin;
  let contextUsed: number | undefined;
  let contextSaid = 0;
  let cancel: () => void = () => {};
  const say = (): void => {
    // At a terminal nothing is heard, and a person sits there.
    const quietMs = isInteractive ? 0 : Math.max(0, clock.now() - heardAt);
    contextSaid = contextUsed ?? contextSaid;
    post({ type: 'heard', iteration, quietMs, contextUsed });
  };
  const arm = (): void => {
    cancel = clock.at(clock.now() + everyMs, () => {
      everyMs = Math.min(everyMs * 2, heartbeatMsMax);
      say();
      arm();
    });
  };
  arm();
  const filled = sparingly<void>(clock, reportEveryMs, say);
  const report = (usage: Usage): void => post({ type: 'usage', iteration, usage });
  const spent = sparingly<Usage>(clock, reportEveryMs, report, isLargeFor(limits));
  return {
    heard: () => {
      heardAt = clock.now();
    },
    context: usedFraction => {
      contextUsed = usedFraction;
      if (Math.abs(usedFraction - contextSaid) >= contextStep) filled.say();
    },
    usage: spent.say,
    stop: () => {
      cancel();
      filled.stop();
      spent.stop();
    },
  };
}

interface End {
  readonly message: string;
  readonly failure?: Failure;
}

/** What an agent did to the document is a claim about its own task, and drift for every other. */
async function readDocument(
  { engine, state, post }: Pick<Workplace, 'engine' | 'state' | 'post'>,
  live: LiveIteration,
): Promise<readonly string[]> {
  const document = await documentAfter(engine.source, live.iteration, post);
  if (document === undefined) return [];
  const { specs } = identify(knownTasks(state.tasks), document.tasks, live.task);
  return specs.some(task => task.id === live.task && task.done) ? [live.task] : [];
}

interface Heard {
  readonly end: End;
  readonly usage: Usage;
  readonly toolCalls: number;
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

async function listen(
  activities: AsyncIterable<Activity>,
  spool: SpoolWriter,
  pulse: Pulse,
  iteration: number,
  post: Post,
  told: (note: string) => void,
): Promise<Heard> {
  let end: End = { message: '', failure: { kind: 'unknown', detail: 'the agent ended without saying how' } };
  let usage = noUsage;
  let resetAtMs: number | undefined;
  let toolCalls = 0;
  const line = toolLine(spool);
  for await (const activity of activities) {
    pulse.heard();
    if (activity.type === 'spawned') {
      const { pid, startTime, host } = activity;
      post({ type: 'spawned', iteration, pid, startTime, host });
    } else if (activity.type === 'text') {
      if (activity.channel === 'output') line.text(activity.text);
      spool.write(activity.text, activity.channel);
    } else if (activity.type === 'tool') {
      toolCalls += 1;
      line.tool(activity.name, activity.detail);
    } else if (activity.type === 'usage') {
      usage = activity.usage;
      pulse.usage(usage);
    } else if (activity.type === 'context') pulse.context(activity.usedFraction);
    else if (activity.type === 'told') told(activity.note);
    else if (activity.type === 'limit') resetAtMs = activity.resetAtMs;
    else if (activity.type === 'ended') end = activity;
  }
  return { end: withReset(end, resetAtMs), usage, toolCalls };
}

/** Begins before the first look at it: files are made while the agent wakes up, not while it waits. */
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
  const isInteractive = engine.interactive === true || found?.interactive === true;
  const facts = (await engine.facts?.(state, live)) ?? {};
  const words = engine.prompt(state, live, await engine.source.instructions(), facts);
  return {
    loop: state.loop,
    iteration,
    task,
    attempt,
    prompt: engine.redact(words.text),
    directory: engine.workspace?.directory(task) ?? state.directory,
    timeMsMax: state.settings.limits.iterationMsMax,
    environment: engine.environment,
    key: keyOf(state, task),
    interactive: isInteractive || undefined,
    doneFile: isInteractive ? engine.doneFile : undefined,
    system: words.system === undefined ? undefined : engine.redact(words.system),
    reads: found?.reads,
    order: found?.order,
  };
}

export async function supervise(
  { engine, state, post, board, intend }: Workplace,
  live: LiveIteration,
  stop: AbortSignal,
): Promise<void> {
  const { iteration, task } = live;
  const performer = engine.performers[live.performer];
  if (performer === undefined) {
    const failure: Failure = { kind: 'spawn', detail: `no agent is called ${live.performer}` };
    post({ type: 'performed', iteration, performed: { message: '', failure }, chance: engine.clock.random() });
    return;
  }
  const fork = state.settings.worktreePerTask ? await engine.workspace?.fork(task) : undefined;
  if (fork?.ok === false) {
    const failure: Failure = { kind: 'unknown', detail: fork.problem };
    post({ type: 'performed', iteration, performed: { message: '', failure }, chance: engine.clock.random() });
    return;
  }
  const order = await assignmentOf(engine, state, live);
  const pulse = startPulse(engine, iteration, state.settings.limits, order.interactive === true, post);
  const channel = board.open(iteration, performer.can.steer && order.interactive !== true);
  const assignment: Assignment = {
    ...order,
    notes: channel.notes,
    intend: (repeatable: boolean) => intend(iteration, repeatable),
  };
  // What goes into the system prompt is kept with the rest: together they are what the agent was told.
  const told = [order.system, order.prompt].filter(part => part !== undefined).join('\n\n');
  const activities = begun(performer.perform(assignment, stop));
  let spool: SpoolWriter;
  let heard: Heard;
  try {
    spool = engine.spool.open(iteration, told);
    await engine.archive?.(iteration, told);
    heard = await listen(activities, spool, pulse, iteration, post, note => channel.told(note));
  } finally {
    pulse.stop();
    channel.close();
    await activities.close(); // a disk that fails must not leave an agent at work
  }
  const { end, usage, toolCalls } = heard;
  const stopped = end.failure?.kind === 'stopped' ? stopReasonOf(stop) : undefined;
  const failure = stopped === undefined ? end.failure : { kind: 'stopped' as const, detail: stopped.because };
  const stoppedFor = stopped?.kind === 'handoff' ? ('handoff' as const) : undefined;
  const performed = { message: end.message, usage, toolCalls, stoppedFor, failure };
  spool.end(performed);
  await engine.source.tidy?.();
  const statusEdits = await readDocument({ engine, state, post }, live);
  post({ type: 'performed', iteration, performed: { ...performed, statusEdits }, chance: engine.clock.random() });
}

// Says a thing at once when it was quiet before, and otherwise only every so often: what comes meanwhile makes way for newer.

export interface Sparing<Value> {
  say(value: Value): void;
  /** What still waits is not said. */
  stop(): void;
}

export function sparingly<Value>(
  clock: Clock,
  everyMs: number,
  say: (value: Value) => void,
  /** Cannot wait, compared with what was said last. */
  isUrgent: (value: Value, said: Value | undefined) => boolean = () => false,
): Sparing<Value> {
  let said: Value | undefined;
  let saidAt = Number.NEGATIVE_INFINITY;
  let waiting: { value: Value } | undefined;
  let cancel: () => void = () => {};

  function tell(value: Value): void {
    saidAt = clock.now();
    said = value;
    say(value);
  }

  return {
    say(value) {
      const isDue = Math.abs(clock.now() - saidAt) >= everyMs; // also when the clock was put back
      if (isUrgent(value, said)) {
        cancel();
        waiting = undefined;
        return tell(value);
      }
      if (waiting === undefined && isDue) return tell(value);
      const isArmed = waiting !== undefined;
      waiting = { value };
      if (isArmed) return;
      cancel = clock.at(saidAt + everyMs, () => {
        const newest = waiting;
        waiting = undefined;
        if (newest !== undefined) tell(newest.value);
      });
    },
    stop() {
      waiting = undefined;
      cancel();
    },
  };
}
