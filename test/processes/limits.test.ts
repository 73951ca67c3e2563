// Real storms of processes and memory, bounded, ended before the machine suffers (F30).
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { containment } from '../../src/processes/contain.ts';
import { orderFor, scratchDirectory, signOfLife, tell } from './fixture.ts';

const megabyte = 1_000_000;
const byUs = { timedOut: false, stoppedByUs: false, signal: 'SIGKILL' };
const kinds = containment() === 'namespace' ? ([undefined, 'group'] as const) : (['group'] as const);

describe.each(kinds)('a process that takes too much, contained by %s', only => {
  const less = only === undefined ? {} : { containment: only };

  it('is killed with all that it started when these are too many (F30)', async () => {
    const order = orderFor('forks-storm', { ...less, args: ['30'], limits: { processesMax: 20 } });
    const { exit } = await tell(order);
    expect(exit).toMatchObject({ ...byUs, cause: 'processes' });
    expect(exit.reaped).toBeGreaterThan(20);
  });

  it('is killed when it and its children together hold too much memory (F30)', async () => {
    const limits = { memoryBytesMax: 100 * megabyte };
    const { exit } = await tell(orderFor('eats-memory', { ...less, args: ['200000000'], limits }));
    expect(exit).toMatchObject({ ...byUs, cause: 'memory' });
  });

  it('is left alone below both limits', async () => {
    const directory = scratchDirectory();
    const life = signOfLife(directory);
    const limits = { processesMax: 20, memoryBytesMax: 100 * megabyte };
    const script = 'sleep 1.5 & exec 9>alive; head -c 10000000 /dev/zero | tail -n 1 | wc -c; wait';
    const args = ['-c', script];
    const { exit, output } = await tell({ ...orderFor('', { ...less, limits, directory, args }), command: 'sh' });
    expect({ code: exit.code, cause: exit.cause, output: output.trim() }).toEqual({ code: 0, output: '10000000' });
    expect(life.anyAlive()).toBe(false);
  });

  it.runIf(process.platform === 'linux')('dies before us when the memory of the machine is short', async () => {
    const args = ['-c', 'cat /proc/self/oom_score_adj'];
    const { output } = await tell({ ...orderFor('', { ...less, args }), command: 'sh' });
    expect(Number(output)).toBeGreaterThan(Number(readFileSync('/proc/self/oom_score_adj', 'utf8')));
  });
});
