// The driver of all agent CLIs: what it gives them, hears, says, and how it ends them.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentCli, Reader } from '../../src/agents/agent.ts';
import { claude } from '../../src/agents/cli/claude.ts';
import { codex } from '../../src/agents/cli/codex.ts';
import { gemini } from '../../src/agents/cli/gemini.ts';
import { cliAgent, openListener, usualTimers } from '../../src/agents/driver.ts';
import type { Activity, Notes } from '../../src/agents/performer.ts';
import { isAlive } from '../../src/processes/identity.ts';
import { plainPrices, playing, streamsOf } from '../contracts/cli-agent.ts';
import { activitiesOf, assignmentIn, endOf } from '../contracts/performer.ts';
import { agentPath, plainEnvironment, scratchDirectory } from '../processes/fixture.ts';

const noted = (...texts: readonly string[]): Notes => ({
  listen: listener => {
    for (const [index, text] of texts.entries()) listener({ id: `note-${index + 1}`, text });
  },
});
const typesOf = (activities: readonly Activity[]): readonly string[] => activities.map(each => each.type);
const fileIn = (directory: string, name: string): string => readFileSync(join(directory, name), 'utf8');

/** Points its agent to a file. */
const withFile: AgentCli = {
  ...gemini,
  launch: order => ({ ...gemini.launch(order), files: { 'settings.json': '{}' } }),
};

describe('what an agent is given', () => {
  it('is the environment that was named, what its adapter sets, and where it is in the loop', async () => {
    const directory = scratchDirectory();
    const agent = playing(claude, 'shows-environment', {
      environment: {
        PATH: plainEnvironment['PATH']!,
        PLAYS_FAULT: 'shows-environment',
        PLAYS_FOLDER: join(import.meta.dirname, '../fixtures/streams/claude'),
        PLAYS_LOOK: directory,
      },
    });
    const environment = { ALLOWED: 'yes', DISABLE_TELEMETRY: '0', RALPH_TASK: 'another' };
    expect(endOf(await activitiesOf(agent, assignmentIn(directory, { environment }))).failure).toBeUndefined();
    const lines = fileIn(directory, 'environment').trim().split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'ALLOWED=yes',
        'DISABLE_TELEMETRY=0',
        'CLAUDE_CODE_MAX_RETRIES=1',
        'RALPH_LOOP=loop-1',
        'RALPH_TASK=US-001',
        'RALPH_ITERATION=3',
        directory,
      ]),
    );
    expect(lines.filter(line => /^(HOME|USER|LANG|LOGNAME)=/.test(line))).toEqual([]);
  });

  it('is a folder of its own for the files that it is pointed to, and nobody finds it afterwards', async () => {
    const [directory, folderIn] = [scratchDirectory(), scratchDirectory()];
    const agent = playing(withFile, 'shows-environment', { folderIn });
    const environment = { PLAYS_LOOK: folderIn };
    expect(endOf(await activitiesOf(agent, assignmentIn(directory, { environment }))).failure).toBeUndefined();
    const listed = fileIn(directory, 'folder');
    expect(listed).toMatch(/drwx------.* ralph-/);
    expect(listed).toMatch(/-rw-------.* settings\.json/);
    expect(readdirSync(folderIn)).toEqual([]);
  });

  it('is no folder when no file needs one', async () => {
    const [directory, folderIn] = [scratchDirectory(), scratchDirectory()];
    const agent = playing(claude, 'shows-environment', { folderIn });
    await activitiesOf(agent, assignmentIn(directory, { environment: { PLAYS_LOOK: folderIn } }));
    expect(fileIn(directory, 'folder')).toBe(`${folderIn}:\ntotal 0\n`);
  });

  it('is a failure as a value when that folder cannot be made', async () => {
    const folderIn = join(scratchDirectory(), 'not', 'there');
    const activities = await activitiesOf(playing(withFile, 'greets', { folderIn }), assignmentIn(scratchDirectory()));
    expect(endOf(activities)).toMatchObject({ failure: { kind: 'spawn' } });
    mkdirSync(folderIn, { recursive: true });
    expect(endOf(await activitiesOf(playing(withFile, 'greets', { folderIn }), assignmentIn(folderIn))).message).toBe(
      'hello',
    );
  });
});

describe('the permission mode in which an agent says it works', () => {
  const forbidden = (args: readonly string[] = []) => playing(claude, 'forbidden', { args });

  it('is told', async () => {
    const activities = await activitiesOf(playing(claude, 'greets'), assignmentIn(scratchDirectory()));
    expect(activities).toContainEqual({ type: 'permissions', mode: 'bypassPermissions' });
  });

  it('ends it at once when it could change no file, and says what to type', async () => {
    const works = {
      environment: { ...plainEnvironment, PLAYS_FOLDER: streamsOf('claude'), PLAYS_FAULT: 'forbidden-on' },
    };
    const activities = await activitiesOf(playing(claude, 'forbidden', works), assignmentIn(scratchDirectory()));
    expect(activities).toContainEqual({ type: 'permissions', mode: 'default' });
    expect(endOf(activities).failure).toMatchObject({ kind: 'permission' });
    expect(endOf(activities).failure?.detail).toContain("--agent-args '--permission-mode acceptEdits'");
  });

  it('ends nobody who was given tools by name, and nobody who is only to look', async () => {
    const named = await activitiesOf(forbidden(['--allowedTools', 'Edit']), assignmentIn(scratchDirectory()));
    const looks = await activitiesOf(forbidden(), assignmentIn(scratchDirectory(), { reads: true }));
    expect([endOf(named).message, endOf(looks).message]).toEqual(['hello', 'hello']);
  });
});

describe('an agent that tells only its stderr that it tries in vain', () => {
  const tries = (last: string): AgentCli => ({
    ...gemini,
    launch: () => ({
      args: ['-c', `printf 'Attempt 1 failed.\\nAttempt ' >&2; printf '${last}\\n' >&2; sleep 60`],
      input: '',
    }),
  });
  const options = { program: 'sh', timers: { afterResultMs: 100 } };

  it.each([
    ['3 failed with status 503. Retrying', 'overloaded'],
    ['4 failed with status 429. Retrying', 'rate-limit'],
    ['3 failed. Retrying with backoff... fetch failed', 'connection'],
  ])('is ended, and the failure is the one it told (%s)', async (line, kind) => {
    const agent = playing(tries(line), 'none', options);
    expect(endOf(await activitiesOf(agent, assignmentIn(scratchDirectory()))).failure?.kind).toBe(kind);
  });

  it('is not ended for a second attempt', async () => {
    const agent = playing(tries('2 failed with status 503'), 'none', { ...options, timers: { silenceMs: 300 } });
    expect(endOf(await activitiesOf(agent, assignmentIn(scratchDirectory()))).failure?.kind).toBe('timeout');
  });
});

describe('what an agent says', () => {
  it('is told as activities, in order', async () => {
    const activities = await activitiesOf(playing(claude, 'partial'), assignmentIn(scratchDirectory()));
    expect(typesOf(activities).filter((type, index, all) => type !== all[index - 1])).toEqual([
      'spawned',
      'session',
      'permissions',
      'text',
      'tool',
      'usage',
      'context',
      'text',
      'usage',
      'context',
      'usage',
      'ended',
    ]);
    expect(activities.find(each => each.type === 'tool')).toEqual({ type: 'tool', name: 'Bash', detail: 'npm test' });
    expect(activities.findLast(each => each.type === 'context')).toEqual({
      type: 'context',
      usedFraction: 1_110 / 200_000,
    });
  });

  it('ends with a newline, though its pieces do not', async () => {
    const activities = await activitiesOf(playing(gemini, 'success'), assignmentIn(scratchDirectory()));
    const said = activities.map(each => (each.type === 'text' ? each.text : each.type === 'tool' ? '[tool]' : ''));
    expect(said.join('')).toBe('I look at the story first.\n[tool][tool]The story is told.\n<promise>DONE</promise>\n');
  });

  it('is a limit only when its time can be waited for (B69)', async () => {
    const now = (): number => 1_794_790_800_000;
    const activities = await activitiesOf(playing(claude, 'rate-limited', { now }), assignmentIn(scratchDirectory()));
    expect(typesOf(activities)).not.toContain('limit');
    expect(endOf(activities).failure?.kind).toBe('rate-limit');
    expect(endOf(activities).failure?.resetAtMs).toBeUndefined();
  });

  it('is noted when it is new to us (B55)', async () => {
    const activities = await activitiesOf(playing(claude, 'newer'), assignmentIn(scratchDirectory()));
    const text = '[ralph] 2 events are of kinds that are new to us\n';
    expect(activities).toContainEqual({ type: 'text', text, channel: 'errors' });
  });
});

describe('an agent that can be steered', () => {
  it('hears a note while it works, and its input ends after its last word', async () => {
    const directory = scratchDirectory();
    const notes = noted('Use tabs.');
    const activities = await activitiesOf(playing(claude, 'listens'), assignmentIn(directory, { notes }));
    expect(endOf(activities)).toMatchObject({ message: 'hello' });
    expect(typesOf(activities).indexOf('told')).toBeGreaterThan(typesOf(activities).indexOf('spawned'));
    expect(activities).toContainEqual({ type: 'told', note: 'note-1' });
    expect(JSON.parse(fileIn(directory, 'note'))).toMatchObject({ message: { content: [{ text: 'Use tabs.' }] } });
    expect(fileIn(directory, 'saw-end')).toBe('over\n');
  });

  it('is told at once, though it says nothing meanwhile', async () => {
    const stopping = new AbortController();
    const assignment = assignmentIn(scratchDirectory(), { notes: noted('Are you there?') });
    const activities = await activitiesOf(playing(claude, 'works-on'), assignment, stopping.signal, activity => {
      if (activity.type === 'told') stopping.abort();
    });
    expect(typesOf(activities)).toContain('told');
  });

  it('is nudged once when it is silent for too long, and may go on (F26)', async () => {
    const directory = scratchDirectory();
    const timers = { silenceMs: 200, busySilenceMs: 200, nudgedMs: 60_000 };
    const end = endOf(await activitiesOf(playing(claude, 'listens', { timers }), assignmentIn(directory)));
    expect(end.failure).toBeUndefined();
    expect(fileIn(directory, 'note')).toContain('silent for a long time');
    expect(fileIn(directory, 'received')).toBe('');
  });

  it('is interrupted in its own way before any signal', async () => {
    const directory = scratchDirectory();
    const stopping = new AbortController();
    const agent = playing(claude, 'heeds-interrupt', { interruptMs: 60_000 });
    const activities = await activitiesOf(agent, assignmentIn(directory), stopping.signal, activity => {
      if (activity.type === 'text') stopping.abort();
    });
    expect(endOf(activities).failure?.kind).toBe('stopped');
    expect(JSON.parse(fileIn(directory, 'note'))).toMatchObject({ request: { subtype: 'interrupt' } });
    expect(fileIn(directory, 'saw-end')).toBe('over\n');
  });

  it('gets signals when it does not heed that', async () => {
    const stopping = new AbortController();
    const agent = playing(claude, 'ignores-interrupt');
    const activities = await activitiesOf(agent, assignmentIn(scratchDirectory()), stopping.signal, activity => {
      if (activity.type === 'text') stopping.abort();
    });
    expect(endOf(activities)).toMatchObject({ failure: { kind: 'stopped' } });
  });

  it('is not over when it begins another turn after its last word, for a note that reached it while it wrote that', async () => {
    const directory = scratchDirectory();
    const agent = playing(claude, 'goes-on', { timers: { afterResultMs: 1_000 } });
    const activities = await activitiesOf(agent, assignmentIn(directory, { notes: noted('One more thing.') }));
    expect(activities).toContainEqual({ type: 'told', note: 'note-1' });
    expect(endOf(activities)).toMatchObject({ message: 'hello' });
    expect(fileIn(directory, 'received')).toContain('One more thing.');
    expect(fileIn(directory, 'went-on')).toBe('yes\n');
  });

  it('has not succeeded when it dies in that other turn', async () => {
    const agent = playing(claude, 'goes-on-and-dies');
    expect(endOf(await activitiesOf(agent, assignmentIn(scratchDirectory()))).failure).toMatchObject({
      kind: 'process',
      detail: expect.stringContaining('ended without a result'),
    });
  });

  it('hears no note after its last word', async () => {
    let say = (_text: string): void => {};
    const notes: Notes = { listen: listener => (say = text => listener({ id: 'late', text })) };
    const agent = playing(claude, 'result-then-hangs', { timers: { afterResultMs: 300 } });
    const activities = await activitiesOf(agent, assignmentIn(scratchDirectory(), { notes }), undefined, activity => {
      if (activity.type === 'usage') setImmediate(() => say('One more thing.'));
    });
    expect(typesOf(activities)).not.toContain('told');
  });
});

describe('an agent that is stopped on its way out', () => {
  it.each([
    ['claude', claude],
    ['codex', codex],
    ['gemini', gemini],
  ] as const)('has succeeded: %s', async (_name, cli) => {
    const stopping = new AbortController();
    const agent = playing(cli, 'result-then-hangs', { timers: {} });
    const activities = await activitiesOf(agent, assignmentIn(scratchDirectory()), stopping.signal, activity => {
      if (activity.type === 'usage') stopping.abort();
    });
    expect(endOf(activities)).toMatchObject({ message: 'hello' });
    expect(endOf(activities).failure).toBeUndefined();
  });
});

describe('an agent that cannot be steered', () => {
  it('is not told, and its input has ended from the start', async () => {
    const directory = scratchDirectory();
    const notes = noted('Use tabs.');
    const activities = await activitiesOf(playing(codex, 'greets'), assignmentIn(directory, { notes }));
    expect(typesOf(activities)).not.toContain('told');
    expect(fileIn(directory, 'received')).toBe('Do the work.');
  });
});

describe('an agent that goes wrong', () => {
  it('is ended when it has failed and still talks', async () => {
    const environment = { ...plainEnvironment, PLAYS_FAULT: 'result-then-babbles', PLAYS_STREAM: 'unauthorized' };
    const folder = { PLAYS_FOLDER: join(import.meta.dirname, '../fixtures/streams/codex') };
    const agent = playing(codex, 'result-then-babbles', { environment: { ...environment, ...folder } });
    expect(endOf(await activitiesOf(agent, assignmentIn(scratchDirectory()))).failure?.kind).toBe('auth');
  });

  it('is dead when nobody listens any more', async () => {
    let pid = 0;
    let startTime = '';
    for await (const activity of playing(claude, 'works-on').perform(
      assignmentIn(scratchDirectory()),
      new AbortController().signal,
    )) {
      if (activity.type === 'spawned') ({ pid, startTime } = activity);
      if (activity.type === 'text') break;
    }
    expect(pid).toBeGreaterThan(0);
    expect(isAlive(pid, startTime)).toBe(false);
  });

  it('is a failed start when its program is missing', async () => {
    const agent = playing(claude, 'greets', { program: 'no-such-agent-anywhere' });
    const { failure } = endOf(await activitiesOf(agent, assignmentIn(scratchDirectory())));
    expect(failure).toMatchObject({ kind: 'spawn', detail: expect.stringContaining('no-such-agent-anywhere') });
  });

  it('never makes the driver throw, even when its adapter does', async () => {
    const broken: Reader = {
      read: () => {
        throw new Error('out of order');
      },
      result: () => ({ message: () => '', finished: false }),
    };
    const agent = playing({ ...claude, reader: () => broken }, 'greets');
    const { failure } = endOf(await activitiesOf(agent, assignmentIn(scratchDirectory())));
    expect(failure).toMatchObject({ kind: 'unknown', detail: expect.stringContaining('out of order') });
  });

  it('is busy from the first tool that begins to the last that ends', () => {
    const told: boolean[] = [];
    const launchOrder = { prompt: '', args: [], folder: '', isRoot: false };
    const order = { cli: claude, prices: plainPrices, launchOrder, now: Date.now };
    const listener = openListener(
      order,
      claude.reader(launchOrder),
      () => {},
      isBusy => told.push(isBusy),
    );
    for (const phase of ['began', 'began', 'ended', 'ended'] as const)
      listener.onEvent({ type: 'tool', name: 'Bash', detail: '', phase });
    expect(told).toEqual([true, false]);
    expect(listener.isBusy()).toBe(false);
  });

  it('has two minutes for its first byte, ten for a silence, half an hour for a tool, half a minute to exit', () => {
    expect(usualTimers).toEqual({
      firstByteMs: 120_000,
      silenceMs: 600_000,
      busySilenceMs: 1_800_000,
      afterResultMs: 30_000,
    });
  });
});

describe('an agent of plain text', () => {
  const words = (): Reader => {
    let message = '';
    return {
      read: () => [],
      readPlain: line => {
        message += `${line}\n`;
        return [{ type: 'text', text: `${line}\n` }];
      },
      result: () => ({ message: () => message, finished: false }),
    };
  };
  const plain: AgentCli = {
    ...codex,
    name: 'plain',
    reader: words,
    launch: order => ({ args: order.args, input: '' }),
  };
  const run = async (...args: readonly string[]) => {
    const options = { name: 'plain', environment: plainEnvironment, prices: plainPrices };
    const agent = cliAgent(plain, { ...options, program: 'sh', args: ['-c', ...args] });
    return endOf(await activitiesOf(agent, assignmentIn(scratchDirectory())));
  };

  it('has ended well when it exits with 0', async () => {
    expect(await run('echo one; echo two')).toMatchObject({ message: 'one\ntwo\n', reaped: 0 });
    expect((await run('echo one')).failure).toBeUndefined();
  });

  it('has failed when it exits with anything else', async () => {
    expect((await run('echo one; exit 3')).failure).toMatchObject({ kind: 'process', exitCode: 3 });
  });

  it('keeps the last million characters of its message', async () => {
    const { message } = await run('"$0" 3000000; echo the end', agentPath('floods'));
    expect(message.length).toBeGreaterThan(990_000);
    expect(message.length).toBeLessThanOrEqual(1_000_000);
    expect(message.endsWith('the end\n')).toBe(true);
  });
});
