// A tool's schema is text of a server: whatever it says, judging by it ends.
import type { Tool } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { argumentsFor, loadJudge } from '../../../src/actions/mcp/call.ts';

const line = (schema: object): Tool => ({
  name: 'append',
  inputSchema: { type: 'object', properties: { line: { type: 'string', ...schema } } },
});

it('gives up a pattern that takes for ever', async () => {
  const judge = await loadJudge(500);
  const slow = line({ pattern: '^(a+)+$' });
  expect(argumentsFor(slow, { line: 'aa' }, undefined, judge)).toEqual({ params: { line: 'aa' }, hasKey: false });
  expect(argumentsFor(slow, { line: `${'a'.repeat(60)}!` }, undefined, judge)).toEqual({
    problem: 'the schema takes longer than 0.5 s to check',
  });
  expect(argumentsFor(line({}), { line: 1 }, undefined, judge)).toEqual({ problem: 'Params/line must be string' });
});

it('still says of a schema that is wrong itself that it is', async () => {
  const judged = argumentsFor(line({ pattern: '(' }), { line: 'a' }, undefined, await loadJudge());
  expect(judged).toEqual({ problem: expect.stringMatching(/^the tool's own schema is wrong/) });
});

it('uses no schema that is too large, be it of the parameters or of the answer', async () => {
  const judge = await loadJudge();
  const large = { description: 'x'.repeat(256 * 1_024) };
  const answering: Tool = { ...line({}), outputSchema: { type: 'object', properties: { a: large } } };
  for (const tool of [line(large), answering])
    expect(argumentsFor(tool, { line: 'a' }, undefined, judge)).toEqual({
      problem: expect.stringContaining('larger than 256 kB'),
    });
});
