// Watches one live iteration: hands out the work, keeps its output, reports signs of life, and says how it ended.
import type { Usage } from '../core/event.ts';
import type { Failure } from '../core/failure.ts';
import type { Input } from '../core/input.ts';
import { type LiveIteration, noUsage, type State } from '../core/state.ts';
import type { Activity } from '../ports/performer.ts';
import type { SpoolWriter } from '../ports/spool.ts';
import type { Engine } from './engine.ts';

type Post = (input: Input) => void;

const heartbeatMsMin = 1_000;
const heartbeatMsMax = 60_000;

interface Pulse {
  heard(): void;
  context(usedFraction: number): void;
  stop(): void;
}

/** Reports that the iteration is alive and since when it is quiet, so that a crash loses half of its time at most. */
function startPulse({ clock }: Engine, iteration: number, post: Post): Pulse {
  let heardAt = clock.now();
  let everyMs = heartbeatMsMin;
  let contextUsed: number | undefined;
  let cancel: () => void = () => {};
  const arm = (): void => {
    cancel = clock.at(clock.now() + everyMs, () => {
      everyMs = Math.min(everyMs * 2, heartbeatMsMax);
      const quietMs = Math.max(0, clock.now() - heardAt);
      post({ type: 'heard', iteration, quietMs, ...(contextUsed === undefined ? {} : { contextUsed }) });
      arm();
    });
  };
  arm();
  return {
    heard: () => {
      heardAt = clock.now();
    },
    context: usedFraction => {
      contextUsed = usedFraction;
    },
    stop: () => cancel(),
  };
}

interface End {
  readonly message: string;
  readonly failure?: Failure;
}

/** What an agent did to the document is a claim about its own task, and drift for every other. */
async function readDocument(engine: Engine, live: LiveIteration, post: Post): Promise<readonly string[]> {
  const loaded = await engine.source.load();
  if (loaded.type === 'failed') {
    const saved = await engine.source.save([]);
    if (saved.type === 'saved' && saved.restored !== undefined)
      post({ type: 'saved', marks: [], hash: saved.hash, restored: saved.restored });
    return [];
  }
  if (loaded.type === 'unchanged') return [];
  post({ type: 'document', tasks: loaded.document.tasks, hash: loaded.hash, during: live.iteration });
  return loaded.document.tasks.some(task => task.id === live.task && task.done) ? [live.task] : [];
}

async function listen(
  activities: AsyncIterable<Activity>,
  spool: SpoolWriter,
  pulse: Pulse,
  iteration: number,
  post: Post,
): Promise<{ end: End; usage: Usage }> {
  let end: End = { message: '', failure: { kind: 'unknown', detail: 'the agent ended without saying how' } };
  let usage = noUsage;
  for await (const activity of activities) {
    pulse.heard();
    if (activity.type === 'spawned') {
      const { pid, startTime, host } = activity;
      post({ type: 'spawned', iteration, pid, startTime, host });
    } else if (activity.type === 'text') spool.write(activity.text, activity.channel);
    else if (activity.type === 'usage') {
      usage = activity.usage;
      post({ type: 'usage', iteration, usage });
    } else if (activity.type === 'context') pulse.context(activity.usedFraction);
    else if (activity.type === 'ended') end = activity;
  }
  return { end, usage };
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

export async function supervise(
  engine: Engine,
  state: State,
  live: LiveIteration,
  post: Post,
  stop: AbortSignal,
): Promise<void> {
  const { iteration, task, attempt } = live;
  const performer = engine.performers[live.performer];
  if (performer === undefined) {
    const failure: Failure = { kind: 'spawn', detail: `no agent is called ${live.performer}` };
    post({ type: 'performed', iteration, performed: { message: '', failure }, chance: engine.clock.random() });
    return;
  }
  const prompt = engine.redact(engine.prompt(state, live, await engine.source.instructions()).text);
  const pulse = startPulse(engine, iteration, post);
  const { loop, settings } = state;
  const directory = engine.workspace?.directory(iteration) ?? state.directory;
  const assignment = {
    loop,
    iteration,
    task,
    attempt,
    prompt,
    directory,
    timeMsMax: settings.limits.iterationMsMax,
    environment: engine.environment,
  };
  const activities = begun(performer.perform(assignment, stop));
  let spool: SpoolWriter;
  let heard: { end: End; usage: Usage };
  try {
    spool = engine.spool.open(iteration, prompt);
    heard = await listen(activities, spool, pulse, iteration, post);
  } finally {
    pulse.stop();
    await activities.close(); // a disk that fails must not leave an agent at work
  }
  const { end, usage } = heard;
  const stopped = end.failure?.kind === 'stopped' && typeof stop.reason === 'string';
  const failure = stopped ? { kind: 'stopped' as const, detail: String(stop.reason) } : end.failure;
  const performed = { message: end.message, usage, ...(failure === undefined ? {} : { failure }) };
  spool.end(performed);
  const statusEdits = await readDocument(engine, live, post);
  post({ type: 'performed', iteration, performed: { ...performed, statusEdits }, chance: engine.clock.random() });
}
