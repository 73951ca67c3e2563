import { spawn } from 'node:child_process';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { isAlive, startTimeOf } from '../../src/processes/identity.ts';
import { descendants, keyOf, type RecordedProcess, relatedTo, signalTree } from '../../src/processes/tree.ts';
import { plainEnvironment } from './fixture.ts';

/** A shell with a child and a grandchild, in a session of its own; resolves when all three are there. */
async function family(): Promise<number> {
  const script = 'sh -c "sleep 100000 & echo up; wait" & wait';
  const shell = spawn('sh', ['-c', script], {
    detached: true,
    env: plainEnvironment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let kin: readonly RecordedProcess[] = [];
  onTestFinished(() => void signalTree(kin, 'SIGKILL'));
  await new Promise(resolve => shell.stdout.once('data', resolve));
  kin = relatedTo(recorded({ pid: shell.pid!, startTime: startTimeOf(shell.pid!)! }));
  return shell.pid!;
}

function recorded(...them: readonly RecordedProcess[]): ReadonlyMap<string, RecordedProcess> {
  return new Map(them.map(each => [keyOf(each), each]));
}

describe('the tree below a process', () => {
  it('holds children and grandchildren, parents first, and not the process itself', async () => {
    const shell = await family();
    const found = descendants(shell);
    expect(found).toHaveLength(2);
    expect(found.map(each => each.pid)).not.toContain(shell);
    expect(descendants(found[0]!.pid)).toEqual([found[1]]);
    for (const each of found) expect(isAlive(each.pid, each.startTime)).toBe(true);
  });

  it('is empty for a process that does not exist', () => {
    expect(descendants(4_194_305)).toEqual([]);
  });
});

describe('the kin of a recorded process', () => {
  it('is it, everyone below it and everyone in its session', async () => {
    const pid = await family();
    const root = { pid, startTime: startTimeOf(pid)! };
    const pids = relatedTo(recorded(root)).map(each => each.pid);
    expect(pids.sort()).toEqual([root, ...descendants(pid)].map(each => each.pid).sort());
  });

  it('outlives a leader that is gone, by his session', async () => {
    const pid = await family();
    const root = { pid, startTime: startTimeOf(pid)! };
    const below = descendants(pid);
    signalTree([root], 'SIGKILL');
    await vi.waitFor(() => expect(isAlive(pid, root.startTime)).toBe(false));
    expect(relatedTo(recorded(root)).map(keyOf).sort()).toEqual(below.map(keyOf).sort());
  });

  it('is nobody when the number was given to another process since', async () => {
    const pid = await family();
    expect(relatedTo(recorded({ pid, startTime: '1' }))).toEqual([]);
  });
});

describe('signalling recorded processes', () => {
  it('leaves alone whoever got the number of a recorded one since', async () => {
    const [child] = descendants(await family());
    expect(signalTree([{ pid: child!.pid, startTime: '1' }], 'SIGKILL')).toBe(0);
    expect(isAlive(child!.pid, child!.startTime)).toBe(true);
    expect(signalTree([child!], 'SIGTERM')).toBe(1);
  });
});
