// What hosts send at the end of a turn, and what they are answered: recorded payloads of three agents, and everything that is none.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { answerText, type ReadTurn, readInput, readTurn } from '../../src/hook/payload.ts';

const recorded = (agent: string): readonly ReadTurn[] =>
  readFileSync(join(import.meta.dirname, `../fixtures/hook/${agent}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map(line => readTurn(Buffer.from(line)));

const turnsOf = (agent: string) => recorded(agent).flatMap(read => (read.type === 'turn' ? [read.turn] : []));

const read = (fields: object): ReadTurn => readTurn(Buffer.from(JSON.stringify(fields)));
const stop = { hook_event_name: 'Stop', session_id: 's', cwd: '/w', transcript_path: '/t' };

it('Claude Code: three turns of one prompt, an error of its API, and events that are none of ours', () => {
  expect(recorded('claude').map(({ type }) => type)).toEqual([
    ...['other', 'other', 'other', 'other', 'turn', 'turn', 'turn', 'other', 'turn'],
  ]);
  const turns = turnsOf('claude');
  expect(
    turns.map(({ message, isContinued, error }) => [message?.slice(0, 21), isContinued, error !== undefined]),
  ).toEqual([
    ['iteration 1 finished', false, false],
    ['iteration 2 finished', true, false],
    ['iteration 3 finished', true, false],
    ['API Error: 529 Overlo', false, true],
  ]);
  expect(new Set(turns.slice(0, 3).map(({ prompt }) => prompt)).size).toBe(1);
  expect(turns.every(({ refusal, isJoined }) => refusal === 'block' && !isJoined)).toBe(true);
});

it('Codex: the same words, its prompt is a turn_id', () => {
  expect(turnsOf('codex').map(({ message, model, refusal }) => [message, model, refusal])).toEqual([
    ['one', 'mock-model', 'block'],
    ['two', 'mock-model', 'block'],
  ]);
});

it('Gemini: all messages of the turn together, and it is refused by another word', () => {
  const turns = turnsOf('gemini');
  expect(turns.map(({ message, isJoined, refusal }) => [message, isJoined, refusal])).toEqual([
    ['one ', true, 'deny'],
    ['one \ntwo ', true, 'deny'],
  ]);
  expect(turns[0]?.prompt).toBe(turns[1]?.prompt);
});

it.each([
  ['nothing', '', 'sent nothing'],
  ['no JSON', '{"session_id":', 'no JSON object'],
  ['a list', '[1]', 'no JSON object'],
  ['a control character', '{"hook_event_name":"Stop","session_id":"\u0001"', 'no JSON object'],
  ['no session', JSON.stringify({ ...stop, session_id: undefined }), 'no session_id'],
  ['a session that is no text', JSON.stringify({ ...stop, session_id: 7 }), 'no session_id'],
  ['nine megabytes', 'x'.repeat(9 * 2 ** 20), 'more than 8 MB'],
])('is unreadable, and says why: %s (B70)', (_what, text, why) => {
  expect(readTurn(Buffer.from(text))).toEqual({ type: 'unreadable', problem: expect.stringContaining(why) });
});

it('leaves the end of a subagent and every other event alone (B74)', () => {
  expect(read({ ...stop, hook_event_name: 'SubagentStop' })).toEqual({ type: 'other' });
  expect(read({ ...stop, agent_id: 'a1' })).toEqual({ type: 'other' });
  expect(read({ ...stop, hook_event_name: 'constructor' })).toEqual({ type: 'other' });
});

it('tells a host that says that there was no message from one that says nothing', () => {
  const messageOf = (more: object) => (read({ ...stop, ...more }) as Extract<ReadTurn, { type: 'turn' }>).turn.message;
  expect([messageOf({ last_assistant_message: '' }), messageOf({})]).toEqual(['', undefined]);
});

it('answers with the prompt, with a word for the user alone, or with nothing', () => {
  expect(JSON.parse(answerText({ prompt: 'go on', message: 'iteration 2' }, 'block'))).toEqual({
    decision: 'block',
    reason: 'go on',
    systemMessage: 'iteration 2',
  });
  expect(JSON.parse(answerText({ prompt: 'go on' }, 'deny'))).toEqual({ decision: 'deny', reason: 'go on' });
  expect(JSON.parse(answerText({ message: 'it is over' }, 'block'))).toEqual({ systemMessage: 'it is over' });
  expect(answerText({}, 'block')).toBe('');
});

it('stops reading when a host sends too much', async () => {
  let sent = 0;
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) {
      sent += 1;
      yield Buffer.alloc(2 ** 20);
    }
  }
  expect((await readInput(endless())).length).toBeGreaterThan(8 * 2 ** 20);
  expect(sent).toBe(9);
});
