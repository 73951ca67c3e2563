import { spawn } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isAlive } from '../../src/process/identity.ts';
import { descendants, sessionMembers, signalTree } from '../../src/process/tree.ts';
import { plainEnvironment } from './fixture.ts';

/** A shell with a child and a grandchild, in a session of its own; resolves when all three are there. */
async function family(): Promise<number> {
  const script = 'sh -c "sleep 100000 & echo up; wait" & wait';
  const shell = spawn('sh', ['-c', script], {
    detached: true,
    env: plainEnvironment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void signalTree(sessionMembers(shell.pid!), 'SIGKILL'));
  await new Promise(resolve => shell.stdout.once('data', resolve));
  return shell.pid!;
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

  it('is the same as its session while nobody has left', async () => {
    const shell = await family();
    const tree = descendants(shell).map(each => each.pid);
    const session = sessionMembers(shell).map(each => each.pid);
    expect(session.sort()).toEqual([shell, ...tree].sort());
  });

  it('is empty for a process that does not exist', () => {
    expect(descendants(4_194_305)).toEqual([]);
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
