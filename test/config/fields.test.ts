// One table: every flag, variable and help line derives from it, and every example in it works.
import { describe, expect, test } from 'vitest';
import {
  descriptionOf,
  environmentName,
  fieldOf,
  fields,
  flagName,
  isKey,
  type Key,
  keys,
} from '../../src/config/fields.ts';
import { settingFlags, settingGroups } from '../../src/config/flags.ts';
import { parseFlag } from '../../src/config/options.ts';
import { modeNames, rulesOf } from '../../src/modes/registry.ts';
import { nearest } from '../../src/text/similarity.ts';

const now = Date.parse('2026-03-01T12:00:00Z');

describe('the table of settings', () => {
  test('it has exactly the settings of this release', () => {
    expect(Object.keys(fields)).toEqual(
      (
        'maxIterations maxCost maxTokens maxDuration deadline iterationTimeout maxErrors noProgress maxBlocked maxAttempts ' +
        'maxAverageDuration stuckThreshold promise agent model fallback stronger strongerAfter taskAgent phaseAgent agentArgs acpCommand ' +
        'agentCommand agentEnv checkEnv script verify noCheckpoints noCommit rollbackAfter worktree worktreeCopy worktreeSetup ' +
        'parallel maxCheckpointFile noMcp sandbox firstByteTimeout silenceTimeout maxMemory maxProcesses ' +
        'interactive verifyRuns detectChecks allowRedStart protect judge protectAnew verifyTimeout onEscalation answerTimeout ' +
        'requireChecks contextChars backoffBase rounds targetConfidence reviewer section workflow haltOnMaxAttempts ' +
        'checkpointInterval retries onApproval mcpConfig project taskId name'
      ).split(' '),
    );
  });

  test.each(keys)('%s has a one-line description and an example that is accepted', key => {
    expect(descriptionOf(key)).toMatch(/^[A-Z][^\n]{10,110}\.$/);
    expect(parseFlag(key, fieldOf(key).example, now)).toMatchObject({ ok: true });
  });

  test.each([
    ['maxIterations', '--max-iterations', 'RALPH_MAX_ITERATIONS'],
    ['onEscalation', '--on-escalation', 'RALPH_ON_ESCALATION'],
    ['taskId', '--task-id', 'RALPH_TASK_ID'],
    ['promise', '--promise', 'RALPH_PROMISE'],
  ] as const)('%s is the flag %s and the variable %s', (key, flag, variable) => {
    expect(flagName(key)).toBe(flag);
    expect(environmentName(key)).toBe(variable);
  });

  test('help says each setting as an option, in exactly one group', () => {
    const rows = settingFlags();
    const row = (key: Key) => rows.find(one => /--[a-z-]+/.exec(one.flags)?.[0] === flagName(key));
    expect(Object.values(settingGroups).flat().toSorted()).toEqual(keys.toSorted());
    expect(rows).toHaveLength(keys.length);
    expect(row('maxIterations')).toMatchObject({ flags: '-n, --max-iterations <number>', group: 'limits' });
    expect(row('verify')).toMatchObject({
      flags: '--verify <command>',
      repeatable: true,
      description: expect.stringMatching(/ \(e\.g\. 'npm test'\)$/),
      group: 'checks',
    });
    expect(row('onEscalation')?.description).toMatch(/ \(wait\|skip\|exit\)$/);
    expect(row('maxIterations')?.description).toMatch(/ \(preset 50; goal, plan 10; prompt 100; review 60\)$/);
    expect(row('requireChecks')).toMatchObject({ flags: '--require-checks', repeatable: undefined });
  });

  test('what the rules of a mode call a flag is a setting', () => {
    const rules = modeNames.map(rulesOf);
    const named = rules.flatMap(({ flags = [], formerly = {} }) => [...flags, ...Object.values(formerly)]);
    expect(named.filter(key => !isKey(key))).toEqual([]);
  });

  test('help of a mode leaves out what means nothing there', () => {
    const flags = settingFlags(rulesOf('prompt').flags).map(row => row.flags);
    expect(flags).toContain('--checkpoint-interval <number>');
    expect(flags).toContain('--model <model>');
    expect(flags).not.toContain('--rounds <number>');
  });

  test('help of a command that has one mode says the presets of that mode', () => {
    const row = settingFlags(rulesOf('review').flags, ['review']).find(one => one.flags.startsWith('-n'));
    expect(row?.description).toMatch(/ \(preset 60\)$/);
  });
});

describe('B05, B24: the nearest word', () => {
  test.each([
    ['maxIteration', 'maxIterations'],
    ['max_iterations', 'maxIterations'],
    ['max-cost', 'maxCost'],
    ['MAXCOST', 'maxCost'],
    ['verfiy', 'verify'],
    ['promis', 'promise'],
    ['zzzzzz', undefined],
    ['', undefined],
    ['x'.repeat(100_000), undefined],
  ])('%.20s is nearest to %s', (word, meant) => {
    expect(nearest(word, keys)).toBe(meant);
  });

  test('a word with nothing in common with a short one is no slip', () => {
    expect(nearest('x', ['ui'])).toBeUndefined();
    expect(nearest('uo', ['ui'])).toBe('ui');
  });
});
