// SIGKILLs a real `ralph run` at seeded moments over its whole life, runs it again, and holds the end against the laws.
import { mkdirSync, readFileSync, watch } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { type Random, random } from '../simulate/random.ts';
import { makeStage, type Running, type Stage } from './stage.ts';
import { checkFinished, checkNobodyLeft, LawBroken } from './verdict.ts';

const killsPerRunMax = 3;
const runMsMax = 60_000;

export interface Undisturbed {
  readonly stories: number;
  readonly documentText: string;
  readonly durationMs: number;
  /** Changes of the ledger's files that a watcher saw. */
  readonly changes: number;
}

export interface Crashed {
  readonly kills: number;
  readonly iterations: number;
}

/** Counts the changes of the ledger's files; most of them are one write of an append. */
function watchLedger(stage: Stage, changed: (count: number) => void): () => void {
  let count = 0;
  const watcher = watch(stage.home, (_event, name) => {
    if (name?.startsWith('ralph.db') !== true) return;
    count += 1;
    changed(count);
  });
  return () => watcher.close();
}

export async function undisturbed(stories: number): Promise<Undisturbed> {
  const stage = makeStage(stories);
  try {
    mkdirSync(stage.home);
    let changes = 0;
    const unwatch = watchLedger(stage, count => {
      changes = count;
    });
    const from = performance.now();
    const { code, errors } = await stage.run().ended;
    const durationMs = performance.now() - from;
    unwatch();
    if (code !== 0) throw new LawBroken(`the undisturbed run ended with ${code}: ${errors}`);
    const documentText = readFileSync(stage.document, 'utf8');
    if (documentText.includes('"passes":false')) throw new LawBroken(`the undisturbed run left ${documentText}`);
    await checkFinished(stage, stories, documentText);
    return { stories, documentText, durationMs, changes };
  } finally {
    stage.remove();
  }
}

/** Kills after a part of the measured life, or at a change of the ledger; resolves when the process is gone. */
async function killed(
  stage: Stage,
  running: Running,
  { durationMs, changes }: Undisturbed,
  chances: Random,
): Promise<boolean> {
  const gone = new AbortController();
  const stop = (): void => void running.child.kill('SIGKILL');
  let unwatch = (): void => {};
  if (chances.is(0.5)) {
    const at = chances.whole(1, Math.max(1, changes));
    unwatch = watchLedger(stage, count => {
      if (count === at) stop();
    });
  } else {
    void setTimeout(chances.chance() * durationMs, undefined, { signal: gone.signal }).then(stop, () => {});
  }
  const { signal } = await running.ended;
  gone.abort();
  unwatch();
  return signal === 'SIGKILL';
}

async function bounded(running: Running): Promise<{ code: number | null; errors: string }> {
  const timer = globalThis.setTimeout(() => running.child.kill('SIGKILL'), runMsMax);
  const ended = await running.ended;
  clearTimeout(timer);
  if (ended.signal !== null)
    throw new LawBroken(`a run after the crash did not end in ${runMsMax} ms: ${ended.errors}`);
  return ended;
}

/** Undefined when every kill came after the end: such a life proves nothing. */
async function crashedLife(chances: Random, like: Undisturbed): Promise<Crashed | undefined> {
  const stage = makeStage(like.stories);
  try {
    mkdirSync(stage.home);
    const planned = chances.whole(1, killsPerRunMax);
    let kills = 0;
    while (kills < planned && (await killed(stage, stage.run(), like, chances))) {
      kills += 1;
      // Half of the time the next run finds whatever is left; else the death alone must have cleared it.
      if (chances.is(0.5)) await checkNobodyLeft(stage, await stage.ledger());
    }
    if (kills === 0) return undefined;
    const { code, errors } = await bounded(stage.run());
    if (code !== 0) throw new LawBroken(`the last run ended with ${code}: ${errors}`);
    const { events } = await checkFinished(stage, like.stories, like.documentText);
    return { kills, iterations: events.filter(event => event.type === 'iteration.ended').length };
  } finally {
    stage.remove();
  }
}

export async function crash(seed: number, like: Undisturbed): Promise<Crashed> {
  const chances = random(seed);
  for (let tries = 0; tries < 20; tries += 1) {
    const crashed = await crashedLife(chances, like);
    if (crashed !== undefined) return crashed;
  }
  throw new LawBroken('no kill came in time');
}
