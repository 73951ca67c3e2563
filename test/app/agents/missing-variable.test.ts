// Proves which failures of agents are about a variable that they did not get, and that nothing else is blamed on one.
import { describe, expect, it } from 'vitest';
import { missingVariable, namingMissing } from '../../../src/app/agents/missing-variable.ts';
import { activitiesOf, assignmentIn, endOf } from '../../contracts/performer.ts';

const withheld = ['DATABASE_URL', 'SSH_AUTH_SOCK', 'DOCKER_HOST', 'HISTFILE', 'EDITOR'];

describe('the variable that a failure is about', () => {
  it.each([
    ['exit code 1: Error: DATABASE_URL is not set', 'DATABASE_URL'],
    ['git@host: Permission denied (publickey).', 'SSH_AUTH_SOCK'],
    ['Cannot connect to the Docker daemon at unix:///var/run/docker.sock', 'DOCKER_HOST'],
    ['Missing environment variable: OPENAI_API_KEY', undefined],
    ['the EDITOR could not be opened', undefined],
    ['MY_DATABASE_URL is not set', undefined],
  ])('%s', (text, name) => {
    expect(missingVariable(text, withheld)).toBe(name);
  });
});

describe('an agent that fails', () => {
  const agent = (detail: string) => ({
    name: 'own',
    can: { steer: false, resume: false, interactive: false, usage: false },
    async *perform() {
      yield { type: 'ended' as const, message: '', failure: { kind: 'process' as const, detail } };
    },
  });
  const failureWith = async (given: Record<string, string>, detail = 'DATABASE_URL is not set') => {
    const named = namingMissing(agent(detail), given, { DATABASE_URL: 'x', PATH: '/bin' });
    return endOf(await activitiesOf(named, assignmentIn('/'))).failure?.detail;
  };

  it('names the variable and the flag, while the user has it and the agent does not', async () => {
    expect(await failureWith({ PATH: '/bin' })).toMatch(/passed on: --agent-env DATABASE_URL\)$/);
    expect(await failureWith({ PATH: '/bin', DATABASE_URL: 'x' })).toBe('DATABASE_URL is not set');
  });
});
