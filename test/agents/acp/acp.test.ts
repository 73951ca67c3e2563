// Any ACP agent through the contracts, with a fake one that speaks the wire by hand.
import { describe, expect, it } from 'vitest';
import type { AcpAgentOptions } from '../../../src/agents/acp/acp.ts';
import { type Fault, faultContract } from '../../contracts/faults.ts';
import { performerContract } from '../../contracts/performer.ts';
import { scratchDirectory } from '../../processes/fixture.ts';
import { agent, run } from './stage.ts';

performerContract({
  name: 'acp',
  make: behaviour => agent(behaviour),
  directory: scratchDirectory,
  spawns: true,
  readsPrompt: true,
});

const moment = 300;
const timersFor: Partial<Record<Fault, AcpAgentOptions['timers']>> = {
  hangs: { silenceMs: moment, nudgedMs: moment },
  'never-first-byte': { firstByteMs: moment },
  'result-then-hangs': { afterResultMs: moment },
};
const behaviourFor: Partial<Record<Fault, string>> = {
  hangs: 'ignores-cancel',
  'never-first-byte': 'never-speaks',
  'result-then-hangs': 'stays-after-answer',
  'spawns-orphan': 'leaves-orphans',
};

faultContract({
  name: 'acp',
  make: fault => agent(behaviourFor[fault] ?? fault, '', { timers: timersFor[fault] ?? {} }),
  directory: scratchDirectory,
  notHere: {
    'one-line': 'the protocol has one message per line',
    'two-results': 'a prompt has one answer',
  },
});

describe('what an ACP agent says', () => {
  it('is its message only after its last tool, and each tool is told once with what it does', async () => {
    const ran = await run(agent('tells-tools'));
    expect(ran.end.message).toBe('All done.');
    expect(ran.all('tool')).toEqual([
      { type: 'tool', name: 'Bash', detail: 'make all' },
      { type: 'tool', name: 'read', detail: 'Read a file' },
      { type: 'tool', name: 'edit', detail: 'unannounced' },
    ]);
    const words = ran.all('text').map(each => each.text);
    expect(words.join('')).toBe('I will work. <promise>TOO EARLY</promise>\nAll done.\n');
  });

  it('is its message only from its last message on, and never from another session', async () => {
    expect((await run(agent('speaks-in-messages'))).end.message).toBe('The last message.');
  });

  it('survives what nobody asked for; a file that it wants to be read for it is refused', async () => {
    const ran = await run(agent('talks-noise'));
    expect(ran.end).toMatchObject({ message: 'refused with -32601' });
    expect(ran.end.failure).toBeUndefined();
    expect(ran.all('text').at(-1)?.text).toBe('[ralph] 7 lines of the agent were not understood\n');
  });

  it('may hold a message that is too long: it is dropped, and a question in it is refused', async () => {
    const ran = await run(agent('talks-too-long'));
    expect(ran.end).toMatchObject({ message: 'refused with -32600' });
    expect(ran.end.failure).toBeUndefined();
    expect(ran.all('text').at(-1)?.text).toBe('[ralph] 2 lines were too long\n');
  });

  it('may be an answer that is too long: that is a failure, not a wait without end', async () => {
    expect((await run(agent('answers-too-long'))).end.failure?.detail).toContain('too long');
  });

  it('opens a session that is told', async () => {
    expect((await run(agent('greets'))).all('session')).toEqual([{ type: 'session', id: 'session-1' }]);
  });
});

describe('a permission that an ACP agent asks for', () => {
  const outcome = async (permission: 'allow' | 'deny', kinds: string) =>
    JSON.parse((await run(agent('permits', kinds, { permission }))).end.message);

  it.each([
    ['allow', 'allow_always,allow_once,reject_once', 'id-of-allow_once'],
    ['allow', 'reject_once,allow_always', 'id-of-allow_always'],
    ['allow', 'reject_once,allow_session,other', 'id-of-allow_session'],
    ['allow', 'allow_session,allow_always', 'id-of-allow_always'],
    ['deny', 'allow_once,reject_always,reject_once', 'id-of-reject_once'],
  ] as const)('under %s, of %s, is answered with %s', async (permission, kinds, optionId) => {
    expect(await outcome(permission, kinds)).toEqual({ outcome: 'selected', optionId });
  });

  it.each([
    ['allow', 'reject_once'],
    ['allow', 'reject_always,reject_session'],
    ['deny', 'allow_once,reject_always'],
  ] as const)('under %s, of %s, is cancelled', async (permission, kinds) => {
    expect(await outcome(permission, kinds)).toEqual({ outcome: 'cancelled' });
  });

  it('tells of the tool that it is for', async () => {
    const ran = await run(agent('permits', 'allow_once'));
    expect(ran.all('tool')).toEqual([{ type: 'tool', name: 'execute', detail: 'rm -rf build' }]);
  });
});

describe('what an ACP agent used', () => {
  const usageOf = async (script: object, more: Partial<AcpAgentOptions> = {}) => {
    const ran = await run(agent('states-usage', JSON.stringify(script), more), { prompt: 'x'.repeat(300) });
    return ran.all('usage').at(-1)?.usage;
  };
  const counts = { inputTokens: 100, outputTokens: 20, cachedReadTokens: 50, cachedWriteTokens: 5 };

  it('costs what the agent says, and its context is told', async () => {
    const updates = [
      { used: 100, size: 1_000, cost: { amount: 0.005, currency: 'USD' } },
      { used: 250, size: 1_000, cost: { amount: 0.0129, currency: 'USD' } },
    ];
    const ran = await run(agent('states-usage', JSON.stringify({ updates, answer: { usage: counts } })));
    expect(ran.all('context').map(each => each.usedFraction)).toEqual([0.1, 0.25]);
    expect(ran.all('usage').at(-1)?.usage).toEqual({
      inputTokens: 100,
      outputTokens: 20,
      cacheReadTokens: 50,
      cacheWriteTokens: 5,
      costUsdMicros: 12_900,
      estimated: false,
    });
  });

  it('is estimated by the prices when the agent gives no cost, by each model that it names', async () => {
    const model_usage = [
      { model: 'm1', token_count: { input_tokens: 700, output_tokens: 9 } },
      { model: 'm2', token_count: { input_tokens: 10, output_tokens: 1 } },
    ];
    const answer = { _meta: { quota: { token_count: { input_tokens: 1 }, model_usage } } };
    expect(await usageOf({ answer })).toMatchObject({
      inputTokens: 710,
      outputTokens: 10,
      costUsdMicros: 819,
      estimated: true,
    });
  });

  it('counts thoughts as output when the total holds them beside it', async () => {
    const answer = { usage: { ...counts, totalTokens: 205, thoughtTokens: 30 } };
    expect(await usageOf({ answer })).toMatchObject({ outputTokens: 50 });
  });

  it.each([
    ['no cost', undefined],
    ['a cost of nothing', { amount: 0, currency: 'USD' }],
    ['a negative cost', { amount: -1, currency: 'USD' }],
    ['a cost in credits', { amount: 7, currency: 'credits' }],
    ['a cost that is no number', { amount: 'much', currency: 'USD' }],
  ])('is estimated when %s is stated', async (_what, cost) => {
    const updates = [{ used: 100, size: 1_000, cost }];
    expect(await usageOf({ updates, answer: { usage: counts } })).toMatchObject({
      costUsdMicros: 1_750,
      estimated: true,
    });
  });

  it.each([
    ['nothing', {}],
    ['nonsense', { usage: { inputTokens: -5, outputTokens: 'many', totalTokens: null } }],
  ])('is never nothing after words: %s stated is estimated from their length', async (_what, answer) => {
    expect(await usageOf({ answer })).toMatchObject({ inputTokens: 100, outputTokens: 3, estimated: true });
  });

  it('is at least its context when it states no tokens', async () => {
    expect(await usageOf({ updates: [{ used: 4_000, size: 1_000 }] })).toMatchObject({ inputTokens: 4_000 });
  });

  it('is priced for the model that the session works with', async () => {
    const ran = await run(agent('greets', 'option', { model: 'm1' }), { prompt: 'x'.repeat(300) });
    expect(ran.all('usage').at(-1)?.usage).toMatchObject({ inputTokens: 100, costUsdMicros: 102 });
  });
});

describe('the model of an ACP agent', () => {
  it.each([
    ['option', 'm1', 'option which = m1'],
    ['option', 'Model One', 'option which = m1'],
    ['option', 'brand-new', 'option which = brand-new'],
    ['groups', 'm1', 'option which = g/m1'],
    ['legacy', 'm1', 'model = m1'],
  ])('is chosen as the session offers it: %s, %s', async (offer, model, chosen) => {
    expect((await run(agent('names-model', offer, { model }))).end.message).toBe(chosen);
  });

  it('is left alone when none was asked for', async () => {
    expect((await run(agent('names-model', 'option'))).end.message).toBe('none');
  });

  it('cannot be chosen when the session offers nothing, and that is said', async () => {
    const ran = await run(agent('names-model', '', { model: 'm1' }));
    expect(ran.end).toMatchObject({ message: 'none' });
    expect(ran.all('text')[0]?.text).toContain('not with m1');
  });

  it('that the agent does not know is a failure of that kind', async () => {
    const { failure } = (await run(agent('names-model', 'option', { model: 'unheard-of' }))).end;
    expect(failure).toMatchObject({ kind: 'model' });
    expect(failure?.detail).toBe('it refuses the model unheard-of: Invalid params; it offers m1');
  });
});

describe('an ACP agent that fails', () => {
  it.each([
    [[-32603, 'Internal error', { errorKind: 'rate_limit' }], 'rate-limit'],
    [[-32603, 'Internal error', { errorKind: 'overloaded' }], 'overloaded'],
    [[-32603, 'Internal error', { errorKind: 'authentication_failed' }], 'auth'],
    [[-32603, 'Internal error', { errorKind: 'billing_error' }], 'billing'],
    [[-32603, 'Internal error', { codexErrorInfo: 'contextWindowExceeded' }], 'context-too-long'],
    [[-32603, 'Internal error', { codexErrorInfo: { httpConnectionFailed: { httpStatusCode: 429 } } }], 'rate-limit'],
    [[429, 'Try again later.'], 'rate-limit'],
    [[-32603, 'Internal error', { status: 529 }], 'overloaded'],
    [[-32000, 'Authentication required'], 'auth'],
    [[-32603, 'Internal error', { details: 'prompt is too long: 9 > 8' }], 'context-too-long'],
    [[-32603, 'Internal error: something else', { errorKind: 'constructor' }], 'unknown'],
  ])('with %j ends as %s', async (error, kind) => {
    const { failure } = (await run(agent('errs', JSON.stringify(error)))).end;
    expect(failure?.kind).toBe(kind);
    expect(failure?.detail).toContain(error[1]);
  });

  it('says until when its limit lasts', async () => {
    const resetsAt = Math.floor(Date.now() / 1_000) + 3_600;
    const error = [-32603, 'Limit reached', { errorKind: 'rate_limit', resetsAt }];
    const { failure } = (await run(agent('errs', JSON.stringify(error)))).end;
    expect(failure).toMatchObject({ kind: 'rate-limit', resetAtMs: resetsAt * 1_000 });
  });

  it('needs a login before it opens a session', async () => {
    expect((await run(agent('needs-login'))).end.failure).toMatchObject({ kind: 'auth' });
  });

  it('speaks another version of the protocol', async () => {
    expect((await run(agent('speaks-version', '2'))).end.failure?.detail).toContain('version 2');
  });

  it.each([
    ['end_turn', undefined],
    ['max_tokens', 'context-too-long'],
    ['max_turn_requests', 'unknown'],
    ['refusal', 'unknown'],
    ['cancelled', 'unknown'],
    ['of_the_future', 'unknown'],
  ])('stops its turn with %s: %s', async (reason, kind) => {
    expect((await run(agent('stops', reason))).end.failure?.kind).toBe(kind);
  });

  it.each([
    ['active,systemError', 'rate-limit'],
    ['systemError,active', undefined],
  ])('may tell its error as a message; its state %s says so: %s', async (states, kind) => {
    expect((await run(agent('hides-error', states))).end.failure?.kind).toBe(kind);
  });

  it('dies in the middle of its turn, and its words and its last error are kept', async () => {
    const { end } = await run(agent('dies'));
    expect(end).toMatchObject({ message: 'half of it', failure: { kind: 'process', exitCode: 3 } });
    expect(end.failure?.detail).toContain('segment lost');
  });

  it('dies before it says anything, and is classified by its last error', async () => {
    const { failure } = (await run(agent('fails-at-once', 'please log in'))).end;
    expect(failure).toMatchObject({ kind: 'auth', exitCode: 1 });
  });

  it('asks without end and reads no answer: it is ended before the answers fill the memory', async () => {
    const { end } = await run(agent('asks-deaf'));
    expect(end.failure).toEqual({ kind: 'process', detail: 'it asks without end and reads no answer' });
  });

  it('is not installed', async () => {
    const missing = agent('', '', { command: ['no-such-acp-agent'] });
    expect((await run(missing)).end.failure).toMatchObject({ kind: 'spawn' });
  });
});
