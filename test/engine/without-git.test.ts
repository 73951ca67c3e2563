// A loop without git: every effect that needs it says so in one sentence, and nothing is taken for done.
import { describe, expect, it } from 'vitest';
import type { Input } from '../../src/core/input.ts';
import { initialState, type State } from '../../src/core/state.ts';
import { checkpoint, commit, restore } from '../../src/engine/checkpoints.ts';
import { directoryOf, type EffectContext } from '../../src/engine/engine.ts';
import { merge } from '../../src/engine/verify.ts';
import { claims, eventsIn, makeEngine, makeWorld, runWorld } from './world.ts';

const sentence = 'This folder is not a git repository, so Ralph cannot undo, commit or work in parallel here.';
const advised = `${sentence} Run git init and commit once.`;
const mark = { checkpoint: 'c', number: 1, commit: 'a', tree: 'b', left: [] };
const due = { to: mark, base: mark, now: mark, overwrite: false } as unknown as Parameters<typeof restore>[0]['due'];
const saving = { kind: 'iteration', label: 'x', iteration: 2 } as Parameters<typeof checkpoint>[0]['due'];
const never = new AbortController().signal;

type Effect = (context: EffectContext) => Promise<void>;
const rows: readonly (readonly [string, Effect, object])[] = [
  [
    'a checkpoint',
    context => checkpoint({ type: 'checkpoint', key: '', number: 2, due: saving }, context, never),
    { type: 'checkpoint-failed', problem: advised },
  ],
  [
    'a restore',
    context => restore({ type: 'restore', key: '', due }, context, never),
    { type: 'restored', written: 0, refused: sentence },
  ],
  [
    'a commit',
    context => commit({ type: 'commit', key: '', task: 'T1', iteration: 2 }, context, never),
    { type: 'committed', commit: '', failed: `not committed: ${advised}` },
  ],
  [
    'a merge',
    context => merge({ type: 'merge', key: '', task: 'T1', iteration: 2 }, context, never),
    { type: 'merged', merged: false, detail: sentence },
  ],
];

describe('given an engine without git', () => {
  it.each(rows)('then %s is refused', async (_name, effect, said) => {
    const posted: Input[] = [];
    const engine = makeEngine(makeWorld(1), claims);
    const post = (input: Input): void => void posted.push(input);
    await effect({ engine, state: initialState, post } as unknown as EffectContext);
    expect(posted).toEqual([expect.objectContaining(said)]);
  });

  it('then a task that is to have a fork does not begin in the folder of the loop', async () => {
    const world = makeWorld(1);
    let began = 0;
    const engine = makeEngine(world, assignment => {
      began += 1;
      return claims(assignment);
    });
    await runWorld(world, engine, { settings: { worktreePerTask: true } });
    const ended = (await eventsIn(world.ledger)).filter(event => event.type === 'iteration.ended');
    expect(began).toBe(0);
    expect(ended[0]).toMatchObject({ failure: { kind: 'unknown', detail: sentence } });
  });

  it('then all work happens in the folder of the loop, and with forks in that of the task', () => {
    const state: State = { ...initialState, loop: { ...initialState.loop, directory: '/loop' } };
    const { forks: none } = makeEngine(makeWorld(1), claims);
    const forks = { directory: (task: string) => `/forks/${task}` } as NonNullable<typeof none>;
    expect([directoryOf({ forks: none }, state, 'T1'), directoryOf({ forks }, state, 'T1')]).toEqual([
      '/loop',
      '/forks/T1',
    ]);
  });
});
