// The registry of agents is total in deed too: the contract of each row is really run.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cliNames, isCliName } from '../../src/agents/registry.ts';
import { agentNames } from '../../src/config/agents.ts';
import { streamsOf } from './cli-agent.ts';

/** Performers that are no agent CLI have a test of their own. */
const testOf = (name: string): string => {
  const folder = isCliName(name) ? 'cli' : name === 'acp' ? 'acp' : '';
  return join(import.meta.dirname, '../agents', folder, `${name}.test.ts`);
};

it.each(cliNames)('the contract of %s is run, with streams of its own', name => {
  expect(readFileSync(testOf(name), 'utf8')).toContain(`cliAgentContract(${name}, {`);
  expect(existsSync(join(streamsOf(name), 'greets.jsonl'))).toBe(true);
});

it.each(agentNames.filter(name => !isCliName(name)))('%s, which has no row, keeps the contract too', name => {
  expect(readFileSync(testOf(name), 'utf8')).toContain('performerContract({');
});
