import { createReadStream } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { contained, containment } from '../../src/processes/contain.ts';
import { isAlive } from '../../src/processes/identity.ts';
import { runProcess } from '../../src/processes/spawn.ts';
import { descendants } from '../../src/processes/tree.ts';
import { agentPath, drive, orderFor, scratchDirectory, signOfLife, tell, tellUntilFirstWord } from './fixture.ts';

const startsLate = 'trap "sleep 100000 & exit 0" TERM; echo working; while :; do sleep 0.05; done';

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

  it('when it was started by one who was ending: it is told too, and need not be killed', async () => {
    const { exit } = await tellUntilFirstWord({ ...orderFor('', { args: ['-c', startsLate] }), command: 'sh' });
    expect(exit).toMatchObject({ code: 0, stoppedByUs: true, reaped: 0 });
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

describe.each(['group', 'recorded'] as const)('where no namespace can be had, in a %s', containment => {
  it('a background child that keeps the output open is ended and counted (F75)', async () => {
    const { exit, output } = await tell(orderFor('holds-pipe', { containment }));
    expect(exit).toMatchObject({ code: 0, reaped: 1 });
    expect(output).toBe('done\n');
  });

  it('stopping ends the agent and its children', async () => {
    const stopping = new AbortController();
    let tree: ReturnType<typeof descendants> = [];
    const order = orderFor('ignores-term', { containment, graceMs: 100, stop: stopping.signal });
    let root = 0;
    const { exit } = await tell(order, event => {
      if (event.type === 'started') root = event.pid;
      if (event.type !== 'output') return;
      tree = descendants(root);
      stopping.abort();
    });
    expect(exit).toMatchObject({ code: 137, signal: 'SIGKILL', stoppedByUs: true, reaped: 2 });
    expect(tree.length).toBeGreaterThan(0);
    expect(tree.filter(each => isAlive(each.pid, each.startTime))).toEqual([]);
  });

  it('the agent has time to tidy up, even when a shell above it has ended at once', async () => {
    const args = ['-c', 'trap - TERM; "$0" & wait', agentPath('tidies-up')];
    const order = { ...orderFor('', { containment, args }), command: 'sh' };
    expect((await tellUntilFirstWord(order)).output).toBe('working\ntidied\n');
  });

  it('a signal of the agent to its whole group does not end our watcher', async () => {
    const args = ['-c', 'trap "" TERM; kill -TERM 0; sleep 100000 & exit 3'];
    const { exit } = await tell({ ...orderFor('', { containment, args }), command: 'sh' });
    expect(exit).toMatchObject({ code: 3, reaped: 1 });
  });

  it('the group dies with us when we are killed with -9', async () => {
    const driver = await drive(scratchDirectory(), containment, agentPath('ignores-term'));
    const tree = descendants(driver.pid!);
    expect(tree.length).toBeGreaterThanOrEqual(3); // the first process, its watcher and the agent
    driver.kill('SIGKILL');
    await vi.waitFor(() => expect(tree.filter(each => isAlive(each.pid, each.startTime))).toEqual([]), 10_000);
  });

  it('one who left the session and lost his parent dies with us, once he was recorded', async () => {
    const directory = scratchDirectory();
    const life = signOfLife(directory);
    const script = 'exec 9>alive; setsid sh -c "sleep 100000 & sleep 0.5"; echo parted; exec sleep 100000';
    const driver = await drive(directory, containment, 'sh', '-c', script);
    expect(life.anyAlive()).toBe(true);
    driver.kill('SIGKILL');
    await vi.waitFor(() => expect(life.anyAlive()).toBe(false), 10_000);
  });
});

/** `group` needs Perl to make its first process the parent of orphans. */
const adopts = contained('true', [], 'group').containment === 'group';

describe.runIf(adopts)('in a group that gets its orphans back', () => {
  it('those who left its session, its group and its parentage are ended and counted (F23)', async () => {
    const directory = scratchDirectory();
    const life = signOfLife(directory);
    const { exit, output } = await tell(orderFor('spawns-orphan', { directory, containment: 'group' }));
    expect(output).toBe('three orphans are up\n');
    expect(exit).toMatchObject({ code: 0, reaped: 3 });
    expect(life.anyAlive()).toBe(false);
  });

  it('one who was started by an ending one is told too, and need not be killed', async () => {
    const order = orderFor('', { containment: 'group', args: ['-c', startsLate] });
    const { exit } = await tellUntilFirstWord({ ...order, command: 'sh' });
    expect(exit).toMatchObject({ code: 0, stoppedByUs: true, reaped: 0 });
  });

  it('they die with us when we are killed with -9', async () => {
    const directory = scratchDirectory();
    const life = signOfLife(directory);
    const driver = await drive(directory, 'group', agentPath('spawns-orphan'), 'stay');
    expect(life.anyAlive()).toBe(true);
    driver.kill('SIGKILL');
    await vi.waitFor(() => expect(life.anyAlive()).toBe(false), 10_000);
  });
});

it('a background child that keeps the output open does not keep us waiting (F75)', async () => {
  const { exit, output } = await tell(orderFor('holds-pipe'));
  expect(exit).toMatchObject({ code: 0, reaped: 1 });
  expect(output).toBe('done\n');
});
