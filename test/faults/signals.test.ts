// What a person, a terminal or the system does to a live run: it stops, says so, records it, and resumes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeStage, type Running, type Stage, until } from '../prove/stage.ts';
import { checkFinished, checkNobodyLeft, ofType } from '../prove/verdict.ts';

let stage: Stage;
beforeEach(() => {
  stage = makeStage(1);
  stage.gate();
});
afterEach(() => stage.remove());

async function outputOf(iteration: number): Promise<string> {
  const [record] = await stage.ledger();
  const path = join(stage.home, 'loops', record?.loop ?? '', 'iterations', String(iteration), 'output.log');
  return readFileSync(path, 'utf8');
}

/** Started, its agent has spoken and its process is recorded. */
async function midStream(agent = 'prd-waits'): Promise<Running> {
  const running = stage.run(agent);
  const isUp = async (): Promise<boolean> => {
    const [record] = await stage.ledger();
    return (
      ofType(record?.events ?? [], 'iteration.spawned').length > 0 && (await outputOf(1)).includes('half a message')
    );
  };
  await until('the agent has spoken', () => isUp().catch(() => false));
  return running;
}

/** The same command, nothing in its way: the story is done by the second iteration. */
async function expectResumed(): Promise<void> {
  await checkNobodyLeft(stage, await stage.ledger());
  stage.openGate();
  expect((await stage.runWarm('prd-waits')).code).toBe(0);
  const { events } = await checkFinished(stage, 1, readFileSync(stage.document, 'utf8'));
  expect(ofType(events, 'iteration.ended').map(event => event.outcome)).toEqual(['interrupted', 'succeeded']);
  expect(readFileSync(stage.document, 'utf8')).toContain('"passes":true');
  expect(stage.starts()).toEqual(['1 US-001', '2 US-001']);
}

describe('SIGKILL while the agent speaks', () => {
  it('F03 F14: keeps what was said, marks the iteration interrupted, and goes on with the next number', async () => {
    const running = await midStream();
    running.child.kill('SIGKILL');
    expect((await running.ended).signal).toBe('SIGKILL');
    await expectResumed();
    expect(await outputOf(1)).toBe('half a message\n');
    const [record] = await stage.ledger();
    const [first] = ofType(record!.events, 'iteration.ended');
    expect(first!.failure).toMatchObject({ kind: 'stopped' });
  });

  it('F03: counts the interrupted iteration against the limit, so that no crash buys another one', async () => {
    const running = await midStream();
    running.child.kill('SIGKILL');
    await running.ended;
    const { code } = await stage.runWarm('prd-waits', ['--max-iterations', '1']);
    expect(code).toBe(3);
    expect(stage.starts()).toEqual(['1 US-001']);
  });
});

/** Those of a person and of a terminal (F10, F11): `test/cli/live.test.ts`. */
describe('a polite signal', () => {
  it('F09: SIGTERM stops the agent, records it and exits 143', async () => {
    const running = await midStream();
    running.child.kill('SIGTERM');
    const { code, errors } = await running.ended;
    expect(code).toBe(143);
    expect(errors).toContain('Stopping the agent and recording it');
    const [record] = await stage.ledger();
    expect(ofType(record!.events, 'iteration.ended')).toMatchObject([
      { outcome: 'interrupted', because: expect.stringContaining('SIGTERM') },
    ]);
    await expectResumed();
  });
});
