// What every real agent must live through, told as scenarios; each leaves no process behind.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { openPriceBook } from '../../src/agents/prices.ts';
import type { Event, EventOf, EventType } from '../../src/core/event.ts';
import type { FailureKind } from '../../src/core/failure.ts';
import type { LiveAgent } from './agents.ts';
import { billed } from './dialects/dialect.ts';
import type { Model, Step } from './mock.ts';
import { bigDescription, type LivePlace, type Needs, storyText } from './place.ts';
import { storyModel, whileTrue } from './story-model.ts';

export interface Stand {
  readonly agent: LiveAgent;
  readonly bin: string;
  /** Every place made here is removed after the scenario, and explained when it failed. */
  place(needs: Omit<Needs, 'agent' | 'bin'>): Promise<LivePlace>;
}

export interface Scenario {
  readonly name: string;
  /** Absent: every agent lives through it. */
  fits?(agent: LiveAgent): boolean;
  run(stand: Stand): Promise<void>;
}

export const all = <Type extends EventType>(events: readonly Event[], type: Type): readonly EventOf<Type>[] =>
  events.filter((event): event is EventOf<Type> => event.type === type);

export const failuresOf = (events: readonly Event[]): readonly (FailureKind | undefined)[] =>
  all(events, 'iteration.ended').map(event => event.failure?.kind);

/** The two stories, done and proven. */
export async function assertAchieved(place: LivePlace): Promise<readonly Event[]> {
  const events = await place.events();
  assert.equal(all(events, 'loop.ended').at(-1)?.reason, 'goal_achieved');
  const closed = all(events, 'task.closed');
  assert.deepEqual(
    closed.map(({ task, verified }) => [task, verified]),
    [
      ['US-001', true],
      ['US-002', true],
    ],
  );
  for (const id of ['US-001', 'US-002']) assert.match(storyText(place, id), /is finished\n$/);
  assert.deepEqual(await place.survivors(), []);
  return events;
}

export async function assertExit(ended: ReturnType<LivePlace['run']>['ended'], code: number): Promise<string> {
  const told = await ended;
  assert.equal(told.code, code, `exit ${told.code} instead of ${code}`);
  return `${told.stdout}${told.stderr}`;
}

type Setup = Pick<Needs, 'environment' | 'without' | 'restage'>;

/** Holds a place and the model that writes into it together. */
export async function withStories(
  stand: Stand,
  change: (stories: Model) => Model = stories => stories,
  { environment, without, restage }: Setup = {},
): Promise<LivePlace> {
  let project = '';
  const model = change(storyModel(() => project));
  const place = await stand.place({ model, environment, without, restage });
  project = place.project;
  return place;
}

const stories: Scenario = {
  name: 'two stories are done and proven',
  async run(stand) {
    const place = await withStories(stand);
    await assertExit(place.run().ended, 0);
    const events = await assertAchieved(place);
    const { input, output, cacheRead } = billedWork(place);
    const usage = all(events, 'usage.recorded').map(event => event.usage);
    const sum = (pick: (one: (typeof usage)[number]) => number): number =>
      usage.reduce((total, one) => total + pick(one), 0);
    assert.deepEqual(
      {
        input: sum(one => one.inputTokens),
        output: sum(one => one.outputTokens),
        cache: sum(one => one.cacheReadTokens),
      },
      { input, output, cache: cacheRead },
      'the tokens in the ledger are those that the mock billed',
    );
    assert.ok(sum(one => one.costUsdMicros) > 0, 'the work has a price');
    assert.equal(usage.at(-1)?.estimated, !stand.agent.statesCost, 'and says whose figure it is');
    const prompt = place.mock.work().find(({ asked }) => asked.prompt.includes('**US-002**'))?.asked.prompt ?? '';
    assert.ok(prompt.includes(bigDescription), `a prompt of ${bigDescription.length} characters arrives whole (F78)`);
  },
};

/** What the agent's own work was billed; what it asked beside that is not in its stream. */
function billedWork(place: LivePlace): { readonly input: number; readonly output: number; readonly cacheRead: number } {
  const answers = place.mock.work().filter(({ step }) => step !== undefined && !('error' in step)).length;
  return { input: answers * billed.input, output: answers * billed.output, cacheRead: answers * billed.cacheRead };
}

const loginNeeded: Scenario = {
  name: '401: login needed, exit 7, no retry storm',
  async run(stand) {
    const place = await withStories(stand, () => () => ({ error: 401, message: 'invalid x-api-key' }));
    const said = await assertExit(place.run().ended, 7);
    assert.match(said, /log ?in/i);
    const events = await place.events();
    assert.deepEqual(failuresOf(events), ['auth']);
    assert.ok(place.mock.work().length <= 4, `${place.mock.work().length} requests`);
    assert.deepEqual(await place.survivors(), []);
  },
};

/** The first iteration meets this, every time it asks; then the provider is well again and the loop goes on by itself. */
async function recoversFrom(
  stand: Stand,
  step: () => Step,
  needs: Setup = {},
): Promise<{
  readonly place: LivePlace;
  readonly events: readonly Event[];
  readonly first: EventOf<'iteration.ended'>;
}> {
  let isWell = false;
  const place = await withStories(stand, good => whileTrue(() => !isWell, step, good), needs);
  const running = place.run();
  const first = await (await place.follow(running)).until('iteration.ended');
  isWell = true;
  await assertExit(running.ended, 0);
  return { place, first, events: await assertAchieved(place) };
}

const limited: Scenario = {
  name: '429: waits for the reset and spends nothing',
  async run(stand) {
    const { limit } = stand.agent;
    if (limit.tells !== 'second') return limitedForLong(stand);
    const resetAtMs = Math.ceil((Date.now() + limit.aheadMs) / 1_000) * 1_000;
    const { first, events } = await recoversFrom(stand, () => limit.step(resetAtMs), limit);
    assert.equal(first.failure?.kind, 'rate-limit');
    assert.equal(first.waitFor, 'limit-reset');
    assertNear(first.waitUntil, resetAtMs, 2_500);
    assert.equal(spent(events, first.iteration), 0);
  },
};

const spent = (events: readonly Event[], iteration: number): number =>
  all(events, 'usage.recorded')
    .filter(event => event.iteration === iteration)
    .reduce((total, { usage }) => total + usage.costUsdMicros, 0);

function assertNear(atMs: number | undefined, wantedMs: number, withinMs: number): void {
  const away = Math.abs((atMs ?? 0) - wantedMs);
  assert.ok(away <= withinMs, `${new Date(atMs ?? 0).toISOString()} is not near ${new Date(wantedMs).toISOString()}`);
}

/** Too long to be waited for here: it is shown, nothing is asked meanwhile, and a stop ends it. */
async function limitedForLong(stand: Stand): Promise<void> {
  const minute = 60_000;
  const { limit } = stand.agent;
  const resetAtMs = Date.now() + limit.aheadMs;
  const place = await withStories(stand, () => () => limit.step(resetAtMs), limit);
  const running = place.run();
  const first = await (await place.follow(running)).until('iteration.ended');
  assert.equal(first.failure?.kind, 'rate-limit');
  assert.equal(first.waitFor, 'limit-reset');
  if (limit.tells === 'minute') assertNear(first.waitUntil, resetAtMs, minute);
  else assert.ok((first.waitUntil ?? 0) > first.at, 'it waits for a while');
  const asked = place.mock.work().length;
  assert.match((await place.ralph(['status', 'live'])).stdout, /limit to reset at \d\d:\d\d/);
  await place.ralph(['stop', 'live']);
  await assertExit(running.ended, 0);
  assert.equal(place.mock.work().length, asked, 'nothing was asked while it waited');
  assert.equal(spent(await place.events(), first.iteration), 0);
  assert.deepEqual(await place.survivors(), []);
}

const overloaded: Scenario = {
  name: 'overload: backs off, then goes on',
  async run(stand) {
    const { first } = await recoversFrom(stand, () => ({ error: stand.agent.overloadStatus, message: 'Overloaded' }));
    assert.equal(first.failure?.kind, 'overloaded');
    assert.equal(first.waitFor, 'backoff');
  },
};

const broken: Scenario = {
  name: '500: backs off, then goes on',
  async run(stand) {
    const { first } = await recoversFrom(stand, () => ({ error: 500, message: 'Internal server error' }));
    assert.ok(['connection', 'overloaded'].includes(first.failure?.kind ?? ''), `it was ${first.failure?.kind}`);
  },
};

const tooLong: Scenario = {
  name: 'prompt too long: a fresh context takes over',
  async run(stand) {
    const { first } = await recoversFrom(stand, () => ({ tooLong: true }));
    assert.equal(first.failure?.kind, 'context-too-long');
    assert.equal(first.handoff, 'context_threshold');
  },
};

/** The first tool goes on until the words were passed on; what the model then hears must hold them. */
const steered: Scenario = {
  name: 'ralph tell reaches it while it works, or in its next prompt',
  async run(stand) {
    const words = 'use a fountain pen for it';
    let opens = '';
    const place = await withStories(stand, good => (asked, count) => {
      return count === 0
        ? { sh: `until test -e '${opens}'; do perl -e 'select(undef,undef,undef,0.05)'; done` }
        : good(asked, count);
    });
    opens = `${place.project}/told`;
    const running = place.run();
    await place.mock.asked(0);
    const ledger = await place.follow(running);
    await ledger.until('iteration.spawned');
    await place.ralph(['tell', 'live', words]);
    const { delivered } = await ledger.until('guidance.delivered');
    assert.equal(delivered, stand.agent.canSteer);
    writeFileSync(opens, '');
    await assertExit(running.ended, 0);
    await assertAchieved(place);
    const heard = place.mock.work().findIndex(({ body }) => body.includes(words));
    assert.equal(heard, stand.agent.canSteer ? 1 : 2, 'the request in which the model first hears it');
  },
};

const terminated: Scenario = {
  name: 'SIGTERM in a long tool call: exit 143, interrupted, nothing left',
  async run(stand) {
    let command = '';
    const place = await withStories(stand, () => () => ({ sh: command }));
    command = place.longCommand;
    const running = place.run();
    await place.toolStarted();
    assert.equal((await place.survivors()).length, 2, 'its process and the lock of its tool are seen while they live');
    running.child.kill('SIGTERM');
    await assertExit(running.ended, 143);
    assert.deepEqual(await place.survivors(), []);
    const ended = all(await place.events(), 'iteration.ended');
    assert.deepEqual(
      ended.map(event => event.outcome),
      ['interrupted'],
    );
  },
};

const killed: Scenario = {
  name: 'kill -9 of ralph in a long tool call: nothing left, the same command completes',
  async run(stand) {
    let command = '';
    const place = await withStories(stand, good =>
      whileTrue(
        () => command !== '',
        () => ({ sh: command }),
        good,
      ),
    );
    command = place.longCommand;
    const running = place.run();
    await place.toolStarted();
    running.child.kill('SIGKILL');
    await running.ended;
    await noneLeft(place);
    command = '';
    await assertExit(place.run().ended, 0);
    const events = await assertAchieved(place);
    assert.equal(all(events, 'iteration.ended')[0]?.outcome, 'interrupted');
  },
};

/** Nobody is there any more to say when the last process is gone, so it is asked until it is, for a while. */
export async function noneLeft(place: LivePlace): Promise<void> {
  const until = Date.now() + 10_000;
  let left = await place.survivors();
  while (left.length > 0 && Date.now() < until) left = await place.survivors();
  assert.deepEqual(left, []);
}

const refused: Scenario = {
  name: 'connection refused: backs off, goes on when it is back',
  async run(stand) {
    const place = await withStories(stand);
    await place.mock.hangUp();
    const running = place.run(stand.agent.refusedWords ?? []);
    const first = await (await place.follow(running)).until('iteration.ended');
    await place.mock.pickUp();
    assert.equal(first.failure?.kind, 'connection');
    await assertExit(running.ended, 0);
    await assertAchieved(place);
  },
};

/** Four million tokens with its last word: sixty dollars at the price of the model that the suite uses. */
const dearTokens = 4_000_000;

const subscription: Scenario = {
  name: 'a subscription login passes the preset of $50, and a typed limit binds it',
  fits: agent => agent.subscription !== undefined,
  async run(stand) {
    const dear =
      (good: Model): Model =>
      (asked, count) => {
        const step = good(asked, count);
        return 'text' in step ? { ...step, outputTokens: dearTokens } : step;
      };
    const place = await withStories(stand, dear, stand.agent.subscription);
    const said = flat(await assertExit(place.run().ended, 0));
    assert.match(said, /\$50\.00 API-equivalent, which only alerts/);
    assert.match(said, /\$\d{3}\.\d\d API-equivalent/);
    const cost = all(await assertAchieved(place), 'usage.recorded').reduce(
      (sum, { usage }) => sum + usage.costUsdMicros,
      0,
    );
    assert.ok(cost > 100_000_000, `it cost ${cost}`);
    const bound = await withStories(stand, dear, stand.agent.subscription);
    assert.match(flat(await assertExit(bound.run(['--max-cost', '50']).ended, 4)), /spent of \$50\.00 \(--max-cost\)/);
    const paid = await withStories(stand, dear);
    await assertExit(paid.run().ended, 4);
  },
};

const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');

const ownModel: Scenario = {
  name: 'without --model it costs the list price of the model in its own file, else its default is named',
  fits: agent => agent.ownModel !== undefined,
  async run(stand) {
    const { path = '', line = () => '' } = stand.agent.ownModel ?? {};
    const withModel = (model: string | undefined): Setup => ({
      restage: stage => {
        const text = `${model === undefined ? '' : line(model)}${stage.files[path] ?? ''}`;
        return { ...stage, words: [], files: { ...stage.files, [path]: text } };
      },
    });
    const listed = 'gpt-5.4';
    const place = await withStories(stand, undefined, withModel(listed));
    const said = flat(await assertExit(place.run().ended, 0));
    assert.match(said, new RegExp(`model ${listed} \\(its config\\.toml\\)`));
    assert.deepEqual(modelsAsked(place), [listed]);
    const prices = await openPriceBook();
    const usage = all(await assertAchieved(place), 'usage.recorded').map(event => event.usage);
    for (const { inputTokens: input, outputTokens: output, cacheReadTokens: cacheRead, ...one } of usage) {
      const wanted = prices.costUsdMicros({ input, output, cacheRead, cacheWrite: one.cacheWriteTokens }, listed);
      assert.deepEqual([one.costUsdMicros, one.boundUsdMicros], [wanted, undefined]);
    }
    const usual = await withStories(stand, undefined, withModel(undefined));
    const { stderr } = await usual.run(['--max-iterations', '1']).ended;
    const card = flat(stderr);
    const [named] = modelsAsked(usual);
    assert.ok(card.includes(`model ${named} (its default)`), `it asked for ${named}`);
  },
};

const modelsAsked = (place: LivePlace): readonly string[] => [
  ...new Set(place.mock.requests.map(({ asked }) => asked.model)),
];

export const scenarios: readonly Scenario[] = [
  stories,
  loginNeeded,
  limited,
  overloaded,
  broken,
  tooLong,
  steered,
  terminated,
  killed,
  refused,
  subscription,
  ownModel,
];
