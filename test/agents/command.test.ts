import { describe, expect, it } from 'vitest';
import { commandAgent } from '../../src/agents/command.ts';
import { activitiesOf, assignmentIn, endOf, performerContract } from '../contracts/performer.ts';
import { agentPath, plainEnvironment, scratchDirectory, signOfLife } from '../processes/fixture.ts';

const commands = {
  greets: 'echo hello',
  hangs: `'${agentPath('hangs')}'`,
  fails: `'${agentPath('fails-at-once')}'`,
  'measures-prompt': `'${agentPath('reads-prompt')}'`,
};
const agentFor = (command: string) => commandAgent({ command, environment: plainEnvironment, graceMs: 200 });
const run = async (command: string, directory = scratchDirectory()) =>
  endOf(await activitiesOf(agentFor(command), assignmentIn(directory)));

performerContract({
  name: 'command',
  make: behaviour => agentFor(commands[behaviour]),
  directory: scratchDirectory,
  spawns: true,
  readsPrompt: true,
});

describe('a program as an agent', () => {
  it('knows its loop, task and iteration, and the names that the user allowed', async () => {
    const assignment = assignmentIn(scratchDirectory(), { environment: { ALLOWED: 'yes', RALPH_TASK: 'another' } });
    const agent = agentFor('echo "$RALPH_LOOP $RALPH_TASK $RALPH_ITERATION $ALLOWED"');
    expect(endOf(await activitiesOf(agent, assignment)).message).toBe('loop-1 US-001 3 yes\n');
  });

  it('has only its stdout as message', async () => {
    expect((await run('echo to me; echo to the log >&2')).message).toBe('to me\n');
  });

  it('keeps the last million characters of an endless message', async () => {
    const { message } = await run(`'${agentPath('floods')}' 3000000; echo 'the end'`);
    expect(message.length).toBeGreaterThan(990_000);
    expect(message.length).toBeLessThanOrEqual(1_000_000);
    expect(message.endsWith('the end\n')).toBe(true);
  });

  it.each([
    [0, undefined],
    [1, 'process'],
    [2, 'process'],
    [124, 'timeout'],
    [126, 'spawn'],
    [127, 'spawn'],
    [130, 'stopped'],
    [137, 'process'],
    [139, 'process'],
    [143, 'stopped'],
    [255, 'process'],
  ])('exit code %d is the failure %s (F31)', async (code, kind) => {
    const { failure } = await run(`'${agentPath('exits-with')}' ${code}`);
    expect(failure?.kind).toBe(kind);
    expect(failure?.exitCode).toBe(kind && code);
  });

  it('may think in silence unless a timer is set: then it is one that never started (F25)', async () => {
    const timers = { firstByteMs: 50 };
    const agent = commandAgent({ command: 'exec sleep 60', environment: plainEnvironment, graceMs: 200, timers });
    const { failure } = endOf(await activitiesOf(agent, assignmentIn(scratchDirectory())));
    expect(failure).toMatchObject({ kind: 'no-start' });
  });

  it('that takes more of the machine than it may is ended for that (F30)', async () => {
    const limits = { processesMax: 1 };
    const command = 'sleep 60 & sleep 60 & sleep 60';
    const agent = commandAgent({ command, environment: plainEnvironment, graceMs: 200, limits });
    const { failure } = endOf(await activitiesOf(agent, assignmentIn(scratchDirectory())));
    expect(failure).toMatchObject({ kind: 'resource-limit' });
  });

  it('that somebody else ended with 143 was interrupted, not by us', async () => {
    expect((await run(`'${agentPath('exits-143')}'`)).failure).toMatchObject({ kind: 'stopped', byOthers: true });
  });

  it('ends as a failed start when the program is missing', async () => {
    const { failure } = await run('no-such-agent-anywhere');
    expect(failure).toMatchObject({ kind: 'spawn', exitCode: 127 });
    expect(failure?.detail).toContain('no-such-agent-anywhere');
  });

  it('is classified by the last line of its errors', async () => {
    expect((await run('echo fine; echo "Rate limit reached" >&2; exit 1')).failure?.kind).toBe('rate-limit');
  });

  it('is classified by its message when it wrote no errors', async () => {
    expect((await run('echo "not logged in"; exit 1')).failure?.kind).toBe('auth');
  });

  it('leaves nothing behind, and says how many it left (F23)', async () => {
    const directory = scratchDirectory();
    const life = signOfLife(directory);
    const { reaped, failure } = await run(`'${agentPath('spawns-orphan')}'`, directory);
    expect(reaped).toBeGreaterThanOrEqual(3);
    expect(failure).toBeUndefined();
    expect(life.anyAlive()).toBe(false);
  });
});
