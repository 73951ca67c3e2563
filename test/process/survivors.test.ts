import { type ChildProcess, spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { containment } from '../../src/process/contain.ts';
import { isAlive } from '../../src/process/identity.ts';
import { runProcess } from '../../src/process/spawn.ts';
import { descendants } from '../../src/process/tree.ts';
import {
  agentPath,
  orderFor,
  plainEnvironment,
  scratchDirectory,
  signOfLife,
  tell,
  tellUntilFirstWord,
} from './fixture.ts';

/** Starts the driver and resolves when its agent has said something. */
async function drive(...args: readonly string[]): Promise<ChildProcess> {
  const driver = spawn(process.execPath, [join(import.meta.dirname, 'driver.ts'), ...args], {
    env: plainEnvironment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void driver.kill('SIGKILL'));
  await new Promise<void>(resolve => {
    let said = '';
    driver.stdout!.on('data', (bytes: Buffer) => {
      said += bytes;
      if (said.includes('"output"')) resolve();
    });
  });
  return driver;
}

describe.runIf(containment() === 'namespace')('in a namespace of its own, no descendant survives', () => {
  it('when the agent ends well and leaves orphans behind: they are counted (F23)', async () => {
    const directory = scratchDirectory();
    const life = signOfLife(directory);
    const { exit, output } = await tell(orderFor('spawns-orphan', { directory }));
    expect(output).toBe('three orphans are up\n');
    expect(exit.code).toBe(0);
    expect(exit.reaped).toBeGreaterThanOrEqual(3);
    expect(life.anyAlive()).toBe(false);
  });

  it('when the agent is stopped and its orphans ignore TERM', async () => {
    const directory = scratchDirectory();
    const life = signOfLife(directory);
    const { exit } = await tellUntilFirstWord(orderFor('spawns-orphan', { directory, args: ['stay'], graceMs: 100 }));
    expect(exit).toMatchObject({ stoppedByUs: true });
    expect(exit.reaped).toBeGreaterThan(0);
    expect(life.anyAlive()).toBe(false);
  });

  it('when nobody wants to hear the rest', async () => {
    const directory = scratchDirectory();
    const life = signOfLife(directory);
    for await (const event of runProcess(orderFor('spawns-orphan', { directory, args: ['stay'] }))) {
      if (event.type === 'output') break;
    }
    expect(life.anyAlive()).toBe(false);
  });

  it('when we are killed with -9 (F02)', async () => {
    const directory = scratchDirectory();
    const { path } = signOfLife(directory);
    const allDead = new Promise<void>(resolve =>
      createReadStream(path)
        .on('data', () => {})
        .on('end', resolve),
    );
    const driver = await drive(directory, 'namespace', agentPath('spawns-orphan'), 'stay');
    const tree = descendants(driver.pid!);
    expect(tree.length).toBeGreaterThanOrEqual(6); // wrapper, pid 1, agent and three orphans
    driver.kill('SIGKILL');
    await allDead;
    await vi.waitFor(() => expect(tree.filter(each => isAlive(each.pid, each.startTime))).toEqual([]), 10_000);
  });
});

describe('in a process group, where no namespace can be had', () => {
  const group = { containment: 'group' } as const;

  it('a background child that keeps the output open is ended and counted (F75)', async () => {
    const { exit, output } = await tell(orderFor('holds-pipe', group));
    expect(exit).toMatchObject({ code: 0, reaped: 1 });
    expect(output).toBe('done\n');
  });

  it('stopping ends the agent and its children', async () => {
    const stopping = new AbortController();
    let tree: ReturnType<typeof descendants> = [];
    const order = orderFor('ignores-term', { ...group, graceMs: 100, stop: stopping.signal });
    const { exit } = await tell(order, event => {
      if (event.type !== 'output') return;
      tree = descendants(process.pid);
      stopping.abort();
    });
    expect(exit).toMatchObject({ code: 137, signal: 'SIGKILL', stoppedByUs: true });
    expect(tree.length).toBeGreaterThan(0);
    expect(tree.filter(each => isAlive(each.pid, each.startTime))).toEqual([]);
  });

  it('the group dies with us when we are killed with -9', async () => {
    const driver = await drive(scratchDirectory(), 'group', agentPath('ignores-term'));
    const tree = descendants(driver.pid!);
    expect(tree.length).toBeGreaterThanOrEqual(2);
    driver.kill('SIGKILL');
    await vi.waitFor(() => expect(tree.filter(each => isAlive(each.pid, each.startTime))).toEqual([]), 10_000);
  });
});

it('a background child that keeps the output open does not keep us waiting (F75)', async () => {
  const { exit, output } = await tell(orderFor('holds-pipe'));
  expect(exit).toMatchObject({ code: 0, reaped: 1 });
  expect(output).toBe('done\n');
});
