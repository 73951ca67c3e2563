import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Assignment } from '../../src/agents/performer.ts';
import { parseScript, type Script, type ScriptStep, scriptedAgent, stepRules } from '../../src/agents/scripted.ts';
import { readSignals } from '../../src/messages/claims.ts';
import { activitiesOf, assignmentIn, type Behaviour, endOf, performerContract } from '../contracts/performer.ts';
import { scratchDirectory } from '../processes/fixture.ts';

const oneTurn = (...steps: ScriptStep[]): Script => ({ turns: [{ steps }] });
const play = (script: Script, more: Partial<Assignment> = {}, directory = scratchDirectory()) =>
  activitiesOf(scriptedAgent({ script }), assignmentIn(directory, more));
const signalsOf = async (...steps: ScriptStep[]) =>
  readSignals(endOf(await play(oneTurn(...steps))).message, { task: 'US-001', promise: 'DONE' });

const behaviours: Readonly<Record<Behaviour, Script>> = {
  greets: oneTurn({ say: 'hello' }),
  hangs: oneTurn({ say: 'working' }, { hang: true }),
  fails: oneTurn({ fail: 'rate-limit', detail: 'slow down' }),
  'measures-prompt': oneTurn(),
};

performerContract({
  name: 'scripted',
  make: behaviour => scriptedAgent({ script: behaviours[behaviour] }),
  directory: scratchDirectory,
  spawns: 'it plays its script in our own process',
  readsPrompt: 'it knows its lines',
});

describe('the turn that is played', () => {
  const turns = [
    { task: 'US-001', attempt: 2, steps: [{ say: 'second try' }] },
    { task: 'US-001', steps: [{ say: 'any try' }] },
    { attempt: 7, steps: [{ say: 'seventh try of anything' }] },
  ];
  const spoken = async (task: string, attempt: number) => endOf(await play({ turns }, { task, attempt }));

  it('is the first that fits the task and the attempt, whatever was played before', async () => {
    expect((await spoken('US-001', 2)).message).toBe('second try');
    expect((await spoken('US-001', 1)).message).toBe('any try');
    expect((await spoken('US-001', 1)).message).toBe('any try');
    expect((await spoken('US-002', 7)).message).toBe('seventh try of anything');
  });

  it('is missing: that is a failure which names task and attempt', async () => {
    const { failure, message } = await spoken('US-002', 1);
    expect(message).toBe('');
    expect(failure?.detail).toBe('the script has no turn for task US-002, attempt 1');
  });
});

describe('the steps of a script', () => {
  it('say lines, which joined are the message', async () => {
    expect(endOf(await play(oneTurn({ say: 'one' }, { say: 'two' }))).message).toBe('one\ntwo');
  });

  it('write and append files, in folders that they make', async () => {
    const directory = scratchDirectory();
    const steps = [
      { write: 'a/b/c.txt', text: 'old and long' },
      { write: 'a/b/c.txt', text: 'new' },
      { append: 'a/b/c.txt', text: ' more' },
    ];
    await play(oneTurn(...steps), {}, directory);
    expect(readFileSync(join(directory, 'a/b/c.txt'), 'utf8')).toBe('new more');
  });

  it.each(['../out.txt', '/tmp/ralph-out.txt', 'a/../../out.txt', '', 'folder/'])('do not write to %j', async write => {
    const { failure } = endOf(await play(oneTurn({ write, text: 'x' }, { say: 'not reached' })));
    expect(failure?.kind).toBe('permission');
  });

  it('do not follow a link out of the directory', async () => {
    const [directory, elsewhere] = [scratchDirectory(), scratchDirectory()];
    symlinkSync(elsewhere, join(directory, 'folder'));
    symlinkSync(join(elsewhere, 'file'), join(directory, 'file'));
    for (const write of ['folder/file', 'folder/sub/file', 'file']) {
      expect(endOf(await play(oneTurn({ write, text: 'x' }), {}, directory)).failure).toBeDefined();
    }
    expect(existsSync(join(elsewhere, 'file'))).toBe(false);
    expect(existsSync(join(elsewhere, 'sub'))).toBe(false);
  });

  it('that cannot be done are failures as values', async () => {
    const directory = scratchDirectory();
    mkdirSync(join(directory, 'folder'));
    expect(endOf(await play(oneTurn({ write: 'folder', text: 'x' }), {}, directory)).failure?.kind).toBe('process');
  });

  it('report usage and tools', async () => {
    const activities = await play(
      oneTurn({ tool: 'Edit', detail: 'a.ts' }, { tool: 'Bash' }, { usage: { inputTokens: 5, costUsdMicros: 7 } }),
    );
    expect(activities.slice(0, -1)).toEqual([
      { type: 'tool', name: 'Edit', detail: 'a.ts' },
      { type: 'tool', name: 'Bash', detail: '' },
      {
        type: 'usage',
        usage: {
          inputTokens: 5,
          outputTokens: 0,
          cacheReadTokens: 0,
          cacheWriteTokens: 0,
          costUsdMicros: 7,
          estimated: false,
        },
      },
    ]);
  });

  it('fail as they are told, and nothing comes after', async () => {
    const { failure, message } = endOf(await play(oneTurn({ say: 'a' }, { fail: 'overloaded' }, { say: 'b' })));
    expect({ kind: failure?.kind, message }).toEqual({ kind: 'overloaded', message: 'a' });
  });

  it('wait, by the clock that they are given', async () => {
    let now = 1_000;
    const clock = {
      now: () => now,
      at(at: number, due: () => void) {
        now = at;
        due();
        return () => {};
      },
    };
    const script = oneTurn({ wait: 90_000 }, { say: 'later' });
    const assignment = assignmentIn(scratchDirectory(), { timeMsMax: 100_000 });
    const activities = await activitiesOf(scriptedAgent({ script, clock }), assignment);
    expect(endOf(activities)).toEqual({ type: 'ended', message: 'later' });
    expect(now).toBe(91_000);
  });

  it('claim in words that count as a claim, true or not', async () => {
    expect(await signalsOf({ say: 'I did it.' }, { claim: true })).toMatchObject({ done: true, promise: false });
    expect(await signalsOf({ lie: true })).toMatchObject({ done: true });
  });

  it('promise in words that count as a promise', async () => {
    expect(await signalsOf({ say: 'All is done.' }, { promise: 'DONE' })).toMatchObject({ promise: true });
  });

  it('escalate in words that count as an escalation', async () => {
    const escalate = {
      type: 'deviation',
      summary: 'The interface is old',
      context: 'The story asks for v1.\nThe code has v2.',
      options: ['Use v2', 'Use v1'],
      question: 'Which one?',
    };
    expect((await signalsOf({ escalate })).escalate).toMatchObject(escalate);
  });
});

describe('a script file', () => {
  it('that is right is taken as it is', () => {
    const script = {
      turns: [
        { task: 'US-1', attempt: 1, steps: [{ write: 'a', text: 'b' }, { tool: 'x', detail: 'y' }, { hang: true }] },
        { steps: [{ usage: { outputTokens: 3, estimated: true } }, { fail: 'auth', detail: 'no' }, { wait: 0 }] },
      ],
    };
    expect(parseScript(JSON.stringify(script))).toEqual({ ok: true, script });
  });

  const step = (value: unknown) => JSON.stringify({ turns: [{ steps: [{ say: 'ok' }, value] }] });
  it.each([
    ['{', 'The script is not JSON'],
    ['[]', 'A script is an object with a list of turns.'],
    ['{"turns":[],"turn":1}', 'A script has no "turn"; it has turns.'],
    ['{"turns":[7]}', 'turns[0] must be an object with a list of steps.'],
    ['{"turns":[{"steps":[],"tsak":"a"}]}', 'turns[0] has no "tsak"; it has task, attempt and steps.'],
    ['{"turns":[{"steps":[],"__proto__":{}}]}', 'turns[0] has no "__proto__"'],
    ['{"turns":[{"steps":[],"attempt":0}]}', 'turns[0].attempt must be a whole number from 1 on.'],
    ['{"turns":[{"steps":[],"task":3}]}', "turns[0].task must be a task's id."],
    [step({ sayy: 'x' }), 'turns[0].steps[1] must be one of say, write, append,'],
    [step(null), 'turns[0].steps[1] must be one of say,'],
    [step({ say: 3 }), 'turns[0].steps[1].say must be text.'],
    [step({ say: 'x', text: 'y' }), 'turns[0].steps[1] has no "text" beside "say".'],
    [step({ say: 'x', claim: true }), 'turns[0].steps[1] has no "claim" beside "say".'],
    [step({ write: '../x', text: '' }), 'turns[0].steps[1].write must be a relative path inside the directory'],
    [step({ append: 'x' }), 'turns[0].steps[1].text must be text.'],
    [step({ tool: 'x', detail: 1 }), 'turns[0].steps[1].detail must be text.'],
    [step({ wait: -1 }), 'turns[0].steps[1].wait must be milliseconds, a whole number.'],
    [step({ hang: false }), 'turns[0].steps[1].hang must be true.'],
    [step({ fail: 'constructor' }), 'turns[0].steps[1].fail must be one of stopped, timeout,'],
    [step({ usage: { tokens: 1 } }), 'turns[0].steps[1].usage must be counts of inputTokens,'],
    [step({ usage: { costUsdMicros: 0.5 } }), 'turns[0].steps[1].usage must be counts of'],
    [step({ promise: 'a\nb' }), 'turns[0].steps[1].promise must be text on one line.'],
    [step({ escalate: { type: 'stuck' } }), 'turns[0].steps[1].escalate must be type, summary,'],
  ])('%s is refused with one sentence', (text, problem) => {
    const parsed = parseScript(text);
    expect(parsed).toMatchObject({ ok: false, problem: expect.stringContaining(problem) });
  });
});

describe('the page about agents', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/agents.md'), 'utf8');

  it('shows a script that can be played, and says of every step what it does', () => {
    expect(parseScript(/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? '')).toMatchObject({ ok: true });
    for (const name of Object.keys(stepRules))
      expect(page).toMatch(new RegExp(`^\\| \`${name}\` \\| .+ \\| \\w.+ \\|$`, 'm'));
    expect(page).not.toContain('undefined');
  });

  it('shows a question that is read as one', () => {
    const block = /^<escalate[\s\S]*?<\/escalate>/m.exec(page)?.[0] ?? '';
    const { escalate } = readSignals(block.replace('one line', 'No key'), { task: 'A', promise: 'DONE' });
    expect(escalate).toMatchObject({ type: 'stuck', summary: 'No key', options: ['one way forward', 'another way'] });
  });
});
